#include "tests/unit/client/scripted_coordinator.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <sstream>
#include <utility>

#include "client/command_line.h"

namespace agoq {
namespace {

template <typename Function, typename Request, typename Reply>
grpc::Status Ask(const Function& function, const Request& request, Reply* reply) {
  if (!function) return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "not scripted");
  return function(request, reply);
}

}  // namespace

class ScriptedCoordinator::Services {
 public:
  explicit Services(Script script)
      : script_(std::move(script)), jobs(script_), workers(script_), system(script_) {}

 private:
  using Context = grpc::ServerContext;
  const Script script_;

 public:
  struct Jobs : v1::JobService::Service {
    explicit Jobs(const Script& s) : script(s) {}
    grpc::Status PlanJob(Context*, const v1::PlanJobRequest* request,
                         v1::PlanJobResponse* response) override {
      return Ask(script.plan, *request, response);
    }
    grpc::Status SubmitJob(Context*, const v1::SubmitJobRequest* request,
                           v1::SubmitJobResponse* response) override {
      return Ask(script.submit, *request, response);
    }
    grpc::Status GetJob(Context*, const v1::GetJobRequest* request,
                        v1::GetJobResponse* response) override {
      return Ask(script.get, *request, response);
    }
    grpc::Status ListJobs(Context*, const v1::ListJobsRequest* request,
                          v1::ListJobsResponse* response) override {
      return Ask(script.list, *request, response);
    }
    grpc::Status StopJob(Context*, const v1::StopJobRequest* request,
                         v1::StopJobResponse* response) override {
      return Ask(script.stop, *request, response);
    }
    grpc::Status ListEvents(Context*, const v1::ListEventsRequest* request,
                            v1::ListEventsResponse* response) override {
      return Ask(script.events, *request, response);
    }
    grpc::Status WatchJob(Context*, const v1::WatchJobRequest* request,
                          grpc::ServerWriter<v1::WatchJobResponse>* writer) override {
      return Ask(script.watch, *request, writer);
    }
    grpc::Status TailLogs(Context*, const v1::TailLogsRequest* request,
                          grpc::ServerWriter<v1::TailLogsResponse>* writer) override {
      return Ask(script.logs, *request, writer);
    }
    const Script& script;
  } jobs;

  struct Workers : v1::WorkerService::Service {
    explicit Workers(const Script& s) : script(s) {}
    grpc::Status ListWorkers(Context*, const v1::ListWorkersRequest* request,
                             v1::ListWorkersResponse* response) override {
      return Ask(script.workers, *request, response);
    }
    grpc::Status GetWorker(Context*, const v1::GetWorkerRequest* request,
                           v1::GetWorkerResponse* response) override {
      return Ask(script.worker, *request, response);
    }
    const Script& script;
  } workers;

  struct System : v1::SystemService::Service {
    explicit System(const Script& s) : script(s) {}
    grpc::Status GetServerInfo(Context*, const v1::GetServerInfoRequest* request,
                               v1::GetServerInfoResponse* response) override {
      return Ask(script.info, *request, response);
    }
    const Script& script;
  } system;
};

ScriptedCoordinator::ScriptedCoordinator(Script script)
    : services_(std::make_unique<Services>(std::move(script))) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&services_->jobs);
  builder.RegisterService(&services_->workers);
  builder.RegisterService(&services_->system);
  server_ = builder.BuildAndStart();
  address_ = "127.0.0.1:" + std::to_string(port);
}

ScriptedCoordinator::~ScriptedCoordinator() { server_->Shutdown(std::chrono::system_clock::now()); }

RunOutcome RunAgoq(std::vector<std::string> arguments, const std::string& address,
                   const std::string& input) {
  if (!address.empty()) arguments.insert(arguments.begin(), {"--address", address});
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCommandLine(arguments, {.in = in, .out = out, .err = err});
  return {code, out.str(), err.str()};
}

v1::Job JobNamed(const std::string& name, v1::JobState state) {
  v1::Job job;
  job.set_id("id-of-" + name);
  job.mutable_spec()->set_name(name);
  job.mutable_status()->set_state(state);
  return job;
}

void WriteUntilCancelled(const v1::WatchJobResponse& update,
                         grpc::ServerWriter<v1::WatchJobResponse>* writer) {
  while (writer->Write(update)) {
  }
}

}  // namespace agoq
