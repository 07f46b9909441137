#include "worker/data/loader.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace agoq {
namespace {

void RequirePositive(std::int64_t value, const char* name) {
  if (value > 0) return;
  throw std::invalid_argument(std::string("loader: ") + name + " " + std::to_string(value) +
                              ": must be at least 1");
}

LoaderOptions Checked(const TokenDataset& dataset, const LoaderOptions& options) {
  RequirePositive(options.world, "ranks");
  RequirePositive(options.micro_batch_size, "micro-batch size");
  RequirePositive(options.micro_batches, "micro-batches");
  RequirePositive(options.sequence_length, "sequence length");
  if (options.rank < 0 || options.rank >= options.world) {
    throw std::invalid_argument("loader: rank " + std::to_string(options.rank) + ": there are " +
                                std::to_string(options.world) + " ranks");
  }
  if (options.start_step < 0) {
    throw std::invalid_argument("loader: start step " + std::to_string(options.start_step) +
                                ": must not be negative");
  }
  if (dataset.num_tokens() > options.sequence_length) return options;
  throw std::invalid_argument("sequence length " + std::to_string(options.sequence_length) + ": " +
                              dataset.prefix() + " has " + std::to_string(dataset.num_tokens()) +
                              " tokens, and a sequence needs one more than its length; use more "
                              "data or shorter sequences");
}

}  // namespace

Loader::Loader(const TokenDataset& dataset, const LoaderOptions& options)
    : dataset_(dataset),
      options_(Checked(dataset, options)),
      global_batch_(options.world * options.micro_batches * options.micro_batch_size),
      sampler_({.num_samples = (dataset.num_tokens() - 1) / options.sequence_length,
                .batch_size = global_batch_,
                .seed = options.seed}),
      next_step_(options.start_step) {
  StartPrefetch();
  thread_ = std::jthread([this](std::stop_token stop) { Run(std::move(stop)); });
}

Loader::~Loader() = default;

// With the reading thread idle or not there yet: tensors are made here, on the caller's thread.
void Loader::StartPrefetch() {
  std::vector<Batch> batches;
  for (std::int64_t i = 0; i < options_.micro_batches; ++i) {
    batches.push_back(EmptyBatch(options_.micro_batch_size, options_.sequence_length));
  }
  const std::lock_guard lock(mutex_);
  batches_ = std::move(batches);
  filling_ = true;
  changed_.notify_all();
}

std::vector<Batch> Loader::NextStep() {
  std::vector<Batch> ready;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !filling_; });
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    ready = std::move(batches_);
    ++next_step_;
  }
  StartPrefetch();
  return ready;
}

void Loader::Run(std::stop_token stop) {
  while (true) {
    std::int64_t step = 0;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return filling_; })) return;
      step = next_step_;
    }
    std::exception_ptr failure;
    try {
      FillStep(step, batches_);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    filling_ = false;
    changed_.notify_all();
  }
}

void Loader::FillStep(std::int64_t step, std::vector<Batch>& batches) const {
  for (std::int64_t m = 0; m < options_.micro_batches; ++m) {
    const std::int64_t micro_batch =
        (step * options_.world + options_.rank) * options_.micro_batches + m;
    for (std::int64_t row = 0; row < options_.micro_batch_size; ++row) {
      const std::int64_t global_index = micro_batch * options_.micro_batch_size + row;
      const std::int64_t sample = sampler_.SampleAt(global_index).sample;
      FillRow(dataset_, sample * options_.sequence_length, row, batches[m]);
    }
  }
}

}  // namespace agoq
