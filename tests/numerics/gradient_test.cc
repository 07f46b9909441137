// The written-out backward against fp64 autograd: every gradient, for what is kept of every site.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/numerics/reference_llama.h"
#include "worker/model/init.h"
#include "worker/model/stage.h"

namespace agoq {
namespace {

// Sums the gradients of each parameter in fp64.
class CapturingSink final : public GradientSink {
 public:
  explicit CapturingSink(const ParameterList& list) : list_(list) {}

  void Add(int parameter, const at::Tensor& gradient) override {
    const at::Tensor copy = gradient.to(at::kDouble).clone();
    at::Tensor& sum = gradients[list_.parameters[parameter].name];
    sum = sum.defined() ? sum + copy : copy;
  }

  std::map<std::string, at::Tensor> gradients;

 private:
  const ParameterList& list_;
};

ModelShape OddShape() {
  return {.vocab_size = 53,
          .hidden_size = 24,
          .num_layers = 2,
          .num_heads = 6,
          .num_kv_heads = 2,
          .head_size = 10,
          .ffn_size = 37,
          .max_positions = 64,
          .norm_epsilon = 1e-5,
          .rope_theta = 10000.0,
          .init_std = 0.3};
}

TokenBatch RandomBatch(const ModelShape& shape, std::int64_t batch, std::int64_t sequence) {
  torch::manual_seed(7);
  TokenBatch tokens = {
      .ids_T = torch::randint(shape.vocab_size, {batch * sequence}, torch::kLong),
      .targets_T = torch::randint(shape.vocab_size, {batch * sequence}, torch::kLong),
      .positions_T = torch::arange(sequence, torch::kLong).repeat({batch}),
      .batch = batch,
      .sequence = sequence};
  tokens.targets_T.index_put_({3}, -100);
  tokens.targets_T.index_put_({batch * sequence - 1}, -100);
  return tokens;
}

struct EngineResult {
  double loss_sum = 0;
  std::map<std::string, at::Tensor> gradients;
  std::map<std::string, at::Tensor> weights;  // fp64
};

EngineResult RunEngine(const ModelShape& shape, ComputeType compute, const TokenBatch& batch,
                       const std::vector<LayerPlan>& plans, double scale) {
  const Stage stage({.shape = shape, .compute = compute, .num_positions = batch.sequence});
  InitializeParameters(stage.parameters(), shape.init_std, 5);
  const ParameterList& list = stage.parameters().list();
  for (int i = 0; i < list.size(); ++i) {  // norm weights of 1 would hide a missing factor
    if (!list.parameters[i].is_matrix()) stage.parameters().tensors()[i].uniform_(0.5, 1.5);
  }
  CapturingSink sink(list);
  EngineResult result;
  result.loss_sum = stage.Backward(batch, stage.Forward(batch, {.layers = plans}), scale, sink);
  result.gradients = sink.gradients;
  for (int i = 0; i < list.size(); ++i) {
    result.weights[list.parameters[i].name] = stage.parameters().tensors()[i].to(at::kDouble);
  }
  return result;
}

// Relative to the gradient, or to 1e-3 where it vanishes: one token attends to itself alone,
// whatever its query and key.
double RelativeError(const at::Tensor& value, const at::Tensor& expected) {
  const double size = std::max(expected.norm().item<double>(), 1e-3);
  return (value - expected).norm().item<double>() / size;
}

void ExpectGradients(const EngineResult& engine, const ReferenceResult& reference,
                     double tolerance) {
  ASSERT_EQ(engine.gradients.size(), reference.gradients.size());
  for (const auto& [name, expected] : reference.gradients) {
    EXPECT_LE(RelativeError(engine.gradients.at(name), expected), tolerance) << name;
  }
}

struct PlanCase {
  std::string name;
  LayerPlan plan;
};

void PrintTo(const PlanCase& plan_case, std::ostream* out) { *out << plan_case.name; }

LayerPlan With(LayerPlan plan, const std::vector<Site>& sites, const SitePolicy& policy) {
  for (const Site site : sites) plan.at(site) = policy;
  return plan;
}

std::vector<PlanCase> PlanCases() {
  const SitePolicy int8 = {PolicyKind::kPacked, {Format::kInt8, 128}};
  const SitePolicy nf4 = {PolicyKind::kPacked, {Format::kNf4, 128}};
  const SitePolicy recompute = {PolicyKind::kRecompute, {}};
  std::vector<PlanCase> cases = {
      {"Full", FullLayer()}, {"Paper", PaperLayer()}, {"BlockRecompute", RecomputeLayer()}};
  for (const Site site : kAllSites) {
    const std::string name(NameOf(site));
    cases.push_back({"Int8_" + name, With(FullLayer(), {site}, int8)});
    cases.push_back({"Nf4_" + name, With(FullLayer(), {site}, nf4)});
  }
  for (const Site site : {Site::kQ, Site::kK, Site::kV, Site::kGate, Site::kUp}) {
    cases.push_back(
        {"Recompute_" + std::string(NameOf(site)), With(FullLayer(), {site}, recompute)});
  }
  cases.push_back(
      {"RecomputeQkvFromInt8",
       With(With(FullLayer(), {Site::kQ, Site::kK, Site::kV}, recompute), {Site::kX1}, int8)});
  cases.push_back({"RecomputeGateUpFromNf4",
                   With(With(FullLayer(), {Site::kGate, Site::kUp}, recompute), {Site::kX2}, nf4)});
  cases.push_back({"AllInt8", With(FullLayer(), {kAllSites.begin(), kAllSites.end()}, int8)});
  cases.push_back({"SmallBlocks", With(FullLayer(), {Site::kGate, Site::kX1, Site::kV},
                                       {PolicyKind::kPacked, {Format::kNf4, 32}})});
  return cases;
}

class GradientTest : public testing::TestWithParam<PlanCase> {
 protected:
  GradientTest() { at::set_num_threads(2); }
};

TEST_P(GradientTest, EqualsAutogradThatUsesTheCopiesInBackwardAlone) {
  const ModelShape shape = OddShape();
  const TokenBatch batch = RandomBatch(shape, 2, 17);
  const std::vector<LayerPlan> plans(2, GetParam().plan);
  const double scale = 1.0 / 32;
  const EngineResult engine = RunEngine(shape, ComputeType::kFloat64, batch, plans, scale);
  const ReferenceResult reference = RunReference(shape, engine.weights, batch, plans, scale);
  EXPECT_NEAR(engine.loss_sum, reference.loss_sum, 1e-10 * reference.loss_sum);
  ExpectGradients(engine, reference, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Sites, GradientTest, testing::ValuesIn(PlanCases()),
                         [](const auto& info) { return info.param.name; });

void ExpectFp64Gradients(const ModelShape& shape, std::int64_t batch_size, std::int64_t sequence) {
  const TokenBatch batch = RandomBatch(shape, batch_size, sequence);
  const std::vector<LayerPlan> plans(static_cast<std::size_t>(shape.num_layers), FullLayer());
  const EngineResult engine = RunEngine(shape, ComputeType::kFloat64, batch, plans, 0.01);
  ExpectGradients(engine, RunReference(shape, engine.weights, batch, plans, 0.01), 1e-10);
}

TEST(ModelGradientTest, TiedHeadSharesOneGradient) {
  ModelShape shape = OddShape();
  shape.tied_head = true;
  ExpectFp64Gradients(shape, 2, 17);
}

TEST(ModelGradientTest, OneKeyHeadForAllQueries) {
  ModelShape shape = OddShape();
  shape.num_kv_heads = 1;
  ExpectFp64Gradients(shape, 1, 40);
}

TEST(ModelGradientTest, AsManyKeyHeadsAsQueries) {
  ModelShape shape = OddShape();
  shape.num_kv_heads = shape.num_heads;
  ExpectFp64Gradients(shape, 3, 5);
}

TEST(ModelGradientTest, SequencesOfOneToken) { ExpectFp64Gradients(OddShape(), 4, 1); }

TEST(ModelGradientTest, SequencesOfSeveralAttentionTiles) {
  ModelShape shape = OddShape();
  shape.num_layers = 1;
  ExpectFp64Gradients(shape, 1, 210);
}

TEST(ModelGradientTest, LargeVocabularyTakesSeveralChunksOfTheHead) {
  ModelShape shape = OddShape();
  shape.vocab_size = 40000;
  shape.num_layers = 1;
  ExpectFp64Gradients(shape, 2, 150);
}

TEST(ModelGradientTest, Float32IsCloseToFloat64) {
  const ModelShape shape = OddShape();
  const TokenBatch batch = RandomBatch(shape, 2, 17);
  const std::vector<LayerPlan> plans(2, FullLayer());
  const EngineResult engine = RunEngine(shape, ComputeType::kFloat32, batch, plans, 1.0 / 32);
  const ReferenceResult reference = RunReference(shape, engine.weights, batch, plans, 1.0 / 32);
  EXPECT_NEAR(engine.loss_sum, reference.loss_sum, 1e-5 * reference.loss_sum);
  ExpectGradients(engine, reference, 1e-4);
}

TEST(ModelGradientTest, BFloat16FollowsFloat64) {
  const ModelShape shape = OddShape();
  const TokenBatch batch = RandomBatch(shape, 2, 17);
  const std::vector<LayerPlan> plans(2, FullLayer());
  const EngineResult engine = RunEngine(shape, ComputeType::kBFloat16, batch, plans, 1.0 / 32);
  const ReferenceResult reference = RunReference(shape, engine.weights, batch, plans, 1.0 / 32);
  EXPECT_NEAR(engine.loss_sum, reference.loss_sum, 2e-2 * reference.loss_sum);
  ExpectGradients(engine, reference, 0.1);
}

}  // namespace
}  // namespace agoq
