#include "client/message_text.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace agoq {
namespace {

using Json = nlohmann::ordered_json;

std::string Convert(const google::protobuf::Message& message, bool is_indented) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = is_indented;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) {
    throw std::runtime_error(message.GetTypeName() + ": cannot be written as JSON: " +
                             std::string(status.message().data(), status.message().size()));
  }
  if (json.empty() || json.back() != '\n') json += '\n';
  return json;
}

// Text that YAML reads as this text and as nothing else.
bool IsPlain(const std::string& text) {
  static const std::set<std::string> kWords = {"true", "false", "null", "yes", "no", "on",
                                               "off",  "y",     "n",    "inf", "nan"};
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto is_word = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '/';
  };
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), is_word) && kWords.count(lower) == 0;
}

// A JSON string is a YAML string too.
std::string ScalarText(const Json& value) {
  const bool is_plain = value.is_string() && IsPlain(value.get<std::string>());
  return is_plain ? value.get<std::string>() : value.dump();
}

// A list's items stand as deep as their key, as in job files.
void AppendYaml(const Json& value, const std::string& indent, std::string* text) {
  for (const auto& [key, item] : value.items()) {
    const bool is_in_list = value.is_array();
    *text += indent + (is_in_list ? "-" : key + ":");
    if (!item.is_structured() || item.empty()) {
      *text += " " + ScalarText(item) + "\n";
      continue;
    }
    std::string inner;
    const std::string deeper = indent + (item.is_array() && !is_in_list ? "" : "  ");
    AppendYaml(item, deeper, &inner);
    // The first key of a list's item follows its dash.
    *text += is_in_list ? " " + inner.substr(deeper.size()) : "\n" + inner;
  }
}

}  // namespace

std::string JsonText(const google::protobuf::Message& message) { return Convert(message, true); }

std::string JsonLine(const google::protobuf::Message& message) { return Convert(message, false); }

std::string YamlText(const google::protobuf::Message& message) {
  std::string text;
  AppendYaml(Json::parse(JsonText(message)), "", &text);
  return text.empty() ? "{}\n" : text;
}

}  // namespace agoq
