#include "proto/common/job_checks.h"

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "proto/common/field_text.h"
#include "proto/common/message_rules.h"
#include "proto/common/plan_codec.h"

namespace agoq {
namespace {

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

class Reviewer {
 public:
  explicit Reviewer(const v1::JobSpec& job) : job_(job) {}

  JobReview Run() {
    review_.errors = CheckRules(job_);
    for (const SpecError& error : review_.errors) broken_.insert(error.key);
    CheckName();
    if (!IsModelMissing()) {
      CheckHeads();
      CheckSequence();
      CheckPlan();
    }
    CheckGang();
    CheckSteps();
    CheckCheckpoint();
    return std::move(review_);
  }

 private:
  void Error(const std::string& key, const std::string& value, const std::string& problem) {
    review_.errors.push_back({"", 0, key, value, problem});
  }
  void Error(const std::string& key, std::int64_t value, const std::string& problem) {
    Error(key, std::to_string(value), problem);
  }

  bool AnyBroken(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      if (broken_.count(key) != 0) return true;
    }
    return false;
  }

  void CheckName() {
    const std::string& name = job_.name();
    if (name.size() > 63 || name.find_first_not_of(kNameCharacters) != std::string::npos) {
      Error("name", name, "use at most 63 letters, digits, '-', '_' and '.'");
    }
  }

  // A job without any model gets one error, not one for each of its fields.
  bool IsModelMissing() {
    const v1::ModelSpec& model = job_.model();
    if (!model.config().empty()) {
      DropModelErrors();
      Error("model.config", model.config(), "is not inlined; read the job file again");
      return true;
    }
    if (model.vocab_size() != 0 || model.hidden_size() != 0 || model.num_hidden_layers() != 0) {
      return false;
    }
    DropModelErrors();
    Error("model", "", "is missing; give `config: PATH` of a config.json, or the model's fields");
    return true;
  }

  void DropModelErrors() {
    std::erase_if(review_.errors,
                  [](const SpecError& error) { return error.key.rfind("model.", 0) == 0; });
  }

  void CheckHeads() {
    if (AnyBroken({"model.hidden_size", "model.num_attention_heads", "model.num_key_value_heads",
                   "model.head_dim"})) {
      return;
    }
    const v1::ModelSpec& model = job_.model();
    const std::int64_t heads = model.num_attention_heads();
    if (model.num_key_value_heads() > 0 && heads % model.num_key_value_heads() != 0) {
      Error("model.num_key_value_heads", model.num_key_value_heads(),
            "must divide num_attention_heads (" + std::to_string(heads) + ")");
    }
    if (model.head_dim() == 0 && model.hidden_size() % heads != 0) {
      Error("model.num_attention_heads", heads,
            "must divide hidden_size (" + std::to_string(model.hidden_size()) +
                "); change one of them or give head_dim");
      return;
    }
    const std::int64_t head_size = ShapeFromSpec(model).head_size;
    if (head_size % 2 != 0) {
      Error(model.head_dim() == 0 ? "model.num_attention_heads" : "model.head_dim",
            model.head_dim() == 0 ? heads : head_size,
            "makes heads of " + std::to_string(head_size) +
                " elements; rotary positions need an even number");
    }
  }

  void CheckSequence() {
    if (AnyBroken({"model.max_position_embeddings", "steps.sequence_length"})) return;
    const std::int64_t positions = job_.model().max_position_embeddings();
    if (job_.steps().sequence_length() <= positions) return;
    Error("steps.sequence_length", job_.steps().sequence_length(),
          "is longer than the model's max_position_embeddings (" + std::to_string(positions) +
              "); shorten it or raise that");
  }

  void CheckPlan() {
    const v1::PlanSpec& plan = job_.plan();
    if (plan.mode() != v1::PlanSpec::MODE_FIXED) {
      CheckThatNoTableIsGiven(plan);
      return;
    }
    for (const auto& [key, is_given] : {std::pair("plan.error_budget", plan.error_budget() > 0),
                                        std::pair("plan.max_slowdown", plan.max_slowdown() > 0)}) {
      if (is_given) Error(key, "", "belongs to mode auto; remove it, or write mode: auto");
    }
    if (plan.has_table_plan() != plan.table().empty()) {
      Error("plan.table", plan.table(),
            plan.has_table_plan()
                ? "table and table_plan are both given; remove one"
                : "is missing; use full, paper, recompute, or the path of a plan");
      return;
    }
    if (!plan.has_table_plan() && !LayerFromPolicyName(plan.table())) {
      Error("plan.table", plan.table(), "not a table; use full, paper or recompute");
      return;
    }
    if (plan.has_table_plan()) CheckTablePlan(plan.table_plan());
  }

  void CheckThatNoTableIsGiven(const v1::PlanSpec& plan) {
    if (!plan.has_table_plan() && plan.table().empty()) return;
    Error("plan.table", plan.table(), "belongs to mode fixed; remove it, or write mode: fixed");
  }

  void CheckTablePlan(const v1::BitPlan& message) {
    const DecodedPlan decoded = DecodePlan(message);
    for (const std::string& error : decoded.errors) Error("plan.table_plan", "", error);
    if (!decoded.errors.empty() || AnyBroken({"model.num_hidden_layers", "mesh.data"})) return;
    PlanReview plan_review =
        ReviewPlan(decoded.plan, job_.model().num_hidden_layers(), NumRanks(job_));
    for (const std::string& error : plan_review.errors) Error("plan.table_plan", "", error);
    review_.warnings = std::move(plan_review.warnings);
  }

  void CheckGang() {
    if (AnyBroken({"mesh.data", "gang.min_workers", "gang.max_workers"})) return;
    const std::int64_t ranks = NumRanks(job_);
    for (const auto& [key, workers] : {std::pair("gang.min_workers", job_.gang().min_workers()),
                                       std::pair("gang.max_workers", job_.gang().max_workers())}) {
      if (workers == 0 || workers == ranks) continue;
      Error(key, workers,
            "not supported: the number of workers cannot change yet; use the mesh's " +
                std::to_string(ranks) + " or remove the key");
    }
  }

  void CheckSteps() {
    if (AnyBroken({"steps.total", "steps.max_seconds", "optimizer.warmup_steps"})) return;
    const v1::StepsSpec& steps = job_.steps();
    if (steps.total() == 0 && steps.max_seconds() == 0) {
      Error("steps.total", "0", "nothing to do; give total, max_seconds or both");
      return;
    }
    const std::int64_t warmup = job_.optimizer().warmup_steps();
    if (steps.total() > 0 && warmup > steps.total()) {
      Error("optimizer.warmup_steps", warmup,
            "is more than steps.total (" + std::to_string(steps.total()) +
                "), so that the peak rate is never reached; lower it");
    }
  }

  void CheckCheckpoint() {
    const v1::CheckpointSpec& checkpoint = job_.checkpoint();
    if (checkpoint.uri().empty() && checkpoint.interval() > 0) {
      Error("checkpoint.interval", checkpoint.interval(),
            "has no place to write to; give checkpoint.uri");
    }
    const std::size_t scheme = checkpoint.uri().find("://");
    if (scheme != std::string::npos && checkpoint.uri().rfind("file://", 0) != 0) {
      Error("checkpoint.uri", checkpoint.uri(),
            "not supported: scheme " + checkpoint.uri().substr(0, scheme) +
                "; use the path of a folder");
    }
  }

  const v1::JobSpec& job_;
  std::set<std::string> broken_;
  JobReview review_;
};

}  // namespace

JobReview ReviewJob(const v1::JobSpec& job) { return Reviewer(job).Run(); }

std::int64_t NumRanks(const v1::JobSpec& job) {
  return job.mesh().data() * job.mesh().pipeline() * job.mesh().tensor();
}

}  // namespace agoq
