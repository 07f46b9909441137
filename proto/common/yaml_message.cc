#include "proto/common/yaml_message.h"

#include <google/protobuf/descriptor.h>
#include <yaml-cpp/yaml.h>

#include <set>

#include "proto/common/field_text.h"
#include "proto/common/nearest_name.h"

namespace agoq {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::vector<std::string> FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(type.field_count()));
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

bool IsMessage(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

// Key path of the field nearest to `name` among those of the sections of `root`, or empty.
std::string NearestInSections(const Descriptor& root, const std::string& name) {
  std::string nearest;
  std::size_t least = name.size();
  for (int i = 0; i < root.field_count(); ++i) {
    const FieldDescriptor& section = *root.field(i);
    if (!IsMessage(section)) continue;
    const std::string field = NearestName(name, FieldNames(*section.message_type()));
    if (field.empty() || EditDistance(name, field) >= least) continue;
    least = EditDistance(name, field);
    nearest = section.name() + "." + field;
  }
  return nearest;
}

std::string UnknownKeyProblem(const Descriptor& type, const Descriptor& root,
                              const std::string& name) {
  std::string nearest = NearestName(name, FieldNames(type));
  if (nearest.empty()) nearest = NearestInSections(root, name);
  if (!nearest.empty()) return "unknown key; did you mean " + nearest + "?";
  std::string names;
  for (const std::string& valid : FieldNames(type)) names += (names.empty() ? "" : ", ") + valid;
  return "unknown key; use one of " + names;
}

class Reader {
 public:
  Reader(std::string file, const Descriptor& root) : file_(std::move(file)), root_(root) {}

  void ReadSection(const YAML::Node& node, const std::string& key, Message* message) {
    if (node.IsNull()) return;
    if (!node.IsMap()) {
      Error(node, key, node.IsScalar() ? node.Scalar() : "",
            "must be a section; write its keys as `key: value` on indented lines");
      return;
    }
    std::set<std::string> seen;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        Error(entry.first, key, "", "a key must be a plain word");
        continue;
      }
      const std::string& name = entry.first.Scalar();
      const std::string path = key.empty() ? name : key + "." + name;
      if (!seen.insert(name).second) {
        Error(entry.first, path, "", "this key was given before; remove one of the two");
        continue;
      }
      ReadEntry(entry.first, entry.second, path, message);
    }
  }

  YamlReading Take() { return std::move(reading_); }

 private:
  void ReadEntry(const YAML::Node& name, const YAML::Node& value, const std::string& path,
                 Message* message) {
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name.Scalar());
    if (field == nullptr) {
      Error(name, path, "", UnknownKeyProblem(*message->GetDescriptor(), root_, name.Scalar()));
      return;
    }
    reading_.lines[path] = name.Mark().line + 1;
    if (field->is_repeated()) {
      ReadList(*field, value, path, message);
      return;
    }
    if (IsMessage(*field)) {
      ReadSection(value, path, message->GetReflection()->MutableMessage(message, field));
      return;
    }
    ReadScalar(*field, value, path, message);
  }

  void ReadList(const FieldDescriptor& field, const YAML::Node& list, const std::string& path,
                Message* message) {
    if (!list.IsSequence()) {
      Error(list, path, list.IsScalar() ? list.Scalar() : "",
            "must be a list; write each entry on a line that begins with `-`");
      return;
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string key = path + "[" + std::to_string(i) + "]";
      reading_.lines[key] = list[i].Mark().line + 1;
      if (IsMessage(field)) {
        ReadSection(list[i], key, message->GetReflection()->AddMessage(message, &field));
      } else {
        ReadScalar(field, list[i], key, message);
      }
    }
  }

  void ReadScalar(const FieldDescriptor& field, const YAML::Node& value, const std::string& path,
                  Message* message) {
    if (!value.IsScalar()) {
      Error(value, path, "",
            value.IsNull() ? "has no value; give one or remove the key" : "must be one value");
      return;
    }
    const std::string problem = SetFromText(field, value.Scalar(), message);
    if (!problem.empty()) Error(value, path, value.Scalar(), problem);
  }

  void Error(const YAML::Node& node, const std::string& key, const std::string& value,
             const std::string& problem) {
    const int line = node.Mark().line < 0 ? reading_.LineOf(key) : node.Mark().line + 1;
    reading_.errors.push_back({file_, line, key, value, problem});
  }

  const std::string file_;
  const Descriptor& root_;
  YamlReading reading_;
};

YamlReading Failed(const std::string& file, int line, const std::string& problem) {
  YamlReading reading;
  reading.errors.push_back({file, line, "", "", problem});
  return reading;
}

}  // namespace

int YamlReading::LineOf(std::string key) const {
  while (true) {
    const auto found = lines.find(key);
    if (found != lines.end()) return found->second;
    const std::size_t end = key.find_last_of(".[");
    if (end == std::string::npos) return 0;
    key.resize(end);
  }
}

YamlReading ReadYamlMessage(const std::string& text, const std::string& file, Message* message) {
  std::vector<YAML::Node> documents;
  try {
    documents = YAML::LoadAll(text);
  } catch (const YAML::Exception& error) {
    return Failed(file, error.mark.line + 1, "not YAML: " + error.msg + "; correct the line");
  }
  if (documents.empty() || documents.front().IsNull()) {
    return Failed(file, 0, "is empty; write at least the sections that have no default");
  }
  if (documents.size() > 1) {
    return Failed(file, 0,
                  "holds " + std::to_string(documents.size()) + " documents; remove all but one");
  }
  Reader reader(file, *message->GetDescriptor());
  reader.ReadSection(documents.front(), "", message);
  return reader.Take();
}

}  // namespace agoq
