// /metrics (Prometheus text), /livez and /readyz of a daemon over HTTP.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

namespace prometheus {
class Registry;
}

namespace agoq {

struct HttpEndpointOptions {
  std::string address;  // host:port; port 0 takes a free one
  // Empty: ready (200). Otherwise the text of a 503. Called on a server thread; must not block.
  std::function<std::string()> not_ready_reason;
};

class HttpEndpoint {
 public:
  // The registry outlives it. Errors name address, reason (port in use, ...) and remedy.
  static absl::StatusOr<std::unique_ptr<HttpEndpoint>> Start(const HttpEndpointOptions& options,
                                                             const prometheus::Registry& registry);
  ~HttpEndpoint();

  // "http://127.0.0.1:9401/metrics", with the port that was bound.
  const std::string& metrics_url() const { return metrics_url_; }

 private:
  class Handlers;
  HttpEndpoint();

  std::string metrics_url_;
  std::unique_ptr<Handlers> handlers_;
};

}  // namespace agoq
