#include "proto/common/http_endpoint.h"

#include <CivetServer.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace agoq {
namespace {

void Answer(mg_connection* connection, int code, const char* words, const std::string& type,
            const std::string& body) {
  mg_printf(
      connection,
      "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
      code, words, type.c_str(), body.size());
  mg_write(connection, body.data(), body.size());
}

class MetricsHandler : public CivetHandler {
 public:
  explicit MetricsHandler(const prometheus::Registry& registry) : registry_(registry) {}
  bool handleGet(CivetServer*, mg_connection* connection) override {
    const std::string text = prometheus::TextSerializer().Serialize(registry_.Collect());
    Answer(connection, 200, "OK", "text/plain; version=0.0.4; charset=utf-8", text);
    return true;
  }

 private:
  const prometheus::Registry& registry_;
};

// 200 while `reason` is empty, else 503.
class ProbeHandler : public CivetHandler {
 public:
  explicit ProbeHandler(std::function<std::string()> reason) : reason_(std::move(reason)) {}
  bool handleGet(CivetServer*, mg_connection* connection) override {
    const std::string reason = reason_ ? reason_() : "";
    if (reason.empty()) {
      Answer(connection, 200, "OK", "text/plain", "ok\n");
    } else {
      Answer(connection, 503, "Service Unavailable", "text/plain", reason + "\n");
    }
    return true;
  }

 private:
  const std::function<std::string()> reason_;
};

struct ListenAddress {
  std::string host;  // IPv4
  int port = 0;
};

absl::StatusOr<ListenAddress> ParseAddress(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon);
  ListenAddress address = {.host = host == "localhost" ? "127.0.0.1" : host};
  in_addr four = {};
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &address.port) ||
      address.port < 0 || address.port > 65535 ||
      ::inet_pton(AF_INET, address.host.c_str(), &four) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("metrics_address: ", text,
                     ": is not an IPv4 address and port; give one like 127.0.0.1:9401"));
  }
  return address;
}

sockaddr_in SocketAddress(const ListenAddress& listen) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(listen.port));
  ::inet_pton(AF_INET, listen.host.c_str(), &address.sin_addr);
  return address;
}

void Visit(const ListenAddress& listen) {
  const sockaddr_in address = SocketAddress(listen);
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  ::close(file);
}

// civetweb does not say why it could not bind: a socket of our own does.
std::string WhyNotBound(const ListenAddress& listen) {
  const sockaddr_in address = SocketAddress(listen);
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // As civetweb's own: connections of a daemon that has just ended are no hindrance.
  const int on = 1;
  ::setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const int result =
      ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
  ::close(probe);
  return result == 0 ? "" : std::strerror(result);
}

absl::Status NotBound(const std::string& address, const std::string& why) {
  return absl::UnavailableError(
      absl::StrCat("metrics_address: ", address, ": cannot listen there (", why,
                   "); stop what uses the port, or give another --metrics-address"));
}

}  // namespace

class HttpEndpoint::Handlers {
 public:
  Handlers(const HttpEndpointOptions& options, const prometheus::Registry& registry)
      : metrics(registry), live(nullptr), ready(options.not_ready_reason) {}
  // The listening thread looks for its end when somebody comes, or every 2 s: somebody comes.
  ~Handlers() {
    if (server == nullptr) return;
    const std::jthread visitor([this](const std::stop_token& stop) {
      for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
        Visit(address);
      }
    });
    server.reset();
  }

  MetricsHandler metrics;
  ProbeHandler live;
  ProbeHandler ready;
  ListenAddress address;                // that was bound
  std::unique_ptr<CivetServer> server;  // ends before its handlers
};

HttpEndpoint::HttpEndpoint() = default;
HttpEndpoint::~HttpEndpoint() = default;

absl::StatusOr<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Start(
    const HttpEndpointOptions& options, const prometheus::Registry& registry) {
  const absl::StatusOr<ListenAddress> address = ParseAddress(options.address);
  if (!address.ok()) return address.status();
  const std::string problem = WhyNotBound(*address);
  if (!problem.empty()) return NotBound(options.address, problem);
  std::unique_ptr<HttpEndpoint> endpoint(new HttpEndpoint());
  endpoint->handlers_ = std::make_unique<Handlers>(options, registry);
  try {
    endpoint->handlers_->server = std::make_unique<CivetServer>(
        std::vector<std::string>{"listening_ports", absl::StrCat(address->host, ":", address->port),
                                 "num_threads", "4", "request_timeout_ms", "5000"});
  } catch (const CivetException& error) {
    return NotBound(options.address, error.what());
  }
  Handlers& handlers = *endpoint->handlers_;
  handlers.server->addHandler("/metrics", handlers.metrics);
  handlers.server->addHandler("/livez", handlers.live);
  handlers.server->addHandler("/readyz", handlers.ready);
  handlers.address = {address->host, handlers.server->getListeningPorts().front()};
  endpoint->metrics_url_ =
      absl::StrCat("http://", handlers.address.host, ":", handlers.address.port, "/metrics");
  return endpoint;
}

}  // namespace agoq
