// How a reduction is cut into buckets and shares, and the bytes it holds meanwhile. Std only, pure:
// the memory model predicts the same bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/quant_spec.h"

namespace agoq {

// Buckets in flight: the transport of the next one overlaps the sum of this one.
inline constexpr std::int64_t kReduceDepth = 2;

// Elements of a bucket, unless told otherwise.
inline constexpr std::int64_t kReduceBucketElements = std::int64_t{4} << 20;

// A reduction of `num_units` units (blocks when quantized, elements when exact) over `world` ranks.
// Buckets are consecutive ranges; within a bucket rank r owns the r-th range of ceil(bucket /
// world) units, and the last ranges may be short or empty.
struct ReducePartition {
  std::int64_t num_units = 0;
  std::int64_t bucket_units = 1;
  std::int64_t world = 1;

  struct Range {
    std::int64_t begin = 0;
    std::int64_t count = 0;
  };

  constexpr std::int64_t num_buckets() const {
    return (num_units + bucket_units - 1) / bucket_units;
  }
  constexpr Range Bucket(std::int64_t bucket) const {
    const std::int64_t begin = bucket * bucket_units;
    return {begin, std::min(bucket_units, num_units - begin)};
  }
  constexpr Range Share(std::int64_t bucket, std::int64_t rank) const {
    const Range whole = Bucket(bucket);
    const std::int64_t share = (whole.count + world - 1) / world;
    const std::int64_t skip = std::min(rank * share, whole.count);
    return {whole.begin + skip, std::min(share, whole.count - skip)};
  }
  // Units of the largest share of any bucket.
  constexpr std::int64_t max_share() const {
    return (std::min(bucket_units, num_units) + world - 1) / world;
  }
  constexpr std::int64_t num_slots() const { return std::min(kReduceDepth, num_buckets()); }
};

// `bucket_elements` is rounded down to whole blocks, but to one block at least.
constexpr ReducePartition PartitionBlocks(const QuantSpec& spec, std::int64_t num_elements,
                                          std::int64_t world, std::int64_t bucket_elements) {
  return {.num_units = NumBlocks(spec, num_elements),
          .bucket_units = std::max<std::int64_t>(1, bucket_elements / spec.block),
          .world = world};
}

constexpr ReducePartition PartitionElements(std::int64_t num_elements, std::int64_t world,
                                            std::int64_t bucket_elements) {
  return {.num_units = num_elements,
          .bucket_units = std::max<std::int64_t>(1, bucket_elements),
          .world = world};
}

// Bytes of tensors that QuantizedAllReduce holds at its peak: for each bucket in flight what goes
// to the other ranks and what comes from them.
constexpr std::int64_t QuantizedReduceWorkspaceBytes(const QuantSpec& spec,
                                                     std::int64_t num_elements, std::int64_t world,
                                                     std::int64_t bucket_elements) {
  const ReducePartition partition = PartitionBlocks(spec, num_elements, world, bucket_elements);
  return partition.num_slots() * 2 * (world - 1) * partition.max_share() *
         PackedBytes(spec, spec.block);
}

// The same for int8 gradients.
constexpr std::int64_t ReduceWorkspaceBytes(std::int64_t num_elements, std::int64_t block,
                                            std::int64_t world, std::int64_t bucket_elements) {
  return QuantizedReduceWorkspaceBytes({Format::kInt8, block}, num_elements, world,
                                       bucket_elements);
}

// Bytes of tensors that ExactAllReduce holds at its peak.
constexpr std::int64_t ExactReduceWorkspaceBytes(std::int64_t num_elements,
                                                 std::int64_t element_bytes, std::int64_t world,
                                                 std::int64_t bucket_elements) {
  const ReducePartition partition = PartitionElements(num_elements, world, bucket_elements);
  return partition.num_slots() * (world - 1) * partition.max_share() * element_bytes;
}

// Bytes of tensors that SmallAllReduce holds at its peak.
constexpr std::int64_t SmallReduceWorkspaceBytes(std::int64_t num_elements,
                                                 std::int64_t element_bytes, std::int64_t world) {
  return (world - 1) * num_elements * element_bytes;
}

}  // namespace agoq
