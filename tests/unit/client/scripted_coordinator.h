// A coordinator that does what a test says, on a free port of loopback; and agoq run against it.
#pragma once

#include <grpcpp/server.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/agoq/v1/job_service.grpc.pb.h"
#include "proto/agoq/v1/system_service.grpc.pb.h"
#include "proto/agoq/v1/worker_service.grpc.pb.h"

namespace agoq {

template <typename Request, typename Response>
using Answer = std::function<grpc::Status(const Request&, Response*)>;
template <typename Request, typename Response>
using StreamAnswer = std::function<grpc::Status(const Request&, grpc::ServerWriter<Response>*)>;

// What is not scripted is UNIMPLEMENTED.
struct Script {
  Answer<v1::PlanJobRequest, v1::PlanJobResponse> plan;
  Answer<v1::SubmitJobRequest, v1::SubmitJobResponse> submit;
  Answer<v1::GetJobRequest, v1::GetJobResponse> get;
  Answer<v1::ListJobsRequest, v1::ListJobsResponse> list;
  Answer<v1::StopJobRequest, v1::StopJobResponse> stop;
  Answer<v1::ListEventsRequest, v1::ListEventsResponse> events;
  StreamAnswer<v1::WatchJobRequest, v1::WatchJobResponse> watch;
  StreamAnswer<v1::TailLogsRequest, v1::TailLogsResponse> logs;
  Answer<v1::ListWorkersRequest, v1::ListWorkersResponse> workers;
  Answer<v1::GetWorkerRequest, v1::GetWorkerResponse> worker;
  Answer<v1::GetServerInfoRequest, v1::GetServerInfoResponse> info;
};

class ScriptedCoordinator {
 public:
  explicit ScriptedCoordinator(Script script);
  ~ScriptedCoordinator();

  const std::string& address() const { return address_; }

 private:
  class Services;
  std::unique_ptr<Services> services_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

struct RunOutcome {
  int code = -1;
  std::string out;
  std::string err;
};

// agoq with these arguments and no terminal; an empty address leaves it to the arguments.
RunOutcome RunAgoq(std::vector<std::string> arguments, const std::string& address = "",
                   const std::string& input = "");

// A job with a name, an id like "id-of-NAME", and a state.
v1::Job JobNamed(const std::string& name, v1::JobState state);

// Sends updates until the client ends the call.
void WriteUntilCancelled(const v1::WatchJobResponse& update,
                         grpc::ServerWriter<v1::WatchJobResponse>* writer);

}  // namespace agoq
