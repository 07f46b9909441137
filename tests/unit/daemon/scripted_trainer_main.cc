// A trainer that trains nothing: it says Hello on every connection, takes one step when it is told
// to start, and ends as DRAINED when it is told to stop. SIGTERM does nothing to it, and a child of
// its own stays with it.
//
//     scripted_trainer attempt FOLDER
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "proto/agoq/v1/trainer.pb.h"
#include "proto/common/message_socket.h"

namespace agoq {
namespace {

constexpr std::chrono::seconds kGrace{30};  // without a daemon
constexpr std::chrono::seconds kPatience{60};
constexpr int kStopped = 143;

class ScriptedTrainer {
 public:
  explicit ScriptedTrainer(const std::filesystem::path& folder)
      : folder_(folder), listener_(folder / "trainer.sock") {}

  int Run() {
    while (const auto socket = listener_.Accept(kGrace)) {
      SayHello(*socket);
      v1::ToTrainer message;
      while (socket->Receive(&message, kPatience) == MessageSocket::Received::kMessage) {
        if (message.has_start()) TakeStep(*socket);
        if (message.has_stop()) return End(*socket);
      }
    }
    return 1;
  }

 private:
  void SayHello(MessageSocket& socket) const {
    v1::FromTrainer message;
    message.mutable_hello()->set_started(is_started_);
    message.mutable_hello()->set_pid(::getpid());
    socket.Send(message);
  }
  void TakeStep(MessageSocket& socket) {
    is_started_ = true;
    v1::FromTrainer message;
    message.mutable_step()->set_step(1);
    message.mutable_step()->set_seconds(0.01);
    socket.Send(message);
  }
  int End(MessageSocket& socket) const {
    v1::FromTrainer message;
    message.mutable_end()->set_cause(v1::ATTEMPT_CAUSE_DRAINED);
    message.mutable_end()->mutable_result()->set_steps(1);
    std::ofstream(folder_ / "end.pb") << message.end().SerializeAsString();
    socket.Send(message);
    v1::ToTrainer go;
    socket.Receive(&go, kPatience);
    return kStopped;
  }

  const std::filesystem::path folder_;
  MessageListener listener_;
  bool is_started_ = false;
};

}  // namespace
}  // namespace agoq

int main(int, char** argv) {
  ::signal(SIGTERM, SIG_IGN);
  const pid_t child = ::fork();
  while (child == 0) ::pause();
  std::ofstream(std::filesystem::path(argv[2]) / "child.pid") << child << '\n';
  std::ofstream("/dev/stdout") << "trainer runs\n";
  return agoq::ScriptedTrainer(argv[2]).Run();
}
