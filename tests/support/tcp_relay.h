// A stretch of network that a test can cut: connections through it stay open, but nothing passes.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace agoq {

class TcpRelay {
 public:
  // `target` is HOST:PORT of loopback. Throws std::runtime_error.
  explicit TcpRelay(const std::string& target);
  // Closes every connection.
  ~TcpRelay();
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  const std::string& address() const { return address_; }

  // From here on the connections of now are silent for good, in both directions. Later ones pass.
  void Cut();

 private:
  struct Line {
    int from = -1;
    int to = -1;
    bool is_cut = false;
  };

  void Run();
  void Accept();
  void Pass(std::size_t line, bool is_ready);

  const std::string target_;
  std::string address_;
  int listener_ = -1;
  int wake_[2] = {-1, -1};  // a pipe: Cut and the destructor to the thread
  std::mutex mutex_;        // guards both below
  bool is_cut_wanted_ = false;
  bool is_stopping_ = false;
  std::vector<Line> lines_;  // of the thread alone; two a connection
  std::thread thread_;
};

}  // namespace agoq
