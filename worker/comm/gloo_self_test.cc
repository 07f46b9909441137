#include <dlfcn.h>
#include <gloo/transport/tcp/device.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "worker/comm/gloo_communicator.h"
#include "worker/comm/memory_key_value_store.h"

namespace agoq {
namespace {

constexpr std::chrono::milliseconds kSelfTestTimeout = std::chrono::seconds(10);

// What rank `rank` of two gets from the other, which sends its own number plus one.
std::uint8_t ExchangeRankNumber(int rank, KeyValueStore& store) {
  const std::unique_ptr<Communicator> communicator = ConnectGloo(
      {.rank = rank, .size = 2, .group = "self-test", .connect_timeout = kSelfTestTimeout}, store);
  const std::vector<std::uint8_t> send(2, static_cast<std::uint8_t>(rank + 1));
  std::vector<std::uint8_t> receive(2);
  const auto bytes = std::as_bytes(std::span(send));
  const auto room = std::as_writable_bytes(std::span(receive));
  communicator
      ->AllToAll({bytes.subspan(0, 1), bytes.subspan(1, 1)},
                 {room.subspan(0, 1), room.subspan(1, 1)})
      ->Wait(CommClock::now() + kSelfTestTimeout);
  return receive[static_cast<std::size_t>(1 - rank)];
}

constexpr char kRemedy[] = "link the system's Gloo and Protocol Buffers before LibTorch";

// The library that Gloo's functions come from.
std::string GlooLibrary() {
  Dl_info origin{};
  // Calls into the wrong copy may crash, so ask where they would go first.
  if (::dladdr(reinterpret_cast<void*>(&gloo::transport::tcp::CreateDevice), &origin) == 0)
    return "";
  return origin.dli_fname;
}

}  // namespace

void CheckGlooLinkage() {
  const std::string library = GlooLibrary();
  if (library.find("libtorch") != std::string::npos) {
    throw std::runtime_error("Gloo self-test: this program took the copy of Gloo in " + library +
                             "; " + kRemedy);
  }
  MemoryKeyValueStore store;
  std::string problems[2];
  const auto run = [&](int rank) {
    try {
      const int received = ExchangeRankNumber(rank, store);
      if (received != 2 - rank) problems[rank] = "wrong byte " + std::to_string(received);
    } catch (const std::exception& error) {
      problems[rank] = error.what();
    }
  };
  {
    const std::jthread peer(run, 1);
    run(0);
  }
  const std::string& problem = problems[0].empty() ? problems[1] : problems[0];
  if (problem.empty()) return;
  throw std::runtime_error(
      "Gloo self-test: two ranks of this process cannot exchange a byte (" + problem +
      "); if loopback works, see what this program is linked with: " + kRemedy);
}

}  // namespace agoq
