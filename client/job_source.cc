#include "client/job_source.h"

#include <filesystem>
#include <iterator>

namespace agoq {

JobReading ReadJob(const std::string& file, std::istream& in) {
  // The reader resolves what the file names against its folder, so that one must be absolute.
  if (file != "-") return ReadJobFile(file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return ReadJobText(text, "stdin", std::filesystem::current_path());
}

}  // namespace agoq
