#include "proto/common/daemon_options.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "proto/common/field_text.h"
#include "proto/common/log.h"
#include "proto/common/message_rules.h"
#include "proto/common/nearest_name.h"
#include "proto/common/text_file.h"
#include "proto/common/version.h"
#include "proto/common/yaml_message.h"

namespace agoq {
namespace {

using google::protobuf::FieldDescriptor;

constexpr int kDone = 0;
constexpr int kUsage = 2;

std::string FlagOf(const FieldDescriptor& field) {
  return absl::StrCat("--", absl::StrReplaceAll(field.name(), {{"_", "-"}}));
}

class OptionsReader {
 public:
  OptionsReader(const ProgramText& program, google::protobuf::Message* config)
      : program_(program), config_(*config), app_(program.description, program.name) {
    app_.set_version_flag("--version", absl::StrCat(program.name, " ", Version()));
    app_.add_option("--config", file_, "YAML file with the settings");
    app_.add_flag("--check-config", checks_, "read the settings, say what is wrong, and end");
    app_.add_flag("--print-config", prints_, "print the settings as YAML, and end");
    app_.footer(
        "proto/agoq/v1/config.proto describes each setting. The environment variable of "
        "--some-setting is " +
        program.env_prefix + "_SOME_SETTING.");
    for (const FieldDescriptor* field : Fields()) {
      app_.add_option(FlagOf(*field), flags_[field], DefaultOf(*field));
    }
  }

  std::optional<int> Read(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& done) {
      return app_.exit(done);
    } catch (const CLI::ParseError& error) {
      return Fail({error.what() + NearestFlag(argc, argv)});
    }
    ReadFile();
    ReadEnvironment();
    ReadFlags();
    FillDefaults(&config_);
    if (problems_.empty()) CheckValues();
    if (!problems_.empty()) return Fail(problems_);
    if (prints_) PrintYaml();
    if (prints_ || checks_) return kDone;
    return std::nullopt;
  }

 private:
  std::vector<const FieldDescriptor*> Fields() const {
    std::vector<const FieldDescriptor*> fields;
    for (int i = 0; i < config_.GetDescriptor()->field_count(); ++i) {
      fields.push_back(config_.GetDescriptor()->field(i));
    }
    return fields;
  }

  std::string DefaultOf(const FieldDescriptor& field) const {
    const std::unique_ptr<google::protobuf::Message> defaults(config_.New());
    FillDefaults(defaults.get());
    const std::string text = TextOf(field, *defaults);
    return text.empty() ? "" : absl::StrCat("default: ", text);
  }

  int Fail(const std::vector<std::string>& problems) const {
    for (const std::string& problem : problems) {
      std::cerr << program_.name << ": " << problem << "\n";
    }
    return kUsage;
  }

  std::string NearestFlag(int argc, char** argv) const {
    std::vector<std::string> known = {"--config", "--check-config", "--print-config", "--version",
                                      "--help"};
    for (const FieldDescriptor* field : Fields()) known.push_back(FlagOf(*field));
    for (int i = 1; i < argc; ++i) {
      const std::string flag = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
      if (flag.rfind("--", 0) != 0) continue;
      if (std::find(known.begin(), known.end(), flag) != known.end()) continue;
      const std::string nearest = NearestName(flag, known);
      if (!nearest.empty()) return absl::StrCat("; did you mean ", nearest, " for ", flag, "?");
    }
    return absl::StrCat("; see ", program_.name, " --help");
  }

  void ReadFile() {
    if (file_.empty()) return;
    const TextFile text = ReadTextFile(file_);
    if (!text.problem.empty()) {
      problems_.push_back(absl::StrCat("--config ", file_, ": ", text.problem));
      return;
    }
    const YamlReading reading = ReadYamlMessage(text.contents, file_, &config_);
    for (const SpecError& error : reading.errors) problems_.push_back(ToText(error));
    for (const auto& [key, line] : reading.lines) {
      origins_[key] = absl::StrCat(file_, ":", line, ": ", key);
    }
  }

  std::string VariableOf(const FieldDescriptor& field) const {
    return absl::StrCat(program_.env_prefix, "_", absl::AsciiStrToUpper(field.name()));
  }

  void Set(const FieldDescriptor& field, const std::string& origin, const std::string& text) {
    origins_[field.name()] = origin;
    const std::string problem = SetFromText(field, text, &config_);
    if (!problem.empty()) problems_.push_back(ToText({origin, 0, "", text, problem}));
  }

  void ReadEnvironment() {
    for (const FieldDescriptor* field : Fields()) {
      const char* const value = std::getenv(VariableOf(*field).c_str());
      if (value != nullptr) Set(*field, VariableOf(*field), value);
    }
  }

  void ReadFlags() {
    for (const FieldDescriptor* field : Fields()) {
      if (app_.count(FlagOf(*field)) > 0) Set(*field, FlagOf(*field), flags_[field]);
    }
  }

  void CheckValues() {
    std::vector<SpecError> errors = CheckRules(config_);
    const FieldDescriptor* const level = config_.GetDescriptor()->FindFieldByName("log_level");
    if (level != nullptr) {
      const std::string word = TextOf(*level, config_);
      const std::string problem = LogLevelProblem(word);
      if (!problem.empty()) errors.push_back({"", 0, level->name(), word, problem});
    }
    for (SpecError& error : errors) {
      const FieldDescriptor& field = *config_.GetDescriptor()->FindFieldByName(error.key);
      const auto origin = origins_.find(error.key);
      if (origin != origins_.end()) error.key = origin->second;
      if (error.value.empty()) {
        absl::StrAppend(&error.problem, " (", FlagOf(field), ", ", VariableOf(field), ", or ",
                        field.name(), " in the file of --config)");
      }
      problems_.push_back(ToText(error));
    }
  }

  // JSON's strings and numbers are YAML.
  void PrintYaml() const {
    using Json = nlohmann::json;
    for (const FieldDescriptor* field : Fields()) {
      const std::string text = TextOf(*field, config_);
      const bool is_text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      std::cout << field->name() << ": "
                << (is_text ? Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)
                            : text)
                << "\n";
    }
  }

  const ProgramText& program_;
  google::protobuf::Message& config_;
  CLI::App app_;
  std::string file_;
  bool checks_ = false;
  bool prints_ = false;
  std::map<const FieldDescriptor*, std::string> flags_;
  std::map<std::string, std::string> origins_;  // of the value that counts, by field
  std::vector<std::string> problems_;
};

}  // namespace

std::optional<int> ReadDaemonOptions(const ProgramText& program, int argc, char** argv,
                                     google::protobuf::Message* config) {
  return OptionsReader(program, config).Read(argc, argv);
}

}  // namespace agoq
