#include "client/job_follower.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace agoq {
namespace {

constexpr std::chrono::milliseconds kPause{500};

SteadyTime Now() { return std::chrono::steady_clock::now(); }

class Follower {
 public:
  Follower(Coordinator& coordinator, const Interrupt& interrupt, const FollowRequest& request)
      : coordinator_(coordinator), interrupt_(interrupt), request_(request) {
    result_.job.set_id(request.job);
  }

  Followed Run() {
    while (!ReadOnce() && PauseBeforeNext()) {
    }
    if (!was_seen_) result_.job.Clear();
    return std::move(result_);
  }

 private:
  // True: the wait is over. A stream that breaks is begun again from its last event.
  bool ReadOnce() {
    v1::WatchJobRequest request;
    request.set_job(result_.job.id());
    request.set_after_sequence(last_sequence_);
    const StreamEnd end = coordinator_.Read<v1::WatchJobResponse>(
        [&](grpc::ClientContext* context) {
          return coordinator_.jobs().WatchJob(context, request);
        },
        [&](const v1::WatchJobResponse& update) { return OnUpdate(update); }, interrupt_,
        {.deadline = request_.deadline});
    if (is_done_) return EndWith(Followed::End::kDone);
    if (interrupt_.happened()) return EndWith(Followed::End::kInterrupted);
    if (was_seen_ && IsLate()) return EndWith(Followed::End::kTimedOut);
    result_.status =
        end.status.ok() ? absl::UnavailableError("the stream ended early") : end.status;
    const bool may_come_back = was_seen_ && (absl::IsUnavailable(result_.status) ||
                                             absl::IsDeadlineExceeded(result_.status));
    return may_come_back ? false : EndWith(Followed::End::kFailed);
  }

  bool OnUpdate(const v1::WatchJobResponse& update) {
    was_seen_ = true;
    lost_at_.reset();
    KeepSpec(update.job());
    last_sequence_ = std::max(last_sequence_, update.event().sequence());
    if (request_.on_update) request_.on_update(update);
    is_done_ = request_.is_done(update.job());
    return !is_done_;
  }

  // Only the first update has spec and plan.
  void KeepSpec(const v1::Job& job) {
    v1::Job newest = job;
    if (newest.spec().ByteSizeLong() < result_.job.spec().ByteSizeLong()) {
      *newest.mutable_spec() = result_.job.spec();
    }
    result_.job = std::move(newest);
  }

  bool IsLate() const { return request_.deadline && Now() >= *request_.deadline; }

  bool EndWith(Followed::End end) {
    result_.end = end;
    return true;
  }

  // False: not tried again.
  bool PauseBeforeNext() {
    if (!lost_at_) {
      lost_at_ = Now();
      request_.on_note(absl::StrCat("lost the coordinator at ", coordinator_.address(),
                                    "; trying again for ", request_.reconnect_patience.count(),
                                    " s, the job goes on"));
    }
    if (Now() - *lost_at_ >= request_.reconnect_patience) return !EndWith(Followed::End::kFailed);
    interrupt_.WaitFor(kPause);
    if (interrupt_.happened()) return !EndWith(Followed::End::kInterrupted);
    if (IsLate()) return !EndWith(Followed::End::kTimedOut);
    return true;
  }

  Coordinator& coordinator_;
  const Interrupt& interrupt_;
  const FollowRequest& request_;
  Followed result_;
  std::int64_t last_sequence_ = 0;
  std::optional<SteadyTime> lost_at_;
  bool was_seen_ = false;
  bool is_done_ = false;
};

}  // namespace

Followed FollowJob(Coordinator& coordinator, const Interrupt& interrupt,
                   const FollowRequest& request) {
  return Follower(coordinator, interrupt, request).Run();
}

}  // namespace agoq
