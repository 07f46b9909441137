#include "tests/integration/trainer_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace agoq {
namespace {

namespace fs = std::filesystem;

constexpr char kTrainer[] = AGOQ_TRAINER;
constexpr int kTextBytes = 4000;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Words in an order that a small model can learn a little of.
std::string SampleText() {
  const std::string verse = "to be, or not to be, that is the question: whether 'tis nobler ";
  std::string text;
  while (text.size() < kTextBytes) text += verse;
  return text.substr(0, kTextBytes);
}

}  // namespace

TrainerProcess::TrainerProcess(const std::vector<std::string>& arguments, const fs::path& folder) {
  static std::atomic<int> count{0};  // names of output files
  const std::string name = ".output-" + std::to_string(count++);
  out_path_ = folder / (name + ".out");
  err_path_ = folder / (name + ".err");
  // A shell changes the folder; exec keeps the process id.
  std::vector<std::string> words = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder.string(),
                                    kTrainer};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&actions, 1, out_path_.c_str(), kNew, 0600);
  ::posix_spawn_file_actions_addopen(&actions, 2, err_path_.c_str(), kNew, 0600);
  const int error = ::posix_spawn(&pid_, "/bin/sh", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + std::string(kTrainer));
}

TrainerProcess::~TrainerProcess() {
  if (HasEnded()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool TrainerProcess::HasEnded() {
  if (!has_ended_) has_ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return has_ended_;
}

std::string TrainerProcess::ErrorsSoFar() const { return ReadFile(err_path_); }

bool TrainerProcess::WaitForError(const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (ErrorsSoFar().find(text) == std::string::npos) {
    if (HasEnded() || std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::vector<pid_t> TrainerProcess::Children() const {
  const std::string pid = std::to_string(pid_);
  std::ifstream file("/proc/" + pid + "/task/" + pid + "/children");
  return {std::istream_iterator<pid_t>(file), {}};
}

Outcome TrainerProcess::Wait() {
  if (!has_ended_) ::waitpid(pid_, &status_, 0);
  has_ended_ = true;
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  return {code, ReadFile(out_path_), ReadFile(err_path_)};
}

TrainerFolder::TrainerFolder() {
  std::string name = (fs::temp_directory_path() / "agoq-trainer-test-XXXXXX").string();
  path_ = ::mkdtemp(name.data());
  Write("text.txt", SampleText());
}

TrainerFolder::~TrainerFolder() { fs::remove_all(path_); }

void TrainerFolder::Write(const std::string& name, const std::string& contents) const {
  std::ofstream(path_ / name, std::ios::binary) << contents;
}

std::string TrainerFolder::Read(const std::string& name) const { return ReadFile(path_ / name); }

void TrainerFolder::WriteJob(const std::string& name, const JobText& job) const {
  Write(name, "model: " + job.model + "\ndata: " + job.data + "\nmesh: " + job.mesh +
                  "\nprecision: " + job.precision + "\nplan: " + job.plan +
                  "\noptimizer: " + job.optimizer + "\nsteps: " + job.steps +
                  "\ncheckpoint: " + job.checkpoint + "\n" + job.more);
}

void TrainerFolder::Tokenize() const {
  const Outcome outcome = Run({"tokenize", "text.txt", "text", "--held-out", "0.1"});
  if (outcome.exit_code != 0) throw std::runtime_error(outcome.err);
}

std::vector<std::string> TrainerFolder::Names() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(".output-", 0) != 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Outcome TrainerFolder::Run(const std::vector<std::string>& arguments) const {
  return TrainerProcess(arguments, path_).Wait();
}

}  // namespace agoq
