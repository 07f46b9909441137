#include "worker/comm/operation.h"

namespace agoq {
namespace {

std::string Announcement(int rank, int peer, const OperationHeader& header) {
  std::string text = "rank " + std::to_string(rank) + " posted " +
                     std::string(NameOf(header.operation)) + " #" + std::to_string(header.sequence);
  if (header.operation == Operation::kBroadcast) text += " of root " + std::to_string(header.root);
  text += " (" + std::to_string(header.send_bytes) + " bytes to rank " + std::to_string(peer) +
          ", " + std::to_string(header.receive_bytes) + " bytes from it)";
  return text;
}

}  // namespace

std::string_view NameOf(Operation operation) {
  switch (operation) {
    case Operation::kAllToAll:
      return "all_to_all";
    case Operation::kAllGather:
      return "all_gather";
    case Operation::kReduceScatter:
      return "reduce_scatter";
    case Operation::kSend:
      return "send";
    case Operation::kRecv:
      return "recv";
    case Operation::kBroadcast:
      return "broadcast";
    case Operation::kBarrier:
      return "barrier";
  }
  return "unknown operation";
}

OperationHeader Counterpart(const OperationHeader& mine) {
  OperationHeader theirs = mine;
  theirs.send_bytes = mine.receive_bytes;
  theirs.receive_bytes = mine.send_bytes;
  if (mine.operation == Operation::kSend) theirs.operation = Operation::kRecv;
  if (mine.operation == Operation::kRecv) theirs.operation = Operation::kSend;
  return theirs;
}

std::string DescribeDisagreement(int rank, const OperationHeader& mine, int peer,
                                 const OperationHeader& theirs) {
  if (theirs == Counterpart(mine)) return "";
  std::string text =
      "ranks disagree: " + Announcement(rank, peer, mine) + ", " + Announcement(peer, rank, theirs);
  if (theirs.group_hash != mine.group_hash) text += ", in groups of different names";
  return text + "; every rank must post the same operations in the same order with the same sizes";
}

std::uint32_t HashGroupName(std::string_view name) {
  // FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
  std::uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace agoq
