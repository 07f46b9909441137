// Options that every verb takes.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/console.h"

namespace agoq {

struct GlobalOptions {
  std::string address = "127.0.0.1:9400";  // of the coordinator
  double timeout_seconds = 0;              // of a call; 0: the verb's own
  std::string color = "auto";              // auto, always or never
  bool is_quiet = false;                   // nothing but data and errors
};

// Adds --address (also AGOQ_ADDRESS), --timeout, --color and --quiet.
void AddGlobalOptions(CLI::App* app, GlobalOptions* options);

// Whether standard output gets colours: --color, then NO_COLOR and TERM, then whether it is a
// terminal.
bool UsesColor(const GlobalOptions& options, const Console& console);

enum class Output { kTable, kWide, kJson, kYaml, kName, kJsonl };

struct OutputOptions {
  Output format = Output::kTable;
  bool has_headers = true;
};

// Adds -o with those formats.
void AddOutputOption(CLI::App* verb, OutputOptions* options, const std::vector<Output>& formats);
// Adds --no-headers.
void AddHeaderOption(CLI::App* verb, OutputOptions* options);

}  // namespace agoq
