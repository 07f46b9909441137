// Jobs as a table. Pure.
#pragma once

#include <string>
#include <vector>

#include "client/values_text.h"
#include "proto/agoq/v1/job_status.pb.h"

namespace agoq {

struct TextOptions {
  WallTime now;
  bool is_wide = false;
  bool has_headers = true;
  bool has_color = false;
};

// One line a job: NAME ID STATE REASON DONE STEP LOSS AGE; wide adds TOK/S ATTEMPT OWNER WORKERS
// MESSAGE.
std::string JobTable(const std::vector<v1::Job>& jobs, const TextOptions& options);

}  // namespace agoq
