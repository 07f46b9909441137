#include "worker/memory/counting_allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace agoq {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxShares = 3;

// Lies before each allocation. The ledger is shared, since a tensor may outlive its rank's
// training.
struct alignas(kAlignment) Header {
  std::shared_ptr<MemoryLedger> ledger;
  std::int64_t bytes = 0;
  std::array<std::int64_t, kMaxShares> share_bytes{};
  std::array<MemoryLabel, kMaxShares> share_labels{};
};
static_assert(sizeof(Header) == kAlignment);

thread_local std::shared_ptr<MemoryLedger> current_ledger;
thread_local MemoryLabel current_label = MemoryLabel::kWorkspace;

Header* HeaderOf(void* pointer) {
  return reinterpret_cast<Header*>(static_cast<char*>(pointer) - sizeof(Header));
}

void Free(void* pointer) {
  if (pointer == nullptr) return;
  Header* header = HeaderOf(pointer);
  if (header->ledger != nullptr) {
    for (std::size_t i = 0; i < kMaxShares; ++i) {
      if (header->share_bytes[i] > 0) {
        header->ledger->Remove(header->share_labels[i], header->share_bytes[i]);
      }
    }
  }
  header->~Header();
  std::free(header);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, nullptr, &Free, cpu};
    const auto signed_bytes = static_cast<std::int64_t>(bytes);
    if (current_ledger != nullptr) current_ledger->Add(current_label, signed_bytes);
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, sizeof(Header) + rounded);
    if (memory == nullptr) {
      if (current_ledger != nullptr) current_ledger->Remove(current_label, signed_bytes);
      throw OutOfMemory("the machine has no " + std::to_string(bytes) + " bytes left");
    }
    new (memory) Header{.ledger = current_ledger,
                        .bytes = signed_bytes,
                        .share_bytes = {signed_bytes},
                        .share_labels = {current_label}};
    void* pointer = static_cast<char*>(memory) + sizeof(Header);
    return {pointer, pointer, &Free, cpu};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &Free; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

void InstallCountingAllocator() {
  static std::once_flag once;
  std::call_once(once, [] {
    // A step frees and asks for the same large buffers again; by default each would be mapped, and
    // faulted in, anew.
    constexpr int kKeptBytes = 1 << 30;
    mallopt(M_MMAP_THRESHOLD, kKeptBytes);
    mallopt(M_TRIM_THRESHOLD, kKeptBytes);
    static CountingAllocator allocator;
    constexpr std::uint8_t kPriority = 100;
    c10::SetCPUAllocator(&allocator, kPriority);
  });
}

LedgerScope::LedgerScope(std::shared_ptr<MemoryLedger> ledger)
    : previous_(std::exchange(current_ledger, std::move(ledger))) {}
LedgerScope::~LedgerScope() { current_ledger = std::move(previous_); }

LabelScope::LabelScope(MemoryLabel label) : previous_(std::exchange(current_label, label)) {}
LabelScope::~LabelScope() { current_label = previous_; }

void Relabel(const c10::Storage& storage, std::initializer_list<LabelShare> shares) {
  const c10::DataPtr& pointer = storage.data_ptr();
  if (pointer.get() == nullptr || pointer.get_deleter() != &Free) return;
  Header* header = HeaderOf(pointer.get_context());
  if (header->ledger == nullptr) return;
  std::array<std::int64_t, kMaxShares> bytes{};
  std::array<MemoryLabel, kMaxShares> labels{};
  std::int64_t left = header->bytes;
  std::size_t i = 0;
  for (const LabelShare& share : shares) {
    labels[i] = share.label;
    bytes[i] = i + 1 == shares.size() ? left : share.bytes;
    left -= bytes[i++];
  }
  // By way of workspace, so that no label is short in between; the total stays.
  for (std::size_t j = 0; j < kMaxShares; ++j) {
    header->ledger->Move(header->share_labels[j], MemoryLabel::kWorkspace, header->share_bytes[j]);
  }
  for (std::size_t j = 0; j < kMaxShares; ++j) {
    header->ledger->Move(MemoryLabel::kWorkspace, labels[j], bytes[j]);
  }
  header->share_bytes = bytes;
  header->share_labels = labels;
}

}  // namespace agoq
