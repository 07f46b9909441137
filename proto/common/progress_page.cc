#include "proto/common/progress_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace agoq {

// Every field is an atomic word: a reader that races with the writer sees old or new words, never a
// torn one, and the sequence tells whether they belong together.
struct Page {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> version;
  std::atomic<std::uint64_t> sequence;  // odd: being written
  std::atomic<std::int64_t> generation;
  std::atomic<std::int64_t> step;
  std::atomic<std::uint64_t> phase;
  std::atomic<std::int64_t> phase_start_unix_nanos;
  std::atomic<std::int64_t> collective_sequence;
  std::atomic<std::int64_t> allocated_bytes;
  std::uint64_t reserved[7];
};
static_assert(sizeof(Page) == 128);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

namespace {

constexpr std::uint64_t kMagic = 0x6567'6170'716f'6761;  // "agoqpage"
constexpr std::uint64_t kVersion = 1;
constexpr int kReadTries = 1000;

Page* Map(int file, int protection) {
  void* memory = ::mmap(nullptr, sizeof(Page), protection, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Page*>(memory);
}

[[noreturn]] void Fail(const std::filesystem::path& path) {
  throw std::runtime_error(path.string() + ": the progress page cannot be written (" +
                           std::strerror(errno) + "); make the folder writable");
}

std::optional<RankPosition> ReadPage(const Page& page) {
  if (page.magic.load() != kMagic || page.version.load() != kVersion) return std::nullopt;
  for (int i = 0; i < kReadTries; ++i) {
    const std::uint64_t before = page.sequence.load(std::memory_order_acquire);
    const RankPosition position = {
        .generation = page.generation.load(std::memory_order_relaxed),
        .step = page.step.load(std::memory_order_relaxed),
        .phase = static_cast<ProgressPhase>(page.phase.load(std::memory_order_relaxed)),
        .phase_start_unix_nanos = page.phase_start_unix_nanos.load(std::memory_order_relaxed),
        .collective_sequence = page.collective_sequence.load(std::memory_order_relaxed),
        .allocated_bytes = page.allocated_bytes.load(std::memory_order_relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint64_t after = page.sequence.load(std::memory_order_relaxed);
    if (before == after && before % 2 == 0) return position;
  }
  return std::nullopt;
}

}  // namespace

std::string_view NameOf(ProgressPhase phase) {
  switch (phase) {
    case ProgressPhase::kStarting:
      return "starting";
    case ProgressPhase::kTraining:
      return "training";
    case ProgressPhase::kCheckpoint:
      return "checkpoint";
    case ProgressPhase::kEvaluating:
      return "evaluating";
    case ProgressPhase::kEnded:
      return "ended";
  }
  return "unknown";
}

std::filesystem::path ProgressPagePath(const std::filesystem::path& folder, std::int64_t rank) {
  return folder / ("rank" + std::to_string(rank) + ".progress");
}

ProgressPageWriter::ProgressPageWriter(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) Fail(path);
  // Space is taken now: a full disk must not become a SIGBUS later.
  const int error = ::posix_fallocate(file, 0, sizeof(Page));
  if (error == 0) page_ = Map(file, PROT_READ | PROT_WRITE);
  if (error != 0) errno = error;
  const int saved = errno;
  ::close(file);
  errno = saved;
  if (page_ == nullptr) Fail(path);
  page_->version.store(kVersion);
  page_->magic.store(kMagic);
  Write({});  // what a dead writer left may be half a position
}

ProgressPageWriter::~ProgressPageWriter() { ::munmap(page_, sizeof(Page)); }

void ProgressPageWriter::Write(const RankPosition& position) {
  // Odd from here on, also where a dead writer left it odd.
  const std::uint64_t sequence = page_->sequence.load(std::memory_order_relaxed) | 1;
  page_->sequence.store(sequence, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  page_->generation.store(position.generation, std::memory_order_relaxed);
  page_->step.store(position.step, std::memory_order_relaxed);
  page_->phase.store(static_cast<std::uint64_t>(position.phase), std::memory_order_relaxed);
  page_->phase_start_unix_nanos.store(position.phase_start_unix_nanos, std::memory_order_relaxed);
  page_->collective_sequence.store(position.collective_sequence, std::memory_order_relaxed);
  page_->allocated_bytes.store(position.allocated_bytes, std::memory_order_relaxed);
  page_->sequence.store(sequence + 1, std::memory_order_release);
}

std::optional<RankPosition> ReadProgressPage(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status = {};
  const bool is_whole = ::fstat(file, &status) == 0 && status.st_size >= off_t{sizeof(Page)};
  Page* page = is_whole ? Map(file, PROT_READ) : nullptr;
  ::close(file);
  if (page == nullptr) return std::nullopt;
  const std::optional<RankPosition> position = ReadPage(*page);
  ::munmap(page, sizeof(Page));
  return position;
}

}  // namespace agoq
