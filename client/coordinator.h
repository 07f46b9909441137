// Calls to the coordinator that always end.
//
//   Coordinator coordinator("127.0.0.1:9400", std::chrono::seconds(10));
//   absl::Status status = coordinator.Call(
//       [&](auto* context) { return coordinator.jobs().GetJob(context, request, &response); });
#pragma once

#include <absl/status/status.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/interrupt.h"
#include "client/stream_guard.h"
#include "proto/agoq/v1/job_service.grpc.pb.h"
#include "proto/agoq/v1/system_service.grpc.pb.h"
#include "proto/agoq/v1/worker_service.grpc.pb.h"

namespace agoq {

using Seconds = std::chrono::duration<double>;

// How a stream ended.
struct StreamEnd {
  absl::Status status;
  StreamGuard::Cause cause = StreamGuard::Cause::kNone;  // kNone: the coordinator ended it
};

struct StreamOptions {
  std::optional<SteadyTime> deadline;  // of the whole stream
  // The first message must come within a call's time.
  bool starts_at_once = true;
};

class Coordinator {
 public:
  // A call takes `timeout` at most. Nothing is connected yet.
  Coordinator(std::string address, Seconds timeout);

  v1::JobService::StubInterface& jobs() { return *jobs_; }
  v1::WorkerService::StubInterface& workers() { return *workers_; }
  v1::SystemService::StubInterface& system() { return *system_; }
  const std::string& address() const { return address_; }

  // Makes a unary call. While no connection stood yet, it gives up after a few seconds; later it
  // tries again until the time is over if the coordinator is away, so the request must be one that
  // may arrive twice. Errors of the connection name the address.
  absl::Status Call(const std::function<grpc::Status(grpc::ClientContext*)>& call);

  // Reads a stream to its end, to Ctrl-C, or to the deadline. `on_message` returns false to end it.
  template <typename Response>
  StreamEnd Read(const std::function<std::unique_ptr<grpc::ClientReaderInterface<Response>>(
                     grpc::ClientContext*)>& start,
                 const std::function<bool(const Response&)>& on_message, const Interrupt& interrupt,
                 const StreamOptions& options);

 private:
  absl::Status CallOnce(const std::function<grpc::Status(grpc::ClientContext*)>& call,
                        SteadyTime deadline);
  // False: not connected by then, or interrupted.
  bool Connect(SteadyTime deadline, const Interrupt* interrupt);
  StreamEnd EndOf(const StreamGuard& guard, const grpc::Status& status) const;
  absl::Status WithAddress(const absl::Status& status) const;

  const std::string address_;
  const Seconds timeout_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::JobService::StubInterface> jobs_;
  const std::unique_ptr<v1::WorkerService::StubInterface> workers_;
  const std::unique_ptr<v1::SystemService::StubInterface> system_;
  bool was_connected_ = false;
};

template <typename Response>
StreamEnd Coordinator::Read(
    const std::function<
        std::unique_ptr<grpc::ClientReaderInterface<Response>>(grpc::ClientContext*)>& start,
    const std::function<bool(const Response&)>& on_message, const Interrupt& interrupt,
    const StreamOptions& options) {
  const SteadyTime first_deadline = DeadlineIn(timeout_, options.deadline);
  const bool is_connected = Connect(first_deadline, &interrupt);
  grpc::ClientContext context;
  const bool must_start = options.starts_at_once || !is_connected;
  StreamGuard guard(&context, interrupt,
                    must_start ? std::optional(first_deadline) : options.deadline);
  const auto reader = start(&context);
  Response response;
  bool wants_more = true;
  while (wants_more && reader->Read(&response)) {
    guard.SetDeadline(options.deadline);
    wants_more = on_message(response);
  }
  if (!wants_more) context.TryCancel();
  const grpc::Status status = reader->Finish();
  guard.Stop();
  return wants_more ? EndOf(guard, status) : StreamEnd{};
}

}  // namespace agoq
