// The store in a SQLite file: WAL, synchronous FULL, one writer.
#pragma once

#include <filesystem>
#include <memory>

#include "server/store.h"

struct sqlite3;

namespace agoq {

class SqliteStore : public Store {
 public:
  // Opens or makes FOLDER/agoq.db, and FOLDER itself. Holds FOLDER/coordinator.lock as long as it
  // lives. FAILED_PRECONDITION: another coordinator holds it, a network file system, or a schema of
  // a later version; DATA_LOSS: the file is damaged.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::filesystem::path& folder);
  ~SqliteStore() override;

  absl::StatusOr<std::int64_t> BeginEpoch() override;
  absl::Status Transaction(std::int64_t epoch,
                           absl::FunctionRef<void(StoreWriter&)> write) override;
  absl::StatusOr<StoredState> Load() override;
  absl::StatusOr<std::vector<v1::Event>> ListEvents(const EventQuery& query) override;
  absl::StatusOr<std::vector<v1::Attempt>> ListAttempts(const std::string& job_id) override;
  std::int64_t SizeBytes() const override;

 private:
  SqliteStore(std::filesystem::path file, int lock) : file_(std::move(file)), lock_(lock) {}
  absl::Status OpenDatabase();

  const std::filesystem::path file_;
  const int lock_;
  sqlite3* database_ = nullptr;
};

}  // namespace agoq
