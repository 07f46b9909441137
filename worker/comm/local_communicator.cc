#include "worker/comm/local_communicator.h"

#include <stdexcept>
#include <string>
#include <utility>

#include "worker/comm/exchange_communicator.h"
#include "worker/comm/local_hub.h"

namespace agoq {
namespace {

class LocalWork : public Work {
 public:
  LocalWork(std::shared_ptr<LocalHub> hub, std::shared_ptr<LocalHub::Meeting> meeting, int rank)
      : hub_(std::move(hub)), meeting_(std::move(meeting)), rank_(rank) {}
  ~LocalWork() override { hub_->Drop(*meeting_, rank_); }

  void Wait(CommClock::time_point deadline) override { hub_->Wait(*meeting_, rank_, deadline); }

 private:
  const std::shared_ptr<LocalHub> hub_;  // a Work may outlive its communicator
  const std::shared_ptr<LocalHub::Meeting> meeting_;
  const int rank_;
};

class LocalCommunicator : public ExchangeCommunicator {
 public:
  LocalCommunicator(std::shared_ptr<LocalHub> hub, int rank)
      : ExchangeCommunicator(rank, hub->size(), "local"), hub_(std::move(hub)) {}
  ~LocalCommunicator() override { hub_->Leave(rank()); }

  void Abort(const std::string& reason) override {
    hub_->Fail("rank " + std::to_string(rank()) + " aborted: " + reason);
  }

 protected:
  std::unique_ptr<Work> Post(Exchange exchange) override {
    return std::make_unique<LocalWork>(hub_, hub_->Post(rank(), std::move(exchange)), rank());
  }
  std::uint64_t header_bytes() const override { return 0; }

 private:
  const std::shared_ptr<LocalHub> hub_;
};

}  // namespace

LocalGroup::LocalGroup(int size) {
  if (size < 1) {
    throw std::invalid_argument("local group of " + std::to_string(size) +
                                " ranks: a group has at least one");
  }
  hub_ = std::make_shared<LocalHub>(size);
}

std::unique_ptr<Communicator> LocalGroup::Join(int rank) {
  hub_->Join(rank);
  return std::make_unique<LocalCommunicator>(hub_, rank);
}

}  // namespace agoq
