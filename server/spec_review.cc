#include "server/spec_review.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "proto/common/job_checks.h"
#include "proto/common/message_rules.h"
#include "proto/common/spec_error.h"
#include "proto/common/status.h"

namespace agoq {

absl::StatusOr<ReviewedSpec> ReviewSpec(v1::JobSpec spec) {
  FillDefaults(&spec);
  JobReview review = ReviewJob(spec);
  std::vector<FieldViolation> violations;
  for (SpecError& error : review.errors) {
    const std::string key = std::exchange(error.key, "");
    violations.push_back({key, ToText(error)});
  }
  if (spec.name().empty()) violations.push_back({"name", "is missing; give the job a name"});
  const std::string& path = spec.data().path();
  for (const auto& [field, value] : {std::pair<std::string, std::string>("data.path", path),
                                     {"data.validation_path", spec.data().validation_path()},
                                     {"checkpoint.uri", spec.checkpoint().uri()}}) {
    if (value.empty() || value.front() == '/' || value.find("://") != std::string::npos) continue;
    violations.push_back(
        {field, absl::StrCat(value,
                             ": is relative, but workers have other working directories; "
                             "give an absolute path")});
  }
  if (violations.empty()) return ReviewedSpec{std::move(spec), std::move(review.warnings)};
  return InvalidFields(
      absl::StrCat("job ", spec.name(), ": ", violations.size(),
                   violations.size() == 1 ? " problem" : " problems", " in its spec"),
      violations);
}

}  // namespace agoq
