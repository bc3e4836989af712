# Mutants as object files: each a copy of one source file with one edit, made in the build folder.
# The folder of a mutant holds that file alone, under its own path, and is searched first, so that
# everything else is included from the source tree as it is.

# Replaces the nth place (1, 2 ...; 0: the only one) where `text` occurs in `content`. Sets `error`
# to why that cannot be, or to "".
function(paged_edit content text replacement nth out_content out_error)
  string(REPLACE "${text}" "" without "${content}")
  string(LENGTH "${content}" length)
  string(LENGTH "${without}" length_without)
  string(LENGTH "${text}" length_of_text)
  math(EXPR count "(${length} - ${length_without}) / ${length_of_text}")
  set(${out_error} "" PARENT_SCOPE)
  if(nth EQUAL 0 AND NOT count EQUAL 1)
    set(${out_error} "occurs ${count} times and must occur once" PARENT_SCOPE)
    return()
  elseif(nth GREATER count)
    set(${out_error} "occurs ${count} times, and the edit is for number ${nth}" PARENT_SCOPE)
    return()
  endif()
  set(before "")
  set(rest "${content}")
  set(left ${nth})
  while(TRUE)
    string(FIND "${rest}" "${text}" position)
    math(EXPR after "${position} + ${length_of_text}")
    string(SUBSTRING "${rest}" 0 ${position} skipped)
    string(SUBSTRING "${rest}" ${after} -1 rest)
    if(left LESS_EQUAL 1)
      break()
    endif()
    string(APPEND before "${skipped}${text}")
    math(EXPR left "${left} - 1")
  endwhile()
  set(${out_content} "${before}${skipped}${replacement}${rest}" PARENT_SCOPE)
endfunction()

# Writes a file unless it has that content already: what is built from it stays built.
function(paged_write_if_different file content)
  set(old "")
  if(EXISTS "${file}")
    file(READ "${file}" old)
  endif()
  if(NOT "${old}" STREQUAL "${content}")
    file(WRITE "${file}" "${content}")
  endif()
endfunction()

# A member of a JSON object, or a default where it has none.
function(paged_json_member object name default out)
  string(JSON value ERROR_VARIABLE missing GET "${object}" ${name})
  if(missing)
    set(value "${default}")
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# Makes the sources of one mutant. Appends to `sources`, `declarations` and `entries` of the caller;
# the last two make the table of mutant_kernels.h.
function(paged_add_mutant mutant default_source default_instances)
  foreach(member IN ITEMS name file text replacement)
    string(JSON ${member} GET "${mutant}" ${member})
  endforeach()
  paged_json_member("${mutant}" nth 0 nth)
  paged_json_member("${mutant}" source "${default_source}" source)
  paged_json_member("${mutant}" instances "${default_instances}" instances)

  if(NOT file MATCHES "[.]cuh?$")
    message(FATAL_ERROR "mutant ${name}: ${file} is no .cu or .cuh file, whose functions are each mutant's own")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
  file(READ "${PROJECT_SOURCE_DIR}/${file}" content)
  paged_edit("${content}" "${text}" "${replacement}" ${nth} edited error)
  if(error)
    # The build goes on, so that a stage can be changed; `paged mutants` and its tests fail.
    message(STATUS "mutant ${name}: its text ${error} in ${file}")
    set(entries "${entries}    {\"${name}\", nullptr, nullptr, \"its text ${error} in ${file}\"},\n" PARENT_SCOPE)
    return()
  endif()

  string(REPLACE "-" "_" namespace "mutant_${name}")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/edited/${name}")
  paged_write_if_different("${folder}/${file}" "${edited}")
  set(wrapper "// Written by tests/mutants/edit_sources.cmake.\n#undef PAGED_BACKEND\n")
  string(APPEND wrapper "#define PAGED_BACKEND ${namespace}\n#define PAGED_INSTANCES ${instances}\n")
  if(source MATCHES "^stage_05")
    string(APPEND wrapper "#include \"tests/mutants/unmutated_v1.h\"\n")
  endif()
  string(APPEND wrapper "#include \"stages/${source}.cu\"\n")
  paged_write_if_different("${folder}/${name}.cpp" "${wrapper}")
  set_source_files_properties("${folder}/${name}.cpp" PROPERTIES INCLUDE_DIRECTORIES "${folder}")

  list(APPEND sources "${folder}/${name}.cpp")
  set(sources "${sources}" PARENT_SCOPE)
  if(source STREQUAL "cache_operations")
    set(declarations "${declarations}namespace ${namespace} {\nconst CacheKernels& cache_kernels();\n}\n" PARENT_SCOPE)
    set(entries "${entries}    {\"${name}\", nullptr, &${namespace}::cache_kernels, \"\"},\n" PARENT_SCOPE)
  else()
    set(declarations "${declarations}namespace ${namespace} {\nStage ${source}();\n}\n" PARENT_SCOPE)
    set(entries "${entries}    {\"${name}\", &${namespace}::${source}, nullptr, \"\"},\n" PARENT_SCOPE)
  endif()
endfunction()

#[[
paged_add_zoo(TARGET name GROUPS a b ... PRECOMPILE headers...)

Makes an OBJECT library of the mutants that a.json, b.json ... of this folder describe, and the table
of them that mutant_kernels.h declares.
]]
function(paged_add_zoo)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET" "GROUPS;PRECOMPILE")
  set(sources "")
  set(declarations "")
  set(entries "")
  foreach(group IN LISTS arg_GROUPS)
    set(file "${CMAKE_CURRENT_SOURCE_DIR}/${group}.json")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    string(JSON group_source GET "${text}" source)
    paged_json_member("${text}" instances mutant group_instances)
    string(JSON count LENGTH "${text}" mutants)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON mutant GET "${text}" mutants ${i})
      paged_add_mutant("${mutant}" "${group_source}" "${group_instances}")
    endforeach()
  endforeach()

  set(table "${CMAKE_CURRENT_BINARY_DIR}/mutant_kernels.cpp")
  paged_write_if_different("${table}" "// Written by tests/mutants/edit_sources.cmake.
#include \"tests/mutants/mutant_kernels.h\"

namespace paged {
${declarations}
std::span<const MutantKernel> mutant_kernels() {
  static const MutantKernel all[] = {
${entries}  };
  return all;
}

}  // namespace paged
")
  add_library(${arg_TARGET} OBJECT ${sources} ${table})
  set_source_files_properties("${table}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  # Read once, this saves more than half of the time that a mutant takes. Nothing of it may know
  # PAGED_BACKEND, and nothing of it can be edited by a mutant.
  list(TRANSFORM arg_PRECOMPILE PREPEND "${PROJECT_SOURCE_DIR}/")
  target_precompile_headers(${arg_TARGET} PRIVATE ${arg_PRECOMPILE})
  # There are many: lines for findings are enough, and less optimising than stages get. A mutant may
  # leave variables unused.
  add_library(${arg_TARGET}_options INTERFACE)
  target_compile_options(${arg_TARGET}_options INTERFACE -O1 -g1 -w)
  target_link_libraries(${arg_TARGET}
    PRIVATE paged_cpu_checked ${arg_TARGET}_options INTERFACE paged_simt)
endfunction()
