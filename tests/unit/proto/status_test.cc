#include "proto/common/status.h"

#include <gmock/gmock.h>

#include "google/rpc/status.pb.h"
#include "proto/common/grpc_status.h"

namespace agoq {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

absl::Status TwoViolations() {
  return InvalidFields("job a: 2 problems", {{"batch.size", "0: must be above 0"},
                                             {"model.layers", "is missing; give it a value"}});
}

TEST(Status, TakesDetailsThroughGrpcAndBack) {
  EXPECT_EQ(FromGrpc(ToGrpc(TwoViolations())), TwoViolations());
}

TEST(Status, WritesDetailsAsGoogleRpcStatus) {
  google::rpc::Status rich;
  ASSERT_TRUE(rich.ParseFromString(ToGrpc(TwoViolations()).error_details()));
  EXPECT_EQ(rich.code(), static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
  EXPECT_EQ(rich.message(), "job a: 2 problems");
  ASSERT_EQ(rich.details_size(), 1);
  EXPECT_EQ(rich.details(0).type_url(), "type.googleapis.com/google.rpc.BadRequest");
}

TEST(Status, KeepsSuccess) {
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
  EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok());
}

TEST(Status, TakesAnErrorWithoutDetails) {
  const absl::Status status = FromGrpc(grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone"));
  EXPECT_EQ(status, absl::UnavailableError("gone"));
}

TEST(Status, TakesAnErrorWithDetailsThatAreGarbage) {
  const absl::Status status =
      FromGrpc(grpc::Status(grpc::StatusCode::INTERNAL, "broken", "\xff\xff\xff"));
  EXPECT_EQ(status, absl::InternalError("broken"));
}

TEST(Status, ListsViolationsForPeople) {
  EXPECT_THAT(
      DetailLines(TwoViolations()),
      ElementsAre("batch.size: 0: must be above 0", "model.layers: is missing; give it a value"));
  EXPECT_THAT(
      DetailLines(PreconditionFailed("does not fit", {{"MEMORY", "worker b", "needs 3 bytes"}})),
      ElementsAre("worker b: needs 3 bytes"));
}

TEST(Status, NamesTheResourceAndTheRemedy) {
  const absl::Status absent = ResourceNotFound("job", "a", "see agoq job list");
  EXPECT_TRUE(absl::IsNotFound(absent));
  EXPECT_EQ(absent.message(), "job a: there is none; see agoq job list");
  const absl::Status taken = ResourceExists("job", "a", "choose another name");
  EXPECT_TRUE(absl::IsAlreadyExists(taken));
  EXPECT_EQ(taken.message(), "job a: choose another name");
}

TEST(Status, CarriesAReasonThroughGrpc) {
  const absl::Status stale = FromGrpc(ToGrpc(StaleGeneration("generation 1 of job a is over")));
  EXPECT_TRUE(absl::IsAborted(stale));
  EXPECT_EQ(ReasonOf(stale), "STALE_GENERATION");
  EXPECT_EQ(ReasonOf(absl::AbortedError("")), "");
}

TEST(Status, AddsAReasonToOtherDetails) {
  const absl::Status both = WithReason(TwoViolations(), "BAD_SPEC");
  EXPECT_EQ(ReasonOf(both), "BAD_SPEC");
  EXPECT_THAT(DetailLines(both), SizeIs(2));
}

TEST(Status, CountsViolationsThatDoNotFitIntoAReply) {
  const std::vector<FieldViolation> fields(1000, {"a.key", std::string(100, 'x')});
  const std::vector<std::string> lines = DetailLines(InvalidFields("many", fields));
  ASSERT_THAT(lines, SizeIs(Le(200u)));
  EXPECT_THAT(lines.back(), HasSubstr(std::to_string(1000 - (lines.size() - 1)) + " others"));
}

TEST(Status, CutsAMessageThatNoReplyCarriesBetweenCharacters) {
  std::string message = "x";
  while (message.size() < 10000) message += "\u00e4";  // two bytes, so that 4096 is inside one
  const std::string cut = ToGrpc(absl::InternalError(message)).error_message();
  EXPECT_EQ(cut, message.substr(0, 4095) + "...");
}

TEST(Status, LeavesOutDetailsThatNoReplyCarries) {
  absl::Status status = TwoViolations();
  status.SetPayload("type.googleapis.com/big", absl::Cord(std::string(100'000, 'x')));
  const grpc::Status sent = ToGrpc(status);
  EXPECT_EQ(sent.error_message(), "job a: 2 problems");
  EXPECT_EQ(sent.error_details(), "");
}

TEST(Status, NamesWhatThisVersionLacks) {
  const absl::Status status = NotInThisVersion("SystemService/Backup");
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("SystemService/Backup"));
}

}  // namespace
}  // namespace agoq
