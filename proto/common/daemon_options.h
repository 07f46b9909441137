// Settings of a program (config.proto) from flags, environment and a YAML file, by reflection: a
// message's field `listen_address` is the key listen_address, the flag --listen-address and the
// variable PREFIX_LISTEN_ADDRESS. A flag wins over the environment, that over the file.
#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>

namespace agoq {

struct ProgramText {
  std::string name;         // agoq-coordinator
  std::string description;  // one line
  std::string env_prefix;   // AGOQ_COORDINATOR
};

// Fills `config` and its defaults. Returns an exit code when the program is done: --help,
// --version,
// --check-config, --print-config (0), or bad settings (2, each told on standard error with its
// origin, value and remedy).
std::optional<int> ReadDaemonOptions(const ProgramText& program, int argc, char** argv,
                                     google::protobuf::Message* config);

}  // namespace agoq
