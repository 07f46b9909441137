#include "server/watch_stream.h"

#include <utility>

#include "proto/common/grpc_status.h"
#include "server/calls.h"
#include "server/job_state.h"

namespace agoq {
namespace {

// A reader this far behind gets no progress, only events.
constexpr std::size_t kMostQueued = 64;

}  // namespace

std::shared_ptr<WatchStream> WatchStream::Start(WatchHub& hub) {
  std::shared_ptr<WatchStream> stream(new WatchStream(hub));
  stream->Own(stream);
  return stream;
}

void WatchStream::Begin(const v1::Job& snapshot, const std::vector<v1::Event>& missed) {
  v1::WatchJobResponse first;
  *first.mutable_job() = snapshot;
  for (const v1::Event& event : missed) {
    v1::WatchJobResponse earlier = first;
    *earlier.mutable_event() = event;
    Queue(std::move(earlier));
  }
  Queue(std::move(first));
  if (IsTerminal(snapshot.status().state())) return FinishAfterQueue(grpc::Status::OK);
  job_id_ = snapshot.id();
  hub_.Add(job_id_, shared_from_this());
}

void WatchStream::OnUpdate(const v1::WatchJobResponse& update) {
  if (!update.has_event() && num_queued() >= kMostQueued) return;
  Queue(update);
  if (IsTerminal(update.job().status().state())) FinishAfterQueue(grpc::Status::OK);
}

void WatchStream::OnShutdown() { FinishAfterQueue(ToGrpc(ShuttingDown())); }

void WatchStream::OnGone() { hub_.Remove(job_id_, this); }

}  // namespace agoq
