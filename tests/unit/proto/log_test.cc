#include "proto/common/log.h"

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace agoq {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

// Lines that `write` writes on standard output, each read as JSON: throws where one is none.
std::vector<json> LinesOf(const std::string& level, const std::function<void(Log&)>& write) {
  ::testing::internal::CaptureStdout();
  {
    Log log("worker", level);
    write(log);
  }
  std::istringstream text(::testing::internal::GetCapturedStdout());
  std::vector<json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST(Log, WritesAJsonObjectALine) {
  const auto lines = LinesOf("info", [](Log& log) {
    log.Info("attempt ended", {{"job", "a"}, {"generation", "3"}});
    log.Error("gone");
  });
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0]["level"], "info");
  EXPECT_EQ(lines[0]["component"], "worker");
  EXPECT_EQ(lines[0]["message"], "attempt ended");
  EXPECT_EQ(lines[0]["job"], "a");
  EXPECT_EQ(lines[0]["generation"], "3");
  EXPECT_EQ(lines[1]["level"], "error");
}

TEST(Log, WritesTheTimeInUtcWithMilliseconds) {
  const auto lines = LinesOf("info", [](Log& log) { log.Info("x"); });
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0]["time"].get<std::string>(),
              MatchesRegex("20..-..-..T..:..:..[.][0-9][0-9][0-9]Z"));
}

TEST(Log, KeepsTextThatLooksLikeAFormatOrSpansLines) {
  const auto lines = LinesOf("info", [](Log& log) {
    log.Info("{} %v \"quoted\"\nsecond line", {{"text", "{0}\n\\"}});
  });
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["message"], "{} %v \"quoted\"\nsecond line");
  EXPECT_EQ(lines[0]["text"], "{0}\n\\");
}

TEST(Log, KeepsALineWhoseTextIsNotUtf8) {
  const auto lines = LinesOf("info", [](Log& log) { log.Info("bad \xff byte"); });
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0]["message"].get<std::string>(), HasSubstr("bad "));
}

TEST(Log, LeavesOutWhatIsBelowItsLevel) {
  const auto lines = LinesOf("warning", [](Log& log) {
    log.Debug("a");
    log.Info("b");
    log.Warning("c");
    log.Error("d");
  });
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0]["message"], "c");
  EXPECT_EQ(lines[0]["level"], "warning");
}

TEST(Log, ChangesItsLevel) {
  const auto lines = LinesOf("error", [](Log& log) {
    log.Debug("before");
    log.SetLevel("debug");
    log.Debug("after");
  });
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["message"], "after");
}

TEST(Log, KeepsLinesOfThreadsApart) {
  const auto lines = LinesOf("info", [](Log& log) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&log] {
        for (int k = 0; k < 250; ++k) log.Info(std::string(200, 'x'));
      });
    }
  });
  EXPECT_THAT(lines, SizeIs(1000));
}

TEST(Log, RefusesALevelThatIsNone) {
  EXPECT_THAT([] { Log("worker", "verbose"); },
              ::testing::ThrowsMessage<std::invalid_argument>(
                  ::testing::AllOf(HasSubstr("verbose"), HasSubstr("warning"))));
  EXPECT_THAT(LogLevelProblem("warning"), IsEmpty());
  EXPECT_THAT(LogLevelProblem("warn"), HasSubstr("warning"));
}

}  // namespace
}  // namespace agoq
