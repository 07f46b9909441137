// Scalar fields of messages as the text that a job file holds, by reflection.
//
// Words of enums are lower case without the enum's prefix: COMPUTE_FLOAT32 of enum Compute is
// `float32`.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

namespace agoq {

std::string WordOf(const google::protobuf::EnumValueDescriptor& value);
// Every word but that of the unspecified value.
std::vector<std::string> WordsOf(const google::protobuf::EnumDescriptor& type);

// Sets (or, if repeated, appends to) a field that is no message. Returns the problem and its
// remedy, or nothing. Numbers are decimal with an optional exponent (2e-5); those that are not
// finite are refused. Enums accept the word and the full name.
std::string SetFromText(const google::protobuf::FieldDescriptor& field, std::string_view text,
                        google::protobuf::Message* message);

// The value of a field that is neither repeated nor a message, as SetFromText reads it.
std::string TextOf(const google::protobuf::FieldDescriptor& field,
                   const google::protobuf::Message& message);

// The shortest text that reads back as the same number.
std::string NumberText(double number);

}  // namespace agoq
