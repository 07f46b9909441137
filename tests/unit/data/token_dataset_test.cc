#include "worker/data/token_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/unit/data/format_bytes.h"
#include "tests/unit/data/written_dataset.h"
#include "worker/data/token_dataset_writer.h"

namespace agoq {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TokenDatasetTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string prefix_ = folder_ / "corpus";
};

TEST_F(TokenDatasetTest, ReadsBackWhatWasWrittenWith16Bits) {
  WriteDataset(prefix_, {{1, 2, 65535}, {4}, {5, 6}});
  EXPECT_EQ(ReadAll(TokenDataset(prefix_)), (Ids{1, 2, 65535, 4, 5, 6}));
}

TEST_F(TokenDatasetTest, ReadsBackWhatWasWrittenWith32Bits) {
  WriteDataset(prefix_, {{70000, 2}, {2147483647}}, TokenWidth::k32Bit);
  const TokenDataset dataset(prefix_);
  EXPECT_EQ(dataset.width(), TokenWidth::k32Bit);
  EXPECT_EQ(ReadAll(dataset), (Ids{70000, 2, 2147483647}));
}

TEST_F(TokenDatasetTest, WritesTheBytesOfTheFormat) {
  TokenDatasetWriter writer(prefix_, TokenWidth::k16Bit);
  writer.Append(Ids{10, 11});
  writer.EndDocument();
  writer.Append(Ids{65535});
  writer.EndDocument();
  writer.Commit();
  const IndexFields expected = {.num_sequences = I64(2),
                                .lengths = I32(2) + I32(1),
                                .pointers = I64(0) + I64(4),
                                .bounds = I64(0) + I64(1) + I64(2)};
  EXPECT_EQ(ReadBytes(prefix_ + ".idx"), expected.Bytes());
  EXPECT_EQ(ReadBytes(prefix_ + ".bin"), U16(10) + U16(11) + U16(65535));
}

TEST_F(TokenDatasetTest, ReadsBytesOfTheFormat) {
  WriteBytes(prefix_ + ".idx", IndexFields().Bytes());
  WriteBytes(prefix_ + ".bin", FiveIds());
  const TokenDataset dataset(prefix_);
  EXPECT_EQ(ReadAll(dataset), (Ids{10, 11, 65535, 13, 14}));
  EXPECT_EQ(dataset.num_documents(), 2);
}

TEST_F(TokenDatasetTest, FollowsPointersThatAreOutOfOrder) {
  const IndexFields fields = {.pointers = I64(6) + I64(0) + I64(0)};
  WriteBytes(prefix_ + ".idx", fields.Bytes());
  WriteBytes(prefix_ + ".bin", FiveIds());
  EXPECT_EQ(ReadAll(TokenDataset(prefix_)), (Ids{13, 14, 10, 11, 65535}));
}

TEST_F(TokenDatasetTest, ReadsFromTheMiddleAcrossDocuments) {
  WriteDataset(prefix_, {{1, 2, 3}, {}, {4}, {5, 6}});
  Ids ids(4);
  TokenDataset(prefix_).Read(1, std::span<std::int64_t>(ids));
  EXPECT_THAT(ids, ElementsAre(2, 3, 4, 5));
}

TEST_F(TokenDatasetTest, ReadsInto32BitValues) {
  WriteDataset(prefix_, {{1, 65535}});
  std::vector<std::int32_t> ids(2);
  TokenDataset(prefix_).Read(0, std::span<std::int32_t>(ids));
  EXPECT_THAT(ids, ElementsAre(1, 65535));
}

TEST_F(TokenDatasetTest, RefusesToReadPastTheEnd) {
  WriteDataset(prefix_, {{1, 2, 3}});
  const TokenDataset dataset(prefix_);
  Ids ids(2);
  EXPECT_THROW(dataset.Read(2, std::span<std::int64_t>(ids)), std::out_of_range);
  EXPECT_THROW(dataset.Read(-1, std::span<std::int64_t>(ids)), std::out_of_range);
}

TEST_F(TokenDatasetTest, FindsDocumentStartsOfARange) {
  WriteDataset(prefix_, {{1, 2}, {}, {3}, {4, 5}});
  const TokenDataset dataset(prefix_);
  EXPECT_THAT(dataset.DocumentStarts(0, 5), ElementsAre(0, 2, 3));
  EXPECT_THAT(dataset.DocumentStarts(1, 3), ElementsAre(2));
  EXPECT_THAT(dataset.DocumentStarts(4, 5), IsEmpty());
}

TEST_F(TokenDatasetTest, LeavesNothingWithoutCommit) {
  {
    TokenDatasetWriter writer(prefix_, TokenWidth::k16Bit);
    writer.Append(Ids{1});
    writer.Finish();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(TokenDatasetTest, ReplacesAnOlderDataset) {
  WriteDataset(prefix_, {{1, 2, 3}});
  WriteDataset(prefix_, {{4}});
  EXPECT_EQ(ReadAll(TokenDataset(prefix_)), Ids{4});
}

TEST_F(TokenDatasetTest, KeepsTheOlderDatasetUntilCommit) {
  WriteDataset(prefix_, {{1, 2, 3}});
  {
    TokenDatasetWriter writer(prefix_, TokenWidth::k16Bit);
    writer.Append(Ids{4});
    writer.Finish();
  }
  EXPECT_EQ(ReadAll(TokenDataset(prefix_)), (Ids{1, 2, 3}));
}

TEST_F(TokenDatasetTest, CommitEndsTheOpenDocument) {
  TokenDatasetWriter writer(prefix_, TokenWidth::k16Bit);
  writer.Append(Ids{1, 2});
  writer.Commit();
  EXPECT_EQ(TokenDataset(prefix_).num_documents(), 1);
}

TEST_F(TokenDatasetTest, NamesTheFileThatIsAbsent) {
  const std::string error = ErrorOf<std::runtime_error>([&] { TokenDataset dataset(prefix_); });
  EXPECT_THAT(error, HasSubstr(prefix_ + ".bin"));
}

}  // namespace
}  // namespace agoq
