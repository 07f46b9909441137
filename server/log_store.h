// What the trainers wrote, as files: FOLDER/<job>/<generation>/rank<k>.log, each bounded. Any
// thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "proto/agoq/v1/agent_service.pb.h"

namespace agoq {

inline constexpr std::int64_t kLargestLog = 64 << 20;  // bytes of a rank; the rest is dropped

class LogStore {
 public:
  explicit LogStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Text that begins at `offset` of the rank's log. What is there already is skipped; returns how
  // far the log reaches now. INVALID_ARGUMENT for a job id that is no UUID, OUT_OF_RANGE past a
  // gap.
  absl::StatusOr<std::int64_t> Append(const v1::RankId& id, std::int64_t offset,
                                      std::string_view text);

  // At most `limit` bytes from `offset`; empty: no more so far.
  std::string Read(const v1::RankId& id, std::int64_t offset, std::int64_t limit) const;
  std::int64_t Size(const v1::RankId& id) const;
  // Where the last `lines` lines begin; 0 lines: the beginning.
  std::int64_t TailOffset(const v1::RankId& id, std::int64_t lines) const;

 private:
  std::filesystem::path PathOf(const v1::RankId& id) const;

  const std::filesystem::path folder_;
  absl::Mutex mutex_;  // one writer at a time
};

}  // namespace agoq
