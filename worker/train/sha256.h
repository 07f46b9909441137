// SHA-256 over OpenSSL.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace agoq {

class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void Update(std::span<const std::byte> bytes);
  // 64 lower-case hex digits. Once: the object is used up.
  std::string HexDigest();

 private:
  struct Deleter {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Deleter> context_;
};

std::string Sha256Hex(std::span<const std::byte> bytes);

}  // namespace agoq
