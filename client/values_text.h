// Single values as people read them. Pure.
#pragma once

#include <google/protobuf/timestamp.pb.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "proto/agoq/v1/job_status.pb.h"
#include "proto/agoq/v1/worker_service.pb.h"

namespace agoq {

using WallTime = std::chrono::system_clock::time_point;

WallTime TimeOf(const google::protobuf::Timestamp& timestamp);

std::string StateText(v1::JobState state);         // running
std::string StateText(v1::WorkerState state);      // ready
std::string StateText(v1::AttemptState state);     // preparing
std::string ReasonText(v1::JobReason reason);      // insufficient_memory; empty: none
std::string CauseText(v1::AttemptCause cause);     // rank_exit; empty: none
std::string PercentText(double ratio);             // 9.21%
std::string RateText(double per_second);           // 14.2k
std::string ClockText(double seconds);             // 1:15, or 1:02:05
std::string AgeText(WallTime time, WallTime now);  // 42s, 5m, 3h, 2d
std::string TimeText(const google::protobuf::Timestamp& timestamp);  // 2024-05-01 12:00:00Z
std::string LossText(double loss);                                   // 1.8512

// The state in its colour: green succeeded or ready, red failed or lost, yellow on the way.
std::string ColoredState(v1::JobState state, bool has_color);
std::string ColoredState(v1::WorkerState state, bool has_color);

}  // namespace agoq
