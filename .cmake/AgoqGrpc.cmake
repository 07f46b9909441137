# What the daemons stand on besides the messages: gRPC, Abseil, prometheus-cpp, civetweb, SQLite.
#
# agoq_grpc_library(NAME PROTOS... DEPS...): stubs of services; their messages are in DEPS.
# agoq_google_rpc: google.rpc.Status and its details, which no Debian package brings.
find_package(absl REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(civetweb CONFIG REQUIRED)

set(AGOQ_GOOGLEAPIS ${CMAKE_SOURCE_DIR}/.deps/googleapis CACHE PATH "Folder that holds google/rpc/status.proto")
if(NOT EXISTS ${AGOQ_GOOGLEAPIS}/google/rpc/error_details.proto)
  message(FATAL_ERROR "AGOQ_GOOGLEAPIS=${AGOQ_GOOGLEAPIS}: no google/rpc/error_details.proto there; run deploy/local/setup.sh")
endif()

# Named in metrics and in `agoq version`.
execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} rev-parse --short HEAD
  OUTPUT_VARIABLE AGOQ_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT AGOQ_REVISION)
  set(AGOQ_REVISION unknown)
endif()

function(agoq_grpc_library name)
  cmake_parse_arguments(ARG "" "" "PROTOS;DEPS" ${ARGN})
  set(generated_dir ${CMAKE_BINARY_DIR}/generated)
  set(sources)
  foreach(proto ${ARG_PROTOS})
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
    string(REGEX REPLACE "\\.proto$" "" stem ${relative})
    add_custom_command(
      OUTPUT ${generated_dir}/${stem}.grpc.pb.cc ${generated_dir}/${stem}.grpc.pb.h
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR} --grpc_out=${generated_dir}
        --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${relative}
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${proto} protobuf::protoc
      COMMENT "protoc ${relative}, services"
      VERBATIM)
    list(APPEND sources ${generated_dir}/${stem}.grpc.pb.cc)
  endforeach()
  add_library(${name} STATIC ${sources})
  target_compile_options(${name} PRIVATE -w)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} gRPC::grpc++)
endfunction()

set(google_rpc_dir ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${google_rpc_dir})
add_custom_command(
  OUTPUT ${google_rpc_dir}/google/rpc/status.pb.cc ${google_rpc_dir}/google/rpc/error_details.pb.cc
  COMMAND protobuf::protoc --proto_path=${AGOQ_GOOGLEAPIS} --cpp_out=${google_rpc_dir}
    google/rpc/status.proto google/rpc/error_details.proto
  DEPENDS protobuf::protoc ${AGOQ_GOOGLEAPIS}/google/rpc/status.proto
  COMMENT "protoc google/rpc"
  VERBATIM)
add_library(agoq_google_rpc STATIC
  ${google_rpc_dir}/google/rpc/status.pb.cc ${google_rpc_dir}/google/rpc/error_details.pb.cc)
target_compile_options(agoq_google_rpc PRIVATE -w)
target_include_directories(agoq_google_rpc SYSTEM PUBLIC ${google_rpc_dir})
target_link_libraries(agoq_google_rpc PUBLIC protobuf::libprotobuf)
