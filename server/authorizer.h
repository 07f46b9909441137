// Who may do what. Stands in every handler.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>

namespace agoq {

struct Identity {
  std::string name;  // in events: user name or worker:NAME
  std::string peer;  // gRPC's address, like ipv4:127.0.0.1:5000
};

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // `method` is Service/Method; `object` a job or worker, may be empty. UNAUTHENTICATED or
  // PERMISSION_DENIED, without a hint whether the object exists.
  virtual absl::Status Check(const Identity& identity, std::string_view method,
                             std::string_view object) const = 0;
};

// Anyone on this machine, nobody else: what is sound without TLS.
class LoopbackAuthorizer : public Authorizer {
 public:
  absl::Status Check(const Identity& identity, std::string_view method,
                     std::string_view object) const override;
};

}  // namespace agoq
