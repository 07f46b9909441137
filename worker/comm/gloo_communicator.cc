#include "worker/comm/gloo_communicator.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <netdb.h>
#include <sys/socket.h>

#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include "worker/comm/exchange_communicator.h"
#include "worker/comm/gloo_link.h"
#include "worker/comm/sigpipe_guard.h"

namespace agoq {
namespace {

// Gloo's view of a store of ours. One deadline holds for all its keys.
class StoreAdapter : public gloo::rendezvous::Store {
 public:
  StoreAdapter(KeyValueStore& store, std::string prefix, CommClock::time_point deadline)
      : store_(store), prefix_(std::move(prefix)), deadline_(deadline) {}

  void set(const std::string& key, const std::vector<char>& bytes) override {
    store_.Set(prefix_ + key, std::string(bytes.begin(), bytes.end()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = store_.Wait(prefix_ + key, deadline_);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) store_.Wait(prefix_ + key, deadline_);
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override {
    wait(keys);
  }

 private:
  KeyValueStore& store_;
  const std::string prefix_;
  const CommClock::time_point deadline_;
};

class GlooWork : public Work {
 public:
  GlooWork(std::shared_ptr<GlooLink> link, std::shared_ptr<GlooOperation> operation)
      : link_(std::move(link)), operation_(std::move(operation)) {}
  ~GlooWork() override { link_->Release(*operation_); }

  void Wait(CommClock::time_point deadline) override {
    try {
      link_->Wait(*operation_, deadline);
    } catch (const CommunicatorError&) {
      link_->Release(*operation_);
      throw;
    }
  }

 private:
  const std::shared_ptr<GlooLink> link_;  // a Work may outlive its communicator
  const std::shared_ptr<GlooOperation> operation_;
};

class GlooCommunicator : public ExchangeCommunicator {
 public:
  GlooCommunicator(const GlooOptions& options, std::shared_ptr<gloo::Context> context)
      : ExchangeCommunicator(options.rank, options.size, options.group),
        link_(std::make_shared<GlooLink>(options.rank, std::move(context))) {}
  ~GlooCommunicator() override { link_->Leave(); }

  void Abort(const std::string& reason) override {
    link_->Fail("rank " + std::to_string(rank()) + " aborted: " + reason);
  }

 protected:
  std::unique_ptr<Work> Post(Exchange exchange) override {
    return std::make_unique<GlooWork>(link_, link_->Post(std::move(exchange)));
  }
  std::uint64_t header_bytes() const override { return sizeof(OperationHeader); }

 private:
  const std::shared_ptr<GlooLink> link_;  // shared with each Work
};

// Gloo reads memory that was never set when a name has no address.
void RequireKnownHost(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* addresses = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &addresses);
  if (error != 0) throw std::runtime_error(std::string("no address: ") + ::gai_strerror(error));
  ::freeaddrinfo(addresses);
}

std::shared_ptr<gloo::Context> ConnectMesh(const GlooOptions& options, KeyValueStore& store) {
  const SigpipeGuard guard;  // for Gloo's own thread too
  gloo::transport::tcp::attr attributes;
  if (options.interface.empty()) {
    RequireKnownHost(options.host);
    attributes = gloo::transport::tcp::attr(options.host.c_str());
  } else {
    attributes.iface = options.interface;
  }
  std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attributes);
  auto context = std::make_shared<gloo::rendezvous::Context>(options.rank, options.size);
  // Gloo gives a connection five times this.
  context->setTimeout(options.connect_timeout / 5 + std::chrono::milliseconds(1));
  StoreAdapter adapter(store, "gloo/" + options.group + "/",
                       CommClock::now() + options.connect_timeout);
  context->connectFullMesh(adapter, device);
  return context;
}

}  // namespace

std::unique_ptr<Communicator> ConnectGloo(const GlooOptions& options, KeyValueStore& store) {
  const std::string who = "rank " + std::to_string(options.rank) + " of " +
                          std::to_string(options.size) + " in group '" + options.group + "'";
  if (options.rank < 0 || options.rank >= options.size) {
    throw std::invalid_argument("Gloo: " + who + ": ranks go from 0 to the size less one");
  }
  try {
    return std::make_unique<GlooCommunicator>(options, ConnectMesh(options, store));
  } catch (const std::exception& error) {
    const std::string through =
        options.interface.empty() ? "host '" + options.host : "interface '" + options.interface;
    throw CommunicatorError("Gloo: " + who + " through " + through + "' cannot connect (" +
                            error.what() +
                            "); see whether all ranks run and reach each other there");
  }
}

}  // namespace agoq
