// This daemon's end of the socket to one trainer.
#pragma once

#include <absl/base/thread_annotations.h>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "proto/agoq/v1/trainer.pb.h"
#include "proto/common/message_socket.h"
#include "worker/daemon/file_handle.h"

namespace agoq {

// Connects as soon as the trainer listens, and again whenever the connection is lost. Any thread
// may send; one thread, not the link's own, starts and ends it.
class TrainerLink : public std::enable_shared_from_this<TrainerLink> {
 public:
  // Called on the link's own thread.
  using Handler = std::function<void(TrainerLink&, const v1::FromTrainer&)>;

  // `folder` is the attempt's; it is there.
  TrainerLink(const std::filesystem::path& folder, Handler handler);
  ~TrainerLink() { Close(); }
  TrainerLink(const TrainerLink&) = delete;
  TrainerLink& operator=(const TrainerLink&) = delete;

  void Start();

  // False: there is no connection.
  bool Send(const v1::ToTrainer& message);

  // After the trainer's end: handles all that it had sent, then ends the link.
  void Finish();
  // Ends the link at once; a trainer that lives sees its daemon go.
  void Close();

 private:
  void Run(std::stop_token stop);
  std::shared_ptr<MessageSocket> Connect(std::stop_token stop);
  void Receive(MessageSocket& socket, std::stop_token stop);

  const FileHandle folder_;
  const std::filesystem::path socket_path_;
  const Handler handler_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<MessageSocket> socket_ ABSL_GUARDED_BY(mutex_);  // shared with senders
  std::jthread thread_;
};

}  // namespace agoq
