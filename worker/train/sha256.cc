#include "worker/train/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace agoq {
namespace {

void Require(int result) {
  if (result != 1) throw std::runtime_error("SHA-256: OpenSSL failed");
}

}  // namespace

void Sha256::Deleter::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  Require(context_ != nullptr ? 1 : 0);
  Require(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

void Sha256::Update(std::span<const std::byte> bytes) {
  Require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::HexDigest() {
  std::array<unsigned char, 32> digest;
  Require(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr));
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string Sha256Hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.HexDigest();
}

}  // namespace agoq
