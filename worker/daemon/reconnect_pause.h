// How long to wait before the next try: 0.1 s, doubled up to 5 s, each with a jitter of a fifth, so
// that workers do not come back all at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace agoq {

// Not thread-safe.
class ReconnectPause {
 public:
  explicit ReconnectPause(unsigned int seed = std::random_device{}()) : random_(seed) {}

  void Reset() { next_ = kFirst; }

  std::chrono::duration<double> Next() {
    const std::chrono::duration<double> pause = next_;
    next_ = std::min(2 * next_, kLongest);
    return pause * std::uniform_real_distribution<double>(0.8, 1.2)(random_);
  }

 private:
  static constexpr std::chrono::duration<double> kFirst{0.1};
  static constexpr std::chrono::duration<double> kLongest{5};

  std::mt19937 random_;
  std::chrono::duration<double> next_ = kFirst;
};

}  // namespace agoq
