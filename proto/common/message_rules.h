// The rules that proto files write beside their fields (proto/agoq/v1/rules.proto), applied to any
// message by reflection.
#pragma once

#include <google/protobuf/message.h>

#include <vector>

#include "proto/common/spec_error.h"

namespace agoq {

// Gives each unset field its default, and makes the sections that have rules present.
void FillDefaults(google::protobuf::Message* message);

// What breaks a rule, with key and value; call FillDefaults first. Files and lines are left open.
std::vector<SpecError> CheckRules(const google::protobuf::Message& message);

}  // namespace agoq
