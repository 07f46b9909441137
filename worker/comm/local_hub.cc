#include "worker/comm/local_hub.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace agoq {
namespace {

const OperationHeader& AnyHeader(const Exchange& exchange) {
  const auto active = std::find_if(exchange.peers.begin(), exchange.peers.end(),
                                   [](const Exchange::Peer& peer) { return peer.active; });
  return (active == exchange.peers.end() ? exchange.peers.front() : *active).header;
}

std::vector<int> Participants(int rank, const Exchange& exchange) {
  std::vector<int> participants;
  for (int peer = 0; peer < static_cast<int>(exchange.peers.size()); ++peer) {
    if (peer == rank || exchange.peers[peer].active) participants.push_back(peer);
  }
  return participants;
}

void MoveBytes(LocalHub::Meeting& meeting) {
  for (int from : meeting.participants) {
    for (int to : meeting.participants) {
      if (from == to) continue;
      const ConstBytes send = meeting.posted.at(from).peers[to].send;
      const MutableBytes receive = meeting.posted.at(to).peers[from].receive;
      if (!send.empty()) std::memcpy(receive.data(), send.data(), send.size());
    }
  }
}

}  // namespace

LocalHub::LocalHub(int size) : ranks_(static_cast<std::size_t>(size)) {}

void LocalHub::Join(int rank) {
  const std::lock_guard lock(mutex_);
  if (rank < 0 || rank >= size()) {
    throw std::invalid_argument("local group: rank " + std::to_string(rank) +
                                " is not a rank of 0.." + std::to_string(size() - 1));
  }
  if (ranks_[rank].joined) {
    throw std::invalid_argument("local group: rank " + std::to_string(rank) +
                                " has joined already; each rank joins once");
  }
  ranks_[rank].joined = true;
}

void LocalHub::Leave(int rank) {
  const std::lock_guard lock(mutex_);
  ranks_[rank].left = true;
  changed_.notify_all();
}

std::shared_ptr<LocalHub::Meeting> LocalHub::Post(int rank, Exchange exchange) {
  const std::lock_guard lock(mutex_);
  const OperationHeader header = AnyHeader(exchange);
  const std::vector<int> participants = Participants(rank, exchange);
  Key key{-1, -1, header.sequence};
  if (exchange.operation == Operation::kSend || exchange.operation == Operation::kRecv) {
    const int peer = participants.front() == rank ? participants.back() : participants.front();
    const bool sends = exchange.operation == Operation::kSend;
    key = {sends ? rank : peer, sends ? peer : rank, header.sequence};
  }
  std::shared_ptr<Meeting>& slot = meetings_[key];
  if (!slot) slot = std::make_shared<Meeting>(Meeting{.participants = participants});
  const std::shared_ptr<Meeting> meeting = slot;
  const std::string name =
      std::string(NameOf(exchange.operation)) + " #" + std::to_string(header.sequence);
  if (meeting->name.empty()) meeting->name = name;
  ranks_[rank].last_posted = name;
  meeting->posted[rank] = std::move(exchange);
  if (!failure_.empty()) return meeting;

  const std::string disagreement = Disagreement(*meeting, rank);
  if (!disagreement.empty()) {
    FailLocked(disagreement);
    return meeting;
  }
  if (meeting->posted.size() < meeting->participants.size()) return meeting;
  MoveBytes(*meeting);
  meeting->complete = true;
  meetings_.erase(key);
  changed_.notify_all();
  return meeting;
}

void LocalHub::Wait(const Meeting& meeting, int rank, CommClock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] {
    return meeting.complete || !failure_.empty() || LacksALeaver(meeting);
  });
  if (failure_.empty() && meeting.complete) return;
  if (failure_.empty()) {
    const bool left = LacksALeaver(meeting);
    FailLocked(meeting.name + (left ? " cannot complete" : " timed out") + " on rank " +
               std::to_string(rank) + ": not posted by " + Missing(meeting) +
               "; look for the first error of those ranks");
  }
  throw CommunicatorError(failure_);
}

void LocalHub::Drop(const Meeting& meeting, int rank) {
  const std::lock_guard lock(mutex_);
  if (meeting.complete) return;
  FailLocked(meeting.name + " was dropped by rank " + std::to_string(rank) +
             " before it completed; look for the first error of that rank");
}

void LocalHub::Fail(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  FailLocked(reason);
}

void LocalHub::FailLocked(const std::string& reason) {
  if (failure_.empty()) failure_ = reason;
  changed_.notify_all();
}

std::string LocalHub::Disagreement(const Meeting& meeting, int rank) const {
  const Exchange& mine = meeting.posted.at(rank);
  for (const auto& [peer, theirs] : meeting.posted) {
    if (peer == rank) continue;
    // The lower rank speaks first, whoever came last.
    const int low = std::min(rank, peer);
    const int high = std::max(rank, peer);
    const Exchange& lower = low == rank ? mine : theirs;
    const Exchange& higher = low == rank ? theirs : mine;
    std::string text =
        DescribeDisagreement(low, lower.peers[high].header, high, higher.peers[low].header);
    if (!text.empty()) return text;
  }
  return "";
}

std::string LocalHub::Missing(const Meeting& meeting) const {
  std::string text;
  for (int rank : meeting.participants) {
    if (meeting.posted.contains(rank)) continue;
    const Rank& state = ranks_[rank];
    text += text.empty() ? "rank " : ", rank ";
    text += std::to_string(rank) + " (";
    if (state.left) text += "it has ended, ";
    text += state.last_posted.empty() ? "posted nothing" : "posted " + state.last_posted + " last";
    text += ")";
  }
  return text;
}

bool LocalHub::LacksALeaver(const Meeting& meeting) const {
  if (meeting.complete) return false;
  return std::any_of(meeting.participants.begin(), meeting.participants.end(),
                     [&](int rank) { return ranks_[rank].left && !meeting.posted.contains(rank); });
}

}  // namespace agoq
