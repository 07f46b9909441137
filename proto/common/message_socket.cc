#include "proto/common/message_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace agoq {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr int kBacklog = 4;
constexpr std::chrono::seconds kSendPatience{10};  // for a peer that does not read

[[noreturn]] void Fail(const std::filesystem::path& path, const std::string& why) {
  throw std::runtime_error(path.string() + ": cannot listen there (" + why +
                           "); use a state directory that is writable and has a shorter name");
}

bool SetAddress(const std::filesystem::path& path, sockaddr_un* address) {
  const std::string& name = path.native();
  if (name.size() >= sizeof(address->sun_path)) return false;
  address->sun_family = AF_UNIX;
  std::memcpy(address->sun_path, name.c_str(), name.size() + 1);
  return true;
}

int NewSocket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

bool SetBlocking(int file, bool is_blocking) {
  const int flags = ::fcntl(file, F_GETFL);
  const int wanted = is_blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
  return flags >= 0 && ::fcntl(file, F_SETFL, wanted) == 0;
}

// False: the time passed.
bool WaitFor(int file, short events, std::chrono::milliseconds timeout) {
  pollfd poll = {.fd = file, .events = events, .revents = 0};
  const int count = ::poll(&poll, 1, static_cast<int>(timeout.count()));
  return count > 0 || (count < 0 && errno != EINTR);
}

bool SendAll(int file, std::string_view bytes) {
  const auto deadline = std::chrono::steady_clock::now() + kSendPatience;
  while (!bytes.empty()) {
    const ssize_t sent = ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN || std::chrono::steady_clock::now() >= deadline) return false;
    WaitFor(file, POLLOUT, std::chrono::milliseconds(100));
  }
  return true;
}

bool ReceiveAll(int file, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::recv(file, bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

std::array<char, kHeaderBytes> HeaderOf(std::uint32_t length) {
  std::array<char, kHeaderBytes> header = {};
  for (std::size_t i = 0; i < kHeaderBytes; ++i) header[i] = static_cast<char>(length >> (8 * i));
  return header;
}

std::uint32_t LengthOf(const std::array<char, kHeaderBytes>& header) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i) {
    length |= std::uint32_t{static_cast<unsigned char>(header[i])} << (8 * i);
  }
  return length;
}

}  // namespace

MessageSocket::~MessageSocket() { ::close(file_); }

bool MessageSocket::Send(const google::protobuf::MessageLite& message) {
  const std::string body = message.SerializeAsString();
  if (body.size() > kLargestSocketMessage) return false;
  const auto header = HeaderOf(static_cast<std::uint32_t>(body.size()));
  const std::lock_guard lock(send_mutex_);
  if (SendAll(file_, std::string(header.data(), header.size()) + body)) return true;
  // Half a message may be out: nothing that follows would be understood.
  ::shutdown(file_, SHUT_RDWR);
  return false;
}

MessageSocket::Received MessageSocket::Receive(google::protobuf::MessageLite* message,
                                               std::chrono::milliseconds timeout) {
  if (!WaitFor(file_, POLLIN, timeout)) return Received::kTimeout;
  std::array<char, kHeaderBytes> header = {};
  if (!ReceiveAll(file_, header.data(), header.size())) return Received::kClosed;
  const std::uint32_t length = LengthOf(header);
  if (length > kLargestSocketMessage) return Received::kClosed;
  std::string body(length, '\0');
  if (!ReceiveAll(file_, body.data(), body.size())) return Received::kClosed;
  return message->ParseFromString(body) ? Received::kMessage : Received::kClosed;
}

void MessageSocket::Shutdown() { ::shutdown(file_, SHUT_RDWR); }

MessageListener::MessageListener(const std::filesystem::path& path) : path_(path) {
  sockaddr_un address = {};
  if (!SetAddress(path, &address)) Fail(path, "the name is too long for a socket");
  file_ = NewSocket();
  if (file_ < 0) Fail(path, std::strerror(errno));
  ::unlink(path.c_str());
  // Nobody can connect before listen, so the mode is set in time; umask would touch other threads.
  if (::bind(file_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::chmod(path.c_str(), S_IRUSR | S_IWUSR) == 0 && ::listen(file_, kBacklog) == 0) {
    return;
  }
  const int error = errno;
  ::close(file_);
  Fail(path, std::strerror(error));
}

MessageListener::~MessageListener() {
  ::close(file_);
  ::unlink(path_.c_str());
}

std::unique_ptr<MessageSocket> MessageListener::Accept(std::chrono::milliseconds timeout) {
  if (!WaitFor(file_, POLLIN, timeout)) return nullptr;
  const int file = ::accept4(file_, nullptr, nullptr, SOCK_CLOEXEC);
  return file < 0 ? nullptr : std::make_unique<MessageSocket>(file);
}

void MessageListener::Shutdown() { ::shutdown(file_, SHUT_RDWR); }

std::unique_ptr<MessageSocket> ConnectMessageSocket(const std::filesystem::path& path) {
  sockaddr_un address = {};
  if (!SetAddress(path, &address)) return nullptr;
  const int file = NewSocket();
  if (file < 0) return nullptr;
  // A frozen listener whose backlog is full would hold a blocking connect for ever.
  if (SetBlocking(file, false) &&
      ::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      SetBlocking(file, true)) {
    return std::make_unique<MessageSocket>(file);
  }
  ::close(file);
  return nullptr;
}

}  // namespace agoq
