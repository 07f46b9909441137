// Runs a piece of code on every rank of a group, each on a thread of its own.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "worker/comm/communicator.h"
#include "worker/comm/gloo_communicator.h"
#include "worker/comm/local_communicator.h"
#include "worker/comm/memory_key_value_store.h"

namespace agoq::testing {

enum class Transport { kLocal, kGloo };

inline std::string NameOf(Transport transport) {
  return transport == Transport::kLocal ? "Local" : "Gloo";
}

// Long enough for a busy machine; nothing waits for it unless it fails.
inline constexpr std::chrono::milliseconds kPlenty = std::chrono::seconds(60);

inline CommClock::time_point Soon(std::chrono::milliseconds timeout = kPlenty) {
  return CommClock::now() + timeout;
}

template <typename T>
ConstBytes Bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
template <typename T>
MutableBytes Room(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

inline std::vector<std::unique_ptr<Communicator>> MakeGroup(Transport transport, int world) {
  std::vector<std::unique_ptr<Communicator>> group(static_cast<std::size_t>(world));
  LocalGroup local(world);
  MemoryKeyValueStore store;
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.emplace_back([&, rank] {
      group[rank] = transport == Transport::kLocal
                        ? local.Join(rank)
                        : ConnectGloo({.rank = rank, .size = world}, store);
    });
  }
  ranks.clear();
  return group;
}

using RankFunction = std::function<void(Communicator&)>;

// What each rank threw; empty strings for ranks that came through. The communicators outlive all
// ranks.
inline std::vector<std::string> ErrorsOfRanks(Transport transport, int world,
                                              const RankFunction& run) {
  const std::vector<std::unique_ptr<Communicator>> group = MakeGroup(transport, world);
  std::vector<std::string> errors(static_cast<std::size_t>(world));
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.emplace_back([&, rank] {
      try {
        run(*group[rank]);
      } catch (const std::exception& error) {
        errors[rank] = error.what();
      }
    });
  }
  ranks.clear();
  return errors;
}

}  // namespace agoq::testing
