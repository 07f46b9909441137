// What a job came to, for people. Pure.
#pragma once

#include <string>
#include <vector>

#include "proto/agoq/v1/job_status.pb.h"
#include "proto/agoq/v1/worker_service.pb.h"

namespace agoq {

// Held-out loss, speed, steps, time, checkpoint folder; then RankTexts. `workers` may lack some.
std::string SummaryText(const v1::Job& job, const std::vector<v1::Worker>& workers);

// For each rank of the newest attempt its worker, budget and metrics address, the bits of each save
// site, and once it ended bytes predicted and measured by label and quantization errors by site.
std::string RankTexts(const v1::Job& job, const std::vector<v1::Worker>& workers);

// The plan of the newest attempt, or the last one that there was.
const v1::BitPlan& NewestPlan(const v1::Job& job);

}  // namespace agoq
