# agoq_proto_library(NAME PROTOS...): messages of proto/ as one static library. Imports are relative to the repository root.
# Generated code carries no warnings of ours: it is not ours.
find_package(Protobuf REQUIRED)

function(agoq_proto_library name)
  cmake_parse_arguments(ARG "" "" "PROTOS" ${ARGN})
  set(generated_dir ${CMAKE_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${generated_dir})
  set(sources)
  foreach(proto ${ARG_PROTOS})
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
    string(REGEX REPLACE "\\.proto$" "" stem ${relative})
    add_custom_command(
      OUTPUT ${generated_dir}/${stem}.pb.cc ${generated_dir}/${stem}.pb.h
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR} --cpp_out=${generated_dir} ${relative}
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${proto} protobuf::protoc
      COMMENT "protoc ${relative}"
      VERBATIM)
    list(APPEND sources ${generated_dir}/${stem}.pb.cc)
  endforeach()
  add_library(${name} STATIC ${sources})
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} SYSTEM PUBLIC ${generated_dir})
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf)
endfunction()
