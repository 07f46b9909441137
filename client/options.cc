#include "client/options.h"

#include <cstdlib>
#include <map>
#include <string_view>

namespace agoq {
namespace {

const std::map<Output, std::string>& OutputNames() {
  static const std::map<Output, std::string> names = {
      {Output::kTable, "table"}, {Output::kWide, "wide"}, {Output::kJson, "json"},
      {Output::kYaml, "yaml"},   {Output::kName, "name"}, {Output::kJsonl, "jsonl"}};
  return names;
}

// Empty: HOST:PORT.
std::string ProblemOfAddress(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  const bool is_number = !port.empty() && port.size() <= 5 &&
                         port.find_first_not_of("0123456789") == std::string::npos;
  if (colon != 0 && is_number && std::stoi(port) >= 1 && std::stoi(port) <= 65535) return "";
  return "'" + address + "' is no address; write HOST:PORT, like 127.0.0.1:9400";
}

}  // namespace

void AddGlobalOptions(CLI::App* app, GlobalOptions* options) {
  app->add_option("--address", options->address, "Coordinator")
      ->envname("AGOQ_ADDRESS")
      ->type_name("HOST:PORT")
      ->check(ProblemOfAddress)
      ->capture_default_str();
  app->add_option("--timeout", options->timeout_seconds,
                  "Longest time of a call, in seconds (default: 10; submit and plan 30)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 86400.0));
  app->add_option("--color", options->color, "Colours on standard output")
      ->type_name("auto|always|never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app->add_flag("-q,--quiet", options->is_quiet, "Nothing but data and errors");
}

bool UsesColor(const GlobalOptions& options, const Console& console) {
  if (options.color != "auto") return options.color == "always";
  const char* const no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* const term = std::getenv("TERM");
  const bool is_dumb = term != nullptr && std::string_view(term) == "dumb";
  return console.out_is_terminal && !is_dumb;
}

void AddOutputOption(CLI::App* verb, OutputOptions* options, const std::vector<Output>& formats) {
  std::vector<std::string> names;
  std::string all;
  for (const Output format : formats) {
    names.push_back(OutputNames().at(format));
    all += (all.empty() ? "" : "|") + names.back();
  }
  const auto set = [options](const std::string& name) {
    for (const auto& [format, its_name] : OutputNames()) {
      if (name == its_name) options->format = format;
    }
  };
  verb->add_option_function<std::string>("-o,--output", set, "Format of the data")
      ->type_name(all)
      ->check(CLI::IsMember(names));
}

void AddHeaderOption(CLI::App* verb, OutputOptions* options) {
  verb->add_flag_callback(
      "--no-headers", [options] { options->has_headers = false; }, "No line of column names");
}

}  // namespace agoq
