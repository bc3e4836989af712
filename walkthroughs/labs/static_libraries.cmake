# Whether there is what the labs need and nothing else here does: a submission's program is linked
# statically, since behind the system-call filter it can open no shared library. Sets
# PAGED_LAB_BOOST_CONTEXT, and PAGED_LABS_LEFT_OUT to "" or the reason why there are no labs.
set(PAGED_LAB_BOOST_CONTEXT $<TARGET_FILE:Boost::context>)
set(missing "")
get_target_property(boost_is_imported Boost::context IMPORTED)
if(boost_is_imported)
  find_library(PAGED_STATIC_BOOST_CONTEXT libboost_context.a HINTS ${Boost_LIBRARY_DIRS})
  mark_as_advanced(PAGED_STATIC_BOOST_CONTEXT)
  set(PAGED_LAB_BOOST_CONTEXT ${PAGED_STATIC_BOOST_CONTEXT})
  if(NOT PAGED_STATIC_BOOST_CONTEXT)
    list(APPEND missing "libboost_context.a (package libboost-context-dev, on Fedora boost-static)")
  endif()
endif()
foreach(library IN ITEMS libc.a:libc6-dev:glibc-static libstdc++.a:g++:libstdc++-static)
  string(REPLACE ":" ";" library "${library}")
  list(GET library 0 file)
  list(GET library 1 debian)
  list(GET library 2 fedora)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${file}
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${found}")
    list(APPEND missing "${file} (package ${debian}, on Fedora ${fedora})")
  endif()
endforeach()

set(PAGED_LABS_LEFT_OUT "")
set(left_out "${PROJECT_BINARY_DIR}/labs/left_out.txt")  # lab.sh reads it
if(missing)
  list(JOIN missing ", " missing)
  set(PAGED_LABS_LEFT_OUT 
    "The labs are left out: their kernels are linked statically. Install ${missing}")
  message(STATUS "${PAGED_LABS_LEFT_OUT}")
  file(WRITE "${left_out}" "${PAGED_LABS_LEFT_OUT}\n")
else()
  file(REMOVE "${left_out}")
endif()
