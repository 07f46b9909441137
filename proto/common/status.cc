#include "proto/common/status.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "google/rpc/error_details.pb.h"

namespace agoq {
namespace {

constexpr char kTypePrefix[] = "type.googleapis.com/";
// Half of what trailers carry (kLargestMetadata) as base64, for violations of one status.
constexpr std::size_t kMostViolationBytes = 16 << 10;

template <typename Detail>
std::string TypeUrl() {
  return absl::StrCat(kTypePrefix, Detail::descriptor()->full_name());
}

template <typename Detail>
absl::Status With(absl::Status status, const Detail& detail) {
  status.SetPayload(TypeUrl<Detail>(), absl::Cord(detail.SerializeAsString()));
  return status;
}

// False: the status has none.
template <typename Detail>
bool Find(const absl::Status& status, Detail* detail) {
  const absl::optional<absl::Cord> payload = status.GetPayload(TypeUrl<Detail>());
  return payload.has_value() && detail->ParseFromString(std::string(*payload));
}

absl::Status AboutResource(absl::StatusCode code, std::string_view type, std::string_view name,
                           std::string_view problem) {
  google::rpc::ResourceInfo info;
  info.set_resource_type(std::string(type));
  info.set_resource_name(std::string(name));
  info.set_description(std::string(problem));
  return With(absl::Status(code, absl::StrCat(std::string(type), " ", std::string(name), ": ",
                                              std::string(problem))),
              info);
}

}  // namespace

absl::Status InvalidFields(std::string_view message, const std::vector<FieldViolation>& fields) {
  google::rpc::BadRequest detail;
  for (const FieldViolation& field : fields) {
    if (detail.ByteSizeLong() + field.field.size() + field.description.size() >
        kMostViolationBytes) {
      auto& rest = *detail.add_field_violations();
      rest.set_field("and more");
      rest.set_description(absl::StrCat(fields.size() - detail.field_violations_size() + 1,
                                        " others; correct these first"));
      break;
    }
    auto& violation = *detail.add_field_violations();
    violation.set_field(field.field);
    violation.set_description(field.description);
  }
  return With(absl::InvalidArgumentError(std::string(message)), detail);
}

absl::Status PreconditionFailed(std::string_view message,
                                const std::vector<Precondition>& preconditions) {
  google::rpc::PreconditionFailure detail;
  for (const Precondition& precondition : preconditions) {
    auto& violation = *detail.add_violations();
    violation.set_type(precondition.type);
    violation.set_subject(precondition.subject);
    violation.set_description(precondition.description);
  }
  return With(absl::FailedPreconditionError(std::string(message)), detail);
}

absl::Status ResourceNotFound(std::string_view type, std::string_view name,
                              std::string_view remedy) {
  return AboutResource(absl::StatusCode::kNotFound, type, name,
                       absl::StrCat("there is none; ", std::string(remedy)));
}

absl::Status ResourceExists(std::string_view type, std::string_view name, std::string_view remedy) {
  return AboutResource(absl::StatusCode::kAlreadyExists, type, name, remedy);
}

absl::Status StaleGeneration(std::string_view message) {
  return WithReason(absl::AbortedError(std::string(message)), "STALE_GENERATION");
}

absl::Status WithReason(absl::Status status, std::string_view reason) {
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(reason));
  info.set_domain(std::string(kErrorDomain));
  return With(std::move(status), info);
}

std::string ReasonOf(const absl::Status& status) {
  google::rpc::ErrorInfo info;
  return Find(status, &info) ? info.reason() : "";
}

absl::Status NotInThisVersion(std::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat(std::string(what), ": does not exist in this version yet"));
}

std::vector<std::string> DetailLines(const absl::Status& status) {
  std::vector<std::string> lines;
  google::rpc::BadRequest request;
  if (Find(status, &request)) {
    for (const auto& violation : request.field_violations()) {
      lines.push_back(absl::StrCat(violation.field(), ": ", violation.description()));
    }
  }
  google::rpc::PreconditionFailure failure;
  if (Find(status, &failure)) {
    for (const auto& violation : failure.violations()) {
      lines.push_back(absl::StrCat(violation.subject(), ": ", violation.description()));
    }
  }
  return lines;
}

}  // namespace agoq
