// Workers for people. Pure.
#pragma once

#include <string>
#include <vector>

#include "client/job_table.h"
#include "proto/agoq/v1/worker_service.pb.h"

namespace agoq {

// NAME STATE DEVICES TOTAL FREE FOREIGN JOB HEARD; wide adds RANK VERSION METRICS MESSAGE.
std::string WorkerTable(const std::vector<v1::Worker>& workers, const TextOptions& options);

// One worker in full, one line a device.
std::string WorkerText(const v1::Worker& worker, const TextOptions& options);

}  // namespace agoq
