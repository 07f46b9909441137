// Each field of the index damaged in turn: an error that names file, field and value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/unit/data/format_bytes.h"
#include "tests/unit/data/written_dataset.h"
#include "worker/data/token_dataset.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

struct Damage {
  const char* name;
  IndexFields fields;
  const char* finding;
};

// Shown by GoogleTest instead of the bytes.
void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class TokenDatasetDamageTest : public ::testing::TestWithParam<Damage> {
 protected:
  std::string ErrorOfOpening(const std::string& index, const std::string& ids) {
    WriteBytes(prefix_ + ".idx", index);
    WriteBytes(prefix_ + ".bin", ids);
    return ErrorOf<std::runtime_error>([this] { TokenDataset dataset(prefix_); });
  }

  TemporaryFolder folder_;
  std::string prefix_ = folder_ / "corpus";
};

TEST_P(TokenDatasetDamageTest, NamesFileFieldValueAndRemedy) {
  EXPECT_THAT(ErrorOfOpening(GetParam().fields.Bytes(), FiveIds()),
              AllOf(HasSubstr(prefix_ + ".idx"), HasSubstr(GetParam().finding),
                    HasSubstr("agoq-trainer tokenize")));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, TokenDatasetDamageTest,
    ::testing::Values(
        Damage{"Magic", {.magic = std::string("MMIDIDX\0\1", 9)}, "magic is not MMIDIDX"},
        Damage{"Version", {.version = I64(2)}, "version is 2"},
        Damage{"HugeVersion", {.version = I64(-1)}, "version is 18446744073709551615"},
        Damage{"TypeOfInt16", {.type = U8(3)}, "type code is 3"},
        Damage{"TypeOutOfRange", {.type = U8(255)}, "type code is 255"},
        Damage{"TooManySequences", {.num_sequences = I64(100)}, "number of sequences is 100"},
        Damage{"HugeSequences", {.num_sequences = I64(kLargest)}, "number of sequences is 9223"},
        Damage{"NegativeSequences", {.num_sequences = I64(-1)}, "number of sequences is -1"},
        Damage{"TooFewSequences", {.num_sequences = I64(2)}, "the header speaks of 48"},
        Damage{"NoBounds", {.num_bounds = I64(0)}, "number of document bounds is 0"},
        Damage{"HugeBounds", {.num_bounds = I64(kLargest)}, "number of document bounds is 9223"},
        Damage{"NegativeBounds", {.num_bounds = I64(-1)}, "number of document bounds is -1"},
        Damage{"TooFewBounds", {.num_bounds = I64(2)}, "the header speaks of 52"},
        Damage{"BytesAfterTheEnd", {.tail = "x"}, "has 61 bytes of arrays"},
        Damage{"NegativeLength", {.lengths = I32(2) + I32(-1) + I32(3)}, "length is -1"},
        Damage{"LengthPastTheEnd", {.lengths = I32(2) + I32(0) + I32(4)}, "length 4 reach past"},
        Damage{"NegativePointer", {.pointers = I64(-2) + I64(4) + I64(4)}, "pointer -2"},
        Damage{"PointerPastTheEnd", {.pointers = I64(0) + I64(4) + I64(6)}, "pointer 6"},
        Damage{"HugePointer", {.pointers = I64(0) + I64(kLargest) + I64(4)}, "pointer 9223"},
        Damage{"FirstBound", {.bounds = I64(1) + I64(2) + I64(3)}, "document bound 0 is 1"},
        Damage{"NegativeBound", {.bounds = I64(-1) + I64(2) + I64(3)}, "document bound 0 is -1"},
        Damage{"FallingBound", {.bounds = I64(0) + I64(-5) + I64(3)}, "document bound 1 is -5"},
        Damage{"BoundPastTheEnd", {.bounds = I64(0) + I64(4) + I64(3)}, "document bound 1 is 4"},
        Damage{"LastBound", {.bounds = I64(0) + I64(2) + I64(2)}, "document bound 2 is 2"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(TokenDatasetDamageTest, NamesTheSizeOfAnEmptyIndex) {
  EXPECT_THAT(ErrorOfOpening("", FiveIds()), HasSubstr("has 0 bytes, the header alone has 34"));
}

TEST_F(TokenDatasetDamageTest, RefusesAnIndexCutAnywhere) {
  const std::string whole = IndexFields().Bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(ErrorOfOpening(whole.substr(0, size), FiveIds()), HasSubstr(prefix_ + ".idx"))
        << size;
  }
}

TEST_F(TokenDatasetDamageTest, AnyByteOfTheIndexMayBeWrong) {
  const std::string whole = IndexFields().Bytes();
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (const char byte : {'\x00', '\x01', '\x7f', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[place] = byte;
      WriteBytes(prefix_ + ".idx", damaged);
      WriteBytes(prefix_ + ".bin", FiveIds());
      const std::string error =
          ErrorOf<std::runtime_error>([this] { ReadAll(TokenDataset(prefix_)); });
      EXPECT_TRUE(error.empty() || error.starts_with(prefix_)) << place << ": " << error;
    }
  }
}

TEST_F(TokenDatasetDamageTest, RefusesIdsThatWereCutShort) {
  EXPECT_THAT(ErrorOfOpening(IndexFields().Bytes(), FiveIds().substr(0, 9)),
              HasSubstr("past the 9 bytes of the .bin file"));
}

}  // namespace
}  // namespace agoq
