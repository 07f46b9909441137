#include "worker/train/sha256.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

namespace agoq {
namespace {

std::span<const std::byte> BytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string HashOf(std::string_view text) { return Sha256Hex(BytesOf(text)); }

// FIPS 180-2, appendix B, and the hash of nothing.
TEST(Sha256Test, GivesTheHashesOfTheStandard) {
  EXPECT_EQ(HashOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HashOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HashOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(HashOf(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, DoesNotDependOnHowTheBytesCome) {
  const std::string text(200, 'x');
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.Update(BytesOf(std::string_view(text).substr(0, cut)));
    hash.Update(BytesOf(std::string_view(text).substr(cut)));
    ASSERT_EQ(hash.HexDigest(), HashOf(text)) << cut;
  }
}

}  // namespace
}  // namespace agoq
