#include "proto/common/text_file.h"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

namespace agoq {

TextFile ReadTextFile(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return {"", "does not exist; check the path"};
  if (std::filesystem::is_directory(status)) return {"", "is a folder; name a file"};
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return {"", "cannot be opened: " + std::generic_category().message(errno) +
                    "; check its permissions"};
  }
  std::string contents;
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof(buffer)) || stream.gcount() > 0) {
    contents.append(buffer, static_cast<std::size_t>(stream.gcount()));
    if (contents.size() > kLargestTextFile) {
      return {"", "is larger than " + std::to_string(kLargestTextFile >> 20) +
                      " MiB; name the right file"};
    }
  }
  return {std::move(contents), ""};
}

}  // namespace agoq
