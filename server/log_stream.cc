#include "server/log_stream.h"

#include <algorithm>
#include <utility>

#include "proto/common/grpc_status.h"
#include "server/calls.h"

namespace agoq {
namespace {

constexpr std::int64_t kFrameBytes = 64 << 10;
constexpr std::size_t kMostQueued = 64;  // frames that a slow reader may leave in memory

bool IsWanted(const v1::TailLogsRequest& request, std::int64_t rank) {
  const auto& ranks = request.ranks();
  return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

}  // namespace

std::shared_ptr<LogStream> LogStream::Start(LogStore& logs) {
  std::shared_ptr<LogStream> stream(new LogStream(logs));
  stream->Own(stream);
  return stream;
}

void LogStream::Begin(const v1::Job& job, const v1::TailLogsRequest& request) {
  job_id_ = job.id();
  generation_ = request.generation() > 0 ? request.generation() : job.status().generation();
  for (std::int64_t rank = 0; rank < job.spec().mesh().data(); ++rank) {
    if (!IsWanted(request, rank)) continue;
    Position& position = positions_.emplace_back();
    position.id.set_job_id(job_id_);
    position.id.set_generation(generation_);
    position.id.set_rank(rank);
    position.offset = logs_.TailOffset(position.id, request.tail_lines());
  }
  Pump(/*is_over=*/!request.follow());
}

void LogStream::Pump(bool is_over) {
  for (Position& position : positions_) Send(position, is_over);
  if (is_over) FinishAfterQueue(grpc::Status::OK);
}

void LogStream::Send(Position& position, bool is_over) {
  while (is_over || num_queued() < kMostQueued) {
    std::string text = logs_.Read(position.id, position.offset, kFrameBytes);
    // A line that is being written comes whole, once it is; the last one comes as it is.
    const std::size_t end = text.rfind('\n');
    const bool is_full = static_cast<std::int64_t>(text.size()) == kFrameBytes;
    if (end != std::string::npos) text.resize(end + 1);
    if (text.empty() || (end == std::string::npos && !is_over && !is_full)) return;
    position.offset += static_cast<std::int64_t>(text.size());
    v1::TailLogsResponse response;
    response.set_rank(position.id.rank());
    response.set_generation(position.id.generation());
    response.set_text(std::move(text));
    Queue(std::move(response));
  }
}

void LogFollowers::Pump(
    const std::function<bool(const std::string& job, std::int64_t generation)>& is_over) {
  std::erase_if(streams_, [&](const std::weak_ptr<LogStream>& weak) {
    const std::shared_ptr<LogStream> stream = weak.lock();
    if (stream == nullptr) return true;
    const bool ends = is_over(stream->job_id(), stream->generation());
    stream->Pump(ends);
    return ends;
  });
}

void LogFollowers::Shutdown() {
  for (const std::weak_ptr<LogStream>& weak : std::exchange(streams_, {})) {
    const std::shared_ptr<LogStream> stream = weak.lock();
    if (stream != nullptr) stream->FinishAfterQueue(ToGrpc(ShuttingDown()));
  }
}

}  // namespace agoq
