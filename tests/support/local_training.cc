#include "tests/support/local_training.h"

#include <atomic>
#include <exception>
#include <random>
#include <thread>

#include "worker/comm/gloo_communicator.h"
#include "worker/comm/local_communicator.h"
#include "worker/comm/memory_key_value_store.h"
#include "worker/data/token_dataset_writer.h"
#include "worker/memory/counting_allocator.h"
#include "worker/train/trainer.h"

namespace agoq {
namespace {

class StoppingListener final : public TrainListener {
 public:
  StoppingListener(int stop_after_step, std::atomic<bool>& stop_request)
      : stop_after_step_(stop_after_step), stop_request_(stop_request) {}

  void OnNote(const std::string&) override {}
  void OnCheckpoint(const std::string&) override {}
  // The request is seen by the next step's agreement.
  void OnStep(const StepReport& step) override {
    if (step.step == stop_after_step_ - 1) stop_request_ = true;
  }

 private:
  const int stop_after_step_;
  std::atomic<bool>& stop_request_;
};

std::unique_ptr<Communicator> Connect(Transport transport, LocalGroup& local,
                                      KeyValueStore& rendezvous, int rank, int size) {
  if (transport == Transport::kLocal) return local.Join(rank);
  return ConnectGloo({.rank = rank, .size = size}, rendezvous);
}

}  // namespace

void WriteSyntheticText(const std::string& prefix, std::int64_t num_tokens, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<std::int64_t>> words(50);
  for (auto& word : words) {
    word.resize(2 + random() % 7);
    for (std::int64_t& letter : word) letter = 'a' + static_cast<std::int64_t>(random() % 26);
    word.push_back(' ');
  }
  TokenDatasetWriter writer(prefix, TokenWidth::k16Bit);
  std::size_t last = 0;
  while (writer.num_tokens() < num_tokens) {
    last = (last * 7 + random() % 3) % words.size();
    writer.Append(words[last]);
  }
  writer.EndDocument();
  writer.Commit();
}

TrainOptions SmallTraining(int num_ranks) {
  TrainOptions options;
  options.model = {.vocab_size = 256,
                   .hidden_size = 48,
                   .num_layers = 2,
                   .num_heads = 6,
                   .num_kv_heads = 2,
                   .head_size = 10,
                   .ffn_size = 100,
                   .max_positions = 128};
  options.plan = UniformPlan(FullLayer(), options.model.num_layers, num_ranks);
  options.optimizer.learning_rate = 1e-3;
  options.optimizer.warmup_steps = 10;
  options.sequence_length = 24;
  options.micro_batch_size = 4;
  options.model_config_json = "{}";
  options.plan_json = "{}";
  return options;
}

std::vector<TrainReport> RunTraining(const TrainOptions& options, const TrainingRun& run) {
  InstallCountingAllocator();
  const int size = static_cast<int>(options.plan.ranks.size());
  LocalGroup local(size);
  MemoryKeyValueStore rendezvous;
  std::atomic<bool> stop_request = run.stop_after_step == 1;
  std::vector<TrainReport> reports(static_cast<std::size_t>(size));
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const auto communicator = Connect(run.transport, local, rendezvous, rank, size);
        StoppingListener listener(rank == 0 ? run.stop_after_step : 0, stop_request);
        reports[rank] = Train(
            options,
            {.communicator = *communicator, .stop_request = stop_request, .listener = listener});
      } catch (...) {
        errors[rank] = std::current_exception();
      }
    });
  }
  threads.clear();
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
  return reports;
}

}  // namespace agoq
