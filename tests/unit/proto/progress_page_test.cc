#include "proto/common/progress_page.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace agoq {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr std::streamoff kSequenceOffset = 16;  // after magic and version
constexpr std::size_t kPageBytes = 128;

// Every field tells the same number, so that a mixed position shows.
RankPosition PositionOf(std::int64_t number) {
  return {.generation = number,
          .step = number,
          .phase = static_cast<ProgressPhase>(number % 5),
          .phase_start_unix_nanos = number,
          .collective_sequence = number,
          .allocated_bytes = number};
}

class ProgressPage : public ::testing::Test {
 protected:
  // Leaves the page as a writer that died in the middle of a write.
  void Tear() {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(kSequenceOffset);
    const int first = file.get();
    file.seekp(kSequenceOffset);
    file.put(static_cast<char>(first | 1));
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = ProgressPagePath(folder_.path(), 3);
};

TEST_F(ProgressPage, GivesBackWhatWasWritten) {
  const RankPosition position = {.generation = 4,
                                 .step = 70,
                                 .phase = ProgressPhase::kCheckpoint,
                                 .phase_start_unix_nanos = 1'700'000'000'000'000'000,
                                 .collective_sequence = 991,
                                 .allocated_bytes = std::int64_t{1} << 40};
  ProgressPageWriter writer(path_);
  writer.Write(position);
  EXPECT_THAT(ReadProgressPage(path_), Optional(Eq(position)));
}

TEST_F(ProgressPage, IsOneSmallFileNamedByRank) {
  const ProgressPageWriter writer(path_);
  EXPECT_EQ(path_.filename(), "rank3.progress");
  EXPECT_EQ(std::filesystem::file_size(path_), kPageBytes);
}

TEST_F(ProgressPage, StaysAfterItsWriter) {
  { ProgressPageWriter(path_).Write(PositionOf(8)); }
  EXPECT_THAT(ReadProgressPage(path_), Optional(Eq(PositionOf(8))));
}

TEST_F(ProgressPage, StartsAtNothingDone) {
  const ProgressPageWriter writer(path_);
  EXPECT_THAT(ReadProgressPage(path_), Optional(Eq(RankPosition{})));
}

TEST_F(ProgressPage, GivesNothingWithoutAFile) { EXPECT_EQ(ReadProgressPage(path_), std::nullopt); }

TEST_F(ProgressPage, GivesNothingForAFileThatIsNoPage) {
  std::ofstream(path_) << std::string(4096, 'x');
  EXPECT_EQ(ReadProgressPage(path_), std::nullopt);
}

TEST_F(ProgressPage, GivesNothingForAFileThatWasCut) {
  { ProgressPageWriter(path_).Write(PositionOf(1)); }
  std::filesystem::resize_file(path_, kPageBytes - 1);
  EXPECT_EQ(ReadProgressPage(path_), std::nullopt);
}

TEST_F(ProgressPage, GivesNothingOfAWriterThatDiedInTheMiddle) {
  { ProgressPageWriter(path_).Write(PositionOf(1)); }
  Tear();
  EXPECT_EQ(ReadProgressPage(path_), std::nullopt);
}

TEST_F(ProgressPage, ShowsNothingOfADeadWriterOnceTakenOver) {
  { ProgressPageWriter(path_).Write(PositionOf(1)); }
  Tear();
  ProgressPageWriter next(path_);
  EXPECT_THAT(ReadProgressPage(path_), Optional(Eq(RankPosition{})));
  next.Write(PositionOf(2));
  EXPECT_THAT(ReadProgressPage(path_), Optional(Eq(PositionOf(2))));
}

TEST_F(ProgressPage, NamesTheFolderThatIsMissing) {
  EXPECT_THAT([&] { ProgressPageWriter(folder_ / "none/rank0.progress"); },
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("none/rank0.progress")));
}

// A process that writes positions until the test is over, also where the test fails.
class WritingProcess {
 public:
  explicit WritingProcess(const std::filesystem::path& path) : id_(::fork()) {
    if (id_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ProgressPageWriter writer(path);
    for (std::int64_t number = 0;; ++number) writer.Write(PositionOf(number));
  }
  ~WritingProcess() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }

 private:
  const pid_t id_;
};

TEST_F(ProgressPage, NeverShowsAMixedPositionOfAnotherProcess) {
  { const ProgressPageWriter creates(path_); }
  const WritingProcess process(path_);
  std::int64_t last = 0;
  for (int reads = 0; reads < 100'000 || last == 0; ++reads) {
    const auto position = ReadProgressPage(path_);
    if (!position) continue;  // a writer that is always at it may win every try
    ASSERT_EQ(*position, PositionOf(position->step));
    ASSERT_GE(position->step, last);
    last = position->step;
  }
}

TEST_F(ProgressPage, NeverShowsAMixedPositionToSeveralReaders) {
  ProgressPageWriter writer(path_);
  std::atomic<int> torn = 0;
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          const auto position = ReadProgressPage(path_);
          if (position && *position != PositionOf(position->step)) ++torn;
        }
      });
    }
    for (std::int64_t number = 0; number < 2'000'000; ++number) writer.Write(PositionOf(number));
  }
  EXPECT_EQ(torn, 0);
}

TEST_F(ProgressPage, NamesEachPhase) {
  EXPECT_EQ(NameOf(ProgressPhase::kStarting), "starting");
  EXPECT_EQ(NameOf(ProgressPhase::kEnded), "ended");
  EXPECT_EQ(NameOf(static_cast<ProgressPhase>(77)), "unknown");
}

}  // namespace
}  // namespace agoq
