#include "server/job_manager.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <utility>

#include "proto/common/job_checks.h"
#include "proto/common/status.h"
#include "server/job_state.h"
#include "server/spec_review.h"

namespace agoq {
namespace {

constexpr double kDrainSeconds = 300;
constexpr double kCancelSeconds = 10;
constexpr int kDefaultPage = 50;
constexpr int kLargestPage = 1000;

absl::Status DoesNotFit(const GangPlacement& placed) {
  const bool lacks_workers = placed.reason == v1::JOB_REASON_INSUFFICIENT_WORKERS;
  return PreconditionFailed(
      absl::StrCat("no set of the connected workers can hold the job: ", placed.message),
      {{.type = lacks_workers ? "WORKERS" : "MEMORY",
        .subject = "cluster",
        .description =
            lacks_workers
                ? "start more workers, lower mesh.data, or submit with --allow-unsatisfiable"
                : "lower steps.micro_batch_size, allow more recomputing (plan.max_slowdown), free "
                  "memory, or submit with --allow-unsatisfiable"}});
}

bool IsWanted(const v1::Job& job, const v1::ListJobsRequest& request) {
  const auto& states = request.states();
  const bool has_state = states.empty() || std::find(states.begin(), states.end(),
                                                     job.status().state()) != states.end();
  return has_state && absl::StartsWith(job.spec().name(), request.name_prefix());
}

// Lists are for many jobs: the bulk stays out.
v1::Job WithoutBulk(v1::Job job) {
  const std::string name = job.spec().name();
  job.clear_spec();
  job.mutable_spec()->set_name(name);
  job.clear_plan();
  if (job.has_attempt()) {
    job.mutable_attempt()->clear_plan();
    job.mutable_attempt()->clear_results();
  }
  return job;
}

absl::Status NoJob(const std::string& id_or_name) {
  return ResourceNotFound("job", id_or_name, "see agoq job list");
}

double DeadlineOf(const v1::StopJobRequest& request) {
  if (request.deadline_seconds() > 0) return request.deadline_seconds();
  return request.mode() == v1::StopJobRequest::MODE_DRAIN ? kDrainSeconds : kCancelSeconds;
}

}  // namespace

absl::StatusOr<v1::PlanJobResponse> JobManager::Plan(const v1::PlanJobRequest& request) {
  absl::StatusOr<ReviewedSpec> reviewed = ReviewSpec(request.spec());
  if (!reviewed.ok()) return reviewed.status();
  const GangNeed need = NeedOf(reviewed->spec, planner_);
  GangPlacement placed = PlaceGang(need, workers_.Offers());
  v1::PlanJobResponse response;
  response.set_fits_now(!placed.placements.empty());
  if (!response.fits_now()) {
    response.set_message(absl::StrCat("would wait: ", placed.message));
    placed = PlaceOnIdleCluster(need, workers_.Offers());
  }
  if (placed.placements.empty()) return DoesNotFit(placed);
  GangPlan plan = planner_.Plan(reviewed->spec, placed.placements);
  if (!plan.status.ok()) return plan.status;
  *response.mutable_plan() = std::move(plan.plan);
  for (v1::PlannedRank& rank : plan.ranks) *response.add_ranks() = std::move(rank);
  for (std::string& warning : reviewed->warnings) response.add_warnings(std::move(warning));
  return response;
}

absl::Status JobManager::CheckThatItCanEverFit(const v1::JobSpec& spec) {
  const GangNeed need = NeedOf(spec, planner_);
  const GangPlacement placed = PlaceOnIdleCluster(need, workers_.Offers());
  if (!placed.placements.empty()) return planner_.Plan(spec, placed.placements).status;
  const bool may_come = options_.workers_may_return && workers_.IsInGrace() &&
                        placed.reason == v1::JOB_REASON_INSUFFICIENT_WORKERS;
  return may_come ? absl::OkStatus() : DoesNotFit(placed);
}

absl::StatusOr<const v1::Job*> JobManager::CheckName(const v1::JobSpec& spec) const {
  const v1::Job* const namesake = jobs_.FindLiving(spec.name());
  if (namesake == nullptr) return nullptr;
  if (google::protobuf::util::MessageDifferencer::Equals(namesake->spec(), spec)) return namesake;
  return ResourceExists(
      "job", spec.name(),
      absl::StrCat("job ", namesake->id(), " of this name is ",
                   v1::JobState_Name(namesake->status().state()),
                   " with another spec; wait for its end, cancel it, or use another name"));
}

absl::StatusOr<v1::SubmitJobResponse> JobManager::Submit(const v1::SubmitJobRequest& request,
                                                         const std::string& actor) {
  v1::SubmitJobResponse response;
  if (request.request_id().empty()) {
    return InvalidFields("request_id is missing",
                         {{"request_id", "give a UUID that a repeated call uses again"}});
  }
  if (const v1::Job* made = jobs_.FindRequest(request.request_id())) {
    *response.mutable_job() = reconciler_.Present(*made);
    return response;
  }
  if (request.hold()) return NotInThisVersion("holding a job");
  absl::StatusOr<ReviewedSpec> reviewed = ReviewSpec(request.spec());
  if (!reviewed.ok()) return reviewed.status();
  const absl::StatusOr<const v1::Job*> namesake = CheckName(reviewed->spec);
  if (!namesake.ok()) return namesake.status();
  if (*namesake != nullptr) {
    *response.mutable_job() = reconciler_.Present(**namesake);
    return response;
  }
  if (!request.allow_unsatisfiable()) {
    const absl::Status fits = CheckThatItCanEverFit(reviewed->spec);
    if (!fits.ok()) return fits;
  }
  v1::Job job;
  job.set_id(new_id_());
  *job.mutable_spec() = std::move(reviewed->spec);
  job.mutable_status()->set_state(v1::JOB_STATE_QUEUED);
  *job.mutable_submitted_at() = jobs_.Now();
  job.set_owner(actor);
  job.set_retry_of(request.retry_of());
  job.set_allow_unsatisfiable(request.allow_unsatisfiable());
  job.set_sequence(jobs_.next_job_sequence());
  const std::string id = job.id();
  const absl::Status stored =
      jobs_.Put(std::move(job), {.kind = "submitted", .actor = actor, .message = "accepted"},
                request.request_id());
  if (!stored.ok()) return stored;
  reconciler_.OnJobChanged(id);
  *response.mutable_job() = reconciler_.Present(*jobs_.Find(id));
  for (std::string& warning : reviewed->warnings) response.add_warnings(std::move(warning));
  return response;
}

absl::StatusOr<v1::Job> JobManager::Get(const std::string& id_or_name) const {
  const v1::Job* const job = jobs_.FindByIdOrName(id_or_name);
  if (job == nullptr) return NoJob(id_or_name);
  return reconciler_.Present(*job);
}

absl::StatusOr<v1::ListJobsResponse> JobManager::List(const v1::ListJobsRequest& request) const {
  std::int64_t before = 0;  // sequence of the last job of the page before
  if (!request.page_token().empty() && !absl::SimpleAtoi(request.page_token(), &before)) {
    return InvalidFields("page_token is none of this service",
                         {{"page_token", "use next_page_token of the page before"}});
  }
  const int wanted = request.page_size() > 0 ? request.page_size() : kDefaultPage;
  const int page = std::min(wanted, kLargestPage);
  v1::ListJobsResponse response;
  std::int64_t last = 0;
  for (const std::string& id : jobs_.NewestFirst()) {
    const v1::Job& job = *jobs_.Find(id);
    if ((before > 0 && job.sequence() >= before) || !IsWanted(job, request)) continue;
    if (response.jobs_size() == page) {
      response.set_next_page_token(std::to_string(last));
      break;
    }
    last = job.sequence();
    *response.add_jobs() = WithoutBulk(reconciler_.Present(job));
  }
  return response;
}

absl::StatusOr<v1::Job> JobManager::Stop(const v1::StopJobRequest& request,
                                         const std::string& actor) {
  const v1::Job* const found = jobs_.FindByIdOrName(request.job());
  if (found == nullptr) return NoJob(request.job());
  if (request.target() == v1::JOB_STATE_PAUSED) return NotInThisVersion("pausing a job");
  v1::Job job = *found;
  v1::JobStatus& status = *job.mutable_status();
  const v1::JobState state = status.state();
  const bool kills = request.mode() == v1::StopJobRequest::MODE_KILL;
  // Asked again: nothing to do, unless it became more severe.
  if (state == v1::JOB_STATE_CANCELLED) return reconciler_.Present(job);
  if (state == v1::JOB_STATE_STOPPING && (status.stop_kills() || !kills)) {
    return reconciler_.Present(job);
  }
  if (IsTerminal(state)) {
    return PreconditionFailed(
        absl::StrCat("job ", job.spec().name(), ": is over (", v1::JobState_Name(state),
                     "), it cannot be stopped"),
        {{.type = "STATE", .subject = job.id(), .description = v1::JobState_Name(state)}});
  }
  status.set_message(absl::StrCat(kills ? "killed by " : "cancelled by ", actor));
  if (IsActive(state)) {
    status.set_state(v1::JOB_STATE_STOPPING);
    status.set_target(v1::JOB_STATE_CANCELLED);
    status.set_stop_kills(kills);
    status.set_stop_deadline_seconds(DeadlineOf(request));
  } else {
    status.set_state(v1::JOB_STATE_CANCELLED);
    status.set_reason(v1::JOB_REASON_USER_STOP);
  }
  const std::string id = job.id();
  const std::string message = status.message();
  const absl::Status stored =
      jobs_.Put(std::move(job), {.kind = "stop", .actor = actor, .message = message});
  if (!stored.ok()) return stored;
  reconciler_.OnJobChanged(id);
  return reconciler_.Present(*jobs_.Find(id));
}

}  // namespace agoq
