#include "proto/common/spec.h"

#include <algorithm>
#include <utility>

#include "proto/common/job_checks.h"
#include "proto/common/message_rules.h"
#include "proto/common/model_config.h"
#include "proto/common/plan_codec.h"
#include "proto/common/text_file.h"
#include "proto/common/yaml_message.h"

namespace agoq {
namespace {

namespace fs = std::filesystem;

class JobReader {
 public:
  JobReader(std::string file, fs::path folder)
      : file_(std::move(file)), folder_(std::move(folder)) {}

  JobReading Read(const std::string& text) {
    yaml_ = ReadYamlMessage(text, file_, &result_.job);
    result_.errors = yaml_.errors;
    const bool is_unreadable = !yaml_.errors.empty() && yaml_.errors.front().key.empty();
    if (is_unreadable) return std::move(result_);
    InlineModel();
    InlinePlan();
    ResolvePaths();
    FillDefaults(&result_.job);
    if (result_.job.name().empty()) result_.job.set_name(fs::path(file_).stem().string());
    AddReview();
    SortByLine();
    return std::move(result_);
  }

 private:
  void Error(const std::string& key, const std::string& value, const std::string& problem) {
    result_.errors.push_back({file_, yaml_.LineOf(key), key, value, problem});
  }

  fs::path Resolve(const std::string& path) const { return (folder_ / path).lexically_normal(); }

  void InlineModel() {
    v1::ModelSpec& model = *result_.job.mutable_model();
    if (model.config().empty()) return;
    skip_model_ = true;
    const std::string config = std::exchange(*model.mutable_config(), "");
    if (model.ByteSizeLong() > 0) {
      Error("model.config", config, "config and other fields are both given; keep one of them");
      return;
    }
    const fs::path path = Resolve(config);
    const TextFile text = ReadTextFile(path);
    if (!text.problem.empty()) {
      Error("model.config", path.string(), text.problem);
      return;
    }
    ModelConfigReading reading = ReadModelConfig(text.contents, path.string());
    result_.errors.insert(result_.errors.end(), reading.errors.begin(), reading.errors.end());
    model = std::move(reading.model);
    skip_model_ = !reading.errors.empty();
  }

  void InlinePlan() {
    v1::PlanSpec& plan = *result_.job.mutable_plan();
    if (plan.table().empty() || LayerFromPolicyName(plan.table())) return;
    const fs::path path = Resolve(plan.table());
    const TextFile text = ReadTextFile(path);
    if (!text.problem.empty()) {
      Error("plan.table", plan.table(),
            "neither full, paper or recompute, nor a plan: " + path.string() + " " + text.problem);
      return;
    }
    const DecodedPlan decoded = PlanFromJson(text.contents, path.string());
    for (const std::string& error : decoded.errors) Error("plan.table", plan.table(), error);
    if (!decoded.errors.empty()) return;
    *plan.mutable_table_plan() = EncodePlan(decoded.plan);
    plan.clear_table();
  }

  void ResolvePaths() {
    v1::DataSpec& data = *result_.job.mutable_data();
    v1::CheckpointSpec& checkpoint = *result_.job.mutable_checkpoint();
    for (std::string* path :
         {data.mutable_path(), data.mutable_validation_path(), checkpoint.mutable_uri()}) {
      if (path->empty()) continue;
      if (path->rfind("file://", 0) == 0) path->erase(0, 7);
      if (path->find("://") == std::string::npos) *path = Resolve(*path).string();
    }
  }

  bool HasErrorAt(const std::string& key) const {
    return std::any_of(result_.errors.begin(), result_.errors.end(),
                       [&](const SpecError& error) { return error.key == key; });
  }

  void AddReview() {
    JobReview review = ReviewJob(result_.job);
    result_.warnings = std::move(review.warnings);
    for (const SpecError& error : review.errors) {
      const bool is_of_model = error.key.rfind("model", 0) == 0;
      // A mode that could not be read says nothing about the table.
      if (error.key == "plan.table" && HasErrorAt("plan.mode")) continue;
      if (HasErrorAt(error.key) || (is_of_model && (skip_model_ || HasErrorIn("model.")))) continue;
      Error(error.key, error.value, error.problem);
    }
  }

  bool HasErrorIn(const std::string& section) const {
    return std::any_of(yaml_.errors.begin(), yaml_.errors.end(),
                       [&](const SpecError& error) { return error.key.rfind(section, 0) == 0; });
  }

  void SortByLine() {
    std::stable_sort(result_.errors.begin(), result_.errors.end(),
                     [](const SpecError& a, const SpecError& b) { return a.line < b.line; });
  }

  const std::string file_;
  const fs::path folder_;
  YamlReading yaml_;
  JobReading result_;
  bool skip_model_ = false;  // its errors were told already
};

}  // namespace

JobReading ReadJobText(const std::string& text, const std::string& file, const fs::path& folder) {
  return JobReader(file, folder).Read(text);
}

JobReading ReadJobFile(const fs::path& path) {
  TextFile text = ReadTextFile(path);
  if (!text.problem.empty()) {
    JobReading reading;
    reading.errors.push_back({path.string(), 0, "", "", text.problem});
    return reading;
  }
  return ReadJobText(text.contents, path.string(), fs::absolute(path).parent_path());
}

}  // namespace agoq
