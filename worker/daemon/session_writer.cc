#include "worker/daemon/session_writer.h"

#include <utility>

namespace agoq {
namespace {

constexpr std::chrono::seconds kWelcomePatience{10};
constexpr std::chrono::milliseconds kStopInterval{50};

}  // namespace

SessionWriter::SessionWriter(grpc::ClientContext& context, Stream& stream, Outbox& outbox,
                             std::function<v1::Heartbeat()> heartbeat)
    : context_(context),
      stream_(stream),
      outbox_(outbox),
      heartbeat_(std::move(heartbeat)),
      is_welcome_(welcome_.get_future()),
      thread_([this](std::stop_token stop) { Run(std::move(stop)); }) {}

void SessionWriter::Run(std::stop_token stop) {
  const auto deadline = std::chrono::steady_clock::now() + kWelcomePatience;
  while (is_welcome_.wait_for(kStopInterval) != std::future_status::ready) {
    if (stop.stop_requested()) return;
    if (std::chrono::steady_clock::now() >= deadline) return context_.TryCancel();
  }
  const auto interval = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(is_welcome_.get()));
  auto next_beat = std::chrono::steady_clock::now();
  std::int64_t sequence = 0;
  while (!stop.stop_requested()) {
    if (const std::optional<v1::WorkerMessage> message = outbox_.Take(stop, next_beat)) {
      if (!stream_.Write(*message)) return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_beat) continue;
    if (stop.stop_requested() || !WriteBeat(++sequence)) return;
    next_beat = now + interval;
  }
}

bool SessionWriter::WriteBeat(std::int64_t sequence) {
  v1::WorkerMessage message;
  *message.mutable_heartbeat() = heartbeat_();
  message.mutable_heartbeat()->set_sequence(sequence);
  return stream_.Write(message);
}

}  // namespace agoq
