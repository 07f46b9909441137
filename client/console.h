// Where agoq reads and writes: data on `out`, everything else on `err`.
#pragma once

#include <istream>
#include <ostream>

namespace agoq {

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  int width = 80;  // columns of the terminal
};

// Standard input, output and error of this process.
Console SystemConsole();

}  // namespace agoq
