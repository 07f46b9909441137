#include "server/sqlite_statement.h"

#include <absl/strings/str_cat.h>

namespace agoq {

absl::Status SqliteError(sqlite3* database, const std::string& file) {
  const std::string text = absl::StrCat(file, ": ", sqlite3_errmsg(database));
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(absl::StrCat(text, "; free space on its disk"));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(
          absl::StrCat(text, "; restore it from a backup, or move it away to start anew"));
    case SQLITE_BUSY:
      return absl::UnavailableError(absl::StrCat(text, "; close other programs that use it"));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      return absl::UnavailableError(absl::StrCat(text, "; see its folder's rights and disk"));
    default:
      return absl::InternalError(text);
  }
}

SqliteStatement::SqliteStatement(sqlite3* database, const std::string& file, std::string_view sql)
    : database_(database), file_(file) {
  Check(
      sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr));
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

void SqliteStatement::Check(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || !status_.ok()) return;
  status_ = SqliteError(database_, file_);
}

SqliteStatement& SqliteStatement::Bind(std::int64_t value) {
  Check(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

SqliteStatement& SqliteStatement::Bind(std::string_view text) {
  Check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT));
  return *this;
}

SqliteStatement& SqliteStatement::BindBlob(std::string_view bytes) {
  Check(sqlite3_bind_blob(statement_, ++bound_, bytes.data(), static_cast<int>(bytes.size()),
                          SQLITE_TRANSIENT));
  return *this;
}

bool SqliteStatement::Step() {
  if (!status_.ok()) return false;
  const int code = sqlite3_step(statement_);
  Check(code);
  return code == SQLITE_ROW;
}

std::int64_t SqliteStatement::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string SqliteStatement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int count = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? "" : std::string(static_cast<const char*>(bytes), count);
}

absl::Status SqliteRun(sqlite3* database, const std::string& file, const char* sql) {
  if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return absl::OkStatus();
  return SqliteError(database, file);
}

}  // namespace agoq
