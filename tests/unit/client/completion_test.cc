#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "client/exit_codes.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/client/scripted_coordinator.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What bash offers for these words; the last one is being typed.
std::string BashAnswers(const std::string& words, int current) {
  const TemporaryFolder folder;
  std::ofstream(folder / "agoq.bash") << RunAgoq({"completion", "bash"}).out;
  const std::string command = "bash -c 'source " + (folder / "agoq.bash") + "; COMP_WORDS=(" +
                              words + "); COMP_CWORD=" + std::to_string(current) +
                              "; _agoq; echo \"${COMPREPLY[@]}\"'";
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::string answer;
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) answer += buffer.data();
  EXPECT_EQ(::pclose(pipe), 0);
  return answer;
}

TEST(Completion, CompletesGroupsAndVerbsInBash) {
  EXPECT_EQ(BashAnswers("agoq wor", 1), "worker\n");
  EXPECT_EQ(BashAnswers("agoq --quiet job ca", 3), "cancel\n");
}

TEST(Completion, OffersTheOptionsOfAVerbAndThoseOfAll) {
  EXPECT_THAT(BashAnswers("agoq job submit --", 3),
              AllOf(HasSubstr("--request-id"), HasSubstr("--address"), Not(HasSubstr("--tail"))));
}

TEST(Completion, HasEveryVerbForEachShell) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const RunOutcome run = RunAgoq({"completion", shell});
    EXPECT_EQ(run.code, kExitDone);
    for (const char* word : {"submit", "watch", "worker", "completion", "allow-unsatisfiable"}) {
      EXPECT_THAT(run.out, HasSubstr(word)) << shell;
    }
  }
}

TEST(Completion, KnowsThreeShells) { EXPECT_EQ(RunAgoq({"completion", "tcsh"}).code, kExitUsage); }

}  // namespace
}  // namespace agoq
