#include "server/sqlite_store.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "server/sqlite_statement.h"

namespace agoq {
namespace {

constexpr std::int64_t kSchemaVersion = 1;
constexpr int kBusyTimeoutMs = 5000;
constexpr long kCifsMagic = 0xff534d42;  // not in linux/magic.h of every release

constexpr const char* kPragmas =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";

constexpr const char* kSchema = R"sql(
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
  id TEXT PRIMARY KEY, sequence INTEGER NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
  record BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS attempts (
  job_id TEXT NOT NULL REFERENCES jobs (id), generation INTEGER NOT NULL, state TEXT NOT NULL,
  record BLOB NOT NULL, PRIMARY KEY (job_id, generation)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS requests (
  id TEXT PRIMARY KEY, job_id TEXT NOT NULL REFERENCES jobs (id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
  sequence INTEGER PRIMARY KEY, job_id TEXT NOT NULL, record BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS events_of_job ON events (job_id, sequence);
)sql";

bool IsNetworkFileSystem(const std::filesystem::path& folder) {
  struct statfs status = {};
  if (::statfs(folder.c_str(), &status) != 0) return false;
  constexpr std::array<long, 3> kNetwork = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, kCifsMagic};
  return std::find(kNetwork.begin(), kNetwork.end(), long{status.f_type}) != kNetwork.end();
}

absl::StatusOr<int> LockFolder(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "coordinator.lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path.string(), ": cannot be written (", std::strerror(errno),
                     "); use a state directory that this user may write, by --state-directory"));
  }
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  ::close(file);
  return absl::FailedPreconditionError(
      absl::StrCat(folder.string(),
                   ": another coordinator uses this state directory; stop it, or "
                   "give another --state-directory"));
}

class Writer : public StoreWriter {
 public:
  Writer(sqlite3* database, std::string file) : database_(database), file_(std::move(file)) {}

  void PutJob(const v1::Job& job) override {
    v1::Job record = job;
    record.clear_attempt();
    SqliteStatement put(database_, file_,
                        "INSERT INTO jobs VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
                        "state = excluded.state, record = excluded.record");
    put.Bind(job.id())
        .Bind(job.sequence())
        .Bind(job.spec().name())
        .Bind(v1::JobState_Name(job.status().state()))
        .BindBlob(record.SerializeAsString());
    Run(&put);
    if (job.has_attempt()) PutAttempt(job.id(), job.attempt());
  }

  void PutEvent(const v1::Event& event) override {
    SqliteStatement put(database_, file_, "INSERT INTO events VALUES (?, ?, ?)");
    put.Bind(event.sequence()).Bind(event.job_id()).BindBlob(event.SerializeAsString());
    Run(&put);
  }

  void PutRequest(const std::string& request_id, const std::string& job_id) override {
    SqliteStatement put(database_, file_, "INSERT INTO requests VALUES (?, ?)");
    put.Bind(request_id).Bind(job_id);
    Run(&put);
  }

  const absl::Status& status() const { return status_; }

 private:
  void PutAttempt(const std::string& job_id, const v1::Attempt& attempt) {
    SqliteStatement put(database_, file_,
                        "INSERT INTO attempts VALUES (?, ?, ?, ?) ON CONFLICT (job_id, generation) "
                        "DO UPDATE SET state = excluded.state, record = excluded.record");
    put.Bind(job_id)
        .Bind(attempt.generation())
        .Bind(v1::AttemptState_Name(attempt.state()))
        .BindBlob(attempt.SerializeAsString());
    Run(&put);
  }

  void Run(SqliteStatement* statement) {
    statement->Step();
    if (status_.ok()) status_ = statement->status();
  }

  sqlite3* const database_;
  const std::string file_;
  absl::Status status_;
};

// Rows that do not parse are damage, not surprises.
template <typename Message>
absl::Status Parse(const std::string& bytes, const std::string& file, Message* message) {
  if (message->ParseFromString(bytes)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(file, ": holds a ", message->GetTypeName(),
                                          " that cannot be read; restore it from a backup"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(
    const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder.string(), ": cannot be made (", error.message(),
                     "); give another folder by --state-directory"));
  }
  if (IsNetworkFileSystem(folder)) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder.string(),
                     ": lies on a network file system, where the database's lock "
                     "does not hold; use a local disk"));
  }
  const absl::StatusOr<int> lock = LockFolder(folder);
  if (!lock.ok()) return lock.status();
  std::unique_ptr<SqliteStore> store(new SqliteStore(folder / "agoq.db", *lock));
  const absl::Status opened = store->OpenDatabase();
  if (!opened.ok()) return opened;
  return store;
}

SqliteStore::~SqliteStore() {
  sqlite3_close(database_);
  ::close(lock_);
}

absl::Status SqliteStore::OpenDatabase() {
  const int code = sqlite3_open_v2(file_.c_str(), &database_,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  if (code != SQLITE_OK) return SqliteError(database_, file_.native());
  sqlite3_extended_result_codes(database_, 1);
  sqlite3_busy_timeout(database_, kBusyTimeoutMs);
  absl::Status done = SqliteRun(database_, file_.native(), kPragmas);
  if (!done.ok()) return done;
  SqliteStatement check(database_, file_.native(), "PRAGMA quick_check(1)");
  if (!check.Step() || check.Text(0) != "ok") {
    return absl::DataLossError(
        absl::StrCat(file_.string(), ": is damaged (", check.Text(0), check.status().message(),
                     "); restore it from a backup, or move it away to start anew"));
  }
  SqliteStatement version(database_, file_.native(), "PRAGMA user_version");
  version.Step();
  if (version.Int(0) > kSchemaVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(file_.string(), ": was written by a later version (schema ", version.Int(0),
                     ", this one knows ", kSchemaVersion, "); use that version"));
  }
  done = SqliteRun(database_, file_.native(),
                   absl::StrCat("BEGIN IMMEDIATE;", kSchema,
                                "PRAGMA user_version = ", kSchemaVersion, "; COMMIT;")
                       .c_str());
  return done;
}

absl::StatusOr<std::int64_t> SqliteStore::BeginEpoch() {
  SqliteStatement put(database_, file_.native(),
                      "INSERT INTO meta VALUES ('epoch', 1) ON CONFLICT (key) DO UPDATE SET value "
                      "= value + 1 RETURNING value");
  if (!put.Step()) return put.status();
  const std::int64_t epoch = put.Int(0);
  put.Step();  // to its end: only then is it committed
  if (!put.status().ok()) return put.status();
  return epoch;
}

absl::Status SqliteStore::Transaction(std::int64_t epoch,
                                      absl::FunctionRef<void(StoreWriter&)> write) {
  absl::Status done = SqliteRun(database_, file_.native(), "BEGIN IMMEDIATE");
  if (!done.ok()) return done;
  SqliteStatement current(database_, file_.native(), "SELECT value FROM meta WHERE key = 'epoch'");
  Writer writer(database_, file_.native());
  if (!current.Step() || current.Int(0) != epoch) {
    done = absl::AbortedError(
        absl::StrCat(file_.string(), ": epoch ", epoch, " is over; another coordinator took over"));
  } else {
    write(writer);
    done = writer.status();
  }
  if (done.ok()) done = SqliteRun(database_, file_.native(), "COMMIT");
  if (!done.ok()) SqliteRun(database_, file_.native(), "ROLLBACK").IgnoreError();
  return done;
}

absl::StatusOr<StoredState> SqliteStore::Load() {
  StoredState state;
  SqliteStatement jobs(database_, file_.native(),
                       "SELECT jobs.record, attempts.record FROM jobs LEFT JOIN attempts ON "
                       "attempts.job_id = jobs.id AND attempts.generation = (SELECT "
                       "MAX(generation) FROM attempts WHERE job_id = jobs.id) ORDER BY sequence");
  while (jobs.Step()) {
    v1::Job job;
    absl::Status parsed = Parse(jobs.Text(0), file_.native(), &job);
    const std::string attempt = jobs.Text(1);
    if (parsed.ok() && !attempt.empty()) {
      parsed = Parse(attempt, file_.native(), job.mutable_attempt());
    }
    if (!parsed.ok()) return parsed;
    state.jobs.push_back(std::move(job));
  }
  if (!jobs.status().ok()) return jobs.status();
  SqliteStatement requests(database_, file_.native(), "SELECT id, job_id FROM requests");
  while (requests.Step()) state.requests.emplace_back(requests.Text(0), requests.Text(1));
  if (!requests.status().ok()) return requests.status();
  SqliteStatement last(database_, file_.native(), "SELECT COALESCE(MAX(sequence), 0) FROM events");
  if (last.Step()) state.last_event = last.Int(0);
  if (!last.status().ok()) return last.status();
  return state;
}

absl::StatusOr<std::vector<v1::Event>> SqliteStore::ListEvents(const EventQuery& query) {
  const std::string condition = query.job_id.empty() ? "" : " AND job_id = ?3";
  SqliteStatement select(database_, file_.native(),
                         absl::StrCat("SELECT record FROM events WHERE sequence > ?1", condition,
                                      " ORDER BY sequence LIMIT ?2"));
  select.Bind(query.after_sequence).Bind(query.limit);
  if (!query.job_id.empty()) select.Bind(query.job_id);
  std::vector<v1::Event> events;
  while (select.Step()) {
    const absl::Status parsed = Parse(select.Text(0), file_.native(), &events.emplace_back());
    if (!parsed.ok()) return parsed;
  }
  if (!select.status().ok()) return select.status();
  return events;
}

absl::StatusOr<std::vector<v1::Attempt>> SqliteStore::ListAttempts(const std::string& job_id) {
  SqliteStatement select(database_, file_.native(),
                         "SELECT record FROM attempts WHERE job_id = ? ORDER BY generation");
  select.Bind(job_id);
  std::vector<v1::Attempt> attempts;
  while (select.Step()) {
    const absl::Status parsed = Parse(select.Text(0), file_.native(), &attempts.emplace_back());
    if (!parsed.ok()) return parsed;
  }
  if (!select.status().ok()) return select.status();
  return attempts;
}

std::int64_t SqliteStore::SizeBytes() const {
  std::error_code error;
  const auto size = std::filesystem::file_size(file_, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace agoq
