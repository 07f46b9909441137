#include "worker/daemon/nvml_library.h"

#include <dlfcn.h>

#include <array>

namespace agoq {
namespace {

// Of NVML's public interface, which keeps these layouts and numbers.
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr std::size_t kTextBytes = 96;
constexpr std::uint64_t kNotAvailable = ~std::uint64_t{0};
constexpr unsigned int kMostProcesses = 1024;

using Handle = void*;
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct ProcessInfo {
  unsigned int pid;
  unsigned long long used_bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

}  // namespace

struct NvmlLibrary::Calls {
  int (*init)();
  int (*shutdown)();
  int (*count)(unsigned int*);
  int (*handle)(unsigned int, Handle*);
  int (*uuid)(Handle, char*, unsigned int);
  int (*name)(Handle, char*, unsigned int);
  int (*memory)(Handle, Memory*);
  int (*driver)(char*, unsigned int);
  const char* (*error_text)(int);
  int (*processes)(Handle, unsigned int*, ProcessInfo*);  // null: an old driver
};

namespace {

template <typename Call>
bool Find(void* library, const char* name, Call* call) {
  *call = reinterpret_cast<Call>(::dlsym(library, name));
  return *call != nullptr;
}

std::string LastLoadError() {
  const char* error = ::dlerror();
  return error == nullptr ? "unknown" : error;
}

}  // namespace

std::unique_ptr<NvmlLibrary> NvmlLibrary::Load(const std::string& path, std::string* problem) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *problem = "NVML cannot be loaded (" + LastLoadError() + ")";
    return nullptr;
  }
  auto calls = std::make_unique<Calls>();
  const bool is_whole = Find(library, "nvmlInit_v2", &calls->init) &&
                        Find(library, "nvmlShutdown", &calls->shutdown) &&
                        Find(library, "nvmlDeviceGetCount_v2", &calls->count) &&
                        Find(library, "nvmlDeviceGetHandleByIndex_v2", &calls->handle) &&
                        Find(library, "nvmlDeviceGetUUID", &calls->uuid) &&
                        Find(library, "nvmlDeviceGetName", &calls->name) &&
                        Find(library, "nvmlDeviceGetMemoryInfo", &calls->memory) &&
                        Find(library, "nvmlSystemGetDriverVersion", &calls->driver) &&
                        Find(library, "nvmlErrorString", &calls->error_text);
  Find(library, "nvmlDeviceGetComputeRunningProcesses_v3", &calls->processes);
  const int error = is_whole ? calls->init() : kSuccess;
  if (is_whole && error == kSuccess) {
    return std::unique_ptr<NvmlLibrary>(new NvmlLibrary(library, std::move(calls)));
  }
  *problem = is_whole ? std::string("NVML does not start (") + calls->error_text(error) + ")"
                      : "NVML is too old (" + LastLoadError() + ")";
  ::dlclose(library);
  return nullptr;
}

NvmlLibrary::NvmlLibrary(void* library, std::unique_ptr<Calls> calls)
    : library_(library), calls_(std::move(calls)) {}

NvmlLibrary::~NvmlLibrary() {
  calls_->shutdown();
  ::dlclose(library_);
}

std::string NvmlLibrary::Describe(int error) const {
  return std::string(calls_->error_text(error)) + ", NVML error " + std::to_string(error);
}

std::string NvmlLibrary::DriverVersion() const {
  std::array<char, kTextBytes> text = {};
  return calls_->driver(text.data(), text.size()) == kSuccess ? text.data() : "";
}

GpuReading NvmlLibrary::ReadGpu(unsigned int index) const {
  GpuReading gpu;
  Handle handle = nullptr;
  std::array<char, kTextBytes> text = {};
  int error = calls_->handle(index, &handle);
  if (error == kSuccess) error = calls_->uuid(handle, text.data(), text.size());
  if (error == kSuccess) gpu.uuid = text.data();
  if (error == kSuccess) error = calls_->name(handle, text.data(), text.size());
  if (error == kSuccess) gpu.name = text.data();
  Memory memory = {};
  if (error == kSuccess) error = calls_->memory(handle, &memory);
  if (error != kSuccess) {
    gpu.problem = "GPU " + std::to_string(index) + " does not answer (" + Describe(error) + ")";
    return gpu;
  }
  gpu.total_bytes = static_cast<std::int64_t>(memory.total);
  gpu.free_bytes = static_cast<std::int64_t>(memory.free);
  if (calls_->processes == nullptr) return gpu;
  std::vector<ProcessInfo> processes(kMostProcesses);
  unsigned int count = kMostProcesses;
  error = calls_->processes(handle, &count, processes.data());
  if (error != kSuccess && error != kInsufficientSize) return gpu;
  for (unsigned int i = 0; i < count && i < kMostProcesses; ++i) {
    const std::uint64_t bytes = processes[i].used_bytes;
    gpu.process_bytes.emplace_back(static_cast<pid_t>(processes[i].pid),
                                   bytes == kNotAvailable ? 0 : static_cast<std::int64_t>(bytes));
  }
  return gpu;
}

std::vector<GpuReading> NvmlLibrary::Read(std::string* problem) const {
  unsigned int count = 0;
  const int error = calls_->count(&count);
  if (error != kSuccess) {
    *problem = "the GPUs cannot be listed (" + Describe(error) + ")";
    return {};
  }
  std::vector<GpuReading> gpus;
  for (unsigned int i = 0; i < count; ++i) gpus.push_back(ReadGpu(i));
  return gpus;
}

}  // namespace agoq
