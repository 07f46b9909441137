# agoq::torch: LibTorch's CPU half as an imported target of our own.
# - Its headers come last (-idirafter): it ships Protocol Buffers 3.13, which must never win over the system's.
# - Debian's Gloo and Protocol Buffers stand before it on the link line: libtorch_cpu.so exports a Gloo of its own, and ranks
#   that get that one never connect.
set(AGOQ_LIBTORCH ${CMAKE_SOURCE_DIR}/.deps/libtorch CACHE PATH "Folder that holds torch/lib and torch/include")
if(NOT EXISTS ${AGOQ_LIBTORCH}/torch/lib/libtorch_cpu.so)
  message(FATAL_ERROR "AGOQ_LIBTORCH=${AGOQ_LIBTORCH}: no torch/lib/libtorch_cpu.so there; run deploy/local/setup.sh")
endif()
find_library(AGOQ_GLOO gloo REQUIRED)
find_library(AGOQ_PROTOBUF protobuf REQUIRED)

add_library(agoq_torch INTERFACE)
add_library(agoq::torch ALIAS agoq_torch)
target_compile_options(agoq_torch INTERFACE
  "SHELL:-idirafter ${AGOQ_LIBTORCH}/torch/include"
  "SHELL:-idirafter ${AGOQ_LIBTORCH}/torch/include/torch/csrc/api/include"
  -fopenmp)  # at::parallel_for runs on one thread, silently, in a file compiled without it
target_link_libraries(agoq_torch INTERFACE
  ${AGOQ_GLOO} ${AGOQ_PROTOBUF}
  ${AGOQ_LIBTORCH}/torch/lib/libtorch_cpu.so ${AGOQ_LIBTORCH}/torch/lib/libc10.so
  gomp Threads::Threads)
target_link_options(agoq_torch INTERFACE
  "LINKER:-rpath-link,${AGOQ_LIBTORCH}/nvidia/cu13/lib" "LINKER:-rpath,${AGOQ_LIBTORCH}/torch/lib")

# A string that crosses into LibTorch must look the same on both sides; found here, not as odd symbols at the end of a build.
include(CheckCXXSourceCompiles)
string(MD5 agoq_torch_key "${AGOQ_LIBTORCH} ${CMAKE_CXX_FLAGS}")
set(CMAKE_REQUIRED_LIBRARIES ${AGOQ_LIBTORCH}/torch/lib/libc10.so)
set(CMAKE_REQUIRED_QUIET ON)
check_cxx_source_compiles("
  #include <cstdint>
  #include <string>
  namespace c10::detail { void torchCheckFail(const char*, const char*, std::uint32_t, const std::string&); }
  int main(int argc, char**) { if (argc > 9) c10::detail::torchCheckFail(nullptr, nullptr, 0, std::string()); }
" agoq_torch_links_${agoq_torch_key})
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_QUIET)
if(NOT agoq_torch_links_${agoq_torch_key})
  message(FATAL_ERROR "AGOQ_LIBTORCH=${AGOQ_LIBTORCH}: its functions with std::string do not link with this compiler's: built with "
    "another _GLIBCXX_USE_CXX11_ABI, or another LibTorch than 2.11; remove that flag from CMAKE_CXX_FLAGS "
    "(${CMAKE_CXX_FLAGS}), or run deploy/local/setup.sh and use its LibTorch")
endif()
