// The coordinator's decisions under chance: messages late, doubled, lost and out of order, workers
// and trainers that end, a store that fails, the coordinator itself starting again. After each step
// the promises are checked: an acknowledged job is kept, a terminal state is final, at most one
// attempt of a job trains, no part of a gang trains alone, no worker serves two attempts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "server/job_manager.h"
#include "server/job_state.h"
#include "server/reconciler.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory_store.h"
#include "tests/support/simulated_worker.h"

namespace agoq {
namespace {

constexpr int kNumSteps = 200'000;
constexpr int kNumWorkers = 5;
constexpr std::int64_t kMemoryBytes = std::int64_t{1} << 30;

class NoObserver : public JobObserver {
 public:
  void OnChange(const v1::Job&, const v1::Event&) override {}
  void OnStoreError(const absl::Status&) override {}
};

class QueueLink : public WorkerLink {
 public:
  explicit QueueLink(std::deque<v1::CoordinatorMessage>& queue) : queue_(queue) {}
  void Send(const v1::CoordinatorMessage& message) override { queue_.push_back(message); }
  void Close(const absl::Status&) override { is_closed_ = true; }
  bool is_closed() const { return is_closed_; }

 private:
  std::deque<v1::CoordinatorMessage>& queue_;
  bool is_closed_ = false;
};

// A coordinator without processes; a new one on the same store is a restart.
struct CoordinatorModel {
  CoordinatorModel(MemoryStore& store, const Clock& clock, std::mt19937& random)
      : epoch(*store.BeginEpoch()),
        jobs(store, clock, epoch, observer),
        workers(clock, epoch, {.lease_seconds = 10, .grace_seconds = 30}),
        reconciler(Cluster{jobs, workers, planner, rendezvous, clock,
                           ReconcilerOptions{.prepare_seconds = 30, .backoff_seconds = 1}}),
        manager(jobs, workers, planner, reconciler,
                [&random] { return "job-" + std::to_string(random()); },
                {.workers_may_return = true}) {
    EXPECT_TRUE(jobs.Load().ok());
    reconciler.Begin();
  }

  const std::int64_t epoch;
  NoObserver observer;
  JobTable jobs;
  WorkerRegistry workers;
  GangPlanner planner;
  Rendezvous rendezvous;
  Reconciler reconciler;
  JobManager manager;
};

v1::JobSpec SmallJob(const std::string& name, std::int64_t ranks) {
  v1::JobSpec job;
  job.set_name(name);
  v1::ModelSpec& model = *job.mutable_model();
  model.set_vocab_size(256);
  model.set_hidden_size(64);
  model.set_intermediate_size(128);
  model.set_num_hidden_layers(2);
  model.set_num_attention_heads(4);
  job.mutable_data()->set_path("/data");
  job.mutable_mesh()->set_data(ranks);
  job.mutable_plan()->set_mode(v1::PlanSpec::MODE_FIXED);
  job.mutable_plan()->set_table("paper");
  job.mutable_steps()->set_total(100);
  job.mutable_steps()->set_sequence_length(16);
  return job;
}

class ClusterModel {
 public:
  explicit ClusterModel(unsigned seed) : random_(seed) {
    for (int i = 0; i < kNumWorkers; ++i) {
      nodes_.push_back(std::make_unique<Node>("worker-" + std::to_string(i)));
    }
    coordinator_ = std::make_unique<CoordinatorModel>(store_, clock_, random_);
  }

  void Step() {
    const auto chance = random_() % 1000;
    if (chance < 400) {
      for (int i = 0; i < 4; ++i) DeliverOne();
    } else if (chance < 600) {
      clock_.Advance(std::chrono::milliseconds(random_() % 500));
      coordinator_->reconciler.OnTick();
    } else if (chance < 800) {
      Node& node = AnyNode();
      node.worker.Report();
      Collect(node);
    } else if (chance < 900) {
      Node& node = AnyNode();
      node.worker.Live(random_);
      Collect(node);
    } else {
      Disturb(random_() % 100);
    }
    Connect();
    Check();
  }

  std::map<v1::JobState, int> Outcomes() const {
    std::map<v1::JobState, int> outcomes;
    for (const auto& [id, job] : store_.jobs()) ++outcomes[job.status().state()];
    return outcomes;
  }
  int num_ended() const { return static_cast<int>(ends_.size()); }

 private:
  struct Node {
    explicit Node(const std::string& name) : worker(name, kMemoryBytes) {}
    SimulatedWorker worker;
    std::deque<v1::CoordinatorMessage> to_worker;
    std::deque<v1::WorkerMessage> to_coordinator;
    std::shared_ptr<QueueLink> link;  // null: no session
  };

  Node& AnyNode() { return *nodes_[random_() % nodes_.size()]; }

  void Collect(Node& node) {
    for (v1::WorkerMessage& message : node.worker.TakeOutbox()) {
      if (node.link != nullptr) node.to_coordinator.push_back(std::move(message));
    }
  }

  // Takes any message of the queue: order means nothing. Some are lost, some come twice.
  template <typename Message>
  std::optional<Message> Take(std::deque<Message>* queue) {
    if (queue->empty()) return std::nullopt;
    const auto at = queue->begin() + static_cast<std::ptrdiff_t>(random_() % queue->size());
    const Message message = *at;
    const auto fate = random_() % 20;
    if (fate != 0) queue->erase(at);  // else it comes again
    if (fate == 1) return std::nullopt;
    return message;
  }

  void DeliverOne() {
    Node& node = AnyNode();
    if (random_() % 2 == 0) {
      if (const auto message = Take(&node.to_worker)) {
        node.worker.Handle(*message);
        Collect(node);
      }
      return;
    }
    const auto message = Take(&node.to_coordinator);
    if (!message.has_value()) return;
    const std::string& name = node.worker.name();
    if (message->has_heartbeat()) {
      coordinator_->reconciler.OnHeartbeat(name, message->heartbeat());
    } else if (message->has_profile_result()) {
      coordinator_->reconciler.OnProfile(name, message->profile_result());
    } else if (message->has_task_status()) {
      coordinator_->reconciler.OnTaskStatus(name, message->task_status());
    }
  }

  void Disturb(unsigned long chance) {
    if (chance < 8) return Submit();
    if (chance < 18) return Stop();
    if (chance < 50) return EndSession(AnyNode());
    if (chance < 60) {
      Node& node = AnyNode();
      node.worker.Restart();
      return EndSession(node);
    }
    if (chance < 63) {
      Node& node = AnyNode();
      node.worker.Reboot();
      return EndSession(node);
    }
    if (chance < 85) return store_.FailNext();
    if (chance < 88) {
      clock_.Advance(std::chrono::seconds(15));  // leases end
      return coordinator_->reconciler.OnTick();
    }
    if (chance < 89) RestartCoordinator();
  }

  void Submit() {
    v1::SubmitJobRequest request;
    request.set_request_id("request-" + std::to_string(random_()));
    request.set_allow_unsatisfiable(true);
    *request.mutable_spec() =
        SmallJob("name-" + std::to_string(random_()), 1 + static_cast<std::int64_t>(random_() % 4));
    const auto answer = coordinator_->manager.Submit(request, "user");
    if (!answer.ok()) return;
    open_.insert(answer->job().id());
    const auto again = coordinator_->manager.Submit(request, "user");
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(again->job().id(), answer->job().id());
  }

  void Stop() {
    const std::vector<std::string> active = coordinator_->jobs.Active();
    if (active.empty()) return;
    v1::StopJobRequest request;
    request.set_job(active[random_() % active.size()]);
    request.set_mode(random_() % 2 == 0 ? v1::StopJobRequest::MODE_CANCEL
                                        : v1::StopJobRequest::MODE_KILL);
    coordinator_->manager.Stop(request, "user").IgnoreError();
  }

  void EndSession(Node& node) {
    coordinator_->workers.Leave(node.worker.name(), node.link.get());
    node.link = nullptr;
    node.to_worker.clear();
    node.to_coordinator.clear();
  }

  void RestartCoordinator() {
    for (const auto& node : nodes_) {
      node->link = nullptr;
      node->to_worker.clear();
      node->to_coordinator.clear();
    }
    coordinator_.reset();
    coordinator_ = std::make_unique<CoordinatorModel>(store_, clock_, random_);
  }

  void Connect() {
    for (const auto& node : nodes_) {
      if (node->link != nullptr && node->link->is_closed()) EndSession(*node);
      if (node->link != nullptr || random_() % 4 != 0) continue;
      auto link = std::make_shared<QueueLink>(node->to_worker);
      const v1::Hello hello = node->worker.Hello();
      if (!coordinator_->workers.Join(hello, link).ok()) continue;
      node->link = link;
      v1::Welcome welcome;
      for (const v1::RankId& id : coordinator_->reconciler.OnHello(hello))
        *welcome.add_adopt() = id;
      node->worker.Adopt(welcome);
    }
  }

  void Check() {
    CheckJobs();
    CheckWorkers();
  }

  void CheckJobs() {
    for (auto id = open_.begin(); id != open_.end();) {
      const auto job = store_.jobs().find(*id);
      ASSERT_NE(job, store_.jobs().end()) << "an acknowledged job is gone";
      const v1::JobState state = job->second.status().state();
      if (IsTerminal(state)) ends_[*id] = state;
      id = IsTerminal(state) ? open_.erase(id) : std::next(id);
    }
    // One that ended before, chosen by chance, is as it was.
    if (ends_.empty()) return;
    auto end = ends_.lower_bound("job-" + std::to_string(random_()));
    if (end == ends_.end()) end = ends_.begin();
    ASSERT_EQ(store_.jobs().at(end->first).status().state(), end->second);
  }

  void CheckWorkers() {
    std::map<std::string, std::set<std::int64_t>> training;  // generations by job
    for (const auto& node : nodes_) {
      int busy = 0;
      for (const auto& [key, task] : node->worker.tasks()) {
        if (task.state() == v1::TaskStatus::STATE_RUNNING) {
          training[key.first].insert(key.second);
          ++busy;
        }
      }
      ASSERT_LE(busy, 1) << node->worker.name() << " serves two attempts";
    }
    for (const auto& [job_id, generations] : training) {
      ASSERT_EQ(generations.size(), 1U) << "two attempts of " << job_id << " train";
      CheckGang(job_id, *generations.begin());
    }
  }

  // A rank trains only once every rank was prepared, which is when the store says RUNNING.
  void CheckGang(const std::string& job_id, std::int64_t generation) {
    const v1::Job& job = store_.jobs().at(job_id);
    ASSERT_GE(job.attempt().generation(), generation);
    if (job.attempt().generation() != generation) return;
    ASSERT_NE(job.attempt().state(), v1::ATTEMPT_STATE_RESERVED);
    ASSERT_NE(job.attempt().state(), v1::ATTEMPT_STATE_PREPARING) << "part of a gang trains";
  }

  std::mt19937 random_;
  FakeClock clock_;
  MemoryStore store_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unique_ptr<CoordinatorModel> coordinator_;
  std::set<std::string> open_;  // acknowledged jobs that have not ended
  std::map<std::string, v1::JobState> ends_;
};

TEST(ClusterModel, KeepsItsPromisesUnderChance) {
  const char* const given = std::getenv("AGOQ_SEED");  // to see a failure again
  const unsigned seed = given == nullptr ? std::random_device()()
                                         : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
  SCOPED_TRACE("seed " + std::to_string(seed));
  ClusterModel model(seed);
  for (int step = 0; step < kNumSteps && !::testing::Test::HasFatalFailure(); ++step) model.Step();
  const std::map<v1::JobState, int> outcomes = model.Outcomes();
  // The run says something only if every kind of end was met, many times.
  EXPECT_GT(model.num_ended(), 300);
  for (const v1::JobState end :
       {v1::JOB_STATE_SUCCEEDED, v1::JOB_STATE_FAILED, v1::JOB_STATE_CANCELLED}) {
    EXPECT_GT(outcomes.count(end) == 0 ? 0 : outcomes.at(end), 5) << v1::JobState_Name(end);
  }
}

}  // namespace
}  // namespace agoq
