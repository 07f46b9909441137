# agoq_library(NAME SOURCES... DEPS...): one static library that owns one role.
# agoq_executable(NAME SOURCES... DEPS...)
# agoq_test(NAME SOURCES... DEPS... [LABELS...] [TIMEOUT s]): a GoogleTest program; each of its tests is a CTest test.
#   Labels: unit (default), numerics, integration, fault. The label `slow` keeps a test out of `tests/run.sh --quick`.
set(AGOQ_WARNINGS -Wall -Wextra -Werror -Wno-missing-field-initializers)
option(AGOQ_WARNINGS_ARE_ERRORS "Fail on a compiler's warning" ON)
if(NOT AGOQ_WARNINGS_ARE_ERRORS)
  list(REMOVE_ITEM AGOQ_WARNINGS -Werror)
endif()

function(agoq_settings target)
  target_compile_options(${target} PRIVATE ${AGOQ_WARNINGS})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
endfunction()

function(agoq_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  agoq_settings(${name})
endfunction()

# A role that is headers alone.
function(agoq_header_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_library(${name} INTERFACE)
  target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} INTERFACE ${ARG_DEPS})
endfunction()

function(agoq_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  agoq_settings(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

function(agoq_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  agoq_settings(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # gtest_discover_tests loses all of a list but its first entry. CTest selects labels by regular expression: one word that
  # holds them all, like fault+slow, serves as well.
  string(REPLACE ";" "+" labels "${ARG_LABELS}")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 PROPERTIES LABELS "${labels}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
