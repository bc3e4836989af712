# Writes the CTest file of a GoogleTest executable, in script mode: one test for each TEST and TEST_P,
# which runs all its parameters in one process. A process for each parameter, as gtest_discover_tests
# has it, costs more than most of them do.
# -D executable=PROGRAM -D prefix=NAME. -D output=FILE
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${executable} --gtest_list_tests --gtest_filter=-*cuda*
  OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE " +#[^\n]*" "" listing "${listing}") # values of parameters
string(REPLACE "\n" ";" lines "${listing}")

# A line is a suite, "Stages/SomeTest.", or one of its tests, "  Holds" or "  Holds/stage_1".
set(tests "")
foreach(line IN LISTS lines)
  if(line MATCHES "^[^ ]+\\.$")
    set(suite "${line}")
  elseif(line MATCHES "^  ([^/]+)(/?)")
    set(test "${suite}${CMAKE_MATCH_1}")
    if(NOT test IN_LIST tests)
      list(APPEND tests "${test}")
      set(filter_${test} "${test}")
      set(parameters_${test} 0)
      if(CMAKE_MATCH_2)
        set(filter_${test} "${test}/*")
      endif()
    endif()
    math(EXPR parameters_${test} "${parameters_${test}} + 1")
  endif()
endforeach()

# The longest first: a test with many parameters would be the last one to end. Only a test without
# parameters can be "skipped" as a whole.
set(content "")
foreach(test IN LISTS tests)
  string(APPEND content
    "add_test([[${prefix}${test}]] [[${executable}]] [[--gtest_filter=${filter_${test}}]])\n"
    "set_tests_properties([[${prefix}${test}]] PROPERTIES COST ${parameters_${test}}")
  if(filter_${test} STREQUAL test)
    string(APPEND content " SKIP_REGULAR_EXPRESSION [=[\\[  SKIPPED \\]]=]")
  endif()
  string(APPEND content ")\n")
endforeach()
file(WRITE ${output} "${content}")
