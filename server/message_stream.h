// The sending half of a server stream: messages wait in a queue while one is being written, and the
// stream is finished once, after what was queued before. Owns itself until gRPC is done with it.
//
// `Base` is grpc::ServerWriteReactor<Message> or grpc::ServerBidiReactor<In, Message>.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/status.h>

#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace agoq {

template <typename Base, typename Message>
class MessageStream : public Base {
 public:
  // Any thread. Nothing happens once the stream is being finished.
  void Queue(Message message) {
    {
      const absl::MutexLock lock(&mutex_);
      if (status_.has_value()) return;
      queue_.push_back(std::move(message));
    }
    WriteNext();
  }

  // Any thread; the first one counts.
  void FinishAfterQueue(grpc::Status status) {
    {
      const absl::MutexLock lock(&mutex_);
      if (status_.has_value()) return;
      status_ = std::move(status);
    }
    WriteNext();
  }

  std::size_t num_queued() const {
    const absl::MutexLock lock(&mutex_);
    return queue_.size();
  }

  void OnWriteDone(bool ok) override {
    {
      const absl::MutexLock lock(&mutex_);
      is_writing_ = false;
      queue_.pop_front();
      if (!ok) queue_.clear();
      if (!ok && !status_.has_value()) status_ = grpc::Status::CANCELLED;
    }
    WriteNext();
  }

  // The client went away, or the server shuts down.
  void OnCancel() override {
    {
      const absl::MutexLock lock(&mutex_);
      if (!is_writing_) queue_.clear();
      if (!status_.has_value()) status_ = grpc::Status::CANCELLED;
    }
    WriteNext();
  }

  void OnDone() override {
    OnGone();
    self_.reset();
  }

 protected:
  // The stream is over; the last call.
  virtual void OnGone() {}
  // Keeps `self` alive until OnDone.
  void Own(std::shared_ptr<MessageStream> self) { self_ = std::move(self); }

 private:
  void WriteNext() {
    const Message* next = nullptr;
    std::optional<grpc::Status> end;
    {
      const absl::MutexLock lock(&mutex_);
      if (is_writing_ || is_finished_) return;
      if (!queue_.empty()) {
        is_writing_ = true;
        next = &queue_.front();
      } else if (status_.has_value()) {
        is_finished_ = true;
        end = status_;
      }
    }
    // Out of the lock: gRPC may call back from within.
    if (next != nullptr) return this->StartWrite(next);
    if (end.has_value()) this->Finish(*end);
  }

  mutable absl::Mutex mutex_;
  std::deque<Message> queue_ ABSL_GUARDED_BY(mutex_);  // its front may be being written
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> status_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<MessageStream> self_;
};

}  // namespace agoq
