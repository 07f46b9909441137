#include "worker/daemon/worker_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <algorithm>

#include "tests/unit/daemon/moved_clock.h"

namespace agoq {
namespace {

using testing::HasSubstr;
using testing::Not;

class WorkerMetricsTest : public testing::Test {
 protected:
  std::string Text() const { return prometheus::TextSerializer().Serialize(registry_.Collect()); }
  std::ptrdiff_t NumLines() const {
    const std::string text = Text();
    return std::count(text.begin(), text.end(), '\n');
  }
  static v1::TrainerStep Step() {
    v1::TrainerStep step;
    step.set_step(7);
    step.set_tokens(100);
    step.set_seconds(0.2);
    step.set_loss(1.5);
    step.set_gradient_norm(0.5);
    v1::LabelBytes& weights = *step.add_peak();
    weights.set_label("weights");
    weights.set_bytes(11);
    v1::LabelBytes& gate = *step.add_peak();
    gate.set_label("gate");
    gate.set_bytes(22);
    v1::SiteError& error = *step.add_errors();
    error.set_site("gate");
    error.set_ratio(0.01);
    error.set_worst_layer(3);
    return step;
  }
  static RankFigures Figures() {
    RankFigures figures;
    v1::LabelBytes& bytes = figures.planned.emplace_back();
    bytes.set_label("q");
    bytes.set_bytes(33);
    figures.layers_by_bits["4"] = 1.5;
    return figures;
  }

  MovedClock clock_;
  prometheus::Registry registry_;
  WorkerMetrics metrics_{
      {.worker = "w1", .version = "9.9", .series_life = std::chrono::seconds(60)}, registry_};
};

TEST_F(WorkerMetricsTest, ShowsTheWorkerAndItsDevices) {
  v1::Device device;
  device.set_kind(v1::Device::KIND_CUDA);
  device.set_uuid("GPU-1");
  device.set_total_bytes(1000);
  device.set_free_bytes(600);
  device.set_foreign_bytes(400);
  metrics_.SetDevices({device});
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("agoq_build_info{"));
  EXPECT_THAT(text, HasSubstr("version=\"9.9\""));
  EXPECT_THAT(text, HasSubstr("gpu_uuid=\"GPU-1\""));
  EXPECT_THAT(text, HasSubstr("worker=\"w1\""));
  EXPECT_THAT(text, HasSubstr("agoq_device_memory_total_bytes{device=\"0\"} 1000"));
  EXPECT_THAT(text, HasSubstr("agoq_device_memory_free_bytes{device=\"0\"} 600"));
  EXPECT_THAT(text, HasSubstr("agoq_device_memory_foreign_bytes{device=\"0\"} 400"));
}

TEST_F(WorkerMetricsTest, ShowsTheConnection) {
  metrics_.SetConnected(true);
  metrics_.CountReconnect();
  metrics_.SetOrphanSeconds(3);
  EXPECT_THAT(Text(), HasSubstr("agoq_coordinator_connected 1"));
  EXPECT_THAT(Text(), HasSubstr("agoq_reconnects_total 1"));
  EXPECT_THAT(Text(), HasSubstr("agoq_orphan_seconds 3"));
}

TEST_F(WorkerMetricsTest, ShowsAJobsStepsOnRankZero) {
  const RankLabel rank = {"demo", 0};
  metrics_.BeginAttempt(rank, Figures());
  metrics_.AddStep(rank, Step());
  metrics_.AddCheckpoint(rank, 0.3, Clock::Wall(std::chrono::seconds(1700000000)));
  const std::string text = Text();
  const std::string labels = "{rank=\"0\",training_job=\"demo\"}";
  EXPECT_THAT(text, HasSubstr("agoq_step" + labels + " 7"));
  EXPECT_THAT(text, HasSubstr("agoq_steps_total" + labels + " 1"));
  EXPECT_THAT(text, HasSubstr("agoq_step_seconds_count" + labels + " 1"));
  EXPECT_THAT(text, HasSubstr("agoq_tokens_total" + labels + " 100"));
  EXPECT_THAT(text, HasSubstr("agoq_loss{training_job=\"demo\"} 1.5"));
  EXPECT_THAT(text, HasSubstr("agoq_gradient_norm{training_job=\"demo\"} 0.5"));
  EXPECT_THAT(text, HasSubstr("agoq_nonfinite_total{training_job=\"demo\"} 0"));
  EXPECT_THAT(text, HasSubstr("agoq_checkpoint_seconds_count" + labels + " 1"));
  EXPECT_THAT(text, HasSubstr("agoq_last_checkpoint_timestamp_seconds" + labels + " 1700000000"));
}

TEST_F(WorkerMetricsTest, ShowsBytesBitsAndErrorsBySite) {
  const RankLabel rank = {"demo", 1};
  metrics_.BeginAttempt(rank, Figures());
  metrics_.AddStep(rank, Step());
  const std::string text = Text();
  const std::string end = ",training_job=\"demo\"} ";
  EXPECT_THAT(
      text, HasSubstr("agoq_memory_used_bytes{kind=\"weights\",rank=\"1\",site=\"\"" + end + "11"));
  EXPECT_THAT(text, HasSubstr("agoq_memory_used_bytes{kind=\"activations\",rank=\"1\"," +
                              ("site=\"gate\"" + end) + "22"));
  EXPECT_THAT(text, HasSubstr("agoq_memory_planned_bytes{kind=\"activations\",rank=\"1\"," +
                              ("site=\"q\"" + end) + "33"));
  EXPECT_THAT(text, HasSubstr("agoq_activation_layers{bits=\"4\",rank=\"1\"" + end + "1.5"));
  EXPECT_THAT(text, HasSubstr("agoq_quantization_error_ratio{rank=\"1\",site=\"gate\"" + end));
  EXPECT_THAT(
      text, HasSubstr("agoq_quantization_error_worst_layer{rank=\"1\",site=\"gate\"" + end + "3"));
}

TEST_F(WorkerMetricsTest, TheLossComesFromRankZeroAlone) {
  metrics_.BeginAttempt({"demo", 1}, {});
  metrics_.AddStep({"demo", 1}, Step());
  EXPECT_THAT(Text(), Not(HasSubstr("agoq_loss{")));
}

TEST_F(WorkerMetricsTest, SkippedStepsAndAttemptsOutOfMemoryAreCounted) {
  const RankLabel rank = {"demo", 0};
  v1::TrainerStep step = Step();
  step.set_skipped(true);
  metrics_.AddStep(rank, step);
  metrics_.EndAttempt(rank, v1::ATTEMPT_CAUSE_OOM, clock_.Now());
  EXPECT_THAT(Text(), HasSubstr("agoq_nonfinite_total{training_job=\"demo\"} 1"));
  EXPECT_THAT(Text(), HasSubstr("agoq_oom_total 1"));
}

TEST_F(WorkerMetricsTest, SeriesGoWhenTheirTimeIsOver) {
  const std::ptrdiff_t before = NumLines();
  metrics_.BeginAttempt({"demo", 0}, Figures());
  metrics_.AddStep({"demo", 0}, Step());
  metrics_.EndAttempt({"demo", 0}, v1::ATTEMPT_CAUSE_COMPLETED, clock_.Now());
  clock_.Move(std::chrono::seconds(59));
  metrics_.Expire(clock_.Now());
  EXPECT_THAT(Text(), HasSubstr("training_job=\"demo\""));
  clock_.Move(std::chrono::seconds(1));
  metrics_.Expire(clock_.Now());
  EXPECT_EQ(NumLines(), before);
}

TEST_F(WorkerMetricsTest, ANewAttemptKeepsTheSeriesOfTheOneBefore) {
  const RankLabel rank = {"demo", 0};
  metrics_.AddStep(rank, Step());
  metrics_.EndAttempt(rank, v1::ATTEMPT_CAUSE_RANK_EXIT, clock_.Now());
  metrics_.BeginAttempt(rank, {});
  clock_.Move(std::chrono::hours(1));
  metrics_.Expire(clock_.Now());
  metrics_.AddStep(rank, Step());
  EXPECT_THAT(Text(), HasSubstr("agoq_steps_total{rank=\"0\",training_job=\"demo\"} 2"));
}

// K-04: per-job series must not pile up.
TEST_F(WorkerMetricsTest, SeriesDoNotGrowOverManyShortJobs) {
  const auto run = [this](int i) {
    const RankLabel rank = {"job" + std::to_string(i), 0};
    metrics_.BeginAttempt(rank, Figures());
    metrics_.AddStep(rank, Step());
    metrics_.EndAttempt(rank, v1::ATTEMPT_CAUSE_COMPLETED, clock_.Now());
    clock_.Move(std::chrono::milliseconds(10));
  };
  for (int i = 0; i < 5; ++i) run(i);
  const std::ptrdiff_t before = NumLines();
  for (int i = 5; i < 205; ++i) run(i);
  EXPECT_EQ(NumLines(), before);
  EXPECT_THAT(Text(), HasSubstr("job204"));
}

// K-04: bad label text must not break the scrape.
TEST_F(WorkerMetricsTest, LabelTextIsEscaped) {
  metrics_.AddStep({"a \"b\" \\ c\nd", 0}, Step());
  EXPECT_THAT(Text(), HasSubstr(R"(training_job="a \"b\" \\ c\nd")"));
}

}  // namespace
}  // namespace agoq
