#include "client/job_verb.h"

#include <algorithm>

#include "client/exit_codes.h"
#include "client/job_source.h"
#include "client/message_text.h"
#include "proto/common/spec_error.h"

namespace agoq {

void AddJobArgument(CLI::App* verb, std::string* job) {
  verb->add_option("job", *job, "Id, or name: the newest job of that name")
      ->type_name("JOB")
      ->required();
}

void AddFileArgument(CLI::App* verb, std::string* file) {
  verb->add_option("file", *file, "Job file; - reads standard input")
      ->type_name("FILE")
      ->required();
}

std::optional<JobReading> ReadJobOrTell(const Invocation& invocation, const std::string& file) {
  JobReading reading = ReadJob(file, invocation.console.in);
  for (const SpecError& error : reading.errors) invocation.Tell(ToText(error));
  if (!reading.errors.empty()) return std::nullopt;
  for (const std::string& warning : reading.warnings) invocation.Note("warning: " + warning);
  return reading;
}

void TellNewWarnings(const Invocation& invocation, const JobReading& reading,
                     const google::protobuf::RepeatedPtrField<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    const auto& told = reading.warnings;
    if (std::find(told.begin(), told.end(), warning) == told.end()) {
      invocation.Note("warning: " + warning);
    }
  }
}

std::string NameText(const v1::Job& job) {
  return job.spec().name().empty() ? "job " + job.id()
                                   : "job " + job.spec().name() + " (" + job.id() + ")";
}

bool PrintMessage(const Invocation& invocation, Output format,
                  const google::protobuf::Message& message) {
  switch (format) {
    case Output::kJson:
      invocation.console.out << JsonText(message);
      return true;
    case Output::kJsonl:
      invocation.console.out << JsonLine(message);
      return true;
    case Output::kYaml:
      invocation.console.out << YamlText(message);
      return true;
    default:
      return false;
  }
}

TextOptions TextOptionsOf(const Invocation& invocation, const OutputOptions& output) {
  return {.now = std::chrono::system_clock::now(),
          .is_wide = output.format == Output::kWide,
          .has_headers = output.has_headers,
          .has_color = invocation.uses_color()};
}

}  // namespace agoq
