#include "client/message_text.h"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {
namespace {

v1::Placement Sample() {
  v1::Placement placement;
  placement.set_rank(1);
  placement.set_worker("worker-1");
  return placement;
}

TEST(MessageText, JsonHasTheFieldsOwnNamesAndDefaults) {
  EXPECT_EQ(JsonText(Sample()),
            "{\n \"rank\": \"1\",\n \"worker\": \"worker-1\",\n \"budget_bytes\": \"0\",\n"
            " \"device\": \"0\"\n}\n");
}

TEST(MessageText, AJsonLineHasOneLine) {
  EXPECT_EQ(JsonLine(Sample()),
            "{\"rank\":\"1\",\"worker\":\"worker-1\",\"budget_bytes\":\"0\",\"device\":\"0\"}\n");
}

TEST(MessageText, JsonReadsBackAsTheMessage) {
  v1::Attempt attempt;
  *attempt.add_placements() = Sample();
  attempt.set_message("a \"quoted\"\nline");
  attempt.add_results()->set_validation_loss(1.5);
  v1::Attempt read;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(JsonText(attempt), &read).ok());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(attempt, read));
}

TEST(MessageText, YamlIndentsListsAndQuotesWhatIsNoPlainText) {
  v1::JobStatus status;
  status.set_message("needs: 9 bytes");
  status.add_conditions("degraded");
  status.add_conditions("no");
  const std::string yaml = YamlText(status);
  EXPECT_NE(yaml.find("state: JOB_STATE_UNSPECIFIED\n"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("message: \"needs: 9 bytes\"\n"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("conditions:\n- degraded\n- \"no\"\n"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("stop_kills: false\n"), std::string::npos) << yaml;
}

TEST(MessageText, YamlNestsMessagesInLists) {
  v1::Attempt attempt;
  *attempt.add_placements() = Sample();
  EXPECT_NE(YamlText(attempt).find("placements:\n- rank: \"1\"\n  worker: worker-1\n"),
            std::string::npos)
      << YamlText(attempt);
}

}  // namespace
}  // namespace agoq
