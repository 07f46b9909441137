#include "worker/trainer/attempt_task.h"

#include <chrono>
#include <cmath>
#include <string>

#include "proto/agoq/v1/trainer.pb.h"
#include "proto/common/job_checks.h"
#include "proto/common/message_rules.h"
#include "proto/common/plan_codec.h"
#include "proto/common/spec_error.h"
#include "worker/trainer/attempt_files.h"
#include "worker/trainer/job_options.h"

namespace agoq {
namespace {

// The coordinator's plan takes the place of the job's own choice.
v1::JobSpec WithPlan(const v1::TrainerTask& task) {
  v1::JobSpec job = task.spec();
  v1::PlanSpec& plan = *job.mutable_plan();
  plan.set_mode(v1::PlanSpec::MODE_FIXED);
  plan.clear_table();
  plan.clear_error_budget();
  plan.clear_max_slowdown();
  *plan.mutable_table_plan() = task.plan();
  plan.set_budget_bytes(task.budget_bytes());
  FillDefaults(&job);
  return job;
}

// A rank that was given a GPU must not train on the CPU without a word.
std::string DeviceProblem(v1::Device::Kind kind) {
  if (kind != v1::Device::KIND_CUDA) return "";
  return "device cuda: this trainer is built for CPUs alone; start its worker with --device cpu";
}

std::string ProblemsOf(const v1::JobSpec& job, std::int64_t world) {
  std::string text;
  for (const SpecError& error : ReviewJob(job).errors) {
    if (!text.empty()) text.append("\n");
    text.append(ToText(error));
  }
  if (!text.empty() || NumRanks(job) == world) return text;
  return "world " + std::to_string(world) + ": the job's mesh has " +
         std::to_string(NumRanks(job)) + " ranks; an attempt needs them all";
}

}  // namespace

AttemptTask ReadAttemptTask(const std::string& folder) {
  const v1::TrainerTask message = ReadTaskFile(folder);
  AttemptTask task;
  task.link = {.folder = folder,
               .job_id = message.id().job_id(),
               .generation = message.id().generation(),
               .rank = message.id().rank(),
               .grace = std::chrono::milliseconds(
                   static_cast<std::int64_t>(std::lround(message.grace_seconds() * 1000)))};
  task.world = static_cast<int>(message.world());
  task.host = message.host();
  task.problem = DeviceProblem(message.device_kind());
  if (!task.problem.empty()) return task;
  const v1::JobSpec job = WithPlan(message);
  task.problem = ProblemsOf(job, message.world());
  if (!task.problem.empty()) return task;
  task.options = OptionsOf(job, DecodePlan(message.plan()).plan);
  task.options.generation = message.id().generation();
  return task;
}

}  // namespace agoq
