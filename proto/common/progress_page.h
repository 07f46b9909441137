// Where a rank is, in 128 bytes of a memory-mapped file: readable by another process even when the
// rank is stuck. One writer; readers never block it (a sequence lock). Std and POSIX.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace agoq {

enum class ProgressPhase : std::uint32_t {
  kStarting,  // reads its data, connects, restores
  kTraining,
  kCheckpoint,
  kEvaluating,
  kEnded,
};
std::string_view NameOf(ProgressPhase phase);

struct RankPosition {
  std::int64_t generation = 0;
  std::int64_t step = 0;  // steps done
  ProgressPhase phase = ProgressPhase::kStarting;
  std::int64_t phase_start_unix_nanos = 0;
  std::int64_t collective_sequence = 0;
  std::int64_t allocated_bytes = 0;  // counted, at this moment

  friend bool operator==(const RankPosition&, const RankPosition&) = default;
};

// Name of a rank's page in its attempt's folder.
std::filesystem::path ProgressPagePath(const std::filesystem::path& folder, std::int64_t rank);

// Creates the file, or takes over what a dead writer left; it reads as RankPosition{} until the
// first Write. Throws std::runtime_error with the path.
class ProgressPageWriter {
 public:
  explicit ProgressPageWriter(const std::filesystem::path& path);
  ~ProgressPageWriter();
  ProgressPageWriter(const ProgressPageWriter&) = delete;
  ProgressPageWriter& operator=(const ProgressPageWriter&) = delete;

  void Write(const RankPosition& position);

 private:
  struct Page* page_ = nullptr;
};

// Nothing if there is no file, it is no page, or its writer died in the middle of a write.
std::optional<RankPosition> ReadProgressPage(const std::filesystem::path& path);

}  // namespace agoq
