// Real processes: started, watched, killed with what they started, and found again.
#include "worker/daemon/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/support/temporary_folder.h"
#include "worker/daemon/file_handle.h"

namespace agoq {
namespace {

using testing::HasSubstr;
using testing::Not;
constexpr std::chrono::seconds kPatience{20};

class ChildProcessTest : public testing::Test {
 protected:
  SpawnRequest Script(const std::string& script) const {
    return {.program = "/bin/sh", .arguments = {"-c", script}, .log = folder_ / "log"};
  }
  std::unique_ptr<TrainerProcess> Spawn(const std::string& script) {
    auto process = table_.Spawn(Script(script));
    EXPECT_TRUE(process.ok()) << process.status();
    return process.ok() ? *std::move(process) : nullptr;
  }
  std::string Log() const {
    std::ifstream file(folder_ / "log");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  // What a script writes into the pipe at $PIPE; waits for it.
  std::string PipePath() {
    const std::string path = folder_ / "pipe";
    ::mkfifo(path.c_str(), 0600);
    return path;
  }
  static pid_t ReadPid(const std::string& pipe) {
    std::ifstream file(pipe);
    pid_t pid = 0;
    file >> pid;
    return pid;
  }

  TemporaryFolder folder_;
  PosixProcessTable table_;
};

TEST_F(ChildProcessTest, TellsTheExitCode) {
  const auto end = Spawn("exit 3")->WaitForEnd(kPatience);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(end->signal, 0);
}

TEST_F(ChildProcessTest, TellsTheSignal) {
  const auto end = Spawn("kill -SEGV $$")->WaitForEnd(kPatience);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, -1);
  EXPECT_EQ(end->signal, SIGSEGV);
}

TEST_F(ChildProcessTest, SaysNothingOfAProcessThatLives) {
  const auto process = Spawn("sleep 600");
  EXPECT_FALSE(process->WaitForEnd(std::chrono::milliseconds(0)));
  process->KillGroup();
  EXPECT_EQ(process->WaitForEnd(kPatience)->signal, SIGKILL);
}

TEST_F(ChildProcessTest, AppendsBothOutputsToTheLog) {
  Spawn("echo one; echo two >&2")->WaitForEnd(kPatience);
  Spawn("echo three")->WaitForEnd(kPatience);
  EXPECT_EQ(Log(), "one\ntwo\nthree\n");
}

TEST_F(ChildProcessTest, RunsWithNoSignalBlockedOrIgnored) {
  sigset_t all, old;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &old);
  const auto old_handler = ::signal(SIGPIPE, SIG_IGN);
  const auto process = Spawn("exec sed -nE 's/Sig(Blk|Ign):.//p' /proc/self/status");
  ::signal(SIGPIPE, old_handler);
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  process->WaitForEnd(kPatience);
  std::istringstream log(Log());
  std::uint64_t blocked = 1, ignored = 1;
  log >> std::hex >> blocked >> ignored;
  EXPECT_EQ(blocked, 0u);
  EXPECT_EQ(ignored & 0x7fff'ffff, 0u);  // what is above belongs to the C library
}

TEST_F(ChildProcessTest, InheritsNoOpenFile) {
  const FileHandle file(::open("/dev/null", O_RDONLY));
  ASSERT_EQ(::dup2(file.get(), 57), 57);
  const auto process = Spawn("exec ls -1 /proc/self/fd");
  ::close(57);
  process->WaitForEnd(kPatience);
  EXPECT_THAT(Log(), Not(HasSubstr("57")));
}

TEST_F(ChildProcessTest, AFolderCanBeReachedByItsDescriptor) {
  std::ofstream(folder_ / "here") << "";
  SpawnRequest request = Script("ls " + PathOfOpenFile(kInheritedFolder));
  request.folder = folder_.path();
  const auto process = table_.Spawn(request);
  ASSERT_TRUE(process.ok());
  (*process)->WaitForEnd(kPatience);
  EXPECT_THAT(Log(), HasSubstr("here\n"));
}

TEST_F(ChildProcessTest, AProgramThatIsNotThereIsNamed) {
  const auto process = table_.Spawn({.program = "/no/such/program", .log = folder_ / "log"});
  EXPECT_THAT(std::string(process.status().message()), HasSubstr("/no/such/program"));
}

TEST_F(ChildProcessTest, C08KillsGrandchildrenToo) {
  const std::string pipe = PipePath();
  const auto process = Spawn("sleep 600 & echo $! > " + pipe + "; wait");
  const auto identity = IdentityOf(ReadPid(pipe));
  ASSERT_TRUE(identity);
  const auto grandchild = table_.Adopt(*identity);
  ASSERT_TRUE(grandchild.ok());
  process->KillGroup();
  EXPECT_TRUE(process->WaitForEnd(kPatience));
  EXPECT_TRUE((*grandchild)->WaitForEnd(kPatience));
}

TEST_F(ChildProcessTest, WhatAnEndedProcessLeavesBehindIsKilled) {
  const std::string pipe = PipePath();
  const auto process = Spawn("sleep 600 & echo $! > " + pipe);
  const auto identity = IdentityOf(ReadPid(pipe));
  ASSERT_TRUE(identity);
  const auto grandchild = table_.Adopt(*identity);
  ASSERT_TRUE(grandchild.ok());
  EXPECT_EQ(process->WaitForEnd(kPatience)->exit_code, 0);
  EXPECT_TRUE((*grandchild)->WaitForEnd(kPatience));
}

TEST_F(ChildProcessTest, AnAdoptedProcessCanBeWatchedAndKilled) {
  const auto child = Spawn("sleep 600");
  const auto adopted = table_.Adopt(child->identity());
  ASSERT_TRUE(adopted.ok());
  EXPECT_FALSE((*adopted)->WaitForEnd(std::chrono::milliseconds(0)));
  (*adopted)->KillGroup();
  const auto end = (*adopted)->WaitForEnd(kPatience);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, -1);
  EXPECT_EQ(child->WaitForEnd(kPatience)->signal, SIGKILL);
}

TEST_F(ChildProcessTest, AnIdThatIsInUseAgainIsNotAdopted) {
  const auto child = Spawn("sleep 600");
  ProcessIdentity other = child->identity();
  ++other.start_time;
  EXPECT_TRUE(absl::IsNotFound(table_.Adopt(other).status()));
  child->KillGroup();
  child->WaitForEnd(kPatience);
  EXPECT_TRUE(absl::IsNotFound(table_.Adopt(child->identity()).status()));
}

}  // namespace
}  // namespace agoq
