#include "worker/data/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/unit/data/format_bytes.h"
#include "tests/unit/data/written_dataset.h"
#include "worker/data/token_dataset.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TokenizerTest : public ::testing::Test {
 protected:
  TokenizerTest() { std::filesystem::create_directory(folder_.path() / "out"); }

  std::string Text(const std::string& name, const std::string& text) {
    WriteBytes(folder_ / name, text);
    return folder_ / name;
  }

  TokenizeCounts Tokenize(const std::vector<std::string>& texts, double holdout_fraction) {
    return TokenizeFiles(
        {.text_paths = texts, .output_prefix = output_, .holdout_fraction = holdout_fraction});
  }

  template <typename Error>
  std::string ErrorOfTokenizing(const std::vector<std::string>& texts, double holdout_fraction) {
    return ErrorOf<Error>([&] { Tokenize(texts, holdout_fraction); });
  }

  std::string TextOfPart(const std::string& part) {
    return DecodeBytes(ReadAll(TokenDataset(output_ + "_" + part)));
  }

  bool NothingWasWritten() { return std::filesystem::is_empty(folder_.path() / "out"); }

  TemporaryFolder folder_;
  std::string output_ = folder_ / "out/corpus";
};

TEST_F(TokenizerTest, HoldsOutTheEndOfTheText) {
  const TokenizeCounts counts = Tokenize({Text("a", "0123456789abcdefghij")}, 0.25);
  EXPECT_EQ(TextOfPart("train"), "0123456789abcde");
  EXPECT_EQ(TextOfPart("valid"), "fghij");
  EXPECT_EQ(counts.train_tokens, 15);
  EXPECT_EQ(counts.valid_tokens, 5);
}

TEST_F(TokenizerTest, RoundsTheTrainingPartDown) {
  Tokenize({Text("a", "0123456")}, 0.5);
  EXPECT_EQ(TextOfPart("train"), "012");
  EXPECT_EQ(TextOfPart("valid"), "3456");
}

TEST_F(TokenizerTest, SplitsTheDocumentThatSpansTheCut) {
  const TokenizeCounts counts =
      Tokenize({Text("a", "0123"), Text("b", "4567"), Text("c", "89")}, 0.5);
  EXPECT_EQ(TextOfPart("train"), "01234");
  EXPECT_EQ(TextOfPart("valid"), "56789");
  EXPECT_EQ(counts.train_documents, 2);
  EXPECT_EQ(counts.valid_documents, 2);
}

TEST_F(TokenizerTest, SplitsBetweenDocumentsWhenTheCutIsThere) {
  const TokenizeCounts counts = Tokenize({Text("a", "0123"), Text("b", "4567")}, 0.5);
  EXPECT_EQ(counts.train_documents, 1);
  EXPECT_EQ(counts.valid_documents, 1);
}

TEST_F(TokenizerTest, WritesNoHeldOutPartForAFractionOfZero) {
  const TokenizeCounts counts = Tokenize({Text("a", "0123")}, 0);
  EXPECT_EQ(TextOfPart("train"), "0123");
  EXPECT_EQ(counts.valid_documents, 0);
  EXPECT_FALSE(std::filesystem::exists(output_ + "_valid.idx"));
}

TEST_F(TokenizerTest, KeepsEveryByteValue) {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text += static_cast<char>(byte);
  Tokenize({Text("a", text)}, 0);
  EXPECT_EQ(ReadAll(TokenDataset(output_ + "_train")), Counted(256));
}

TEST_F(TokenizerTest, KeepsTextsLargerThanAReadPart) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += static_cast<char>('a' + i % 23);
  Tokenize({Text("a", text)}, 0.25);
  EXPECT_EQ(TextOfPart("train") + TextOfPart("valid"), text);
}

TEST_F(TokenizerTest, CountsAnEmptyTextBetweenOthers) {
  const TokenizeCounts counts = Tokenize({Text("a", "01"), Text("b", ""), Text("c", "23")}, 0);
  EXPECT_EQ(TextOfPart("train"), "0123");
  EXPECT_EQ(counts.train_documents, 3);
  EXPECT_EQ(TokenDataset(output_ + "_train").num_empty_documents(), 1);
}

TEST_F(TokenizerTest, RefusesAnEmptyText) {
  const std::string text = Text("a", "");
  EXPECT_THAT(ErrorOfTokenizing<std::invalid_argument>({text}, 0.05),
              AllOf(HasSubstr(text), HasSubstr("empty")));
  EXPECT_TRUE(NothingWasWritten());
}

TEST_F(TokenizerTest, NamesAnAbsentText) {
  const std::string absent = folder_ / "absent";
  EXPECT_THAT(ErrorOfTokenizing<std::runtime_error>({Text("a", "0123"), absent}, 0.05),
              AllOf(HasSubstr(absent), HasSubstr("No such file")));
  EXPECT_TRUE(NothingWasWritten());
}

TEST_F(TokenizerTest, RefusesAFolderAsText) {
  EXPECT_THAT(ErrorOfTokenizing<std::runtime_error>({folder_.path().string()}, 0.05),
              HasSubstr("not a regular file"));
}

TEST_F(TokenizerTest, RefusesNoTexts) {
  EXPECT_THAT(ErrorOfTokenizing<std::invalid_argument>({}, 0.05), HasSubstr("at least one file"));
}

TEST_F(TokenizerTest, RefusesATrainingPartWithoutTokens) {
  EXPECT_THAT(ErrorOfTokenizing<std::invalid_argument>({Text("a", "0")}, 0.5),
              HasSubstr("training"));
  EXPECT_TRUE(NothingWasWritten());
}

TEST_F(TokenizerTest, RefusesAFractionOutsideItsRange) {
  const std::string text = Text("a", "0123");
  for (const double fraction : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(ErrorOfTokenizing<std::invalid_argument>({text}, fraction),
                HasSubstr("held-out fraction"));
  }
  EXPECT_TRUE(NothingWasWritten());
}

TEST_F(TokenizerTest, NamesAFolderThatIsAbsent) {
  output_ = folder_ / "absent/corpus";
  EXPECT_THAT(ErrorOfTokenizing<std::runtime_error>({Text("a", "0123")}, 0.5),
              AllOf(HasSubstr(output_ + "_train"), HasSubstr("No such file"), HasSubstr("folder")));
}

// A file in the place of the folder: what permissions forbid, the administrator may still do.
TEST_F(TokenizerTest, NamesAFolderThatCannotBeWritten) {
  output_ = Text("file", "kept") + "/corpus";
  EXPECT_THAT(ErrorOfTokenizing<std::runtime_error>({Text("a", "0123")}, 0.5),
              AllOf(HasSubstr(output_ + "_train"), HasSubstr("Not a directory"),
                    HasSubstr("choose a folder that can be written")));
  EXPECT_EQ(ReadBytes(folder_ / "file"), "kept");
}

TEST_F(TokenizerTest, KeepsOlderPartsWhenTheTextIsRefused) {
  Tokenize({Text("a", "0123")}, 0.5);
  ErrorOfTokenizing<std::invalid_argument>({Text("b", "0")}, 0.5);
  EXPECT_EQ(TextOfPart("train"), "01");
  EXPECT_EQ(TextOfPart("valid"), "23");
}

TEST(DecodeBytesTest, InvertsEncodeBytes) {
  EXPECT_EQ(DecodeBytes(EncodeBytes("a\xff\x80z")), "a\xff\x80z");
}

TEST(DecodeBytesTest, RefusesAnIdThatIsNoByte) {
  EXPECT_THAT(ErrorOf<std::invalid_argument>([] { DecodeBytes(Ids{256}); }), HasSubstr("id 256"));
  EXPECT_THROW(DecodeBytes(Ids{-1}), std::invalid_argument);
}

}  // namespace
}  // namespace agoq
