#include "worker/trainer/output_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/unit/trainer/temporary_folder.h"
#include "worker/trainer/failure.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ProblemOf(const std::string& checkpoints, const std::string& result) {
  try {
    CheckOutputs(checkpoints, result);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(OutputChecks, PassesAFolderThatIsNotThereAndLeavesNothing) {
  TemporaryFolder folder;
  CheckOutputs((folder.path() / "a" / "b").string(), (folder.path() / "result.json").string());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OutputChecks, KeepsAFolderThatIsThere) {
  TemporaryFolder folder;
  CheckOutputs(folder.path().string(), "");
  EXPECT_TRUE(std::filesystem::exists(folder.path()));
}

TEST(OutputChecks, NamesACheckpointFolderThatCannotBe) {
  TemporaryFolder folder;
  const std::string file = folder.File("file", "");
  EXPECT_THAT(ProblemOf(file + "/saves", ""), AllOf(HasSubstr("checkpoint.uri"), HasSubstr(file)));
}

TEST(OutputChecks, NamesACheckpointFolderThatIsAFile) {
  TemporaryFolder folder;
  EXPECT_THAT(ProblemOf(folder.File("file", ""), ""), HasSubstr("checkpoint.uri"));
}

TEST(OutputChecks, NamesAResultInAFolderThatIsNotThere) {
  TemporaryFolder folder;
  EXPECT_THAT(ProblemOf("", (folder.path() / "none" / "result.json").string()),
              HasSubstr("--result"));
}

TEST(OutputChecks, NamesAResultThatIsAFolder) {
  TemporaryFolder folder;
  EXPECT_THAT(ProblemOf("", folder.path().string()), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace agoq
