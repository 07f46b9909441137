#include "server/job_service.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "proto/common/grpc_status.h"
#include "proto/common/status.h"
#include "server/watch_stream.h"

namespace agoq {
namespace {

constexpr char kService[] = "JobService";
constexpr std::int64_t kDefaultEvents = 50;
constexpr std::int64_t kMostEvents = 1000;

// Moves a result into the response, or returns the error.
template <typename Result, typename Response>
absl::Status MoveInto(absl::StatusOr<Result> result, Response* response) {
  if (result.ok()) *response = *std::move(result);
  return result.status();
}

}  // namespace

grpc::ServerUnaryReactor* JobServiceImpl::PlanJob(grpc::CallbackServerContext* context,
                                                  const v1::PlanJobRequest* request,
                                                  v1::PlanJobResponse* response) {
  return parts_.calls.Answer(
      context, {kService, "PlanJob", request->spec().name()},
      [=, this](const Identity&) { return MoveInto(parts_.manager.Plan(*request), response); });
}

grpc::ServerUnaryReactor* JobServiceImpl::SubmitJob(grpc::CallbackServerContext* context,
                                                    const v1::SubmitJobRequest* request,
                                                    v1::SubmitJobResponse* response) {
  return parts_.calls.Answer(
      context, {kService, "SubmitJob", request->spec().name(), /*mutates=*/true},
      [=, this](const Identity& identity) {
        return MoveInto(parts_.manager.Submit(*request, identity.name), response);
      });
}

grpc::ServerUnaryReactor* JobServiceImpl::GetJob(grpc::CallbackServerContext* context,
                                                 const v1::GetJobRequest* request,
                                                 v1::GetJobResponse* response) {
  return parts_.calls.Answer(
      context, {kService, "GetJob", request->job()}, [=, this](const Identity&) {
        return MoveInto(parts_.manager.Get(request->job()), response->mutable_job());
      });
}

grpc::ServerUnaryReactor* JobServiceImpl::ListJobs(grpc::CallbackServerContext* context,
                                                   const v1::ListJobsRequest* request,
                                                   v1::ListJobsResponse* response) {
  return parts_.calls.Answer(context, {kService, "ListJobs"}, [=, this](const Identity&) {
    return MoveInto(parts_.manager.List(*request), response);
  });
}

grpc::ServerUnaryReactor* JobServiceImpl::StopJob(grpc::CallbackServerContext* context,
                                                  const v1::StopJobRequest* request,
                                                  v1::StopJobResponse* response) {
  return parts_.calls.Answer(context, {kService, "StopJob", request->job(), /*mutates=*/true},
                             [=, this](const Identity& identity) {
                               return MoveInto(parts_.manager.Stop(*request, identity.name),
                                               response->mutable_job());
                             });
}

grpc::ServerUnaryReactor* JobServiceImpl::ListEvents(grpc::CallbackServerContext* context,
                                                     const v1::ListEventsRequest* request,
                                                     v1::ListEventsResponse* response) {
  return parts_.calls.Answer(
      context, {kService, "ListEvents", request->job()}, [=, this](const Identity&) {
        EventQuery query = {.after_sequence = request->after_sequence()};
        if (!request->job().empty()) {
          const absl::StatusOr<v1::Job> job = parts_.manager.Get(request->job());
          if (!job.ok()) return job.status();
          query.job_id = job->id();
        }
        const std::int64_t wanted =
            request->page_size() > 0 ? request->page_size() : kDefaultEvents;
        query.limit = std::min(wanted, kMostEvents) + 1;
        absl::StatusOr<std::vector<v1::Event>> events = parts_.store.ListEvents(query);
        if (!events.ok()) return events.status();
        response->set_more(static_cast<std::int64_t>(events->size()) == query.limit);
        if (response->more()) events->pop_back();
        for (v1::Event& event : *events) *response->add_events() = std::move(event);
        return absl::OkStatus();
      });
}

grpc::ServerWriteReactor<v1::WatchJobResponse>* JobServiceImpl::WatchJob(
    grpc::CallbackServerContext* context, const v1::WatchJobRequest* request) {
  const std::shared_ptr<WatchStream> stream = WatchStream::Start(parts_.watchers);
  const absl::Status checked = parts_.calls.Check(*context, {kService, "WatchJob", request->job()});
  if (!checked.ok()) {
    stream->FinishAfterQueue(ToGrpc(checked));
    return stream.get();
  }
  const bool is_posted = parts_.calls.state().Post([this, stream, request = *request] {
    const v1::Job* const job = parts_.jobs.FindByIdOrName(request.job());
    if (job == nullptr) {
      return stream->FinishAfterQueue(
          ToGrpc(ResourceNotFound("job", request.job(), "see agoq job list")));
    }
    EventQuery query = {
        .job_id = job->id(), .after_sequence = request.after_sequence(), .limit = kMostEvents};
    absl::StatusOr<std::vector<v1::Event>> events = std::vector<v1::Event>();
    if (request.after_sequence() > 0) events = parts_.store.ListEvents(query);
    if (!events.ok()) return stream->FinishAfterQueue(ToGrpc(events.status()));
    stream->Begin(parts_.reconciler.Present(*job), *events);
  });
  if (!is_posted) stream->FinishAfterQueue(ToGrpc(ShuttingDown()));
  return stream.get();
}

grpc::ServerWriteReactor<v1::TailLogsResponse>* JobServiceImpl::TailLogs(
    grpc::CallbackServerContext* context, const v1::TailLogsRequest* request) {
  const std::shared_ptr<LogStream> stream = LogStream::Start(parts_.logs);
  const absl::Status checked = parts_.calls.Check(*context, {kService, "TailLogs", request->job()});
  if (!checked.ok()) {
    stream->FinishAfterQueue(ToGrpc(checked));
    return stream.get();
  }
  const bool is_posted = parts_.calls.state().Post([this, stream, request = *request] {
    const absl::StatusOr<v1::Job> job = parts_.manager.Get(request.job());
    if (!job.ok()) return stream->FinishAfterQueue(ToGrpc(job.status()));
    stream->Begin(*job, request);
    if (request.follow()) parts_.log_followers.Add(stream);
  });
  if (!is_posted) stream->FinishAfterQueue(ToGrpc(ShuttingDown()));
  return stream.get();
}

grpc::ServerUnaryReactor* JobServiceImpl::Refuse(grpc::CallbackServerContext* context,
                                                 const std::string& method,
                                                 const std::string& job) {
  return parts_.calls.Answer(context, {kService, method, job}, [method](const Identity&) {
    return NotInThisVersion(absl::StrCat(kService, "/", method));
  });
}

grpc::ServerUnaryReactor* JobServiceImpl::UpdateJob(grpc::CallbackServerContext* context,
                                                    const v1::UpdateJobRequest* request,
                                                    v1::UpdateJobResponse*) {
  return Refuse(context, "UpdateJob", request->job());
}

grpc::ServerUnaryReactor* JobServiceImpl::ResumeJob(grpc::CallbackServerContext* context,
                                                    const v1::ResumeJobRequest* request,
                                                    v1::ResumeJobResponse*) {
  return Refuse(context, "ResumeJob", request->job());
}

grpc::ServerUnaryReactor* JobServiceImpl::DeleteJob(grpc::CallbackServerContext* context,
                                                    const v1::DeleteJobRequest* request,
                                                    v1::DeleteJobResponse*) {
  return Refuse(context, "DeleteJob", request->job());
}

grpc::ServerUnaryReactor* JobServiceImpl::ListCheckpoints(grpc::CallbackServerContext* context,
                                                          const v1::ListCheckpointsRequest* request,
                                                          v1::ListCheckpointsResponse*) {
  return Refuse(context, "ListCheckpoints", request->job());
}

}  // namespace agoq
