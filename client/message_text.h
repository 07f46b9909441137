// Messages as data: proto JSON with the fields' own names and with defaults, and YAML of the same.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace agoq {

// Indented, with a newline at the end.
std::string JsonText(const google::protobuf::Message& message);
// On one line, with a newline at the end.
std::string JsonLine(const google::protobuf::Message& message);
std::string YamlText(const google::protobuf::Message& message);

}  // namespace agoq
