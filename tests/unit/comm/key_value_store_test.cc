#include "worker/comm/key_value_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "worker/comm/file_key_value_store.h"
#include "worker/comm/memory_key_value_store.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr auto kPlenty = std::chrono::seconds(60);

class FileKeyValueStoreTest : public ::testing::Test {
 protected:
  FileKeyValueStoreTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(::testing::TempDir()) /
                 (std::string("rendezvous-") + test->name() + "-" + std::to_string(::getpid()));
    std::filesystem::remove_all(directory_);
  }
  ~FileKeyValueStoreTest() override { std::filesystem::remove_all(directory_); }

  std::string ErrorOfOpening(const std::string& run_id) {
    try {
      FileKeyValueStore store(directory_, run_id);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path directory_;
};

TEST_F(FileKeyValueStoreTest, ValueOfOneStoreReachesAnother) {
  FileKeyValueStore writer(directory_ / "made" / "here", "run-1");
  FileKeyValueStore reader(directory_ / "made" / "here", "run-1");
  const std::string value("any\0byte\n", 9);
  writer.Set("gloo/world/0", value);
  EXPECT_EQ(reader.Wait("gloo/world/0", Clock::now() + kPlenty), value);
}

TEST_F(FileKeyValueStoreTest, WaitReturnsWhenTheKeyComes) {
  FileKeyValueStore store(directory_, "run-1");
  std::string value;
  {
    const std::jthread reader([&] { value = store.Wait("late", Clock::now() + kPlenty); });
    store.Set("late", "here");
  }
  EXPECT_EQ(value, "here");
}

TEST_F(FileKeyValueStoreTest, WaitNamesTheKeyWhenTheDeadlinePasses) {
  FileKeyValueStore store(directory_, "run-1");
  try {
    store.Wait("never", Clock::now() + std::chrono::milliseconds(20));
    FAIL() << "a key that nobody set";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'never'"), HasSubstr(directory_.string())));
  }
}

TEST_F(FileKeyValueStoreTest, KeysThatDifferInAnySignStayApart) {
  FileKeyValueStore store(directory_, "run-1");
  store.Set("a/b", "1");
  store.Set("a%2Fb", "2");
  store.Set("..", "3");
  store.Set("run", "4");
  EXPECT_EQ(store.Wait("a/b", Clock::now()), "1");
  EXPECT_EQ(store.Wait("a%2Fb", Clock::now()), "2");
  EXPECT_EQ(store.Wait("..", Clock::now()), "3");
  EXPECT_EQ(store.Wait("run", Clock::now()), "4");
}

TEST_F(FileKeyValueStoreTest, RefusesADirectoryOfAnotherRun) {
  FileKeyValueStore(directory_, "run-1").Set("gloo/world/0", "old");
  EXPECT_THAT(ErrorOfOpening("run-2"), AllOf(HasSubstr(directory_.string()), HasSubstr("'run-1'"),
                                             HasSubstr("use a fresh directory")));
}

TEST_F(FileKeyValueStoreTest, RefusesKeysWithoutAMarker) {
  FileKeyValueStore(directory_, "run-1").Set("gloo/world/0", "old");
  std::filesystem::remove(directory_ / "run");
  EXPECT_THAT(ErrorOfOpening("run-1"),
              AllOf(HasSubstr("unknown run"), HasSubstr("use a fresh directory")));
}

TEST_F(FileKeyValueStoreTest, RefusesToSetAKeyTwice) {
  FileKeyValueStore store(directory_, "run-1");
  store.Set("gloo/world/0", "one");
  EXPECT_THROW(store.Set("gloo/world/0", "two"), std::runtime_error);
  EXPECT_EQ(store.Wait("gloo/world/0", Clock::now()), "one");
}

TEST_F(FileKeyValueStoreTest, RefusesAPathThatIsAFile) {
  std::ofstream(directory_) << "not a directory";
  EXPECT_THAT(ErrorOfOpening("run-1"),
              AllOf(HasSubstr(directory_.string()), HasSubstr("writable directory")));
}

TEST_F(FileKeyValueStoreTest, RanksOfOneRunMayOpenTogether) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 4; ++rank) {
      ranks.emplace_back([&, rank] {
        FileKeyValueStore store(directory_ / std::to_string(round), "run-1");
        store.Set("rank" + std::to_string(rank), "x");
        for (int r = 0; r < 4; ++r) store.Wait("rank" + std::to_string(r), Clock::now() + kPlenty);
      });
    }
  }
}

TEST(MemoryKeyValueStoreTest, WaitReturnsWhenTheKeyComes) {
  MemoryKeyValueStore store;
  std::string value;
  {
    const std::jthread reader([&] { value = store.Wait("late", Clock::now() + kPlenty); });
    store.Set("late", "here");
  }
  EXPECT_EQ(value, "here");
}

TEST(MemoryKeyValueStoreTest, WaitThrowsWhenTheDeadlinePasses) {
  MemoryKeyValueStore store;
  EXPECT_THROW(store.Wait("never", Clock::now()), std::runtime_error);
}

}  // namespace
}  // namespace agoq
