#include "server/announcer.h"

#include <google/protobuf/util/time_util.h>

#include <string>
#include <utility>

#include "server/job_state.h"

namespace agoq {
namespace {

double SecondsBetween(const google::protobuf::Timestamp& from,
                      const google::protobuf::Timestamp& to) {
  using google::protobuf::util::TimeUtil;
  return static_cast<double>(TimeUtil::TimestampToMilliseconds(to) -
                             TimeUtil::TimestampToMilliseconds(from)) /
         1000;
}

}  // namespace

v1::Job WithoutSpecAndPlan(v1::Job job) {
  const std::string name = job.spec().name();
  job.clear_spec();
  job.mutable_spec()->set_name(name);
  job.clear_plan();
  if (job.has_attempt()) job.mutable_attempt()->clear_plan();
  return job;
}

void Announcer::OnChange(const v1::Job& job, const v1::Event& event) {
  Count(job, event);
  log_.Info(event.message(), {{"job", job.id()},
                              {"name", job.spec().name()},
                              {"event", event.kind()},
                              {"state", v1::JobState_Name(job.status().state())},
                              {"generation", std::to_string(event.generation())}});
  if (!watchers_.HasWatcher(job.id())) return;
  v1::WatchJobResponse update;
  *update.mutable_job() = WithoutSpecAndPlan(job);
  *update.mutable_event() = event;
  watchers_.Publish(update);
}

void Announcer::Count(const v1::Job& job, const v1::Event& event) {
  const v1::JobState state = event.new_state();
  if (event.old_state() == v1::JOB_STATE_UNSPECIFIED) metrics_.OnSubmitted();
  if (event.kind() == "checkpoint") metrics_.OnCheckpoint();
  if (state == event.old_state()) return;
  if (IsTerminal(state)) metrics_.OnFinished(job.status());
  const bool attempt_ended = IsActive(event.old_state()) && !IsActive(state);
  if (attempt_ended) metrics_.OnAttemptEnded(job.attempt().cause());
  if (state == v1::JOB_STATE_STARTING && event.generation() == 1) {
    metrics_.OnQueueWait(SecondsBetween(job.submitted_at(), event.at()));
  }
}

void Announcer::OnStoreError(const absl::Status& status) {
  log_.Error(std::string(status.message()), {{"code", absl::StatusCodeToString(status.code())}});
}

}  // namespace agoq
