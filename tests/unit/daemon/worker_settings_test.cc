#include "worker/daemon/worker_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/temporary_folder.h"
#include "worker/daemon/state_lock.h"

namespace agoq {
namespace {

using testing::HasSubstr;

class WorkerSettingsTest : public testing::Test {
 protected:
  WorkerSettingsTest() {
    config_.set_coordinator("127.0.0.1:9400");
    config_.set_name("w1");
    config_.set_state_directory(folder_.path().string());
    config_.set_device("auto");
    config_.set_trainer("/bin/sh");
    config_.set_advertise_host("127.0.0.1");
    config_.set_log_level("info");
  }
  std::string Problem() const {
    const absl::Status status = CompleteSettings(config_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    return std::string(status.message());
  }
  TemporaryFolder folder_;
  v1::WorkerConfig config_;
};

TEST_F(WorkerSettingsTest, TakesWhatIsWhole) {
  EXPECT_TRUE(CompleteSettings(config_).ok());
  config_.set_coordinator("[::1]:9400");
  EXPECT_TRUE(CompleteSettings(config_).ok());
}

TEST_F(WorkerSettingsTest, ANameThatIsNotGivenIsTheHosts) {
  config_.clear_name();
  const auto settings = CompleteSettings(config_);
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_FALSE(settings->name().empty());
}

TEST_F(WorkerSettingsTest, NamesACoordinatorThatIsNoAddress) {
  for (const char* address : {"", "host", "host:", ":9400", "host:0", "host:70000", "a:b:1"}) {
    config_.set_coordinator(address);
    EXPECT_THAT(Problem(), HasSubstr(std::string("coordinator: '") + address + "'"));
  }
}

TEST_F(WorkerSettingsTest, NamesEveryProblemAtOnce) {
  config_.set_name("a b");
  config_.set_device("tpu");
  config_.set_log_level("loud");
  EXPECT_THAT(Problem(), HasSubstr("name: 'a b'"));
  EXPECT_THAT(Problem(), HasSubstr("device: 'tpu'"));
  EXPECT_THAT(Problem(), HasSubstr("log_level: 'loud'"));
}

TEST_F(WorkerSettingsTest, ATrainerThatIsNotThereIsNamed) {
  config_.set_trainer("/no/trainer");
  EXPECT_THAT(Problem(), HasSubstr("trainer: /no/trainer"));
  config_.clear_trainer();  // beside this test there is none
  EXPECT_THAT(Problem(), HasSubstr("agoq-trainer"));
}

TEST_F(WorkerSettingsTest, AStateDirectoryIsNeeded) {
  config_.clear_state_directory();
  EXPECT_THAT(Problem(), HasSubstr("state_directory"));
}

TEST(StateLockTest, OneDaemonAtATime) {
  const TemporaryFolder folder;
  {
    const auto first = StateLock::Take(folder / "state");
    ASSERT_TRUE(first.ok()) << first.status();
    const absl::Status second = StateLock::Take(folder / "state").status();
    EXPECT_TRUE(absl::IsInvalidArgument(second));
    EXPECT_THAT(std::string(second.message()), HasSubstr("process " + std::to_string(::getpid())));
  }
  EXPECT_TRUE(StateLock::Take(folder / "state").ok());
}

TEST(StateLockTest, AFolderThatCannotBeMadeIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "";
  const absl::Status status = StateLock::Take(folder / "file/state").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace agoq
