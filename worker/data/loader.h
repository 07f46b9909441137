// A rank's micro-batches of each training step, read ahead.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "worker/data/batch.h"
#include "worker/data/sampler.h"
#include "worker/data/token_dataset.h"

namespace agoq {

struct LoaderOptions {
  std::uint64_t seed = 0;
  std::int64_t rank = 0;
  std::int64_t world = 1;
  std::int64_t micro_batch_size = 1;  // rows
  std::int64_t micro_batches = 1;     // of one rank in a step
  std::int64_t sequence_length = 0;   // tokens of a row
  std::int64_t start_step = 0;
};

// Global sample index of row b of micro-batch m of rank r in step s:
//   ((s * world + r) * micro_batches + m) * micro_batch_size + b
// so one rank with 2 micro-batches and two ranks with 1 see the same micro-batches in the same
// order. Sample i is the tokens [i * T, i * T + T] of the data set (T + 1 of them: the last is a
// target only). Rows cross document bounds; document_starts says where.
//
// One thread reads at most one step ahead. It allocates nothing: tensors are made by the thread
// that calls the constructor and NextStep, so memory labels are the caller's; at most two steps of
// batches exist at a time, besides those that the caller keeps.
class Loader {
 public:
  // Borrows `dataset`, which must outlive it. Throws std::invalid_argument: a sequence longer than
  // the data, fewer samples than a global batch, a count below one.
  Loader(const TokenDataset& dataset, const LoaderOptions& options);
  ~Loader();

  std::int64_t next_step() const { return next_step_; }
  // Samples that all ranks have been given so far; what a checkpoint keeps.
  std::int64_t next_sample() const { return next_step_ * global_batch_; }
  std::int64_t samples_per_epoch() const { return sampler_.samples_per_epoch(); }

  // Waits for the prefetched step, starts the next one.
  std::vector<Batch> NextStep();

 private:
  void StartPrefetch();
  void Run(std::stop_token stop);
  void FillStep(std::int64_t step, std::vector<Batch>& batches) const;

  const TokenDataset& dataset_;
  LoaderOptions options_;
  std::int64_t global_batch_;
  Sampler sampler_;
  std::int64_t next_step_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_, except that the reading thread owns batches_ while filling_.
  bool filling_ = false;
  std::vector<Batch> batches_;
  std::exception_ptr failure_;

  std::jthread thread_;  // last: ends first
};

}  // namespace agoq
