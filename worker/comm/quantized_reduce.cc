#include "worker/comm/quantized_reduce.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/ops/reduce_quantized.h"
#include "kernels/quant_spec.h"
#include "worker/plan/reduce_workspace.h"

namespace agoq {
namespace {

using Range = ReducePartition::Range;

void RequireValid(const QuantizedView& flat, const ReduceOptions& options) {
  if (flat.num_elements % flat.spec.block != 0) {
    throw std::invalid_argument("quantized all-reduce: " + std::to_string(flat.num_elements) +
                                " elements are not whole blocks of " +
                                std::to_string(flat.spec.block) + "; pad each tensor to a block");
  }
  if (options.bucket_elements < 1 || !(options.factor > 0.0) || !std::isfinite(options.factor)) {
    throw std::invalid_argument("quantized all-reduce: bucket of " +
                                std::to_string(options.bucket_elements) + " elements, factor " +
                                std::to_string(options.factor) + "; both must be positive");
  }
}

// The pipeline over buckets. Slot k holds bucket k modulo the depth: first the shares that go out
// and come in, then, in the same memory, this rank's sum that goes out and the other sums that come
// in.
class QuantizedReduction {
 public:
  QuantizedReduction(Communicator& communicator, QuantizedView flat, const ReduceOptions& options)
      : communicator_(communicator),
        flat_(flat),
        options_(options),
        partition_(PartitionBlocks(flat.spec, flat.num_elements, communicator.size(),
                                   options.bucket_elements)),
        code_bytes_(CodeBytes(flat.spec, flat.spec.block)),
        block_bytes_(PackedBytes(flat.spec, flat.spec.block)),
        slots_(static_cast<std::size_t>(partition_.num_slots())) {
    for (Slot& slot : slots_) {
      slot.memory = at::empty({2 * half_bytes()}, at::TensorOptions().dtype(at::kByte));
    }
  }

  void Run() {
    const std::int64_t num_buckets = partition_.num_buckets();
    for (std::int64_t b = 0; b < partition_.num_slots(); ++b) PostShares(b);
    for (std::int64_t b = 0; b < num_buckets; ++b) {
      Wait(b);
      SumOwnShare(b);
      PostSum(b);
      Wait(b);
      StoreSums(b);
      const std::int64_t next = b + partition_.num_slots();
      if (next < num_buckets) PostShares(next);
    }
  }

 private:
  struct Slot {
    at::Tensor memory;           // out half, in half
    std::unique_ptr<Work> work;  // declared after the memory it uses, so that it goes first
  };

  int world() const { return communicator_.size(); }
  int rank() const { return communicator_.rank(); }
  std::int64_t half_bytes() const { return (world() - 1) * partition_.max_share() * block_bytes_; }
  Slot& SlotOf(std::int64_t bucket) {
    return slots_[static_cast<std::size_t>(bucket % partition_.num_slots())];
  }
  // Packed shares of the other ranks lie one after another; this rank has no place.
  std::uint8_t* Place(std::int64_t bucket, bool incoming, int peer) {
    const std::int64_t index = peer < rank() ? peer : peer - 1;
    return SlotOf(bucket).memory.data_ptr<std::uint8_t>() + (incoming ? half_bytes() : 0) +
           index * partition_.max_share() * block_bytes_;
  }
  QuantizedView FlatView(Range blocks) const {
    return {.codes = flat_.codes + blocks.begin * code_bytes_,
            .scales = flat_.scales + blocks.begin,
            .spec = flat_.spec,
            .num_elements = blocks.count * flat_.spec.block};
  }
  // [codes][scales] of `count` blocks at `place`.
  QuantizedView PackedView(std::uint8_t* place, std::int64_t count) const {
    return {.codes = place,
            .scales = reinterpret_cast<float*>(place + count * code_bytes_),
            .spec = flat_.spec,
            .num_elements = count * flat_.spec.block};
  }
  void CopyBlocks(const QuantizedView& from, const QuantizedView& to) const {
    const std::int64_t blocks = from.num_elements / flat_.spec.block;
    std::memcpy(to.codes, from.codes, static_cast<std::size_t>(blocks * code_bytes_));
    std::memcpy(to.scales, from.scales, static_cast<std::size_t>(blocks) * sizeof(float));
  }
  std::span<std::byte> Message(std::uint8_t* place, std::int64_t blocks) const {
    return std::as_writable_bytes(
        std::span(place, static_cast<std::size_t>(blocks * block_bytes_)));
  }

  void PostShares(std::int64_t bucket) {
    const std::int64_t own = partition_.Share(bucket, rank()).count;
    std::vector<ConstBytes> send(static_cast<std::size_t>(world()));
    std::vector<MutableBytes> receive(static_cast<std::size_t>(world()));
    for (int peer = 0; peer < world(); ++peer) {
      if (peer == rank()) continue;
      const Range share = partition_.Share(bucket, peer);
      std::uint8_t* const place = Place(bucket, false, peer);
      CopyBlocks(FlatView(share), PackedView(place, share.count));
      send[peer] = Message(place, share.count);
      receive[peer] = Message(Place(bucket, true, peer), own);
    }
    SlotOf(bucket).work = communicator_.AllToAll(std::move(send), std::move(receive));
  }

  // Where this rank's sum is made: the out half is free once the shares have gone.
  QuantizedView OwnSum(std::int64_t bucket) {
    return PackedView(SlotOf(bucket).memory.data_ptr<std::uint8_t>(),
                      partition_.Share(bucket, rank()).count);
  }

  void SumOwnShare(std::int64_t bucket) {
    const Range own = partition_.Share(bucket, rank());
    if (own.count == 0) return;
    std::vector<QuantizedView> payloads;
    for (int peer = 0; peer < world(); ++peer) {
      payloads.push_back(peer == rank() ? FlatView(own)
                                        : PackedView(Place(bucket, true, peer), own.count));
    }
    ops::ReduceQuantized({.payloads = payloads,
                          .spec = flat_.spec,
                          .num_elements = own.count * flat_.spec.block,
                          .factor = options_.factor,
                          .out = OwnSum(bucket)});
  }

  void PostSum(std::int64_t bucket) {
    const std::int64_t own = partition_.Share(bucket, rank()).count;
    const MutableBytes sum = Message(OwnSum(bucket).codes, own);
    std::vector<MutableBytes> receive(static_cast<std::size_t>(world()));
    for (int peer = 0; peer < world(); ++peer) {
      receive[peer] =
          peer == rank() ? sum
                         : Message(Place(bucket, true, peer), partition_.Share(bucket, peer).count);
    }
    SlotOf(bucket).work = communicator_.AllGather(sum, std::move(receive));
  }

  void StoreSums(std::int64_t bucket) {
    for (int peer = 0; peer < world(); ++peer) {
      const Range share = partition_.Share(bucket, peer);
      CopyBlocks(
          peer == rank() ? OwnSum(bucket) : PackedView(Place(bucket, true, peer), share.count),
          FlatView(share));
    }
  }

  void Wait(std::int64_t bucket) { SlotOf(bucket).work->Wait(CommClock::now() + options_.timeout); }

  Communicator& communicator_;
  const QuantizedView flat_;
  const ReduceOptions options_;
  const ReducePartition partition_;
  const std::int64_t code_bytes_;   // of a block
  const std::int64_t block_bytes_;  // with its scale
  std::vector<Slot> slots_;
};

}  // namespace

void QuantizedAllReduce(Communicator& communicator, QuantizedView flat,
                        const ReduceOptions& options) {
  RequireValid(flat, options);
  if (communicator.size() > 1) return QuantizedReduction(communicator, flat, options).Run();
  if (options.factor == 1.0) return;
  const auto factor = static_cast<float>(options.factor);
  const std::int64_t num_blocks = NumBlocks(flat.spec, flat.num_elements);
  for (std::int64_t i = 0; i < num_blocks; ++i) flat.scales[i] *= factor;
}

}  // namespace agoq
