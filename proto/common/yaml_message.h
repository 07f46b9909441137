// YAML text into any message, by reflection: keys are field names, so the message is the only
// schema.
#pragma once

#include <google/protobuf/message.h>

#include <map>
#include <string>
#include <vector>

#include "proto/common/spec_error.h"

namespace agoq {

struct YamlReading {
  std::map<std::string, int> lines;  // key path -> line, from 1
  std::vector<SpecError> errors;     // every one of the text, in its order

  // Line of the key, or of the nearest section around it; 0 if none of them is in the text.
  int LineOf(std::string key) const;
};

// Fills `message` (merging into what it holds). Refuses unknown and repeated keys, values of the
// wrong shape or type, and more than one document. `file` names the text in errors.
YamlReading ReadYamlMessage(const std::string& text, const std::string& file,
                            google::protobuf::Message* message);

}  // namespace agoq
