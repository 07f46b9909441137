#include "worker/daemon/log_pusher.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>
#include <pthread.h>

#include <chrono>
#include <fstream>
#include <system_error>
#include <utility>

#include "worker/daemon/attempt_folder.h"

namespace agoq {
namespace {

constexpr std::chrono::milliseconds kPause{500};
constexpr std::chrono::seconds kPatience{2};  // with the coordinator
constexpr std::int64_t kFrameBytes = 64 << 10;
constexpr int kFramesOfACall = 16;
constexpr int kLastRounds = 4;  // that a log is looked at after its rank is gone

std::string ReadFrom(const std::filesystem::path& path, std::int64_t offset) {
  std::string text(kFrameBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  file.read(text.data(), kFrameBytes);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

LogPusher::LogPusher(std::shared_ptr<grpc::Channel> channel, std::filesystem::path attempts,
                     std::function<std::vector<v1::RankId>()> held)
    : stub_(v1::AgentService::NewStub(std::move(channel))),
      attempts_(std::move(attempts)),
      held_(std::move(held)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

LogPusher::~LogPusher() = default;

std::filesystem::path LogPusher::LogOf(const v1::RankId& id) const {
  return AttemptFolder(attempts_ / AttemptName(id)).log();
}

void LogPusher::Run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "log-pusher");
  while (!stop.stop_requested()) {
    PushAll();
    std::unique_lock lock(mutex_);
    pause_.wait_for(lock, stop, kPause, [] { return false; });
  }
  PushAll();
}

void LogPusher::PushAll() {
  for (auto& [name, source] : sources_) source.is_held = false;
  for (const v1::RankId& id : held_()) {
    Source& source = sources_[AttemptName(id)];
    source.id = id;
    source.is_held = true;
  }
  for (auto& [name, source] : sources_) {
    if (!Push(source)) return;
  }
  std::erase_if(sources_, [](const auto& entry) {
    return !entry.second.is_held && entry.second.idle_rounds > kLastRounds;
  });
}

bool LogPusher::Push(Source& source) {
  const std::filesystem::path log = LogOf(source.id);
  std::error_code error;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(log, error));
  ++source.idle_rounds;
  if (error || size <= source.offset) return true;
  source.idle_rounds = 0;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  v1::PushLogsResponse response;
  const auto stream = stub_->PushLogs(&context, &response);
  v1::PushLogsRequest request;
  *request.mutable_id() = source.id;
  // An empty piece asks how far an earlier daemon came.
  std::int64_t offset = std::max<std::int64_t>(source.offset, 0);
  for (int frame = 0; frame < kFramesOfACall; ++frame) {
    request.set_offset(offset);
    request.set_text(source.offset < 0 ? "" : ReadFrom(log, offset));
    if (!stream->Write(request) || request.text().empty()) break;
    offset += static_cast<std::int64_t>(request.text().size());
  }
  stream->WritesDone();
  const grpc::Status status = stream->Finish();
  if (!status.ok()) {
    source.offset = -1;
    return status.error_code() != grpc::StatusCode::UNAVAILABLE &&
           status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED;
  }
  source.offset = response.offset();
  return true;
}

}  // namespace agoq
