// How operations end that cannot complete.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <utility>

#include "tests/unit/comm/rank_group.h"

namespace agoq::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::milliseconds kShort(200);

class CommunicatorFailureTest : public ::testing::TestWithParam<Transport> {
 protected:
  std::vector<std::string> Errors(int world, const RankFunction& run) {
    return ErrorsOfRanks(GetParam(), world, run);
  }
};

void GatherBytes(Communicator& communicator, std::size_t own, std::size_t other,
                 std::chrono::milliseconds timeout = kPlenty) {
  std::vector<std::vector<std::byte>> parts(communicator.size(), std::vector<std::byte>(other));
  parts[communicator.rank()].resize(own);
  std::vector<MutableBytes> receive(parts.begin(), parts.end());
  communicator.AllGather(parts[communicator.rank()], std::move(receive))->Wait(Soon(timeout));
}

TEST_P(CommunicatorFailureTest, P04MismatchOfSizeIsNamedOnBothRanks) {
  const std::vector<std::string> errors = Errors(2, [](Communicator& communicator) {
    communicator.Barrier()->Wait(Soon());
    GatherBytes(communicator, communicator.rank() == 0 ? 1000 : 999, 1000);
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("rank 0 posted all_gather #1"),
                                 HasSubstr("rank 1 posted all_gather #1"), HasSubstr("1000 bytes"),
                                 HasSubstr("999 bytes"))));
}

TEST_P(CommunicatorFailureTest, P04MismatchOfOperationIsNamedOnBothRanks) {
  const std::vector<std::string> errors = Errors(2, [](Communicator& communicator) {
    communicator.Barrier()->Wait(Soon());
    communicator.Barrier()->Wait(Soon());
    if (communicator.rank() == 1) return communicator.Barrier()->Wait(Soon());
    GatherBytes(communicator, 8, 8);
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("rank 0 posted all_gather #2"),
                                 HasSubstr("rank 1 posted barrier #2"))));
}

TEST_P(CommunicatorFailureTest, MismatchOfRootIsNamedOnAllRanks) {
  const std::vector<std::string> errors = Errors(3, [](Communicator& communicator) {
    std::vector<std::byte> bytes(16);
    communicator.Broadcast(communicator.rank() == 2 ? 1 : 0, bytes)->Wait(Soon());
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("broadcast #0 of root 0"),
                                 HasSubstr("broadcast #0 of root 1"))));
}

TEST_P(CommunicatorFailureTest, MismatchOfReduceScatterIsNamedOnAllRanks) {
  const std::vector<std::string> errors = Errors(3, [](Communicator& communicator) {
    const std::size_t share = communicator.rank() == 2 ? 332 : 333;
    const std::vector<float> send(communicator.rank() == 1 ? 999 : 998);
    std::vector<float> receive(communicator.rank() == 1 ? 333 : share);
    communicator.ReduceScatter(send, receive)->Wait(Soon());
  });
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("rank 1 posted reduce_scatter #0"),
                                 HasSubstr("3996 bytes"), HasSubstr("3992 bytes"))));
}

TEST_P(CommunicatorFailureTest, MismatchOfAMessageIsNamedOnBothRanks) {
  const std::vector<std::string> errors = Errors(2, [](Communicator& communicator) {
    std::vector<std::byte> bytes(communicator.rank() == 0 ? 1000 : 999);
    if (communicator.rank() == 0) return communicator.Send(1, bytes)->Wait(Soon());
    communicator.Recv(0, bytes)->Wait(Soon());
  });
  EXPECT_THAT(errors,
              Each(AllOf(HasSubstr("rank 0 posted send #0"), HasSubstr("rank 1 posted recv #0"),
                         HasSubstr("1000 bytes"), HasSubstr("999 bytes"))));
}

TEST_P(CommunicatorFailureTest, P04MismatchLeavesNoResult) {
  Errors(2, [](Communicator& communicator) {
    std::vector<std::byte> bytes(communicator.rank() == 0 ? 64 : 32,
                                 std::byte(communicator.rank() + 1));
    EXPECT_THROW(communicator.Broadcast(0, bytes)->Wait(Soon()), CommunicatorError);
    EXPECT_THAT(bytes, Each(std::byte(communicator.rank() + 1)));
  });
}

TEST_P(CommunicatorFailureTest, TimeOutNamesOperationAndMissingRank) {
  const std::vector<std::string> errors = Errors(3, [](Communicator& communicator) {
    communicator.Barrier()->Wait(Soon());
    if (communicator.rank() != 1) GatherBytes(communicator, 8, 8, kShort);
  });
  EXPECT_THAT(errors[0],
              AllOf(HasSubstr("all_gather #1"), HasSubstr("rank 1"), Not(HasSubstr("rank 2, "))));
  EXPECT_EQ(errors[1], "");
  EXPECT_THAT(errors[2], HasSubstr("all_gather #1"));
}

TEST_P(CommunicatorFailureTest, TimeOutOfARecvNamesItsSender) {
  const std::vector<std::string> errors = Errors(2, [](Communicator& communicator) {
    std::vector<std::byte> bytes(8);
    if (communicator.rank() == 0) communicator.Recv(1, bytes)->Wait(Soon(kShort));
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("recv #0 timed out on rank 0"), HasSubstr("rank 1")));
}

TEST_P(CommunicatorFailureTest, TimeOutNamesTheEarlierOperationThatHoldsUp) {
  const std::vector<std::string> errors = Errors(2, [](Communicator& communicator) {
    if (communicator.rank() == 1) return;
    const std::unique_ptr<Work> first = communicator.Barrier();
    communicator.Barrier()->Wait(Soon(kShort));
  });
  EXPECT_THAT(errors[0],
              AllOf(HasSubstr("barrier #"), HasSubstr("timed out on rank 0"), HasSubstr("rank 1")));
}

TEST_P(CommunicatorFailureTest, FinishedCommunicatorRefusesLaterOperations) {
  Errors(2, [](Communicator& communicator) {
    if (communicator.rank() == 1) return;
    EXPECT_THROW(communicator.Barrier()->Wait(Soon(kShort)), CommunicatorError);
    EXPECT_THROW(communicator.Barrier()->Wait(Soon()), CommunicatorError);
  });
}

TEST_P(CommunicatorFailureTest, AbortWakesEveryWaiterWithTheReason) {
  constexpr int kWorld = 4;
  const auto group = MakeGroup(GetParam(), kWorld);
  std::atomic<int> waiting = 0;
  std::vector<std::string> errors(kWorld);
  const auto started = CommClock::now();
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < kWorld - 1; ++rank) {
      ranks.emplace_back([&, rank] {
        try {
          const std::unique_ptr<Work> work = group[rank]->Barrier();
          ++waiting;
          work->Wait(Soon());
        } catch (const CommunicatorError& error) {
          errors[rank] = error.what();
        }
      });
    }
    while (waiting < kWorld - 1) std::this_thread::yield();
    group[0]->Abort("stop asked for");
  }
  EXPECT_LT(CommClock::now() - started, kPlenty / 2);
  EXPECT_THAT(errors[0], HasSubstr("rank 0 aborted: stop asked for"));
  // Peers of other processes see the lost connection.
  for (int rank = 1; rank < kWorld - 1; ++rank) EXPECT_NE(errors[rank], "");
  if (GetParam() == Transport::kLocal) {
    EXPECT_THAT(errors[1], HasSubstr("rank 0 aborted: stop asked for"));
  }
}

TEST_P(CommunicatorFailureTest, AbortEndsAWaitForPayloadToo) {
  const std::vector<std::string> errors = Errors(2, [](Communicator& communicator) {
    std::vector<std::byte> bytes(1 << 20);
    if (communicator.rank() == 1) return communicator.Abort("no more");
    communicator.Recv(1, bytes)->Wait(Soon());
  });
  EXPECT_NE(errors[0], "");
}

TEST_P(CommunicatorFailureTest, LeavingRankEndsTheWaitOfItsPeers) {
  auto group = MakeGroup(GetParam(), 2);
  const std::unique_ptr<Work> work = group[0]->Barrier();
  group[1].reset();
  EXPECT_THROW(work->Wait(Soon()), CommunicatorError);
}

TEST_P(CommunicatorFailureTest, LeavingAfterTheLastOperationHarmsNobody) {
  auto group = MakeGroup(GetParam(), 2);
  const std::unique_ptr<Work> work = group[0]->Barrier();
  group[1]->Barrier()->Wait(Soon());
  group[1].reset();
  EXPECT_NO_THROW(work->Wait(Soon()));
}

TEST_P(CommunicatorFailureTest, WorkDroppedBeforeItsWaitEndsTheGroup) {
  auto group = MakeGroup(GetParam(), 2);
  {
    std::vector<std::byte> bytes(1 << 20);
    group[1]->Broadcast(0, bytes).reset();
  }
  std::vector<std::byte> bytes(1 << 20);
  EXPECT_THROW(group[0]->Broadcast(0, bytes)->Wait(Soon()), CommunicatorError);
}

INSTANTIATE_TEST_SUITE_P(Transports, CommunicatorFailureTest,
                         ::testing::Values(Transport::kLocal, Transport::kGloo),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace agoq::testing
