#include "client/job_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/event_text.h"
#include "client/summary_text.h"
#include "client/worker_text.h"
#include "proto/common/plan_codec.h"

namespace agoq {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const WallTime kNow = WallTime() + std::chrono::seconds(1000);

v1::Job Running() {
  v1::Job job;
  job.set_id("id-1");
  job.mutable_spec()->set_name("plays");
  job.set_owner("me");
  job.mutable_submitted_at()->set_seconds(940);
  v1::JobStatus& status = *job.mutable_status();
  status.set_state(v1::JOB_STATE_RUNNING);
  status.mutable_since()->set_seconds(990);
  status.set_generation(2);
  status.set_checkpoint("/runs/plays");
  status.set_checkpoint_step(40);
  status.mutable_progress()->set_step(50);
  status.mutable_progress()->set_total_steps(200);
  status.mutable_progress()->set_done_ratio(0.25);
  status.mutable_progress()->set_loss(2.5);
  status.mutable_progress()->set_tokens_per_second(14200);
  status.mutable_progress()->set_seconds_left(75);
  job.mutable_attempt()->set_generation(2);
  job.mutable_attempt()->set_state(v1::ATTEMPT_STATE_RUNNING);
  v1::Placement& placement = *job.mutable_attempt()->add_placements();
  placement.set_worker("worker-0");
  placement.set_budget_bytes(34 << 20);
  return job;
}

v1::Job Queued() {
  v1::Job job;
  job.set_id("id-2");
  job.mutable_spec()->set_name("next");
  job.mutable_submitted_at()->set_seconds(1000);
  job.mutable_status()->set_state(v1::JOB_STATE_QUEUED);
  job.mutable_status()->set_reason(v1::JOB_REASON_INSUFFICIENT_MEMORY);
  job.mutable_status()->set_message("needs 9 bytes");
  return job;
}

TEST(JobTable, HasOneLineForEachJob) {
  EXPECT_EQ(JobTable({Queued(), Running()}, {.now = kNow}),
            "NAME   ID    STATE    REASON               DONE  STEP  LOSS    AGE\n"
            "next   id-2  queued   insufficient_memory  -     -     -       0s\n"
            "plays  id-1  running  -                    25%   50    2.5000  60s\n");
}

TEST(JobTable, WideAddsWorkersAndMessage) {
  EXPECT_EQ(JobTable({Running()}, {.now = kNow, .is_wide = true, .has_headers = false}),
            "plays  id-1  running  -  25%  50  2.5000  60s  14.2k  2  me  worker-0\n");
}

TEST(JobText, ShowsStatusProgressAndPlacements) {
  EXPECT_EQ(JobText(Running(), {.now = kNow}),
            "name        plays\n"
            "id          id-1\n"
            "owner       me\n"
            "submitted   1970-01-01 00:15:40Z\n"
            "state       running, for 10s\n"
            "progress    25%, step 50/200, loss 2.5000, 14.2k tok/s, left 1:15\n"
            "attempt     2, running\n"
            "checkpoint  /runs/plays, step 40\n"
            "\n"
            "rank 0 on worker worker-0: budget 34.0 MiB\n");
}

TEST(JobText, ShowsThePlanWhenWide) {
  v1::Job job = Running();
  *job.mutable_attempt()->mutable_plan() = EncodePlan(UniformPlan(PaperLayer(), 4, 1));
  EXPECT_THAT(JobText(job, {.now = kNow, .is_wide = true}), HasSubstr("nf4/128 4.25"));
  EXPECT_THAT(JobText(job, {.now = kNow}), Not(HasSubstr("nf4/128 4.25")));
}

v1::Job Succeeded() {
  v1::Job job = Running();
  job.mutable_status()->set_state(v1::JOB_STATE_SUCCEEDED);
  v1::Attempt& attempt = *job.mutable_attempt();
  *attempt.mutable_plan() = EncodePlan(UniformPlan(PaperLayer(), 4, 1));
  attempt.mutable_started_at()->set_seconds(900);
  attempt.mutable_ended_at()->set_seconds(1000);
  v1::RankResult& result = *attempt.add_results();
  result.set_steps(200);
  result.set_tokens_per_second(14200);
  result.set_final_loss(1.75);
  result.set_validation_loss(1.8512);
  result.set_validation_tokens(30000);
  result.set_checkpoint("/runs/plays/step-200");
  for (auto* labels : {result.mutable_predicted(), result.mutable_peak()}) {
    v1::LabelBytes& label = *labels->Add();
    label.set_label("x1");
    label.set_bytes(labels == result.mutable_peak() ? 1000 : 1024);
  }
  v1::SiteError& error = *result.add_errors();
  error.set_site("x1");
  error.set_ratio(0.0912);
  error.set_worst_layer(3);
  error.set_worst_ratio(0.1);
  return job;
}

TEST(SummaryText, ShowsWhatAJobCameTo) {
  v1::Worker worker;
  worker.set_name("worker-0");
  worker.set_metrics_url("http://127.0.0.1:9402/metrics");
  EXPECT_EQ(SummaryText(Succeeded(), {worker}),
            "job            plays (id-1)\n"
            "state          succeeded\n"
            "held-out loss  1.8512 nats per token, 30000 tokens\n"
            "last loss      1.7500 nats per token\n"
            "speed          14.2k tokens/s of all ranks\n"
            "steps          200\n"
            "time           1:40 of attempt 2\n"
            "checkpoint     /runs/plays/step-200\n"
            "\n"
            "rank 0 on worker worker-0: budget 34.0 MiB, metrics http://127.0.0.1:9402/metrics\n"
            "           bits  predicted  measured  error (worst layer)\n"
            "weights    -     0 B        0 B       -\n"
            "gradients  -     0 B        0 B       -\n"
            "optimizer  -     0 B        0 B       -\n"
            "x1         4.25  1.0 KiB    1000 B    9.12% (layer 3: 10.00%)\n"
            "q          32    0 B        0 B       -\n"
            "k          32    0 B        0 B       -\n"
            "v          32    0 B        0 B       -\n"
            "o          32    0 B        0 B       -\n"
            "x2         4.25  0 B        0 B       -\n"
            "gate       4.25  0 B        0 B       -\n"
            "up         4.25  0 B        0 B       -\n"
            "workspace  -     0 B        0 B       -\n"
            "peak             1.0 KiB    1000 B    -2.34% measured\n");
}

TEST(SummaryText, OfAJobThatNeverRanIsShort) {
  EXPECT_EQ(SummaryText(Queued(), {}), "job    next (id-2)\nstate  queued: needs 9 bytes\n");
}

TEST(StateLine, HasReasonAndMessage) {
  EXPECT_EQ(StateLine(Queued(), false), "next: queued (insufficient_memory): needs 9 bytes");
}

v1::Event Sample() {
  v1::Event event;
  event.set_sequence(7);
  event.mutable_at()->set_seconds(3661);
  event.set_actor("coordinator");
  event.set_kind("started");
  event.set_old_state(v1::JOB_STATE_STARTING);
  event.set_new_state(v1::JOB_STATE_RUNNING);
  event.set_generation(1);
  event.set_message("every rank steps");
  return event;
}

TEST(EventText, SaysWhichStateFollowedWhich) {
  EXPECT_EQ(EventLine(Sample(), false),
            "01:01:01Z  started  starting -> running  every rank steps\n");
  EXPECT_EQ(
      EventTable({Sample()}, {.now = kNow}),
      "SEQ  TIME                  ACTOR        KIND     STATE                ATTEMPT  MESSAGE\n"
      "7    1970-01-01 01:01:01Z  coordinator  started  starting -> running  1        every rank"
      " steps\n");
}

v1::Worker Busy() {
  v1::Worker worker;
  worker.set_name("worker-0");
  worker.set_state(v1::WORKER_STATE_BUSY);
  worker.set_job_id("id-1");
  worker.mutable_last_heard_at()->set_seconds(999);
  v1::Device& device = *worker.add_devices();
  device.set_kind(v1::Device::KIND_CPU);
  device.set_uuid("cpu");
  device.set_total_bytes(34 << 20);
  device.set_free_bytes(10 << 20);
  return worker;
}

TEST(WorkerText, HasStateMemoryAndJob) {
  EXPECT_EQ(WorkerTable({Busy()}, {.now = kNow}),
            "NAME      STATE  DEVICES  TOTAL     FREE      FOREIGN  JOB   HEARD\n"
            "worker-0  busy   1 cpu    34.0 MiB  10.0 MiB  0 B      id-1  1s\n");
}

TEST(WorkerText, ShowsEachDevice) {
  EXPECT_EQ(WorkerText(Busy(), {.now = kNow}),
            "name   worker-0\n"
            "state  busy\n"
            "job    id-1, rank 0, attempt 0\n"
            "heard  1s ago\n"
            "\n"
            "DEVICE  KIND  MODEL  UUID  TOTAL     FREE      FOREIGN\n"
            "0       cpu   -      cpu   34.0 MiB  10.0 MiB  0 B\n");
}

}  // namespace
}  // namespace agoq
