// What users ask for: validates, decides, stores. State thread alone.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

#include "proto/agoq/v1/job_service.pb.h"
#include "server/cluster.h"
#include "server/reconciler.h"

namespace agoq {

struct JobManagerOptions {
  // Workers of an earlier run may not be back yet: nobody is refused for want of them.
  bool workers_may_return = false;
};

class JobManager {
 public:
  // All outlive it. `new_id` gives UUIDs.
  JobManager(JobTable& jobs, WorkerRegistry& workers, GangPlanner& planner, Reconciler& reconciler,
             std::function<std::string()> new_id, const JobManagerOptions& options)
      : jobs_(jobs),
        workers_(workers),
        planner_(planner),
        reconciler_(reconciler),
        new_id_(std::move(new_id)),
        options_(options) {}

  absl::StatusOr<v1::PlanJobResponse> Plan(const v1::PlanJobRequest& request);
  // Durable before it returns.
  absl::StatusOr<v1::SubmitJobResponse> Submit(const v1::SubmitJobRequest& request,
                                               const std::string& actor);
  absl::StatusOr<v1::Job> Get(const std::string& id_or_name) const;
  absl::StatusOr<v1::ListJobsResponse> List(const v1::ListJobsRequest& request) const;
  absl::StatusOr<v1::Job> Stop(const v1::StopJobRequest& request, const std::string& actor);

 private:
  absl::Status CheckThatItCanEverFit(const v1::JobSpec& spec);
  // The job of this name and spec that is there already, or null.
  absl::StatusOr<const v1::Job*> CheckName(const v1::JobSpec& spec) const;

  JobTable& jobs_;
  WorkerRegistry& workers_;
  GangPlanner& planner_;
  Reconciler& reconciler_;
  const std::function<std::string()> new_id_;
  const JobManagerOptions options_;
};

}  // namespace agoq
