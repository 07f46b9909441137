#include "tests/support/service_cluster.h"

#include <chrono>
#include <stdexcept>

#include "proto/common/channel.h"
#include "proto/common/uuid.h"
#include "server/job_state.h"

namespace agoq {
namespace {

constexpr char kAnyPort[] = "127.0.0.1:0";

void SetDeadline(grpc::ClientContext* context) {
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  context->set_wait_for_ready(true);
}

}  // namespace

ServiceCluster::ServiceCluster(const ClusterOptions& options) : options_(options) {
  StartCoordinator();
  workers_.resize(options.worker_bytes.size());
  worker_metrics_.resize(options.worker_bytes.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) StartWorker(i);
  if (!WaitForWorkers()) throw std::runtime_error("workers did not join");
}

void ServiceCluster::StartCoordinator() {
  std::vector<std::string> arguments = {
      "--state-directory", folder_ / "coordinator",
      "--metrics-address", kAnyPort,
      "--listen-address",  address_.empty() ? kAnyPort : address_};
  arguments.insert(arguments.end(), options_.coordinator_flags.begin(),
                   options_.coordinator_flags.end());
  coordinator_.reset();
  std::filesystem::remove(folder_ / "coordinator.log");
  coordinator_ =
      std::make_unique<DaemonProcess>(AGOQ_COORDINATOR, arguments, folder_ / "coordinator.log");
  address_ = coordinator_->WaitForField("serving", "address");
  coordinator_metrics_ = coordinator_->WaitForField("serving", "metrics");
  if (address_.empty()) throw std::runtime_error("coordinator: " + coordinator_->Log());
  channel_ = NewChannel(address_);
}

void ServiceCluster::StartWorker(std::size_t index) {
  const std::string name = "worker-" + std::to_string(index);
  std::vector<std::string> arguments = {"--coordinator",
                                        address_,
                                        "--name",
                                        name,
                                        "--state-directory",
                                        folder_ / name,
                                        "--metrics-address",
                                        kAnyPort,
                                        "--device",
                                        "cpu",
                                        "--memory-bytes",
                                        std::to_string(options_.worker_bytes[index]),
                                        "--trainer",
                                        options_.trainer};
  arguments.insert(arguments.end(), options_.worker_flags.begin(), options_.worker_flags.end());
  workers_[index].reset();
  std::filesystem::remove(folder_ / (name + ".log"));
  workers_[index] = std::make_unique<DaemonProcess>(
      AGOQ_WORKER, arguments, folder_ / (name + ".log"), options_.environment);
  worker_metrics_[index] = workers_[index]->WaitForField("worker started", "metrics");
  if (worker_metrics_[index].empty()) {
    throw std::runtime_error(name + ": " + workers_[index]->Log());
  }
}

bool ServiceCluster::WaitForWorkers() {
  const auto are_ready = [this] {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const v1::Worker worker = GetWorker("worker-" + std::to_string(i));
      const v1::WorkerState state = worker.state();
      const bool is_known = state == v1::WORKER_STATE_READY || state == v1::WORKER_STATE_BUSY ||
                            state == v1::WORKER_STATE_RESERVED;
      if (!is_known || worker.devices().empty()) return false;
    }
    return true;
  };
  return Eventually(are_ready, std::chrono::seconds(15));
}

grpc::Status ServiceCluster::Submit(const v1::JobSpec& spec, v1::Job* job,
                                    const std::string& request_id) {
  grpc::ClientContext context;
  SetDeadline(&context);
  v1::SubmitJobRequest request;
  request.set_request_id(request_id.empty() ? NewUuid() : request_id);
  *request.mutable_spec() = spec;
  v1::SubmitJobResponse response;
  const grpc::Status status =
      v1::JobService::NewStub(channel_)->SubmitJob(&context, request, &response);
  *job = response.job();
  return status;
}

v1::Job ServiceCluster::Get(const std::string& job) {
  grpc::ClientContext context;
  SetDeadline(&context);
  v1::GetJobRequest request;
  request.set_job(job);
  v1::GetJobResponse response;
  v1::JobService::NewStub(channel_)->GetJob(&context, request, &response);
  return response.job();
}

std::vector<std::string> ServiceCluster::Events(const std::string& job) {
  grpc::ClientContext context;
  SetDeadline(&context);
  v1::ListEventsRequest request;
  request.set_job(job);
  request.set_page_size(1000);
  v1::ListEventsResponse response;
  v1::JobService::NewStub(channel_)->ListEvents(&context, request, &response);
  std::vector<std::string> texts;
  for (const v1::Event& event : response.events()) texts.push_back(event.message());
  return texts;
}

v1::Worker ServiceCluster::GetWorker(const std::string& name) {
  grpc::ClientContext context;
  SetDeadline(&context);
  v1::GetWorkerRequest request;
  request.set_name(name);
  v1::GetWorkerResponse response;
  v1::WorkerService::NewStub(channel_)->GetWorker(&context, request, &response);
  return response.worker();
}

v1::Job ServiceCluster::WaitForEnd(const std::string& job, std::chrono::seconds patience) {
  v1::Job last;
  Eventually(
      [&] {
        last = Get(job);
        return IsTerminal(last.status().state());
      },
      patience);
  return last;
}

bool ServiceCluster::WaitForState(const std::string& job, v1::JobState state,
                                  std::chrono::seconds patience) {
  return Eventually([&] { return Get(job).status().state() == state; }, patience);
}

bool ServiceCluster::WaitForStep(const std::string& job, std::int64_t step) {
  return Eventually([&] { return Get(job).status().progress().step() >= step; },
                    std::chrono::seconds(60));
}

v1::JobSpec ServiceCluster::NewJob(const std::string& name, std::int64_t ranks,
                                   std::int64_t steps) const {
  v1::JobSpec job;
  job.set_name(name);
  v1::ModelSpec& model = *job.mutable_model();
  model.set_vocab_size(256);
  model.set_hidden_size(64);
  model.set_intermediate_size(128);
  model.set_num_hidden_layers(2);
  model.set_num_attention_heads(4);
  job.mutable_data()->set_path((folder() / "data").string());
  job.mutable_mesh()->set_data(ranks);
  job.mutable_plan()->set_error_sample_interval(1);
  job.mutable_steps()->set_total(steps);
  job.mutable_steps()->set_sequence_length(32);
  job.mutable_steps()->set_micro_batch_size(4);
  job.mutable_checkpoint()->set_uri((folder() / ("checkpoints-" + name)).string());
  job.mutable_timeouts()->set_collective_seconds(10);
  return job;
}

}  // namespace agoq
