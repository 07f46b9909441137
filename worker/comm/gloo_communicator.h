// Ranks as processes: Gloo over TCP, with headers that are compared before any payload is taken.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "worker/comm/communicator.h"
#include "worker/comm/key_value_store.h"

namespace agoq {

struct GlooOptions {
  int rank = 0;
  int size = 1;
  std::string group = "world";  // prefix of the rendezvous keys; one for each mesh axis and group
  std::string host = "127.0.0.1";  // name or address that peers reach this rank at
  std::string interface;           // network interface; wins over `host` when not empty
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(60);
};

// Meets the other ranks of the group through `store` (borrowed for this call) and connects to each.
// Throws CommunicatorError when they do not come in time, std::invalid_argument for a rank outside
// the group.
//
// Operations progress in the order posted, on a thread of the communicator. All waits may be in any
// order that is the same on all ranks. A Work destroyed before its Wait has returned ends the
// communicator. bytes_sent counts payload and the 32-byte headers, not Gloo's own framing. Abort
// also closes the connections, so peers notice at once.
std::unique_ptr<Communicator> ConnectGloo(const GlooOptions& options, KeyValueStore& store);

// Whether Gloo in this program is the system's, and two ranks inside this process can exchange a
// byte over loopback. Throws std::runtime_error with the remedy otherwise: LibTorch brings a Gloo
// of its own, and a program linked in the wrong order takes that one and cannot connect.
void CheckGlooLinkage();

}  // namespace agoq
