#include "worker/trainer/local_launcher.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace agoq {
namespace {

using Clock = std::chrono::steady_clock;

// Ranks are shells: rank r runs scripts[r], with the rendezvous folder as $0.
LaunchOptions Shells(const std::vector<std::string>& scripts) {
  LaunchOptions options;
  options.num_ranks = static_cast<int>(scripts.size());
  options.program = "/bin/sh";
  options.grace = std::chrono::milliseconds(200);
  options.arguments_of = [scripts](int rank, const std::string& rendezvous) {
    return std::vector<std::string>{"-c", scripts[static_cast<std::size_t>(rank)], rendezvous};
  };
  return options;
}

TEST(LocalLauncher, ReturnsZeroWhenAllRanksAreDone) {
  EXPECT_EQ(LaunchLocalRanks(Shells({"exit 0", "exit 0", "exit 0"})), 0);
}

TEST(LocalLauncher, ReturnsOneWhenARankFails) {
  EXPECT_EQ(LaunchLocalRanks(Shells({"exit 0", "exit 1"})), 1);
}

TEST(LocalLauncher, ReturnsTwoWhenARankCannotReadItsFiles) {
  EXPECT_EQ(LaunchLocalRanks(Shells({"exit 1", "exit 2"})), 2);
}

TEST(LocalLauncher, EndsTheOthersWithinSecondsWhenOneFails) {
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(LaunchLocalRanks(Shells({"exec sleep 60", "exit 1", "trap '' TERM; exec sleep 60"})),
            1);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
}

TEST(LocalLauncher, EndsTheOthersWhenOneIsKilled) {
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(LaunchLocalRanks(Shells({"exec sleep 60", "kill -9 $$"})), 1);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
}

// Rank 1 asks once rank 0 is ready to be asked.
std::string StopsWith(const std::string& signal, const std::string& code) {
  return "trap 'exit " + code + "' " + signal +
         "; : > $0/ready; while :; do read -t 1 line < $0 2>/dev/null || sleep 0.05; done";
}
std::string Asks(const std::string& signal, const std::string& code) {
  return "trap 'exit " + code + "' " + signal +
         "; until [ -e $0/ready ]; do sleep 0.02; done; kill -" + signal +
         " $PPID; while :; do sleep 0.05; done";
}

TEST(LocalLauncher, PassesAnInterruptOnToEveryRank) {
  EXPECT_EQ(LaunchLocalRanks(Shells({StopsWith("INT", "130"), Asks("INT", "130")})), 130);
}

TEST(LocalLauncher, PassesATerminationOnToEveryRank) {
  EXPECT_EQ(LaunchLocalRanks(Shells({StopsWith("TERM", "143"), Asks("TERM", "143")})), 143);
}

TEST(LocalLauncher, GivesRanksTimeToFinishAfterOneSignal) {
  const std::string slow =
      "trap 'sleep 1; exit 143' TERM; : > $0/ready; while :; do sleep 0.05; done";
  EXPECT_EQ(LaunchLocalRanks(Shells({slow, Asks("TERM", "143")})), 143);
}

TEST(LocalLauncher, KillsRanksThatIgnoreASecondSignal) {
  const std::string deaf = "trap '' TERM; : > $0/ready; exec sleep 60";
  const std::string asks_twice =
      "trap '' TERM; until [ -e $0/ready ]; do sleep 0.02; done; kill -TERM $PPID; sleep 0.3; kill "
      "-TERM $PPID; "
      "exec sleep 60";
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(LaunchLocalRanks(Shells({deaf, asks_twice})), 1);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
}

TEST(LocalLauncher, GivesEveryRunAFreshFolderAndRemovesIt) {
  std::vector<std::string> folders;
  LaunchOptions options = Shells({"exit 0", "exit 0"});
  options.arguments_of = [&](int, const std::string& rendezvous) {
    EXPECT_TRUE(std::filesystem::is_empty(rendezvous));
    folders.push_back(rendezvous);
    return std::vector<std::string>{"-c", "exit 0"};
  };
  EXPECT_EQ(LaunchLocalRanks(options), 0);
  EXPECT_EQ(LaunchLocalRanks(options), 0);
  ASSERT_EQ(folders.size(), 4u);
  EXPECT_EQ(folders[0], folders[1]);
  EXPECT_NE(folders[0], folders[2]);
  EXPECT_FALSE(std::filesystem::exists(folders[0]));
}

TEST(LocalLauncher, SaysThatAProgramCannotBeStarted) {
  LaunchOptions options = Shells({"exit 0"});
  options.program = "/no/such/program";
  EXPECT_THROW(LaunchLocalRanks(options), std::runtime_error);
}

}  // namespace
}  // namespace agoq
