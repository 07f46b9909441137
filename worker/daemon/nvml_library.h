// The few calls of libnvidia-ml that are used, as plain structs: no header of the CUDA toolkit is
// needed to build.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace agoq {

struct GpuReading {
  std::string uuid;
  std::string name;
  std::int64_t total_bytes = 0;
  std::int64_t free_bytes = 0;
  std::vector<std::pair<pid_t, std::int64_t>> process_bytes;  // as far as the driver tells
  std::string problem;                                        // empty: the numbers hold
};

// Thread-safe, as the library is.
class NvmlLibrary {
 public:
  // Null, with `problem` set: no library, or it does not start.
  static std::unique_ptr<NvmlLibrary> Load(const std::string& path, std::string* problem);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // In the order of the driver. A negative answer of the library is a GPU of its own with a
  // problem, or an empty list with `problem` set.
  std::vector<GpuReading> Read(std::string* problem) const;
  std::string DriverVersion() const;

 private:
  struct Calls;
  NvmlLibrary(void* library, std::unique_ptr<Calls> calls);
  GpuReading ReadGpu(unsigned int index) const;
  std::string Describe(int error) const;

  void* const library_;
  const std::unique_ptr<Calls> calls_;
};

}  // namespace agoq
