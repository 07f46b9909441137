// Errors of the service: absl::Status whose payloads are google.rpc details, so that a client can
// act on them. No gRPC here.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <vector>

namespace agoq {

inline constexpr std::string_view kErrorDomain = "agoq";

struct FieldViolation {
  std::string field;        // key path, like optimizer.learning_rate
  std::string description;  // value, what is wrong, remedy
};
// INVALID_ARGUMENT with BadRequest; every violation at once, or as many as a reply carries and the
// number of the others.
absl::Status InvalidFields(std::string_view message, const std::vector<FieldViolation>& fields);

struct Precondition {
  std::string type;         // MEMORY, WORKERS, STATE
  std::string subject;      // worker or job
  std::string description;  // numbers and remedy
};
// FAILED_PRECONDITION with PreconditionFailure.
absl::Status PreconditionFailed(std::string_view message,
                                const std::vector<Precondition>& preconditions);

// NOT_FOUND and ALREADY_EXISTS with ResourceInfo. `type` is job or worker.
absl::Status ResourceNotFound(std::string_view type, std::string_view name,
                              std::string_view remedy);
absl::Status ResourceExists(std::string_view type, std::string_view name, std::string_view remedy);

// ABORTED with ErrorInfo STALE_GENERATION: the worker must stop that attempt.
absl::Status StaleGeneration(std::string_view message);

// The same status with ErrorInfo of that reason (an upper-case word of a closed set).
absl::Status WithReason(absl::Status status, std::string_view reason);
// The reason of its ErrorInfo; empty: none.
std::string ReasonOf(const absl::Status& status);

// UNIMPLEMENTED, naming what is missing.
absl::Status NotInThisVersion(std::string_view what);

// What the details add to the message, one line each, for people.
std::vector<std::string> DetailLines(const absl::Status& status);

}  // namespace agoq
