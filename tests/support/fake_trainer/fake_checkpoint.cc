#include "tests/support/fake_trainer/fake_checkpoint.h"

#include <cstdio>
#include <fstream>
#include <system_error>

namespace agoq {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "step-";

std::string NameOf(std::int64_t step) {
  char name[32];
  std::snprintf(name, sizeof(name), "%s%08lld", kPrefix, static_cast<long long>(step));
  return name;
}

}  // namespace

std::string WriteFakeCheckpoint(const fs::path& folder, std::int64_t step) {
  const fs::path path = folder / NameOf(step);
  if (fs::exists(path)) return path.string();
  const fs::path temporary = folder / (".tmp-" + NameOf(step));
  fs::create_directories(temporary);
  std::ofstream(temporary / "state") << step << "\n";
  fs::rename(temporary, path);
  return path.string();
}

FakeCheckpoint NewestFakeCheckpoint(const fs::path& folder) {
  FakeCheckpoint newest;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    if (entry.path().filename().string().rfind(kPrefix, 0) != 0) continue;
    std::int64_t step = 0;
    if (!(std::ifstream(entry.path() / "state") >> step) || step < newest.step) continue;
    newest = {.path = entry.path().string(), .step = step};
  }
  return newest;
}

}  // namespace agoq
