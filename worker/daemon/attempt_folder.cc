#include "worker/daemon/attempt_folder.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <sstream>
#include <system_error>

#include "worker/daemon/durable_write.h"

namespace agoq {
namespace {

namespace fs = std::filesystem;

constexpr char kTask[] = "task.pb";
constexpr char kProcess[] = "trainer.pid";
constexpr char kEnd[] = "end.pb";
constexpr char kExit[] = "exit.pb";
constexpr std::size_t kLongestJobId = 64;

template <typename Message>
std::optional<Message> ReadMessage(const fs::path& path) {
  const std::optional<std::string> bytes = ReadWholeFile(path);
  Message message;
  if (!bytes || !message.ParseFromString(*bytes)) return std::nullopt;
  return message;
}

// 0: the folder is not one of that job.
std::int64_t GenerationOf(const std::string& folder, const std::string& job_id) {
  std::int64_t generation = 0;
  if (folder.rfind(job_id + "-", 0) != 0) return 0;
  return absl::SimpleAtoi(folder.substr(job_id.size() + 1), &generation) ? generation : 0;
}

}  // namespace

std::string AttemptName(const v1::RankId& id) {
  return absl::StrCat(id.job_id(), "-", id.generation());
}

bool IsJobId(const std::string& job_id) {
  const auto is_fit = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; };
  return !job_id.empty() && job_id.size() <= kLongestJobId &&
         std::all_of(job_id.begin(), job_id.end(), is_fit);
}

absl::Status AttemptFolder::Create(const v1::TrainerTask& task) const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(path_.string(), ": cannot be made (",
                                               error.message(),
                                               "); check the disk of the state directory"));
  }
  return WriteDurably(path_ / kTask, task.SerializeAsString());
}

std::optional<v1::TrainerTask> AttemptFolder::ReadTask() const {
  return ReadMessage<v1::TrainerTask>(path_ / kTask);
}

absl::Status AttemptFolder::WriteProcess(const ProcessIdentity& identity) const {
  return WriteDurably(path_ / kProcess, absl::StrCat(identity.pid, " ", identity.start_time, "\n"));
}

std::optional<ProcessIdentity> AttemptFolder::ReadProcess() const {
  const std::optional<std::string> text = ReadWholeFile(path_ / kProcess);
  if (!text) return std::nullopt;
  std::istringstream fields(*text);
  ProcessIdentity identity;
  if (!(fields >> identity.pid >> identity.start_time)) return std::nullopt;
  return identity;
}

std::optional<v1::TrainerEnd> AttemptFolder::ReadEnd() const {
  return ReadMessage<v1::TrainerEnd>(path_ / kEnd);
}

absl::Status AttemptFolder::WriteExit(const v1::TaskStatus& status) const {
  return WriteDurably(path_ / kExit, status.SerializeAsString());
}

std::optional<v1::TaskStatus> AttemptFolder::ReadExit() const {
  return ReadMessage<v1::TaskStatus>(path_ / kExit);
}

void AttemptFolder::DropAllButLog() const {
  std::error_code ignored;
  // The task first: without it the attempt is over for a daemon that starts after a crash here.
  fs::remove(path_ / kTask, ignored);
  for (fs::directory_iterator entry(path_, ignored), end; entry != end; entry.increment(ignored)) {
    if (entry->path() != log()) fs::remove_all(entry->path(), ignored);
  }
}

std::vector<AttemptFolder> ListAttemptFolders(const fs::path& attempts) {
  std::vector<AttemptFolder> folders;
  std::error_code ignored;
  for (fs::directory_iterator entry(attempts, ignored), end; entry != end;
       entry.increment(ignored)) {
    if (entry->is_directory(ignored)) folders.emplace_back(entry->path());
  }
  return folders;
}

std::int64_t NewestGeneration(const fs::path& attempts, const std::string& job_id) {
  std::int64_t newest = 0;
  for (const AttemptFolder& folder : ListAttemptFolders(attempts)) {
    newest = std::max(newest, GenerationOf(folder.path().filename().string(), job_id));
  }
  return newest;
}

void PruneLogs(const fs::path& attempts, std::size_t keep) {
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> over;
  for (const AttemptFolder& folder : ListAttemptFolders(attempts)) {
    if (fs::exists(folder.path() / kTask, ignored)) continue;
    over.emplace_back(fs::last_write_time(folder.path(), ignored), folder.path());
  }
  if (over.size() <= keep) return;
  std::sort(over.begin(), over.end());
  for (std::size_t i = 0; i + keep < over.size(); ++i) fs::remove_all(over[i].second, ignored);
}

}  // namespace agoq
