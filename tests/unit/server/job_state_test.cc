#include "server/job_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace agoq {
namespace {

std::vector<v1::JobState> AllStates() {
  std::vector<v1::JobState> states;
  const google::protobuf::EnumDescriptor& type = *v1::JobState_descriptor();
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) {
      states.push_back(static_cast<v1::JobState>(type.value(i)->number()));
    }
  }
  return states;
}

TEST(JobState, IsNeverLeftOnceTerminal) {
  for (const v1::JobState from : AllStates()) {
    if (!IsTerminal(from)) continue;
    for (const v1::JobState to : AllStates()) EXPECT_FALSE(MayMove(from, to));
  }
}

TEST(JobState, ReachesAnEndFromEveryState) {
  for (const v1::JobState from : AllStates()) {
    std::set<v1::JobState> seen = {from};
    for (std::size_t before = 0; before != seen.size();) {
      before = seen.size();
      for (const v1::JobState state : std::set<v1::JobState>(seen)) {
        for (const v1::JobState to : AllStates()) {
          if (MayMove(state, to)) seen.insert(to);
        }
      }
    }
    EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), IsTerminal)) << v1::JobState_Name(from);
  }
}

TEST(JobState, StartsOnlyFromTheQueue) {
  for (const v1::JobState from : AllStates()) {
    EXPECT_EQ(MayMove(from, v1::JOB_STATE_STARTING), from == v1::JOB_STATE_QUEUED);
  }
}

TEST(JobState, LetsAStopOnlyBecomeMoreSevere) {
  EXPECT_TRUE(IsMoreSevere(v1::JOB_STATE_CANCELLED, v1::JOB_STATE_PAUSED));
  EXPECT_FALSE(IsMoreSevere(v1::JOB_STATE_PAUSED, v1::JOB_STATE_CANCELLED));
}

TEST(AttemptState, IsNeverLeftOnceEnded) {
  for (int to = 1; to <= v1::AttemptState_MAX; ++to) {
    EXPECT_FALSE(MayMove(v1::ATTEMPT_STATE_ENDED, static_cast<v1::AttemptState>(to)));
  }
}

}  // namespace
}  // namespace agoq
