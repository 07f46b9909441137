#include "worker/data/sampler.h"

#include <bit>
#include <stdexcept>
#include <string>

namespace agoq {
namespace {

constexpr int kRounds = 6;

// splitmix64's finaliser. Constants: Steele et al., OOPSLA 2014.
std::uint64_t Mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// A permutation of 0 .. 4^half_bits - 1: a balanced Feistel network.
std::uint64_t Feistel(std::uint64_t value, int half_bits, std::uint64_t key) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = value >> half_bits;
  std::uint64_t right = value & mask;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t mixed = Mix(key ^ Mix(right + (static_cast<std::uint64_t>(round) << 48)));
    const std::uint64_t next = left ^ (mixed & mask);
    left = right;
    right = next;
  }
  return (left << half_bits) | right;
}

}  // namespace

std::int64_t PermutedIndex(std::int64_t index, std::int64_t size, std::uint64_t key) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(size - 1));
  const int half_bits = (bits + 1) / 2;
  auto value = static_cast<std::uint64_t>(index);
  // The network permutes a range up to 4 times as large: walk its cycle until back inside.
  do {
    value = Feistel(value, half_bits, key);
  } while (value >= static_cast<std::uint64_t>(size));
  return static_cast<std::int64_t>(value);
}

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
  if (options.batch_size < 1) {
    throw std::invalid_argument("batch of " + std::to_string(options.batch_size) +
                                " samples: must be at least 1");
  }
  samples_per_epoch_ = options.num_samples / options.batch_size * options.batch_size;
  if (samples_per_epoch_ > 0) return;
  throw std::invalid_argument("data has " + std::to_string(options.num_samples) +
                              " samples, fewer than the " + std::to_string(options.batch_size) +
                              " of a step over all ranks; use more data, shorter sequences or "
                              "smaller batches");
}

SampleId Sampler::SampleAt(std::int64_t global_index) const {
  const std::int64_t epoch = global_index / samples_per_epoch_;
  const std::uint64_t key = Mix(Mix(options_.seed) + static_cast<std::uint64_t>(epoch));
  return {epoch, PermutedIndex(global_index % samples_per_epoch_, options_.num_samples, key)};
}

}  // namespace agoq
