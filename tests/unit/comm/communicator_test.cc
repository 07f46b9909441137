// Every operation on every transport against a plain computation.
#include "worker/comm/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tests/unit/comm/rank_group.h"
#include "worker/comm/all_gather_values.h"
#include "worker/comm/file_key_value_store.h"

namespace agoq::testing {
namespace {

using ::testing::Each;

class CommunicatorTest : public ::testing::TestWithParam<std::tuple<Transport, int>> {
 protected:
  int world() const { return std::get<1>(GetParam()); }
  void RunOnRanks(const RankFunction& run) {
    EXPECT_THAT(ErrorsOfRanks(std::get<0>(GetParam()), world(), run), Each(""));
  }
};

// What `from` sends to `to`: a size and a content of its own, empty for some.
std::vector<std::uint8_t> Parcel(int from, int to) {
  std::vector<std::uint8_t> parcel(static_cast<std::size_t>((from * 7 + to * 13) % 40 * 100));
  std::iota(parcel.begin(), parcel.end(), static_cast<std::uint8_t>(from * 16 + to));
  return parcel;
}

struct ParcelRoom {
  ParcelRoom(int rank, int world) {
    for (int peer = 0; peer < world; ++peer) {
      outgoing.push_back(Parcel(rank, peer));
      incoming.emplace_back(Parcel(peer, rank).size());
    }
  }
  std::unique_ptr<Work> Post(Communicator& communicator) {
    std::vector<ConstBytes> send;
    std::vector<MutableBytes> receive;
    for (auto& parcel : outgoing) send.push_back(Bytes(parcel));
    for (auto& parcel : incoming) receive.push_back(Room(parcel));
    return communicator.AllToAll(std::move(send), std::move(receive));
  }
  std::vector<std::vector<std::uint8_t>> outgoing, incoming;
};

TEST_P(CommunicatorTest, AllToAllDeliversUnequalParcels) {
  RunOnRanks([&](Communicator& communicator) {
    ParcelRoom room(communicator.rank(), world());
    room.Post(communicator)->Wait(Soon());
    for (int peer = 0; peer < world(); ++peer) {
      EXPECT_EQ(room.incoming[peer], Parcel(peer, communicator.rank())) << "from " << peer;
    }
  });
}

TEST_P(CommunicatorTest, PostedOperationsMayBeAwaitedOneAfterAnother) {
  RunOnRanks([&](Communicator& communicator) {
    ParcelRoom first(communicator.rank(), world());
    ParcelRoom second(communicator.rank(), world());
    std::unique_ptr<Work> first_work = first.Post(communicator);
    std::unique_ptr<Work> second_work = second.Post(communicator);
    second_work->Wait(Soon());
    first_work->Wait(Soon());
    EXPECT_EQ(first.incoming, second.incoming);
    EXPECT_EQ(first.incoming[0], Parcel(0, communicator.rank()));
  });
}

TEST_P(CommunicatorTest, AllGatherDeliversPartsOfUnequalSizes) {
  RunOnRanks([&](Communicator& communicator) {
    const auto part_of = [](int rank) { return std::vector<std::int32_t>(rank * 1000, rank); };
    std::vector<std::vector<std::int32_t>> parts;
    std::vector<MutableBytes> receive;
    for (int r = 0; r < world(); ++r) parts.emplace_back(part_of(r).size());
    for (auto& part : parts) receive.push_back(Room(part));
    const std::vector<std::int32_t> own = part_of(communicator.rank());
    communicator.AllGather(Bytes(own), std::move(receive))->Wait(Soon());
    for (int r = 0; r < world(); ++r) EXPECT_EQ(parts[r], part_of(r));
  });
}

TEST_P(CommunicatorTest, AllGatherWorksInPlace) {
  RunOnRanks([&](Communicator& communicator) {
    std::vector<std::vector<int>> parts(world(), std::vector<int>(10));
    parts[communicator.rank()].assign(10, communicator.rank() + 1);
    std::vector<MutableBytes> receive;
    for (auto& part : parts) receive.push_back(Room(part));
    communicator.AllGather(Bytes(parts[communicator.rank()]), std::move(receive))->Wait(Soon());
    for (int r = 0; r < world(); ++r) EXPECT_THAT(parts[r], Each(r + 1));
  });
}

TEST_P(CommunicatorTest, ReduceScatterAddsInRankOrder) {
  constexpr std::size_t kElements = 1001;  // a short last share
  const auto value = [](int rank, std::size_t i) {
    return 0.1f * static_cast<float>(i + 1) * (rank % 2 == 0 ? 1.0f : -0.333f) + 1e6f * rank;
  };
  RunOnRanks([&](Communicator& communicator) {
    std::vector<float> send(kElements);
    for (std::size_t i = 0; i < kElements; ++i) send[i] = value(communicator.rank(), i);
    const std::size_t share = (kElements + world() - 1) / world();
    const std::size_t begin = communicator.rank() * share;
    std::vector<float> receive(std::min(share, kElements - begin));
    communicator.ReduceScatter(send, receive)->Wait(Soon());
    for (std::size_t i = 0; i < receive.size(); ++i) {
      float sum = value(0, begin + i);
      for (int r = 1; r < world(); ++r) sum += value(r, begin + i);
      ASSERT_EQ(receive[i], sum) << "element " << begin + i;
    }
  });
}

TEST_P(CommunicatorTest, BroadcastDeliversFromEveryRoot) {
  RunOnRanks([&](Communicator& communicator) {
    for (int root = 0; root < world(); ++root) {
      std::vector<int> values(300, communicator.rank());
      communicator.Broadcast(root, Room(values))->Wait(Soon());
      EXPECT_THAT(values, Each(root));
    }
  });
}

TEST_P(CommunicatorTest, SendAndRecvPassARing) {
  if (world() == 1) GTEST_SKIP() << "needs a peer";
  RunOnRanks([&](Communicator& communicator) {
    const int next = (communicator.rank() + 1) % world();
    const int previous = (communicator.rank() + world() - 1) % world();
    for (int round = 0; round < 3; ++round) {
      const std::vector<int> sent(500, communicator.rank() * 10 + round);
      std::vector<int> received(500);
      const std::unique_ptr<Work> receive = communicator.Recv(previous, Room(received));
      const std::unique_ptr<Work> send = communicator.Send(next, Bytes(sent));
      receive->Wait(Soon());
      send->Wait(Soon());
      EXPECT_THAT(received, Each(previous * 10 + round));
    }
    EXPECT_EQ(communicator.sequence(), 0u);
  });
}

TEST_P(CommunicatorTest, BarrierHoldsUntilAllRanksHaveCome) {
  std::atomic<int> arrived = 0;
  RunOnRanks([&](Communicator& communicator) {
    ++arrived;
    communicator.Barrier()->Wait(Soon());
    EXPECT_EQ(arrived, world());
  });
}

TEST_P(CommunicatorTest, SequenceCountsPostedCollectives) {
  RunOnRanks([&](Communicator& communicator) {
    EXPECT_EQ(communicator.sequence(), 0u);
    communicator.Barrier()->Wait(Soon());
    communicator.Barrier()->Wait(Soon());
    EXPECT_EQ(communicator.sequence(), 2u);
  });
}

TEST_P(CommunicatorTest, BytesSentCountsWhatGoesToOtherRanks) {
  const std::size_t header = std::get<0>(GetParam()) == Transport::kGloo ? 32 : 0;
  RunOnRanks([&](Communicator& communicator) {
    std::vector<std::vector<std::byte>> parts(world(), std::vector<std::byte>(100));
    std::vector<MutableBytes> receive(parts.begin(), parts.end());
    communicator.AllGather(parts[communicator.rank()], std::move(receive))->Wait(Soon());
    EXPECT_EQ(communicator.bytes_sent(), (world() - 1) * (100 + header));
  });
}

TEST_P(CommunicatorTest, AllGatherValuesReturnsStructsInRankOrder) {
  struct Verdict {
    int rank;
    double norm;
  };
  RunOnRanks([&](Communicator& communicator) {
    const Verdict own{communicator.rank(), 0.5 * communicator.rank()};
    const std::vector<Verdict> all = AllGatherValues(communicator, own, kPlenty);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(world()));
    for (int r = 0; r < world(); ++r) {
      EXPECT_EQ(all[r].rank, r);
      EXPECT_EQ(all[r].norm, 0.5 * r);
    }
  });
}

TEST_P(CommunicatorTest, LargeParcelsInFlightTogetherArriveWhole) {
  RunOnRanks([&](Communicator& communicator) {
    constexpr std::size_t kElements = 1 << 20;
    std::vector<std::vector<int>> gathered[2];
    std::unique_ptr<Work> works[2];
    for (int k = 0; k < 2; ++k) {
      gathered[k].assign(world(), std::vector<int>(kElements));
      gathered[k][communicator.rank()].assign(kElements, communicator.rank() + 100 * k);
      std::vector<MutableBytes> receive;
      for (auto& part : gathered[k]) receive.push_back(Room(part));
      works[k] = communicator.AllGather(Bytes(gathered[k][communicator.rank()]), receive);
    }
    for (int k = 0; k < 2; ++k) {
      works[k]->Wait(Soon());
      for (int r = 0; r < world(); ++r) {
        ASSERT_EQ(gathered[k][r], std::vector<int>(kElements, r + 100 * k));
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, CommunicatorTest,
                         ::testing::Combine(::testing::Values(Transport::kLocal, Transport::kGloo),
                                            ::testing::Values(1, 2, 3, 4)),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(LocalGroupTest, RefusesARankThatHasJoined) {
  LocalGroup group(2);
  const auto first = group.Join(0);
  EXPECT_THROW(group.Join(0), std::invalid_argument);
  EXPECT_THROW(group.Join(2), std::invalid_argument);
  EXPECT_THROW(LocalGroup(0), std::invalid_argument);
}

TEST(LocalGroupTest, RefusesBuffersThatCannotBeRight) {
  LocalGroup group(2);
  const auto communicator = group.Join(0);
  std::vector<std::byte> bytes(4);
  EXPECT_THROW(communicator->AllToAll({bytes}, {bytes}), std::invalid_argument);
  EXPECT_THROW(communicator->AllGather(bytes, {MutableBytes(), bytes}), std::invalid_argument);
  EXPECT_THROW(communicator->Send(0, bytes), std::invalid_argument);
  EXPECT_THROW(communicator->Recv(2, bytes), std::invalid_argument);
  EXPECT_THROW(communicator->Broadcast(-1, bytes), std::invalid_argument);
  EXPECT_EQ(communicator->sequence(), 0u);
}

TEST(GlooTest, SelfTestPassesInThisProgram) { EXPECT_NO_THROW(CheckGlooLinkage()); }

TEST(GlooTest, RanksMeetThroughADirectory) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / ("gloo-" + std::to_string(::getpid()));
  std::vector<std::string> errors(2);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank] {
        try {
          FileKeyValueStore store(directory, "run-1");
          ConnectGloo({.rank = rank, .size = 2, .group = "data/0"}, store)->Barrier()->Wait(Soon());
        } catch (const std::exception& error) {
          errors[rank] = error.what();
        }
      });
    }
  }
  std::filesystem::remove_all(directory);
  EXPECT_THAT(errors, Each(""));
}

TEST(GlooTest, GroupsOfOneStoreStayApart) {
  MemoryKeyValueStore store;
  std::vector<int> received(4);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 4; ++rank) {
      ranks.emplace_back([&, rank] {
        const auto communicator = ConnectGloo(
            {.rank = rank / 2, .size = 2, .group = "tensor/" + std::to_string(rank % 2)}, store);
        std::vector<int> value(1, rank);
        communicator->Broadcast(0, Room(value))->Wait(Soon());
        received[rank] = value[0];
      });
    }
  }
  EXPECT_THAT(received, ::testing::ElementsAre(0, 1, 0, 1));
}

TEST(GlooTest, UnknownHostOrInterfaceIsNamed) {
  MemoryKeyValueStore store;
  const auto error_of = [&](const GlooOptions& options) -> std::string {
    try {
      ConnectGloo(options, store);
    } catch (const CommunicatorError& error) {
      return error.what();
    }
    return "";
  };
  // Not an address, and no resolver is asked for a name with a space.
  EXPECT_THAT(error_of({.host = "no host"}), ::testing::HasSubstr("host 'no host'"));
  EXPECT_THAT(error_of({.interface = "no-such-if"}),
              ::testing::HasSubstr("interface 'no-such-if'"));
}

TEST(GlooTest, RankOutsideTheGroupIsRefused) {
  MemoryKeyValueStore store;
  EXPECT_THROW(ConnectGloo({.rank = 2, .size = 2}, store), std::invalid_argument);
}

TEST(GlooTest, AbsentRankIsReportedWithinTheConnectTimeout) {
  MemoryKeyValueStore store;
  try {
    ConnectGloo({.rank = 0, .size = 2, .connect_timeout = std::chrono::milliseconds(100)}, store);
    FAIL() << "connected to a rank that does not exist";
  } catch (const CommunicatorError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 0 of 2 in group 'world'"));
  }
}

}  // namespace
}  // namespace agoq::testing
