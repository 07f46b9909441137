#include "worker/trainer/prepared_job.h"

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <utility>

#include "proto/common/job_checks.h"
#include "proto/common/job_plan.h"
#include "proto/common/plan_codec.h"
#include "proto/common/plan_table.h"
#include "proto/common/spec.h"
#include "proto/common/text_file.h"
#include "worker/trainer/failure.h"
#include "worker/trainer/job_options.h"

namespace agoq {
namespace {

void ThrowIfAny(const std::vector<std::string>& problems) {
  if (problems.empty()) return;
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : "\n") + problem;
  throw UsageError(text);
}

bool IsAboutThePlan(const std::string& key) {
  return key == "plan.mode" || key.rfind("plan.table", 0) == 0;
}

// Errors of the plan do not count when `policy` takes its place.
v1::JobSpec ReadJob(const std::string& path, bool replaces_plan,
                    std::vector<std::string>* warnings) {
  JobReading reading = ReadJobFile(path);
  std::vector<std::string> problems;
  for (const SpecError& error : reading.errors) {
    if (!replaces_plan || !IsAboutThePlan(error.key)) problems.push_back(ToText(error));
  }
  ThrowIfAny(problems);
  if (!replaces_plan) *warnings = std::move(reading.warnings);
  return std::move(reading.job);
}

BitPlan ReadPolicyFile(const std::string& path) {
  const TextFile text = ReadTextFile(path);
  if (!text.problem.empty()) {
    throw UsageError("--policy " + path +
                     ": neither full, paper or recompute, nor a plan: " + text.problem);
  }
  DecodedPlan decoded = PlanFromJson(text.contents, path);
  ThrowIfAny(decoded.errors);
  return std::move(decoded.plan);
}

void ReplacePlan(const std::string& policy, v1::JobSpec* job, std::vector<std::string>* warnings) {
  v1::PlanSpec& plan = *job->mutable_plan();
  plan.set_mode(v1::PlanSpec::MODE_FIXED);
  plan.clear_table();
  plan.clear_table_plan();
  if (LayerFromPolicyName(policy)) {
    plan.set_table(policy);
    return;
  }
  const BitPlan table = ReadPolicyFile(policy);
  PlanReview review = ReviewPlan(table, job->model().num_hidden_layers(), NumRanks(*job));
  for (std::string& error : review.errors) error = policy + ": " + error;
  ThrowIfAny(review.errors);
  *plan.mutable_table_plan() = EncodePlan(table);
  *warnings = std::move(review.warnings);
}

// FNV-1a of the job without its paths, which may differ between machines.
std::string RunIdOf(v1::JobSpec job) {
  job.mutable_data()->clear_path();
  job.mutable_data()->clear_validation_path();
  job.mutable_checkpoint()->clear_uri();
  std::uint64_t hash = 14695981039346656037ULL;
  for (unsigned char byte : job.SerializeAsString()) hash = (hash ^ byte) * 1099511628211ULL;
  std::ostringstream text;
  text << job.name() << "-" << std::hex << std::setw(16) << std::setfill('0') << hash;
  return text.str();
}

}  // namespace

PreparedJob PrepareJob(const std::string& job_path, const std::string& policy) {
  PreparedJob prepared;
  v1::JobSpec job = ReadJob(job_path, !policy.empty(), &prepared.warnings);
  if (!policy.empty()) ReplacePlan(policy, &job, &prepared.warnings);
  JobPlan planned = PlanJob(job);
  if (!planned.problem.empty()) throw UsageError(planned.problem);
  prepared.options = OptionsOf(job, planned.plan);
  prepared.num_ranks = static_cast<int>(NumRanks(job));
  prepared.run_id = RunIdOf(job);
  prepared.plan_table = PlanTable(prepared.options.plan, {.compute = prepared.options.compute});
  return prepared;
}

}  // namespace agoq
