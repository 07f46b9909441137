#include "worker/daemon/key_relay.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/alarm.h>

#include <chrono>
#include <string>
#include <utility>

namespace agoq {
namespace {

using Wall = std::chrono::system_clock;

constexpr double kSetSeconds = 60;
constexpr std::chrono::milliseconds kPause{100};  // before a call is made again

Wall::time_point In(double seconds) {
  return Wall::now() +
         std::chrono::duration_cast<Wall::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

// One request, until it has its answer.
struct KeyRelay::Call {
  bool is_set = false;
  v1::SetKeyRequest set;
  v1::SetKeyResponse set_response;
  v1::WaitKeyRequest wait;
  v1::WaitKeyResponse wait_response;
  double seconds = 0;
  Wall::time_point deadline;
  std::int64_t request = 0;
  Answer answer;
  std::unique_ptr<grpc::ClientContext> context;  // of the try that is under way
  std::unique_ptr<grpc::Alarm> pause;            // before the next one; set once

  v1::KeyAnswer AnswerOf(const grpc::Status& status) const;
  std::string Describe() const;
};

std::string KeyRelay::Call::Describe() const {
  const v1::RankId& id = is_set ? set.id() : wait.id();
  return absl::StrCat("key '", is_set ? set.key() : wait.key(), "' of job ", id.job_id(),
                      ", generation ", id.generation());
}

v1::KeyAnswer KeyRelay::Call::AnswerOf(const grpc::Status& status) const {
  v1::KeyAnswer reply;
  reply.set_request(request);
  if (status.ok()) {
    reply.set_value(wait_response.value());
  } else if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    reply.set_problem(absl::StrCat(
        Describe(), is_set ? " could not be set" : " was not set by its rank", " within ", seconds,
        " s; look for a rank that failed, or a coordinator that is away"));
  } else {
    reply.set_problem(absl::StrCat(Describe(), ": ", status.error_message()));
  }
  return reply;
}

KeyRelay::KeyRelay(const std::shared_ptr<grpc::Channel>& channel)
    : stub_(v1::AgentService::NewStub(channel)) {}

KeyRelay::~KeyRelay() {
  std::unique_lock lock(mutex_);
  is_stopping_ = true;
  for (const auto& [call, owner] : calls_) {
    if (call->context) call->context->TryCancel();
    if (call->pause) call->pause->Cancel();
  }
  empty_.wait(lock, [this] { return calls_.empty(); });
}

void KeyRelay::Set(const v1::RankId& id, const v1::KeySet& request, Answer answer) {
  auto call = std::make_unique<Call>();
  call->is_set = true;
  *call->set.mutable_id() = id;
  call->set.set_key(request.key());
  call->set.set_value(request.value());
  call->seconds = kSetSeconds;
  call->request = request.request();
  call->answer = std::move(answer);
  Begin(std::move(call));
}

void KeyRelay::Wait(const v1::RankId& id, const v1::KeyWait& request, Answer answer) {
  auto call = std::make_unique<Call>();
  *call->wait.mutable_id() = id;
  call->wait.set_key(request.key());
  call->seconds = request.timeout_seconds();
  call->request = request.request();
  call->answer = std::move(answer);
  Begin(std::move(call));
}

void KeyRelay::Begin(std::unique_ptr<Call> call) {
  call->deadline = In(call->seconds);
  Call* const borrowed = call.get();
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return;
    calls_.emplace(borrowed, std::move(call));
  }
  Issue(borrowed);
}

void KeyRelay::Issue(Call* call) {
  {
    const std::lock_guard lock(mutex_);
    call->context = std::make_unique<grpc::ClientContext>();
    if (is_stopping_) call->context->TryCancel();
  }
  call->context->set_deadline(call->deadline);
  call->context->set_wait_for_ready(true);
  const auto done = [this, call](const grpc::Status& status) { Take(call, status); };
  if (call->is_set) {
    stub_->async()->SetKey(call->context.get(), &call->set, &call->set_response, done);
  } else {
    stub_->async()->WaitKey(call->context.get(), &call->wait, &call->wait_response, done);
  }
}

void KeyRelay::Take(Call* call, const grpc::Status& status) {
  const bool is_away = status.error_code() == grpc::StatusCode::UNAVAILABLE;
  const bool may_retry = is_away && Wall::now() + kPause < call->deadline;
  {
    const std::lock_guard lock(mutex_);
    if (may_retry && !is_stopping_) {
      call->pause = std::make_unique<grpc::Alarm>();
      call->pause->Set(Wall::now() + kPause, [this, call](bool) { Issue(call); });
      return;
    }
  }
  if (!IsStopping()) call->answer(call->AnswerOf(status));
  Drop(call);
}

bool KeyRelay::IsStopping() {
  const std::lock_guard lock(mutex_);
  return is_stopping_;
}

// The call dies before the destructor may return: its context holds the channel, and gRPC's
// callback thread, on which this runs, must not let go of a channel's last reference.
void KeyRelay::Drop(Call* call) {
  const std::lock_guard lock(mutex_);
  calls_.erase(call);
  empty_.notify_all();
}

}  // namespace agoq
