#include "proto/common/message_rules.h"

#include <google/protobuf/descriptor.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "proto/agoq/v1/rules.pb.h"
#include "proto/common/field_text.h"

namespace agoq {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool IsSection(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_repeated();
}

bool HasRules(const Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.options().HasExtension(v1::rule)) return true;
    if (IsSection(field) && HasRules(*field.message_type())) return true;
  }
  return false;
}

bool IsSet(const FieldDescriptor& field, const Message& message) {
  return message.GetReflection()->HasField(message, &field);
}

std::optional<double> NumberOf(const FieldDescriptor& field, const Message& message) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<double>(reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<double>(reflection.GetUInt64(message, &field));
    default:
      return std::nullopt;
  }
}

bool IsPowerOfTwo(double number) {
  int exponent = 0;
  return std::frexp(number, &exponent) == 0.5;
}

std::string RangeProblem(const v1::FieldRule& rule, double number) {
  if (!std::isfinite(number)) return "must be a finite number";
  if (rule.has_at_least() && number < rule.at_least()) {
    return "must be at least " + NumberText(rule.at_least());
  }
  if (rule.has_above() && number <= rule.above()) {
    return "must be above " + NumberText(rule.above());
  }
  if (rule.has_at_most() && number > rule.at_most()) {
    return "must be at most " + NumberText(rule.at_most());
  }
  if (rule.has_below() && number >= rule.below()) {
    return "must be below " + NumberText(rule.below());
  }
  if (rule.power_of_two() && !IsPowerOfTwo(number)) return "must be a power of two";
  return "";
}

std::string NotYetProblem(const v1::FieldRule& rule, const FieldDescriptor& field,
                          const Message& message) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    const auto* word = message.GetReflection()->GetEnum(message, &field);
    const std::string& why = word->options().GetExtension(v1::word_not_yet);
    if (!why.empty()) return "not supported: " + why + "; choose another word";
  }
  if (rule.not_yet().empty() || !IsSet(field, message)) return "";
  if (TextOf(field, message) == rule.default_value()) return "";
  return "not supported: " + rule.not_yet() + "; remove the key";
}

std::string Problem(const FieldDescriptor& field, const Message& message) {
  const v1::FieldRule& rule = field.options().GetExtension(v1::rule);
  if (rule.required() && !IsSet(field, message)) return "is missing; give it a value";
  if (const auto number = NumberOf(field, message)) {
    const std::string problem = RangeProblem(rule, *number);
    if (!problem.empty()) return problem;
  }
  return NotYetProblem(rule, field, message);
}

void Check(const Message& message, const std::string& prefix, std::vector<SpecError>* errors) {
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const std::string key = prefix + field.name();
    if (IsSection(field)) {
      if (!HasRules(*field.message_type())) continue;
      Check(message.GetReflection()->GetMessage(message, &field), key + ".", errors);
      continue;
    }
    if (field.is_repeated()) continue;
    const std::string problem = Problem(field, message);
    if (problem.empty()) continue;
    errors->push_back({"", 0, key, IsSet(field, message) ? TextOf(field, message) : "", problem});
  }
}

}  // namespace

void FillDefaults(Message* message) {
  const Descriptor& type = *message->GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (IsSection(field)) {
      if (!HasRules(*field.message_type())) continue;
      FillDefaults(message->GetReflection()->MutableMessage(message, &field));
      continue;
    }
    const std::string& text = field.options().GetExtension(v1::rule).default_value();
    if (field.is_repeated() || text.empty() || IsSet(field, *message)) continue;
    const std::string problem = SetFromText(field, text, message);
    if (!problem.empty()) {
      throw std::logic_error(field.full_name() + ": default " + text + ": " + problem);
    }
  }
}

std::vector<SpecError> CheckRules(const Message& message) {
  std::vector<SpecError> errors;
  Check(message, "", &errors);
  return errors;
}

}  // namespace agoq
