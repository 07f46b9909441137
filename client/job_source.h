// A job file as a message that a coordinator understands.
#pragma once

#include <istream>
#include <string>

#include "proto/common/spec.h"

namespace agoq {

// Reads the file, or `in` if it is "-". Paths that it names become absolute, since the daemons work
// in other folders; those of "-" are relative to the working directory.
JobReading ReadJob(const std::string& file, std::istream& in);

}  // namespace agoq
