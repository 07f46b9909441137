#include "worker/plan/error_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace agoq {
namespace {

LayerPlan WithPacked(std::initializer_list<Site> sites, Format format) {
  LayerPlan plan;
  for (const Site site : sites) plan.at(site) = {PolicyKind::kPacked, {format, kActivationBlock}};
  return plan;
}

TEST(ErrorModel, ChargesNothingForWhatIsKeptFull) {
  const std::vector<LayerPlan> layers(4, FullLayer());
  EXPECT_EQ(PredictError(LargeModelErrors(), layers), 0);
}

TEST(ErrorModel, GivesBackTheTableForOneSiteInAllLayers) {
  for (const std::size_t num_layers : {1U, 2U, 12U}) {
    const std::vector<LayerPlan> layers(num_layers, WithPacked({Site::kGate}, Format::kNf4));
    EXPECT_NEAR(PredictError(LargeModelErrors(), layers), 0.0497, 1e-12);
  }
}

TEST(ErrorModel, GivesTheFirstLayerItsShare) {
  const ErrorTable table = LargeModelErrors();
  const LayerPlan plan = WithPacked({Site::kX1}, Format::kNf4);
  const double whole = 0.0489 * 0.0489;
  EXPECT_NEAR(SquaredError(table, plan, 0, 12), 0.54 * whole, 1e-12);
  EXPECT_NEAR(SquaredError(table, plan, 5, 12), 0.46 / 11 * whole, 1e-12);
}

TEST(ErrorModel, ChargesWhatIsRecomputedLikeItsSource) {
  const ErrorTable table = LargeModelErrors();
  LayerPlan plan = WithPacked({Site::kX1}, Format::kInt8);
  plan.at(Site::kQ).kind = PolicyKind::kRecompute;
  const double x1 = SquaredError(table, WithPacked({Site::kX1}, Format::kInt8), 1, 2);
  const double q = SquaredError(table, WithPacked({Site::kQ}, Format::kInt8), 1, 2);
  EXPECT_NEAR(SquaredError(table, plan, 1, 2), x1 + q, 1e-15);
  plan = WithPacked({Site::kX2}, Format::kNf4);
  plan.at(Site::kUp).kind = PolicyKind::kRecompute;
  const double x2 = SquaredError(table, WithPacked({Site::kX2}, Format::kNf4), 1, 2);
  const double up = SquaredError(table, WithPacked({Site::kUp}, Format::kNf4), 1, 2);
  EXPECT_NEAR(SquaredError(table, plan, 1, 2), x2 + up, 1e-15);
}

TEST(ErrorModel, TakesTheTableOfTheNearerModel) {
  const auto gate = [](const ErrorTable& table) { return table.columns[1].errors[6]; };
  EXPECT_EQ(gate(DefaultErrorTable({.hidden_size = 128})), gate(SmallModelErrors()));
  EXPECT_EQ(gate(DefaultErrorTable({.hidden_size = 768})), gate(LargeModelErrors()));
  EXPECT_EQ(gate(DefaultErrorTable({.hidden_size = 4096})), gate(LargeModelErrors()));
}

TEST(ErrorModel, ChargesNothingForABlockThatRunsAgain) {
  EXPECT_EQ(SquaredError(LargeModelErrors(), RecomputeLayer(), 0, 2), 0);
}

}  // namespace
}  // namespace agoq
