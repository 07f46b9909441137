// A stand-in for libnvidia-ml.so.1 with one GPU, which is lost while the file named by
// AGOQ_FAKE_NVML_LOST exists.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kSuccess = 0;
constexpr int kGpuIsLost = 15;

struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned int pid;
  unsigned long long used_bytes;
  unsigned int gpu_instance, compute_instance;
};

bool IsLost() {
  const char* file = std::getenv("AGOQ_FAKE_NVML_LOST");
  return file != nullptr && ::access(file, F_OK) == 0;
}

int Copy(const char* text, char* to, unsigned int length) {
  std::snprintf(to, length, "%s", text);
  return kSuccess;
}

}  // namespace

extern "C" {
int nvmlInit_v2() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 1;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int, void** handle) {
  *handle = handle;
  return IsLost() ? kGpuIsLost : kSuccess;
}
int nvmlDeviceGetUUID(void*, char* text, unsigned int length) {
  return Copy("GPU-fake", text, length);
}
int nvmlDeviceGetName(void*, char* text, unsigned int length) {
  return Copy("Fake One", text, length);
}
int nvmlSystemGetDriverVersion(char* text, unsigned int length) {
  return Copy("580.1", text, length);
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {1000, 600, 400};
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned int* count, ProcessInfo* processes) {
  *count = 1;
  processes[0] = {11, 300, 0, 0};
  return kSuccess;
}
const char* nvmlErrorString(int error) { return error == kGpuIsLost ? "GPU is lost" : "fine"; }
}
