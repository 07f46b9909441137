#include "client/coordinator.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "proto/common/channel.h"
#include "proto/common/grpc_status.h"

namespace agoq {
namespace {

using std::chrono::milliseconds;

// A coordinator that is just starting is there by then.
constexpr std::chrono::seconds kConnectPatience{3};
// For the call that only learns why there is no connection.
constexpr milliseconds kProbeTime{500};
constexpr milliseconds kConnectSlice{100};
constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{1000};
constexpr char kRemedy[] =
    "; is agoq-coordinator running there? else set --address or AGOQ_ADDRESS";

SteadyTime Now() { return std::chrono::steady_clock::now(); }

// gRPC's deadlines are of the wall clock.
std::chrono::system_clock::time_point WallOf(SteadyTime time) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(time - Now());
}

absl::Status WithMessage(const absl::Status& status, const std::string& message) {
  absl::Status result(status.code(), message);
  status.ForEachPayload(
      [&](auto type_url, const absl::Cord& payload) { result.SetPayload(type_url, payload); });
  return result;
}

}  // namespace

Coordinator::Coordinator(std::string address, Seconds timeout)
    : address_(std::move(address)),
      timeout_(timeout),
      channel_(NewChannel(address_)),
      jobs_(v1::JobService::NewStub(channel_)),
      workers_(v1::WorkerService::NewStub(channel_)),
      system_(v1::SystemService::NewStub(channel_)) {}

bool Coordinator::Connect(SteadyTime deadline, const Interrupt* interrupt) {
  const SteadyTime limit = was_connected_
                               ? deadline
                               : std::min(deadline, Now() + SteadyTime::duration(kConnectPatience));
  while (!channel_->WaitForConnected(WallOf(std::min(limit, Now() + kConnectSlice)))) {
    if (Now() >= limit || (interrupt != nullptr && interrupt->happened())) return false;
  }
  return was_connected_ = true;
}

absl::Status Coordinator::CallOnce(const std::function<grpc::Status(grpc::ClientContext*)>& call,
                                   SteadyTime deadline) {
  const bool is_connected = Connect(deadline, nullptr);
  grpc::ClientContext context;
  context.set_deadline(WallOf(is_connected ? deadline : Now() + kProbeTime));
  return FromGrpc(call(&context));
}

absl::Status Coordinator::Call(const std::function<grpc::Status(grpc::ClientContext*)>& call) {
  const SteadyTime deadline = DeadlineIn(timeout_, std::nullopt);
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const absl::Status status = CallOnce(call, deadline);
    const bool tries_again = absl::IsUnavailable(status) && was_connected_;
    if (!tries_again || Now() + pause >= deadline) return WithAddress(status);
    std::this_thread::sleep_for(pause);
  }
}

StreamEnd Coordinator::EndOf(const StreamGuard& guard, const grpc::Status& status) const {
  const absl::Status ended = guard.cause() == StreamGuard::Cause::kTimedOut
                                 ? absl::DeadlineExceededError("no message in time")
                                 : FromGrpc(status);
  return {WithAddress(ended), guard.cause()};
}

absl::Status Coordinator::WithAddress(const absl::Status& status) const {
  std::string problem(status.message());
  if (absl::IsDeadlineExceeded(status)) {
    problem = was_connected_ ? "no answer in time (--timeout)" : "no connection could be made";
  }
  const std::string text = absl::StrCat("coordinator at ", address_, ": ", problem);
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return WithMessage(status, absl::StrCat(text, kRemedy));
    case absl::StatusCode::kUnimplemented:  // perhaps another program's port
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kInternal:
      return WithMessage(status, text);
    default:
      return status;
  }
}

}  // namespace agoq
