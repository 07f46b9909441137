// What verbs about one job share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/invocation.h"
#include "client/job_follower.h"
#include "client/job_table.h"
#include "proto/common/spec.h"

namespace agoq {

// The positional argument JOB, id or name.
void AddJobArgument(CLI::App* verb, std::string* job);
// The positional argument FILE.
void AddFileArgument(CLI::App* verb, std::string* file);

// Reads a job file; tells its errors and warnings. Nothing: it has errors.
std::optional<JobReading> ReadJobOrTell(const Invocation& invocation, const std::string& file);
// Tells the coordinator's warnings that the reader did not tell already.
void TellNewWarnings(const Invocation& invocation, const JobReading& reading,
                     const google::protobuf::RepeatedPtrField<std::string>& warnings);

// "job NAME (ID)"
std::string NameText(const v1::Job& job);

// Message formats; false: it is none.
bool PrintMessage(const Invocation& invocation, Output format,
                  const google::protobuf::Message& message);

// Options of tables, at this moment.
TextOptions TextOptionsOf(const Invocation& invocation, const OutputOptions& output);

struct WaitOptions {
  bool shows_updates = false;  // events and progress
  bool prints_json = false;    // updates as JSON lines
  double limit_seconds = 0;    // 0: none
  bool until_running = false;  // else until it is over
  bool wants_cancel = false;   // a cancelled job is what was asked for
};

// Waits for a job; returns the exit code of its state, or of how the wait ended.
int WaitForJob(const Invocation& invocation, Coordinator& coordinator, const std::string& job,
               const WaitOptions& options);

}  // namespace agoq
