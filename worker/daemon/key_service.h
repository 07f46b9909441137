// The rendezvous of an attempt's ranks, as its trainers ask for it.
#pragma once

#include <functional>

#include "proto/agoq/v1/agent_service.pb.h"
#include "proto/agoq/v1/trainer.pb.h"

namespace agoq {

// Thread-safe. Returns at once; `answer` is called later, on any thread, at most once: not at all
// when the service is stopped, since the trainer then asks the next daemon.
class KeyService {
 public:
  using Answer = std::function<void(const v1::KeyAnswer&)>;

  virtual ~KeyService() = default;
  virtual void Set(const v1::RankId& id, const v1::KeySet& request, Answer answer) = 0;
  virtual void Wait(const v1::RankId& id, const v1::KeyWait& request, Answer answer) = 0;
};

}  // namespace agoq
