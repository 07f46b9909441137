# AGOQ_CUDA=OFF|KERNELS|ON. KERNELS compiles device code and links the CPU trainer; ON links LibTorch's CUDA half as well.
set(AGOQ_CUDA OFF CACHE STRING "CUDA support: OFF, KERNELS (compile device code only) or ON")
set_property(CACHE AGOQ_CUDA PROPERTY STRINGS OFF KERNELS ON)
if(NOT AGOQ_CUDA MATCHES "^(OFF|KERNELS|ON)$")
  message(FATAL_ERROR "AGOQ_CUDA=${AGOQ_CUDA}: not a value; use OFF, KERNELS or ON")
endif()
if(NOT AGOQ_CUDA STREQUAL OFF)
  message(FATAL_ERROR "AGOQ_CUDA=${AGOQ_CUDA}: this version has no device code yet; configure with -DAGOQ_CUDA=OFF")
endif()
