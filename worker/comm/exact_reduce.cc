#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "worker/comm/quantized_reduce.h"
#include "worker/plan/reduce_workspace.h"

namespace agoq {
namespace {

using Range = ReducePartition::Range;

void RequireValid(const ReduceOptions& options) {
  if (options.bucket_elements >= 1 && options.factor > 0.0 && std::isfinite(options.factor)) return;
  throw std::invalid_argument("exact all-reduce: bucket of " +
                              std::to_string(options.bucket_elements) + " elements, factor " +
                              std::to_string(options.factor) + "; both must be positive");
}

// values = factor * sum of the parts in the order given; one of them is `values` itself.
template <typename T>
void SumInOrder(const std::vector<const T*>& parts, std::span<T> values, double factor) {
  constexpr std::int64_t kGrain = 1 << 15;
  const T scale = static_cast<T>(factor);
  at::parallel_for(0, static_cast<std::int64_t>(values.size()), kGrain,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       T sum = parts[0][i];
                       for (std::size_t r = 1; r < parts.size(); ++r) sum += parts[r][i];
                       values[static_cast<std::size_t>(i)] = factor == 1.0 ? sum : sum * scale;
                     }
                   });
}

template <typename T>
at::Tensor EmptyBytes(std::int64_t num_elements) {
  return at::empty({num_elements * static_cast<std::int64_t>(sizeof(T))},
                   at::TensorOptions().dtype(at::kByte));
}

// The pipeline over buckets. A slot holds the other ranks' parts of this rank's share; everything
// else stays in place.
template <typename T>
class ExactReduction {
 public:
  ExactReduction(Communicator& communicator, std::span<T> values, const ReduceOptions& options)
      : communicator_(communicator),
        values_(values),
        options_(options),
        partition_(PartitionElements(static_cast<std::int64_t>(values.size()), communicator.size(),
                                     options.bucket_elements)),
        slots_(static_cast<std::size_t>(partition_.num_slots())) {
    for (Slot& slot : slots_) {
      slot.memory = EmptyBytes<T>((communicator.size() - 1) * partition_.max_share());
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
      const std::int64_t next = b + partition_.num_slots();
      if (next < num_buckets) PostShares(next);
    }
  }

 private:
  struct Slot {
    at::Tensor memory;
    std::unique_ptr<Work> work;  // declared after the memory it uses, so that it goes first
  };

  Slot& SlotOf(std::int64_t bucket) {
    return slots_[static_cast<std::size_t>(bucket % partition_.num_slots())];
  }
  std::span<T> Values(Range range) const {
    return values_.subspan(static_cast<std::size_t>(range.begin),
                           static_cast<std::size_t>(range.count));
  }
  std::span<T> Share(std::int64_t bucket, int rank) const {
    return Values(partition_.Share(bucket, rank));
  }
  std::span<T> Incoming(std::int64_t bucket, int peer) {
    const std::int64_t index = peer < communicator_.rank() ? peer : peer - 1;
    T* const begin = static_cast<T*>(SlotOf(bucket).memory.mutable_data_ptr());
    return {begin + index * partition_.max_share(), Share(bucket, communicator_.rank()).size()};
  }

  void PostShares(std::int64_t bucket) {
    const auto world = static_cast<std::size_t>(communicator_.size());
    std::vector<ConstBytes> send(world);
    std::vector<MutableBytes> receive(world);
    for (int peer = 0; peer < communicator_.size(); ++peer) {
      if (peer == communicator_.rank()) continue;
      send[peer] = std::as_bytes(Share(bucket, peer));
      receive[peer] = std::as_writable_bytes(Incoming(bucket, peer));
    }
    SlotOf(bucket).work = communicator_.AllToAll(std::move(send), std::move(receive));
  }

  void SumOwnShare(std::int64_t bucket) {
    const std::span<T> own = Share(bucket, communicator_.rank());
    std::vector<const T*> parts;
    for (int peer = 0; peer < communicator_.size(); ++peer) {
      parts.push_back(peer == communicator_.rank() ? own.data() : Incoming(bucket, peer).data());
    }
    SumInOrder<T>(parts, own, options_.factor);
  }

  void PostSum(std::int64_t bucket) {
    std::vector<MutableBytes> receive;
    for (int peer = 0; peer < communicator_.size(); ++peer) {
      receive.push_back(std::as_writable_bytes(Share(bucket, peer)));
    }
    SlotOf(bucket).work = communicator_.AllGather(
        std::as_bytes(Share(bucket, communicator_.rank())), std::move(receive));
  }

  void Wait(std::int64_t bucket) { SlotOf(bucket).work->Wait(CommClock::now() + options_.timeout); }

  Communicator& communicator_;
  const std::span<T> values_;
  const ReduceOptions options_;
  const ReducePartition partition_;
  std::vector<Slot> slots_;
};

template <typename T>
void GatherAndSum(Communicator& communicator, std::span<T> values, const ReduceOptions& options) {
  const int world = communicator.size();
  const at::Tensor memory = EmptyBytes<T>((world - 1) * static_cast<std::int64_t>(values.size()));
  T* next = static_cast<T*>(memory.mutable_data_ptr());
  std::vector<const T*> parts;
  std::vector<MutableBytes> receive;
  for (int peer = 0; peer < world; ++peer) {
    const bool own = peer == communicator.rank();
    const std::span<T> part = own ? values : std::span<T>(next, values.size());
    if (!own) next += values.size();
    parts.push_back(part.data());
    receive.push_back(std::as_writable_bytes(part));
  }
  communicator.AllGather(std::as_bytes(values), std::move(receive))
      ->Wait(CommClock::now() + options.timeout);
  SumInOrder<T>(parts, values, options.factor);
}

}  // namespace

void ExactAllReduce(Communicator& communicator, std::span<float> values,
                    const ReduceOptions& options) {
  RequireValid(options);
  ExactReduction<float>(communicator, values, options).Run();
}

void ExactAllReduce(Communicator& communicator, std::span<double> values,
                    const ReduceOptions& options) {
  RequireValid(options);
  ExactReduction<double>(communicator, values, options).Run();
}

void SmallAllReduce(Communicator& communicator, std::span<float> values,
                    const ReduceOptions& options) {
  RequireValid(options);
  GatherAndSum<float>(communicator, values, options);
}

void SmallAllReduce(Communicator& communicator, std::span<double> values,
                    const ReduceOptions& options) {
  RequireValid(options);
  GatherAndSum<double>(communicator, values, options);
}

}  // namespace agoq
