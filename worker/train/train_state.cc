#include "worker/train/train_state.h"

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "worker/model/init.h"

namespace agoq {
namespace {

constexpr char kModelShard[] = "model.safetensors";
constexpr char kOptimizerShard[] = "optimizer.safetensors";

// The tensor of a state under a name of its own.
struct Slot {
  std::string name;
  at::Tensor tensor;
};

std::vector<Slot> WeightSlots(const Parameters& parameters) {
  std::vector<Slot> slots;
  for (int i = 0; i < parameters.list().size(); ++i) {
    slots.push_back({parameters.list().parameters[i].name, parameters.tensors()[i]});
  }
  return slots;
}

std::vector<Slot> OptimizerSlots(const TrainState& state) {
  std::vector<Slot> slots;
  const ParameterList& list = state.stage.parameters().list();
  for (int i = 0; i < list.size(); ++i) {
    const std::string& name = list.parameters[i].name;
    const OptimizerState& tensors = state.optimizer.states()[i];
    if (tensors.master.defined()) slots.push_back({name + ".master", tensors.master});
    slots.push_back({name + ".exp_avg", tensors.moment1});
    slots.push_back({name + ".exp_avg_sq", tensors.moment2});
  }
  return slots;
}

std::vector<NamedTensor> Named(const std::vector<Slot>& slots) {
  std::vector<NamedTensor> named;
  for (const Slot& slot : slots) named.push_back({slot.name, slot.tensor});
  return named;
}

std::string Describe(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.scalar_type() << " " << tensor.sizes();
  return text.str();
}

const CheckpointShard& ShardOf(const Checkpoint& checkpoint, const std::string& file) {
  for (const CheckpointShard& shard : checkpoint.shards) {
    if (shard.file == file) return shard;
  }
  throw std::runtime_error("checkpoint has no " + file +
                           "; it was not written by this version of agoq, choose another one");
}

// What to copy where, once all of it was found to fit.
struct Copy {
  at::Tensor to;
  at::Tensor from;
};

void Match(const std::vector<Slot>& slots, const CheckpointShard& shard,
           std::vector<Copy>& copies) {
  std::map<std::string, at::Tensor> stored;
  for (const NamedTensor& tensor : shard.tensors) stored[tensor.name] = tensor.tensor;
  constexpr char kRemedy[] =
      "; the checkpoint is of another model: use its own job, or another checkpoint folder";
  for (const Slot& slot : slots) {
    const auto found = stored.find(slot.name);
    if (found == stored.end()) {
      throw std::invalid_argument("checkpoint: " + shard.file + " has no tensor " + slot.name +
                                  kRemedy);
    }
    if (found->second.sizes() != slot.tensor.sizes() ||
        found->second.scalar_type() != slot.tensor.scalar_type()) {
      throw std::invalid_argument("checkpoint: " + slot.name + " is " + Describe(found->second) +
                                  ", the job's model has " + Describe(slot.tensor) + kRemedy);
    }
    copies.push_back({slot.tensor, found->second});
  }
  if (stored.size() == slots.size()) return;
  for (const Slot& slot : slots) stored.erase(slot.name);
  throw std::invalid_argument("checkpoint: " + shard.file + " has " + stored.begin()->first +
                              ", which the job's model does not have" + kRemedy);
}

void Apply(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies) copy.to.copy_(copy.from);
}

std::string ScheduleJson(const TrainOptions& options) {
  const OptimizerOptions& optimizer = options.optimizer;
  return nlohmann::json{{"learning_rate", optimizer.learning_rate},
                        {"beta1", optimizer.beta1},
                        {"beta2", optimizer.beta2},
                        {"epsilon", optimizer.epsilon},
                        {"weight_decay", optimizer.weight_decay},
                        {"clip_norm", optimizer.clip_norm},
                        {"warmup_steps", optimizer.warmup_steps},
                        {"min_rate_ratio", optimizer.min_rate_ratio},
                        {"steps", options.steps},
                        {"max_seconds", options.max_seconds}}
      .dump();
}

StageOptions StageOptionsOf(const TrainOptions& options) {
  return {
      .shape = options.model, .compute = options.compute, .num_positions = options.sequence_length};
}

}  // namespace

TrainState::TrainState(const TrainOptions& options)
    : stage(StageOptionsOf(options)), optimizer(stage.parameters(), options.optimizer) {
  InitializeParameters(stage.parameters(), options.model.init_std, options.seed);
  optimizer.CopyMasters();
}

Checkpoint TakeCheckpoint(const TrainState& state, const TrainOptions& options,
                          const DataPosition& position) {
  Checkpoint checkpoint;
  checkpoint.shards = {{kModelShard, Named(WeightSlots(state.stage.parameters()))},
                       {kOptimizerShard, Named(OptimizerSlots(state))}};
  checkpoint.counters = state.counters;
  checkpoint.data_position = position;
  checkpoint.mesh.data = static_cast<std::int64_t>(options.plan.ranks.size());
  checkpoint.generation = options.generation;
  checkpoint.config_json = options.model_config_json;
  checkpoint.plan_json = options.plan_json;
  checkpoint.schedule_json = ScheduleJson(options);
  return checkpoint;
}

void RestoreCheckpoint(const Checkpoint& checkpoint, TrainState& state) {
  std::vector<Copy> copies;
  Match(WeightSlots(state.stage.parameters()), ShardOf(checkpoint, kModelShard), copies);
  Match(OptimizerSlots(state), ShardOf(checkpoint, kOptimizerShard), copies);
  Apply(copies);
  state.counters = checkpoint.counters;
}

void RestoreWeights(const Checkpoint& checkpoint, const Parameters& parameters) {
  std::vector<Copy> copies;
  Match(WeightSlots(parameters), ShardOf(checkpoint, kModelShard), copies);
  Apply(copies);
}

}  // namespace agoq
