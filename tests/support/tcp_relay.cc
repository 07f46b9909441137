#include "tests/support/tcp_relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace agoq {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

int PortOf(const std::string& address) { return std::stoi(address.substr(address.rfind(':') + 1)); }

// False: the other side is gone.
bool WriteAll(int to, const char* data, ssize_t size) {
  while (size > 0) {
    const ssize_t written = ::send(to, data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (written <= 0) return false;
    data += written;
    size -= written;
  }
  return true;
}

}  // namespace

TcpRelay::TcpRelay(const std::string& target) : target_(target) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 16) != 0 || ::pipe2(wake_, O_CLOEXEC) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no relay to " + target);
  }
  address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { Run(); });
}

TcpRelay::~TcpRelay() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  static_cast<void>(!::write(wake_[1], "s", 1));
  thread_.join();
  for (const Line& line : lines_) ::close(line.from);  // each socket is one line's source
  for (const int file : {listener_, wake_[0], wake_[1]}) ::close(file);
}

void TcpRelay::Cut() {
  const std::lock_guard lock(mutex_);
  is_cut_wanted_ = true;
  static_cast<void>(!::write(wake_[1], "c", 1));
}

void TcpRelay::Run() {
  while (true) {
    std::vector<pollfd> files = {{listener_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    for (const Line& line : lines_) files.push_back({line.is_cut ? -1 : line.from, POLLIN, 0});
    ::poll(files.data(), files.size(), -1);
    if (files[1].revents != 0) {
      char word = 0;
      static_cast<void>(!::read(wake_[0], &word, 1));
      const std::lock_guard lock(mutex_);
      if (is_stopping_) return;
      if (is_cut_wanted_) {
        for (Line& line : lines_) line.is_cut = true;
      }
      is_cut_wanted_ = false;
    }
    const std::size_t num_polled = lines_.size();
    if (files[0].revents != 0) Accept();
    for (std::size_t i = 0; i < num_polled; ++i) Pass(i, files[i + 2].revents != 0);
  }
}

void TcpRelay::Accept() {
  const int near = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (near < 0) return;
  const int far = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(PortOf(target_));
  if (::connect(far, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(near);
    ::close(far);
    return;
  }
  lines_.push_back({.from = near, .to = far});
  lines_.push_back({.from = far, .to = near});
}

void TcpRelay::Pass(std::size_t line, bool is_ready) {
  Line& one = lines_[line];
  if (!is_ready || one.is_cut) return;
  std::array<char, 16384> buffer;
  const ssize_t size = ::recv(one.from, buffer.data(), buffer.size(), 0);
  if (size > 0 && WriteAll(one.to, buffer.data(), size)) return;
  ::shutdown(one.to, SHUT_WR);
  one.is_cut = true;
}

}  // namespace agoq
