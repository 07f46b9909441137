#include "client/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

namespace agoq {

Console SystemConsole() {
  Console console = {.in = std::cin,
                     .out = std::cout,
                     .err = std::cerr,
                     .out_is_terminal = ::isatty(STDOUT_FILENO) == 1,
                     .err_is_terminal = ::isatty(STDERR_FILENO) == 1};
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    console.width = size.ws_col;
  }
  return console;
}

}  // namespace agoq
