// What a rank announces before it exchanges anything, and how two announcements are compared. Std
// only, pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace agoq {

enum class Operation : std::uint16_t {
  kAllToAll = 1,
  kAllGather,
  kReduceScatter,
  kSend,
  kRecv,
  kBroadcast,
  kBarrier,
};

// "all_to_all", "recv", ...; "unknown operation" for a value that is none of the above.
std::string_view NameOf(Operation operation);

// The fixed header that goes to each peer of an operation, in the machine's byte order.
struct OperationHeader {
  std::uint64_t sequence = 0;
  Operation operation = Operation::kBarrier;
  std::uint16_t root = 0;           // broadcast only
  std::uint32_t group_hash = 0;     // of the group's name: ranks of two groups never agree
  std::uint64_t send_bytes = 0;     // what the announcing rank sends to this peer
  std::uint64_t receive_bytes = 0;  // what it expects from this peer

  friend bool operator==(const OperationHeader&, const OperationHeader&) = default;
};
static_assert(sizeof(OperationHeader) == 32);

// The announcement that agrees with `mine` when it comes from the peer.
OperationHeader Counterpart(const OperationHeader& mine);

// Empty when the two agree; else a sentence that names operations, sequence numbers, sizes and
// ranks of both.
std::string DescribeDisagreement(int rank, const OperationHeader& mine, int peer,
                                 const OperationHeader& theirs);

std::uint32_t HashGroupName(std::string_view name);

}  // namespace agoq
