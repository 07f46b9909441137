#include <cstdlib>
#include <string>
#include <vector>

#include "client/command_line.h"

int main(int argc, char** argv) {
  // Errors of the connection come as statuses; gRPC's own log would repeat them.
  ::setenv("GRPC_VERBOSITY", "NONE", /*replace=*/0);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return agoq::RunCommandLine(arguments, agoq::SystemConsole());
}
