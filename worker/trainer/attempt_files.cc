#include "worker/trainer/attempt_files.h"

#include <fstream>
#include <span>
#include <string>

#include "worker/data/durable_file.h"
#include "worker/trainer/failure.h"

namespace agoq {

v1::TrainerTask ReadTaskFile(const std::filesystem::path& folder) {
  const std::string path = (folder / "task.pb").string();
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw UsageError(path + ": cannot be read; `attempt` is for worker daemons, use `run`");
  }
  v1::TrainerTask task;
  if (task.ParseFromIstream(&file) && !task.id().job_id().empty()) return task;
  throw UsageError(path + ": is no task of a trainer; let the worker daemon write it again");
}

void WriteEndFile(const std::filesystem::path& folder, const v1::TrainerEnd& end) {
  DurableFile file((folder / "end.pb").string());
  const std::string bytes = end.SerializeAsString();
  file.Append(std::as_bytes(std::span(bytes)));
  file.Commit();
  SyncFolder(folder.string());
}

}  // namespace agoq
