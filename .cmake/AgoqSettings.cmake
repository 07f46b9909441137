# Language level, warnings, ccache: one place for the whole tree.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(AGOQ_CCACHE ccache)
if(AGOQ_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${AGOQ_CCACHE})
endif()

# Debian and Ubuntu link as needed or not by default; Gloo and Protocol Buffers must stay before LibTorch either way.
add_link_options(-Wl,--as-needed)
