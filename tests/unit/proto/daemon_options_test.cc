#include "proto/common/daemon_options.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <stdlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "proto/agoq/v1/config.pb.h"
#include "tests/support/temporary_folder.h"

namespace agoq {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr char kPrefix[] = "AGOQ_OPTIONS_TEST";  // nobody's

class DaemonOptions : public ::testing::Test {
 protected:
  ~DaemonOptions() override {
    for (const std::string& name : variables_) ::unsetenv(name.c_str());
  }

  void SetVariable(const std::string& field, const std::string& value) {
    variables_.push_back(std::string(kPrefix) + "_" + field);
    ::setenv(variables_.back().c_str(), value.c_str(), 1);
  }

  // Flag of a file with that text.
  std::string File(const std::string& text) {
    std::ofstream(folder_ / "daemon.yaml") << text;
    return "--config=" + (folder_ / "daemon.yaml");
  }

  std::optional<int> Read(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "agoq-test");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    config_.Clear();
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const std::optional<int> code =
        ReadDaemonOptions({.name = "agoq-test", .description = "Tests", .env_prefix = kPrefix},
                          static_cast<int>(argv.size()), argv.data(), &config_);
    errors_ = ::testing::internal::GetCapturedStderr();
    output_ = ::testing::internal::GetCapturedStdout();
    return code;
  }

  void ExpectRefused(const std::vector<std::string>& arguments,
                     const ::testing::Matcher<std::string>& words) {
    EXPECT_THAT(Read(arguments), Optional(2));
    EXPECT_THAT(errors_, words);
    EXPECT_THAT(output_, IsEmpty());
  }

  const TemporaryFolder folder_;
  std::vector<std::string> variables_;
  v1::CoordinatorConfig config_;
  std::string errors_, output_;
};

TEST_F(DaemonOptions, GivesDefaults) {
  EXPECT_EQ(Read({"--state-directory", "s"}), std::nullopt) << errors_;
  EXPECT_EQ(config_.state_directory(), "s");
  EXPECT_EQ(config_.listen_address(), "127.0.0.1:9400");
  EXPECT_EQ(config_.heartbeat_seconds(), 2);
  EXPECT_TRUE(config_.reflection());
  EXPECT_THAT(errors_ + output_, IsEmpty());
}

TEST_F(DaemonOptions, ReadsTheFile) {
  EXPECT_EQ(Read({File("state_directory: s\nheartbeat_seconds: 2.5e-1\nreflection: false\n")}),
            std::nullopt)
      << errors_;
  EXPECT_EQ(config_.heartbeat_seconds(), 0.25);
  EXPECT_FALSE(config_.reflection());
}

TEST_F(DaemonOptions, LetsTheEnvironmentWinOverTheFile) {
  SetVariable("HEARTBEAT_SECONDS", "4");
  EXPECT_EQ(Read({File("state_directory: s\nheartbeat_seconds: 3\n")}), std::nullopt) << errors_;
  EXPECT_EQ(config_.heartbeat_seconds(), 4);
}

TEST_F(DaemonOptions, LetsAFlagWinOverTheEnvironment) {
  SetVariable("HEARTBEAT_SECONDS", "4");
  EXPECT_EQ(Read({"--heartbeat-seconds=5", File("state_directory: s\nheartbeat_seconds: 3\n")}),
            std::nullopt)
      << errors_;
  EXPECT_EQ(config_.heartbeat_seconds(), 5);
}

TEST_F(DaemonOptions, NamesTheKeyThatAnUnknownOneIsNearestTo) {
  ExpectRefused({File("state_directory: s\n\nhearbeat_seconds: 3\n")},
                AllOf(HasSubstr("daemon.yaml:3"), HasSubstr("hearbeat_seconds"),
                      HasSubstr("did you mean heartbeat_seconds?")));
}

TEST_F(DaemonOptions, NamesTheFlagThatAnUnknownOneIsNearestTo) {
  ExpectRefused({"--listen-adress=127.0.0.1:1"},
                AllOf(HasSubstr("--listen-adress"), HasSubstr("did you mean --listen-address")));
}

TEST_F(DaemonOptions, PointsToHelpWhereNoFlagIsNear) {
  ExpectRefused({"--quantum-entanglement"},
                AllOf(HasSubstr("--quantum-entanglement"), HasSubstr("agoq-test --help")));
}

TEST_F(DaemonOptions, RefusesAWordThatIsNoFlag) { ExpectRefused({"start"}, HasSubstr("start")); }

TEST_F(DaemonOptions, NamesTheLineOfABadValue) {
  ExpectRefused({File("state_directory: s\nlease_seconds: soon\n")},
                AllOf(HasSubstr("daemon.yaml:2: lease_seconds: soon: "), HasSubstr("number")));
}

TEST_F(DaemonOptions, NamesTheVariableOfABadValue) {
  SetVariable("LEASE_SECONDS", "nan");
  ExpectRefused({"--state-directory=s"}, HasSubstr("AGOQ_OPTIONS_TEST_LEASE_SECONDS: nan: "));
}

TEST_F(DaemonOptions, NamesTheFlagOfABadValue) {
  ExpectRefused({"--state-directory=s", "--reflection=maybe"}, HasSubstr("--reflection: maybe: "));
}

TEST_F(DaemonOptions, NamesTheOriginOfAValueThatIsOutOfRange) {
  ExpectRefused({"--state-directory=s", "--lease-seconds=0"},
                HasSubstr("--lease-seconds: 0: must be above 0"));
  ExpectRefused({File("state_directory: s\nlease_seconds: 0\n")},
                HasSubstr("daemon.yaml:2: lease_seconds: 0: must be above 0"));
  SetVariable("LEASE_SECONDS", "9999");
  ExpectRefused({"--state-directory=s"},
                HasSubstr("AGOQ_OPTIONS_TEST_LEASE_SECONDS: 9999: must be at most 3600"));
}

TEST_F(DaemonOptions, TellsEveryProblemAtOnce) {
  SetVariable("BACKOFF_SECONDS", "x");
  ExpectRefused({"--lease-seconds=y", File("prepare_seconds: z\n")},
                AllOf(HasSubstr("AGOQ_OPTIONS_TEST_BACKOFF_SECONDS: x"),
                      HasSubstr("--lease-seconds: y"), HasSubstr("prepare_seconds: z")));
}

TEST_F(DaemonOptions, SaysHowToGiveARequiredValue) {
  ExpectRefused({}, AllOf(HasSubstr("state_directory: is missing"), HasSubstr("--state-directory"),
                          HasSubstr("AGOQ_OPTIONS_TEST_STATE_DIRECTORY"), HasSubstr("--config")));
}

TEST_F(DaemonOptions, RefusesALogLevelThatIsNone) {
  ExpectRefused({"--state-directory=s", "--log-level=loud"},
                AllOf(HasSubstr("--log-level: loud: "), HasSubstr("warning")));
}

TEST_F(DaemonOptions, NamesAFileThatIsMissing) {
  ExpectRefused({"--config", folder_ / "none.yaml"}, HasSubstr("none.yaml"));
}

TEST_F(DaemonOptions, PrintsSettingsThatReadBackAsTheSame) {
  EXPECT_THAT(Read({"--print-config", "--state-directory", "it's \"odd\": #1\\\n\t",
                    "--backoff-seconds", "0.1", "--reflection", "false", "--log-level", "error"}),
              Optional(0))
      << errors_;
  const v1::CoordinatorConfig printed = config_;
  EXPECT_EQ(Read({File(output_)}), std::nullopt) << errors_;
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(config_, printed))
      << config_.DebugString();
}

TEST_F(DaemonOptions, ChecksSettingsAndEnds) {
  EXPECT_THAT(Read({"--check-config", "--state-directory=s"}), Optional(0));
  EXPECT_THAT(output_ + errors_, IsEmpty());
  ExpectRefused({"--check-config"}, HasSubstr("state_directory"));
}

TEST_F(DaemonOptions, ListsFlagsWithDefaultsInHelp) {
  EXPECT_THAT(Read({"--help"}), Optional(0));
  EXPECT_THAT(output_, AllOf(HasSubstr("--listen-address"), HasSubstr("default: 127.0.0.1:9400"),
                             HasSubstr("proto/agoq/v1/config.proto"), HasSubstr(kPrefix)));
}

TEST_F(DaemonOptions, TellsItsVersion) {
  EXPECT_THAT(Read({"--version"}), Optional(0));
  EXPECT_THAT(output_, ::testing::MatchesRegex("agoq-test [0-9]+[.][0-9]+[.][0-9]+\n"));
}

}  // namespace
}  // namespace agoq
