// Which sample comes when: a pure function of seed and global sample index, whatever the ranks.
#pragma once

#include <cstdint>

namespace agoq {

struct SamplerOptions {
  std::int64_t num_samples = 0;  // of the data set
  std::int64_t batch_size = 1;   // samples of a step over all ranks
  std::uint64_t seed = 0;
};

struct SampleId {
  std::int64_t epoch = 0;
  std::int64_t sample = 0;  // in [0, num_samples)

  friend bool operator==(const SampleId&, const SampleId&) = default;
};

// Each epoch is an order of its own of all samples, never stored. An epoch is whole batches: the
// samples that the end of its order leaves over are dropped, others each epoch.
class Sampler {
 public:
  // Throws std::invalid_argument when the data has fewer samples than a batch.
  explicit Sampler(const SamplerOptions& options);

  std::int64_t samples_per_epoch() const { return samples_per_epoch_; }
  // `global_index` counts all samples served since the start of training, over all ranks.
  SampleId SampleAt(std::int64_t global_index) const;

 private:
  SamplerOptions options_;
  std::int64_t samples_per_epoch_;
};

// The `index`-th of a pseudo-random order of 0..size-1 that depends on `key`; needs
// 0 <= index < size. No memory, constant expected time.
std::int64_t PermutedIndex(std::int64_t index, std::int64_t size, std::uint64_t key);

}  // namespace agoq
