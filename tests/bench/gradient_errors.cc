// What a policy does to the whole weight gradient of a trained model, beside what the planner's
// table predicts.
//
//   gradient_errors CHECKPOINT DATA_PREFIX [SEQUENCES [LENGTH]]
//
// One line a policy: name, predicted and measured relative error. Read by gradient_errors.py.
#include <ATen/core/Tensor.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "worker/data/evaluation_batches.h"
#include "worker/model/stage.h"
#include "worker/plan/bit_planner.h"
#include "worker/train/checkpoint.h"
#include "worker/train/micro_batch.h"
#include "worker/train/train_state.h"
#include "worker/trainer/checkpoint_source.h"

namespace agoq {
namespace {

struct Policy {
  std::string name;
  std::vector<LayerPlan> layers;
};

class Gradients : public GradientSink {
 public:
  explicit Gradients(int num_parameters) : sums_(static_cast<std::size_t>(num_parameters)) {}

  void Add(int parameter, const at::Tensor& gradient) override {
    at::Tensor& sum = sums_[static_cast<std::size_t>(parameter)];
    const at::Tensor exact = gradient.to(at::kDouble);
    sum = sum.defined() ? sum.add(exact) : exact.clone();
  }
  double SquaredNorm() const {
    double sum = 0;
    for (const at::Tensor& gradient : sums_) sum += std::pow(gradient.norm().item().toDouble(), 2);
    return sum;
  }
  double SquaredDistance(const Gradients& other) const {
    double sum = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sum += std::pow(sums_[i].sub(other.sums_[i]).norm().item().toDouble(), 2);
    }
    return sum;
  }

 private:
  std::vector<at::Tensor> sums_;
};

class ErrorMeter {
 public:
  ErrorMeter(const Stage& stage, std::vector<TokenBatch> batches)
      : stage_(stage), batches_(std::move(batches)) {}

  Gradients Run(const std::vector<LayerPlan>& layers) const {
    Gradients gradients(stage_.parameters().list().size());
    for (const TokenBatch& batch : batches_) {
      stage_.Backward(batch, stage_.Forward(batch, {.layers = layers}), 1e-3, gradients);
    }
    return gradients;
  }

 private:
  const Stage& stage_;
  const std::vector<TokenBatch> batches_;
};

std::vector<LayerPlan> AllLayers(const ModelShape& model, const LayerPlan& layer) {
  return std::vector<LayerPlan>(static_cast<std::size_t>(model.num_layers), layer);
}

PlannerInput InputOf(const ModelShape& model, std::int64_t sequences, std::int64_t length) {
  PlannerInput input;
  input.memory = {.model = model,
                  .gradient_spec = QuantSpec{Format::kInt8, kGradientBlock},
                  .layers = AllLayers(model, FullLayer()),
                  .micro_batch_size = sequences,
                  .sequence_length = length};
  input.errors = DefaultErrorTable(model);
  return input;
}

std::vector<Policy> Policies(const ModelShape& model, std::int64_t sequences, std::int64_t length) {
  std::vector<Policy> policies;
  for (const ErrorTable::Column& column : DefaultErrorTable(model).columns) {
    for (const Site site : kAllSites) {
      LayerPlan layer = FullLayer();
      layer.at(site) = {PolicyKind::kPacked, {column.format, kActivationBlock}};
      policies.push_back({std::string(NameOf(column.format)) + " " + std::string(NameOf(site)),
                          AllLayers(model, layer)});
    }
  }
  for (const Site site : kAllSites) {
    for (std::int64_t layer = 0; layer < model.num_layers; ++layer) {
      std::vector<LayerPlan> layers = AllLayers(model, FullLayer());
      layers[static_cast<std::size_t>(layer)].at(site) = {PolicyKind::kPacked,
                                                          {Format::kNf4, kActivationBlock}};
      policies.push_back(
          {"nf4 " + std::string(NameOf(site)) + " layer " + std::to_string(layer), layers});
    }
  }
  policies.push_back({"paper", AllLayers(model, PaperLayer())});
  PlannerInput input = InputOf(model, sequences, length);
  const RankOutcome paper = CheckLayers(input, AllLayers(model, PaperLayer()));
  for (const double part : {1.0, 0.75, 0.5}) {
    input.saved_budget_bytes =
        static_cast<std::int64_t>(static_cast<double>(paper.saved_bytes) * part);
    const RankOutcome outcome = PlanAuto(input);
    if (!outcome.fits) continue;
    const int percent = static_cast<int>(100 * part);
    policies.push_back(
        {"auto at " + std::to_string(percent) + "% of the paper's bytes", outcome.layers});
  }
  return policies;
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: gradient_errors CHECKPOINT DATA_PREFIX [SEQUENCES [LENGTH]]\n";
    return 2;
  }
  const std::int64_t sequences = argc > 3 ? std::atoll(argv[3]) : 16;
  const std::int64_t length = argc > 4 ? std::atoll(argv[4]) : 128;
  const CheckpointSource source = FindCheckpoint(argv[1]);
  const ModelShape model = ShapeOfConfig(source.config_json, source.path + ": config");
  const Stage stage({.shape = model, .num_positions = length});
  RestoreWeights(ReadCheckpoint(source.path), stage.parameters());
  const TokenDataset dataset(argv[2]);
  const EvaluationBatches data(dataset, {.batch_size = sequences, .sequence_length = length});
  constexpr std::int64_t kBatches = 4;
  std::vector<TokenBatch> batches;
  for (std::int64_t i = 0; i < std::min(kBatches, data.num_batches()); ++i) {
    batches.push_back(TokenBatchOf(data.At(i)));
  }
  const ErrorMeter meter(stage, std::move(batches));
  const Gradients exact = meter.Run(AllLayers(model, FullLayer()));
  for (const Policy& policy : Policies(model, sequences, length)) {
    const double measured =
        std::sqrt(meter.Run(policy.layers).SquaredDistance(exact) / exact.SquaredNorm());
    std::cout << policy.name << "\t" << PredictError(DefaultErrorTable(model), policy.layers)
              << "\t" << measured << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace agoq

int main(int argc, char** argv) {
  try {
    return agoq::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "gradient_errors: " << error.what() << "\n";
    return 1;
  }
}
