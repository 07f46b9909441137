#include "worker/daemon/attempt_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"
#include "worker/daemon/log_tail.h"

namespace agoq {
namespace {

namespace fs = std::filesystem;

v1::TrainerTask TaskOf(const std::string& job, std::int64_t generation) {
  v1::TrainerTask task;
  task.mutable_id()->set_job_id(job);
  task.mutable_id()->set_generation(generation);
  return task;
}

class AttemptFolderTest : public testing::Test {
 protected:
  AttemptFolder Make(const std::string& job, std::int64_t generation) {
    const v1::TrainerTask task = TaskOf(job, generation);
    const AttemptFolder folder(folder_.path() / AttemptName(task.id()));
    EXPECT_TRUE(folder.Create(task).ok());
    return folder;
  }
  TemporaryFolder folder_;
};

TEST_F(AttemptFolderTest, GivesTheTaskBack) {
  const AttemptFolder folder = Make("job", 4);
  ASSERT_TRUE(folder.ReadTask());
  EXPECT_EQ(folder.ReadTask()->id().generation(), 4);
  EXPECT_EQ(folder.path().filename(), "job-4");
}

TEST_F(AttemptFolderTest, GivesTheProcessBack) {
  const AttemptFolder folder = Make("job", 1);
  EXPECT_FALSE(folder.ReadProcess());
  ASSERT_TRUE(folder.WriteProcess({.pid = 17, .start_time = 12345678901}).ok());
  EXPECT_EQ(folder.ReadProcess(), (ProcessIdentity{.pid = 17, .start_time = 12345678901}));
}

TEST_F(AttemptFolderTest, DamagedFilesAreAsGoodAsNone) {
  const AttemptFolder folder = Make("job", 1);
  std::ofstream(folder.path() / "trainer.pid") << "no number";
  std::ofstream(folder.path() / "end.pb") << "\xff\xff\xff";
  EXPECT_FALSE(folder.ReadProcess());
  EXPECT_FALSE(folder.ReadEnd());
  EXPECT_FALSE(folder.ReadExit());
}

TEST_F(AttemptFolderTest, NamesTheNewestGenerationOfAJob) {
  Make("job", 2);
  Make("job", 11);
  Make("job-x", 99);
  EXPECT_EQ(NewestGeneration(folder_.path(), "job"), 11);
  EXPECT_EQ(NewestGeneration(folder_.path(), "none"), 0);
}

TEST_F(AttemptFolderTest, OnlyTheLogStays) {
  const AttemptFolder folder = Make("job", 1);
  std::ofstream(folder.log()) << "text";
  std::ofstream(folder.path() / "rank0.progress") << "page";
  folder.DropAllButLog();
  EXPECT_TRUE(fs::exists(folder.log()));
  EXPECT_FALSE(folder.ReadTask());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST_F(AttemptFolderTest, KeepsTheNewestLogsAndEveryAttemptThatIsNotOver) {
  for (int i = 1; i <= 4; ++i) {
    const AttemptFolder folder = Make("job", i);
    std::ofstream(folder.log()) << "text";
    if (i > 1) folder.DropAllButLog();
    fs::last_write_time(folder.path(), fs::file_time_type(std::chrono::seconds(1000 + i)));
  }
  PruneLogs(folder_.path(), 2);
  EXPECT_TRUE(fs::exists(folder_.path() / "job-1"));
  EXPECT_FALSE(fs::exists(folder_.path() / "job-2"));
  EXPECT_TRUE(fs::exists(folder_.path() / "job-3"));
  EXPECT_TRUE(fs::exists(folder_.path() / "job-4"));
}

TEST_F(AttemptFolderTest, KnowsWhenASocketsNameWouldNotFit) {
  EXPECT_FALSE(AttemptFolder(fs::path("/") / std::string(93, 'x')).has_long_name());
  EXPECT_TRUE(AttemptFolder(fs::path("/") / std::string(94, 'x')).has_long_name());
}

TEST(JobIdTest, IsFitForAFolder) {
  EXPECT_TRUE(IsJobId("0a1b-2c"));
  EXPECT_FALSE(IsJobId(""));
  EXPECT_FALSE(IsJobId(".."));
  EXPECT_FALSE(IsJobId("a/b"));
  EXPECT_FALSE(IsJobId(std::string(65, 'a')));
}

TEST(LogTailTest, GivesWholeLinesOfTheEnd) {
  const TemporaryFolder folder;
  std::ofstream(folder / "log") << "first\nsecond\nthird\n";
  EXPECT_EQ(ReadLogTail(folder / "log"), "first\nsecond\nthird\n");
  EXPECT_EQ(ReadLogTail(folder / "log", 9), "third\n");
  EXPECT_EQ(ReadLogTail(folder / "none"), "");
}

TEST(LogTailTest, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(ValidUtf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
            "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(ValidUtf8("a\xff z"), "a? z");
  EXPECT_EQ(ValidUtf8("\xc0\x80\xed\xa0\x80"), "?????");
  EXPECT_EQ(ValidUtf8("cut \xe2\x82"), "cut ??");
}

}  // namespace
}  // namespace agoq
