#include "worker/data/durable_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>

#include "tests/support/temporary_folder.h"
#include "tests/unit/data/format_bytes.h"
#include "tests/unit/data/written_dataset.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void Append(DurableFile& file, const std::string& text) {
  file.Append(std::as_bytes(std::span(text)));
}

class DurableFileTest : public ::testing::Test {
 protected:
  std::int64_t NumFiles() const {
    return std::distance(std::filesystem::directory_iterator(folder_.path()), {});
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
};

TEST_F(DurableFileTest, AppearsWithCommit) {
  DurableFile file(path_);
  Append(file, "abc");
  file.Finish();
  EXPECT_FALSE(std::filesystem::exists(path_));
  file.Commit();
  EXPECT_EQ(ReadBytes(path_), "abc");
  EXPECT_EQ(file.num_bytes(), 3);
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(DurableFileTest, LeavesTheOlderFileWithoutCommit) {
  WriteBytes(path_, "older");
  {
    DurableFile file(path_);
    Append(file, "newer");
  }
  EXPECT_EQ(ReadBytes(path_), "older");
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(DurableFileTest, KeepsTheOrderOfSmallAndLargeParts) {
  const std::string large(3'000'000, 'x');
  DurableFile file(path_);
  for (const std::string& part : {std::string("a"), large, std::string("b"), large}) {
    Append(file, part);
  }
  file.Commit();
  EXPECT_EQ(ReadBytes(path_), "a" + large + "b" + large);
}

TEST_F(DurableFileTest, WritesOverWhatADeadWriterLeft) {
  WriteBytes(path_ + ".tmp", "half of something longer");
  DurableFile file(path_);
  Append(file, "abc");
  file.Commit();
  EXPECT_EQ(ReadBytes(path_), "abc");
}

TEST_F(DurableFileTest, RefusesTheNameOfAFolderAtOnce) {
  std::filesystem::create_directory(path_);
  EXPECT_THAT(ErrorOf<std::runtime_error>([this] { DurableFile file(path_); }),
              AllOf(HasSubstr(path_), HasSubstr("Is a directory")));
  EXPECT_EQ(NumFiles(), 1);
}

// The limit on a file's size stands for a full disk; it is a process's own, so a child has it.
TEST_F(DurableFileTest, AFullDiskIsAnErrorThatLeavesTheOlderFile) {
  WriteBytes(path_, "older");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = ErrorOf<std::runtime_error>([this] {
      DurableFile file(path_);
      Append(file, std::string(2000, 'x'));
      file.Commit();
    });
    const bool is_named = error.find(path_) == 0 && error.find("make room") != std::string::npos;
    _exit(is_named ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(ReadBytes(path_), "older");
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(DurableFileTest, NamesAFolderThatCannotBeSynced) {
  EXPECT_THAT(ErrorOf<std::runtime_error>([this] { SyncFolder(folder_ / "absent"); }),
              HasSubstr(folder_ / "absent"));
}

}  // namespace
}  // namespace agoq
