// SQL statements of one SQLite connection, with its errors as statuses.
#pragma once

#include <absl/status/status.h>
#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace agoq {

// What the connection last complained about. `file` names the database.
absl::Status SqliteError(sqlite3* database, const std::string& file);

// One statement; parameters are bound from 1 in the order of the calls. An error of any call shows
// at status().
class SqliteStatement {
 public:
  SqliteStatement(sqlite3* database, const std::string& file, std::string_view sql);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& Bind(std::int64_t value);
  SqliteStatement& Bind(std::string_view text);
  SqliteStatement& BindBlob(std::string_view bytes);

  // True: there is a row.
  bool Step();
  std::int64_t Int(int column) const;
  std::string Text(int column) const;  // or a blob's bytes
  const absl::Status& status() const { return status_; }

 private:
  void Check(int code);

  sqlite3* const database_;
  const std::string file_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  absl::Status status_;
};

// Runs statements without results.
absl::Status SqliteRun(sqlite3* database, const std::string& file, const char* sql);

}  // namespace agoq
