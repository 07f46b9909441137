// Messages over a Unix stream socket: each is its length as four bytes, little-endian, then its
// bytes. What daemon and trainer speak (trainer.proto).
#pragma once

#include <google/protobuf/message_lite.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>

namespace agoq {

inline constexpr std::uint32_t kLargestSocketMessage = 64 << 20;  // bytes

// Both ends of a connection. Any thread may send; one receives.
class MessageSocket {
 public:
  // Owns the connected socket `file`.
  explicit MessageSocket(int file) : file_(file) {}
  ~MessageSocket();
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;

  // Whole or not at all as far as the peer sees. False: the peer is gone. Never raises SIGPIPE.
  bool Send(const google::protobuf::MessageLite& message);

  enum class Received { kMessage, kTimeout, kClosed };
  // kClosed: the peer is gone, Shutdown was called, or what it sent is no message.
  Received Receive(google::protobuf::MessageLite* message, std::chrono::milliseconds timeout);

  // Wakes a receiver for good; any thread.
  void Shutdown();

 private:
  const int file_;
  std::mutex send_mutex_;
};

// Listens at a path, mode 0600; replaces a socket that a dead process left there. Throws
// std::runtime_error with path and reason (paths of more than 107 bytes do not fit a socket).
class MessageListener {
 public:
  explicit MessageListener(const std::filesystem::path& path);
  // Closes; removes the path.
  ~MessageListener();
  MessageListener(const MessageListener&) = delete;
  MessageListener& operator=(const MessageListener&) = delete;

  // Nothing when the time passed or Shutdown was called.
  std::unique_ptr<MessageSocket> Accept(std::chrono::milliseconds timeout);
  void Shutdown();

 private:
  const std::filesystem::path path_;
  int file_ = -1;
};

// Nothing if nobody listens there, or nobody has accepted for a while. Does not block.
std::unique_ptr<MessageSocket> ConnectMessageSocket(const std::filesystem::path& path);

}  // namespace agoq
