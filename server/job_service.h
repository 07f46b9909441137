// JobService: converts, calls the state thread's objects, converts.
#pragma once

#include "proto/agoq/v1/job_service.grpc.pb.h"
#include "server/calls.h"
#include "server/job_manager.h"
#include "server/log_store.h"
#include "server/log_stream.h"
#include "server/store.h"
#include "server/watch_hub.h"

namespace agoq {

class JobServiceImpl : public v1::JobService::CallbackService {
 public:
  struct Parts {
    Calls& calls;
    JobManager& manager;
    JobTable& jobs;
    Reconciler& reconciler;
    Store& store;
    WatchHub& watchers;
    LogStore& logs;
    LogFollowers& log_followers;
  };

  // All parts outlive it.
  explicit JobServiceImpl(const Parts& parts) : parts_(parts) {}

  grpc::ServerUnaryReactor* PlanJob(grpc::CallbackServerContext* context,
                                    const v1::PlanJobRequest* request,
                                    v1::PlanJobResponse* response) override;
  grpc::ServerUnaryReactor* SubmitJob(grpc::CallbackServerContext* context,
                                      const v1::SubmitJobRequest* request,
                                      v1::SubmitJobResponse* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* StopJob(grpc::CallbackServerContext* context,
                                    const v1::StopJobRequest* request,
                                    v1::StopJobResponse* response) override;
  grpc::ServerUnaryReactor* ListEvents(grpc::CallbackServerContext* context,
                                       const v1::ListEventsRequest* request,
                                       v1::ListEventsResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchJob(
      grpc::CallbackServerContext* context, const v1::WatchJobRequest* request) override;
  grpc::ServerWriteReactor<v1::TailLogsResponse>* TailLogs(
      grpc::CallbackServerContext* context, const v1::TailLogsRequest* request) override;

  grpc::ServerUnaryReactor* UpdateJob(grpc::CallbackServerContext* context,
                                      const v1::UpdateJobRequest* request,
                                      v1::UpdateJobResponse* response) override;
  grpc::ServerUnaryReactor* ResumeJob(grpc::CallbackServerContext* context,
                                      const v1::ResumeJobRequest* request,
                                      v1::ResumeJobResponse* response) override;
  grpc::ServerUnaryReactor* DeleteJob(grpc::CallbackServerContext* context,
                                      const v1::DeleteJobRequest* request,
                                      v1::DeleteJobResponse* response) override;
  grpc::ServerUnaryReactor* ListCheckpoints(grpc::CallbackServerContext* context,
                                            const v1::ListCheckpointsRequest* request,
                                            v1::ListCheckpointsResponse* response) override;

 private:
  grpc::ServerUnaryReactor* Refuse(grpc::CallbackServerContext* context, const std::string& method,
                                   const std::string& job);

  const Parts parts_;
};

}  // namespace agoq
