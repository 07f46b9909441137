// The memory model against the counting allocator, over random trainings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "tests/support/local_training.h"
#include "tests/support/temporary_folder.h"
#include "worker/memory/memory_ledger.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMebibyte = 1 << 20;

class RandomTraining {
 public:
  explicit RandomTraining(std::uint64_t seed) : random_(seed) {}

  TrainOptions Next(const std::string& data_prefix) {
    const int num_ranks = Pick({1, 1, 1, 2});
    TrainOptions options = SmallTraining(num_ranks);
    options.data_prefix = data_prefix;
    options.steps = 2;
    options.compute = Pick({ComputeType::kFloat32, ComputeType::kFloat32, ComputeType::kBFloat16,
                            ComputeType::kFloat64});
    if (Pick({0, 1, 2}) == 0) options.gradient_spec.reset();
    ModelShape& model = options.model;
    model.hidden_size = Pick<std::int64_t>({64, 96, 160, 250});
    model.num_layers = Pick<std::int64_t>({1, 2, 4, 7});
    model.num_kv_heads = Pick<std::int64_t>({1, 2, 3});
    model.num_heads = model.num_kv_heads * Pick<std::int64_t>({1, 2});
    model.head_size = Pick<std::int64_t>({16, 32, 50});
    model.ffn_size = Pick<std::int64_t>({90, 256, 700});
    model.vocab_size = Pick<std::int64_t>({256, 999, 20000});
    model.tied_head = Pick({0, 1}) == 1;
    options.sequence_length = Pick<std::int64_t>({32, 100, 256, 800});
    options.micro_batch_size = Pick<std::int64_t>({1, 2, 5});
    options.micro_batches = Pick<std::int64_t>({1, 2});
    options.threads = Pick({1, 2});
    options.error_sample_interval = Pick({0, 1});
    options.plan = UniformPlan(FullLayer(), model.num_layers, num_ranks);
    for (RankPlan& rank : options.plan.ranks) {
      for (LayerPlan& layer : rank.layers) layer = NextLayer();
    }
    return options;
  }

 private:
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }

  LayerPlan NextLayer() {
    const int kind = Pick({0, 1, 2, 3, 3, 3});
    if (kind == 0) return FullLayer();
    if (kind == 1) return PaperLayer();
    if (kind == 2) return RecomputeLayer();
    LayerPlan layer;
    for (const Site site : kAllSites) {
      layer.at(site) = {Pick({PolicyKind::kFull, PolicyKind::kPacked}),
                        {Pick({Format::kInt8, Format::kNf4}), Pick<std::int64_t>({32, 128, 512})}};
    }
    if (layer.at(Site::kX1).kind == PolicyKind::kFull) {
      layer.at(Pick({Site::kQ, Site::kK, Site::kV})).kind = PolicyKind::kRecompute;
    }
    if (Pick({0, 1}) == 1) layer.at(Pick({Site::kGate, Site::kUp})).kind = PolicyKind::kRecompute;
    return layer;
  }

  std::mt19937_64 random_;
};

std::string Labels(const TrainReport& report) {
  std::string text = "measured:";
  for (const LabelBytes& label : report.peak_by_label) {
    text += " " + label.label + " " + std::to_string(label.bytes);
  }
  text += "\npredicted:";
  for (const LabelBytes& label : report.predicted_by_label) {
    text += " " + label.label + " " + std::to_string(label.bytes);
  }
  return text;
}

class MemoryPredictionTest : public testing::Test {
 protected:
  MemoryPredictionTest() { WriteSyntheticText(folder_ / "text", 40000, 1); }

  TemporaryFolder folder_;
};

TEST_F(MemoryPredictionTest, IsNeverUnderAndAtMost3PercentOverForRandomTrainings) {
  RandomTraining random(2026);
  int num_checked = 0;
  for (int round = 0; num_checked < 30; ++round) {
    ASSERT_LT(round, 100) << "too few trainings of 16 MiB";
    const TrainOptions options = random.Next(folder_ / "text");
    const std::vector<TrainReport> reports = RunTraining(options);
    for (std::size_t rank = 0; rank < reports.size(); ++rank) {
      const RankMemory& memory = reports[rank].ranks[rank];
      if (memory.peak_bytes < 16 * kMebibyte) continue;
      ++num_checked;
      EXPECT_GE(memory.predicted_bytes, memory.peak_bytes)
          << "round " << round << " rank " << rank << "\n"
          << Labels(reports[rank]);
      EXPECT_LE(static_cast<double>(memory.predicted_bytes),
                1.03 * static_cast<double>(memory.peak_bytes))
          << "round " << round << " rank " << rank << "\n"
          << Labels(reports[rank]);
    }
  }
}

TEST_F(MemoryPredictionTest, ABudgetBelowThePeakEndsInAnErrorThatListsBytes) {
  TrainOptions options = SmallTraining(1);
  options.data_prefix = folder_ / "text";
  options.steps = 2;
  options.sequence_length = 128;
  options.micro_batch_size = 16;
  const std::int64_t peak = RunTraining(options)[0].ranks[0].peak_bytes;
  options.memory_budget_bytes = peak;
  EXPECT_NO_THROW(RunTraining(options));
  for (const std::int64_t budget : {peak - 1, peak / 2, std::int64_t{100000}}) {
    options.memory_budget_bytes = budget;
    try {
      RunTraining(options);
      ADD_FAILURE() << "no error with a budget of " << budget;
    } catch (const OutOfMemory& error) {
      EXPECT_THAT(error.what(), HasSubstr("weights"));
      EXPECT_THAT(error.what(), HasSubstr(std::to_string(budget)));
    }
  }
}

TEST_F(MemoryPredictionTest, PackedSitesTakeFewerBytesThanFullOnes) {
  TrainOptions options = SmallTraining(1);
  options.data_prefix = folder_ / "text";
  options.steps = 1;
  options.sequence_length = 128;
  options.micro_batch_size = 16;
  const auto bytes = [&](const LayerPlan& layer, const std::string& label) {
    options.plan = UniformPlan(layer, options.model.num_layers, 1);
    for (const LabelBytes& entry : RunTraining(options)[0].peak_by_label) {
      if (entry.label == label) return entry.bytes;
    }
    return std::int64_t{0};
  };
  const std::int64_t elements = 16 * 128 * options.model.ffn_size * options.model.num_layers;
  EXPECT_EQ(bytes(FullLayer(), "gate"), elements * 4);
  EXPECT_EQ(bytes(PaperLayer(), "gate"), elements / 2 + elements / 128 * 4);
}

}  // namespace
}  // namespace agoq
