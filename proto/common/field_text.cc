#include "proto/common/field_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "proto/common/nearest_name.h"

namespace agoq {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// GradientFormat -> GRADIENT_FORMAT_
std::string PrefixOf(const EnumDescriptor& type) {
  std::string prefix;
  for (char c : type.name()) {
    if (std::isupper(static_cast<unsigned char>(c)) && !prefix.empty()) prefix += '_';
    prefix += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return prefix + "_";
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

template <typename Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

std::optional<double> ParseFinite(std::string_view text) {
  const std::optional<double> number = ParseWhole<double>(text);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  return number;
}

// Digits, or a decimal number that is whole and exact, such as 1e6.
template <typename Integer>
std::optional<Integer> ParseInteger(std::string_view text) {
  if (const auto integer = ParseWhole<Integer>(text)) return integer;
  const std::optional<double> number = ParseFinite(text);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!number || *number != std::floor(*number) || std::abs(*number) > kExact) return std::nullopt;
  if (*number < static_cast<double>(std::numeric_limits<Integer>::min()) ||
      *number > static_cast<double>(std::numeric_limits<Integer>::max())) {
    return std::nullopt;
  }
  return static_cast<Integer>(*number);
}

std::string JoinWords(const std::vector<std::string>& words) {
  std::string joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined += i + 1 == words.size() ? " or " : ", ";
    joined += words[i];
  }
  return joined;
}

const EnumValueDescriptor* FindWord(const EnumDescriptor& type, std::string_view text) {
  for (int i = 0; i < type.value_count(); ++i) {
    const EnumValueDescriptor* value = type.value(i);
    if (value->number() != 0 && (WordOf(*value) == text || value->name() == text)) return value;
  }
  return nullptr;
}

std::string SetEnum(const FieldDescriptor& field, std::string_view text, Message* message) {
  const EnumDescriptor& type = *field.enum_type();
  const EnumValueDescriptor* value = FindWord(type, text);
  if (value == nullptr) {
    const std::string nearest = NearestName(text, WordsOf(type));
    return "not a word of this field; use " + JoinWords(WordsOf(type)) +
           (nearest.empty() ? "" : " (did you mean " + nearest + "?)");
  }
  const Reflection& reflection = *message->GetReflection();
  if (field.is_repeated()) {
    reflection.AddEnum(message, &field, value);
  } else {
    reflection.SetEnum(message, &field, value);
  }
  return "";
}

template <typename Value>
using Setter = void (Reflection::*)(Message*, const FieldDescriptor*, Value) const;

template <typename Value>
void Store(const FieldDescriptor& field, Setter<Value> set, Setter<Value> add, Message* message,
           std::type_identity_t<Value> value) {
  (message->GetReflection()->*(field.is_repeated() ? add : set))(message, &field, std::move(value));
}

template <typename Integer>
std::string SetInteger(const FieldDescriptor& field, std::string_view text, Setter<Integer> set,
                       Setter<Integer> add, Message* message) {
  const std::optional<Integer> integer = ParseInteger<Integer>(text);
  if (!integer) {
    return "not a whole number from " + std::to_string(std::numeric_limits<Integer>::min()) +
           " to " + std::to_string(std::numeric_limits<Integer>::max()) +
           "; write digits, such as 100";
  }
  Store<Integer>(field, set, add, message, *integer);
  return "";
}

std::string SetDouble(const FieldDescriptor& field, std::string_view text, Message* message) {
  const std::optional<double> number = ParseFinite(text);
  if (!number) return "not a finite number; write it like 0.1 or 2e-5";
  Store<double>(field, &Reflection::SetDouble, &Reflection::AddDouble, message, *number);
  return "";
}

std::string SetBool(const FieldDescriptor& field, std::string_view text, Message* message) {
  if (text != "true" && text != "false") return "not a truth value; write true or false";
  Store<bool>(field, &Reflection::SetBool, &Reflection::AddBool, message, text == "true");
  return "";
}

}  // namespace

std::string WordOf(const EnumValueDescriptor& value) {
  const std::string prefix = PrefixOf(*value.type());
  const std::string& name = value.name();
  return Lower(name.rfind(prefix, 0) == 0 ? name.substr(prefix.size()) : name);
}

std::vector<std::string> WordsOf(const EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) words.push_back(WordOf(*type.value(i)));
  }
  return words;
}

std::string SetFromText(const FieldDescriptor& field, std::string_view text, Message* message) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      Store<std::string>(field, &Reflection::SetString, &Reflection::AddString, message,
                         std::string(text));
      return "";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return SetDouble(field, text, message);
    case FieldDescriptor::CPPTYPE_INT64:
      return SetInteger<std::int64_t>(field, text, &Reflection::SetInt64, &Reflection::AddInt64,
                                      message);
    case FieldDescriptor::CPPTYPE_UINT64:
      return SetInteger<std::uint64_t>(field, text, &Reflection::SetUInt64, &Reflection::AddUInt64,
                                       message);
    case FieldDescriptor::CPPTYPE_BOOL:
      return SetBool(field, text, message);
    case FieldDescriptor::CPPTYPE_ENUM:
      return SetEnum(field, text, message);
    default:
      return "fields of type " + std::string(field.cpp_type_name()) + " cannot be written as text";
  }
}

std::string TextOf(const FieldDescriptor& field, const Message& message) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return NumberText(reflection.GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::to_string(reflection.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return WordOf(*reflection.GetEnum(message, &field));
    default:
      return "";
  }
}

std::string NumberText(double number) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), number);
  return std::string(buffer, result.ptr);
}

}  // namespace agoq
