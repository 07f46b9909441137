// The folder of one attempt, STATE/attempts/JOB-GENERATION: what daemon and trainer leave there for
// each other, so that a restarted daemon finds its trainers again.
#pragma once

#include <absl/status/statusor.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "proto/agoq/v1/agent_service.pb.h"
#include "proto/agoq/v1/trainer.pb.h"
#include "worker/daemon/trainer_process.h"

namespace agoq {

inline constexpr std::size_t kLongestSocketName = 107;

// JOB-GENERATION.
std::string AttemptName(const v1::RankId& id);

// False: not fit for the name of a folder (letters, digits and '-', at most 64).
bool IsJobId(const std::string& job_id);

// Not thread-safe beyond what files are.
class AttemptFolder {
 public:
  explicit AttemptFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path socket() const { return path_ / "trainer.sock"; }
  // No socket can be bound below its path (107 bytes is the limit).
  bool has_long_name() const { return socket().native().size() > kLongestSocketName; }
  std::filesystem::path log() const { return path_ / "trainer.log"; }

  // Makes the folder and writes the task, durably.
  absl::Status Create(const v1::TrainerTask& task) const;
  // Nothing: the attempt was forgotten, or never got that far.
  std::optional<v1::TrainerTask> ReadTask() const;

  absl::Status WriteProcess(const ProcessIdentity& identity) const;
  std::optional<ProcessIdentity> ReadProcess() const;

  // What the trainer wrote at its end.
  std::optional<v1::TrainerEnd> ReadEnd() const;

  // The end as this daemon saw it, for the time until the coordinator took it.
  absl::Status WriteExit(const v1::TaskStatus& status) const;
  std::optional<v1::TaskStatus> ReadExit() const;

  // Removes everything but the log.
  void DropAllButLog() const;

 private:
  std::filesystem::path path_;
};

// In no order; with those of which only the log is left.
std::vector<AttemptFolder> ListAttemptFolders(const std::filesystem::path& attempts);

// The newest generation of a job that has a folder. 0: none.
std::int64_t NewestGeneration(const std::filesystem::path& attempts, const std::string& job_id);

// Removes the oldest folders of which only the log is left, down to `keep` of them.
void PruneLogs(const std::filesystem::path& attempts, std::size_t keep);

}  // namespace agoq
