// Job files: YAML text to a complete, checked JobSpec.
//
//   const JobReading job = ReadJobFile("job.yaml");
//   for (const SpecError& error : job.errors) std::cerr << ToText(error) << "\n";
//   if (!job.errors.empty()) return 2;
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "proto/agoq/v1/job.pb.h"
#include "proto/common/spec_error.h"

namespace agoq {

struct JobReading {
  v1::JobSpec job;                    // valid only without errors
  std::vector<SpecError> errors;      // all of them, in the order of the file
  std::vector<std::string> warnings;  // allowed, but known to harm training
};

// Reads, fills defaults, inlines the model's config.json and the plan's table, resolves relative
// paths against the file's folder, and checks. A file that cannot be read is an error too.
JobReading ReadJobFile(const std::filesystem::path& path);

// The same for text; `file` names it in errors, relative paths stand for paths below `folder`. The
// JSON of a JobSpec is read as well, since it is YAML.
JobReading ReadJobText(const std::string& text, const std::string& file,
                       const std::filesystem::path& folder);

}  // namespace agoq
