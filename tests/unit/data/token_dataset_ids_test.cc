// Ids that do not fit, and documents that hold none: fault cases D-01, D-02, D-03.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/unit/data/format_bytes.h"
#include "tests/unit/data/written_dataset.h"
#include "worker/data/evaluation_batches.h"
#include "worker/data/loader.h"
#include "worker/data/token_dataset.h"
#include "worker/data/token_dataset_writer.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TokenIdsTest : public ::testing::Test {
 protected:
  std::string ErrorOfIds(const IdLimits& limits) {
    const TokenDataset dataset(prefix_);
    return ErrorOf<std::invalid_argument>([&] { dataset.RequireIdsBelow(limits); });
  }

  std::string ErrorOfLoading(std::int64_t sequence_length) {
    const TokenDataset dataset(prefix_);
    return ErrorOf<std::invalid_argument>(
        [&] { Loader loader(dataset, {.sequence_length = sequence_length}); });
  }

  // One document of 200 times id 7, but `id` at position 123; 32 bits, since 16 hold no -1.
  void WriteIdAt123(std::int64_t id) {
    std::string ids;
    for (int i = 0; i < 200; ++i) ids += I32(i == 123 ? id : 7);
    WriteBytes(prefix_ + ".bin", ids);
    const IndexFields fields = {.type = U8(4),
                                .num_sequences = I64(1),
                                .num_bounds = I64(2),
                                .lengths = I32(200),
                                .pointers = I64(0),
                                .bounds = I64(0) + I64(1)};
    WriteBytes(prefix_ + ".idx", fields.Bytes());
  }

  TemporaryFolder folder_;
  std::string prefix_ = folder_ / "corpus";
};

TEST_F(TokenIdsTest, D01RefusesToWriteAnIdThat16BitsCannotHold) {
  TokenDatasetWriter writer(prefix_, TokenWidth::k16Bit);
  writer.Append(Ids{1, 65535});
  EXPECT_THAT(ErrorOf<std::invalid_argument>([&] { writer.Append(Ids{70000}); }),
              AllOf(HasSubstr(prefix_ + ".bin"), HasSubstr("position 2"), HasSubstr("id 70000"),
                    HasSubstr("65535"), HasSubstr("32-bit")));
}

TEST_F(TokenIdsTest, D01RefusesToWriteANegativeId) {
  for (const TokenWidth width : {TokenWidth::k16Bit, TokenWidth::k32Bit}) {
    TokenDatasetWriter writer(prefix_, width);
    EXPECT_THROW(writer.Append(Ids{-1}), std::invalid_argument);
  }
}

TEST_F(TokenIdsTest, D01RefusesToWriteAnIdThat32BitsCannotHold) {
  TokenDatasetWriter writer(prefix_, TokenWidth::k32Bit);
  EXPECT_THROW(writer.Append(Ids{2147483648}), std::invalid_argument);
}

TEST_F(TokenIdsTest, D01ReadsLargeIdsAsTheyWereWritten) {
  WriteDataset(prefix_, {{70000, 128000}}, TokenWidth::k32Bit);
  EXPECT_EQ(ReadAll(TokenDataset(prefix_)), (Ids{70000, 128000}));
}

TEST_F(TokenIdsTest, D01ReadsTheUpperHalfOf16BitsAsPositive) {
  WriteDataset(prefix_, {{32767, 32768, 62464, 65535}});
  EXPECT_EQ(ReadAll(TokenDataset(prefix_)), (Ids{32767, 32768, 62464, 65535}));
}

TEST_F(TokenIdsTest, D01Refuses16BitsForALargeVocabulary) {
  WriteDataset(prefix_, {{1, 2, 3}});
  EXPECT_THAT(ErrorOfIds({.vocab_size = 65537}),
              AllOf(HasSubstr(prefix_ + ".bin"), HasSubstr("16-bit"), HasSubstr("65537"),
                    HasSubstr("state the largest id")));
}

TEST_F(TokenIdsTest, D01Accepts16BitsForAVocabularyThatJustFits) {
  WriteDataset(prefix_, {{1, 2, 65535}});
  EXPECT_EQ(ErrorOfIds({.vocab_size = 65536}), "");
}

TEST_F(TokenIdsTest, D01Accepts16BitsForALargeVocabularyWhenTheLargestIdIsStated) {
  WriteDataset(prefix_, {{1, 2, 3}});
  EXPECT_EQ(ErrorOfIds({.vocab_size = 128000, .stated_largest_id = 3}), "");
}

TEST_F(TokenIdsTest, D01RefusesAStatedLargestIdThat16BitsCannotHold) {
  WriteDataset(prefix_, {{1, 2, 3}});
  EXPECT_THAT(ErrorOfIds({.vocab_size = 128000, .stated_largest_id = 70000}),
              AllOf(HasSubstr("70000"), HasSubstr("32-bit")));
}

TEST_F(TokenIdsTest, D02NamesFilePositionIdAndLimitOfAnIdOutsideTheVocabulary) {
  WriteIdAt123(32000);
  EXPECT_THAT(ErrorOfIds({.vocab_size = 32000}),
              AllOf(HasSubstr(prefix_ + ".bin"), HasSubstr("position 123"), HasSubstr("id 32000"),
                    HasSubstr("31999")));
}

TEST_F(TokenIdsTest, D02NamesANegativeId) {
  WriteIdAt123(-1);
  EXPECT_THAT(ErrorOfIds({.vocab_size = 32000}),
              AllOf(HasSubstr("position 123"), HasSubstr("id -1"), HasSubstr("31999")));
}

TEST_F(TokenIdsTest, D02AcceptsTheLargestIdOfTheVocabulary) {
  WriteIdAt123(31999);
  EXPECT_EQ(ErrorOfIds({.vocab_size = 32000}), "");
}

TEST_F(TokenIdsTest, D02NeitherClampsNorWrapsTheId) {
  WriteIdAt123(32000);
  EXPECT_EQ(ReadAll(TokenDataset(prefix_))[123], 32000);
}

TEST_F(TokenIdsTest, D02FindsTheIdFarIntoALargeFile) {
  Ids ids(200000, 7);
  ids[150000] = 300;
  WriteDataset(prefix_, {ids});
  EXPECT_THAT(ErrorOfIds({.vocab_size = 256}), HasSubstr("position 150000"));
}

TEST_F(TokenIdsTest, D03ServesTheTokensAroundAnEmptyDocument) {
  WriteDataset(prefix_, {{1, 2, 3, 4, 5}, {}, {6, 7, 8}});
  const TokenDataset dataset(prefix_);
  EXPECT_EQ(ReadAll(dataset), (Ids{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(dataset.num_documents(), 3);
  EXPECT_EQ(dataset.num_empty_documents(), 1);
}

TEST_F(TokenIdsTest, D03RefusesToLoadOnlyEmptyDocuments) {
  WriteDataset(prefix_, {{}, {}});
  EXPECT_THAT(ErrorOfLoading(1), AllOf(HasSubstr(prefix_), HasSubstr("has 0 tokens")));
}

TEST_F(TokenIdsTest, D03RefusesToEvaluateOnlyEmptyDocuments) {
  WriteDataset(prefix_, {{}, {}});
  const TokenDataset dataset(prefix_);
  EXPECT_THAT(ErrorOf<std::invalid_argument>(
                  [&] { EvaluationBatches batches(dataset, {.sequence_length = 4}); }),
              AllOf(HasSubstr(prefix_), HasSubstr("has 0 tokens")));
}

TEST_F(TokenIdsTest, D03RefusesADatasetWithoutDocuments) {
  WriteDataset(prefix_, {});
  EXPECT_EQ(TokenDataset(prefix_).num_documents(), 0);
  EXPECT_THAT(ErrorOfLoading(1), HasSubstr("has 0 tokens"));
}

TEST_F(TokenIdsTest, D03RefusesFilesOfZeroBytes) {
  WriteBytes(prefix_ + ".bin", "");
  WriteBytes(prefix_ + ".idx", "");
  EXPECT_THAT(ErrorOf<std::runtime_error>([this] { TokenDataset dataset(prefix_); }),
              AllOf(HasSubstr(prefix_ + ".idx"), HasSubstr("has 0 bytes")));
}

TEST_F(TokenIdsTest, D03RefusesADocumentShorterThanASequence) {
  WriteDataset(prefix_, {{1, 2, 3}});
  EXPECT_THAT(ErrorOfLoading(8),
              AllOf(HasSubstr("sequence length 8"), HasSubstr(prefix_), HasSubstr("has 3 tokens")));
}

}  // namespace
}  // namespace agoq
