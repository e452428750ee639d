# How tests are registered: as set_tests_properties, with a rule for each of LABELS and TIMEOUT.
#
# One of the labels says what the test rests on, and so what may be done with it (tests/README.md):
#   exact   neither clocks nor launchers: its result is the same on any machine, and it is never repeated
#   real    MPI launchers, signals, hosts, browsers: judges logic only, may be repeated where it is listed as flaky then
#   figure  measured time or statistics of a machine, judged by `latecomer.sh measure`: never part of the gate, so `nightly` too
# TIMEOUT is what the test needs at most on a quiet machine; LC_PATIENCE (set by latecomer.sh after a look at the machine) multiplies it.
# A limit ends tests that hang; it judges nothing. COST is given to tests of more than 20 s, in seconds: they begin first.
# PROCESSORS counts halves of cores: the gate runs twice as many tests at a time as there are cores, since most of a `real` test is launchers and
# sleep; an `exact` one keeps a core busy.
# Ranks of `real` tests sleep while they wait (idle/sleep_when_idle.c), but not where lc_polling_mpi(TEST ..) says so; under sanitizers, whose library
# must be the first, where a test preloads both (lc_sanitizer_preloads). Open MPI is told to use what it chooses on one host anyway (ob1), where not lc_polling_mpi:
# it does not open the libraries of all networks then, a third of what it takes to start.
set(LC_IDLE_DIR ${CMAKE_CURRENT_BINARY_DIR}/idle)
set(LC_PATIENCE 3 CACHE STRING "limits of time in tests are multiplied by this")

function(lc_tests)
  list(FIND ARGN PROPERTIES at)
  list(SUBLIST ARGN 0 ${at} names)
  math(EXPR at "${at} + 1")
  list(SUBLIST ARGN ${at} -1 properties)
  set(key)
  foreach(word IN LISTS properties)
    if(NOT key)
      set(key ${word})
      continue()
    endif()
    string(REPLACE " " ";" value "${word}") # labels are separated by spaces: a list in a list of arguments would fall apart
    if(key STREQUAL "TIMEOUT")
      math(EXPR value "${word} * ${LC_PATIENCE}")
    elseif(key STREQUAL "LABELS")
      if("figure" IN_LIST value AND NOT "nightly" IN_LIST value)
        list(APPEND value nightly)
      endif()
      set(changed "")
      if("real" IN_LIST value AND NOT "figure" IN_LIST value)
        set(changed "OMPI_MCA_pml=set:ob1")
        if(NOT LC_SANITIZE)
          list(APPEND changed "LD_PRELOAD=path_list_append:${LC_IDLE_DIR}/sleep_when_idle.so")
        endif()
      endif()
      set_tests_properties(${names} PROPERTIES ENVIRONMENT_MODIFICATION "${changed}")
      if("figure" IN_LIST value)
        set_tests_properties(${names} PROPERTIES RUN_SERIAL TRUE)
      elseif("exact" IN_LIST value)
        set_tests_properties(${names} PROPERTIES PROCESSORS 2)
      endif()
    else()
      set(value "${word}")
    endif()
    set_tests_properties(${names} PROPERTIES ${key} "${value}")
    set(key)
  endforeach()
endfunction()

# Words for LD_PRELOAD of ranks: in NAME_polling the run-time library of the sanitizer of this build (libasan.so or so), in NAME with ranks that sleep behind it.
function(lc_sanitizer_preloads name library)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${library} OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${name}_polling ${path} PARENT_SCOPE)
  set(${name} ${path}:${LC_IDLE_DIR}/sleep_when_idle.so PARENT_SCOPE)
endfunction()

function(lc_polling_mpi)
  foreach(test ${ARGN})
    if(TEST ${test})
      set_tests_properties(${test} PROPERTIES ENVIRONMENT_MODIFICATION "")
    endif()
  endforeach()
endfunction()

# lc_idle_ranks(LIBRARY TEST ..): figures of four ranks that sleep instead of working. With MPICH, where there are fewer cores, those that wait sleep, too, as in
# tests labelled `real`: they would take the cores from those that wake up. Programs with Open MPI have a sched_yield of their own for that.
function(lc_idle_ranks library)
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  foreach(test ${ARGN})
    if(test MATCHES "mpich$" AND cores LESS 4)
      set_tests_properties(${test} PROPERTIES ENVIRONMENT "LD_PRELOAD=${LC_IDLE_DIR}/${library}.so")
    endif()
  endforeach()
endfunction()

# lc_by_turns(NAME ..): tests NAME.openmpi and NAME.mpich of what is the same code with either MPI. The gate has the first with Open MPI, the next with MPICH, and
# so on; the others run at night. Of this folder, and no fixtures: ctest would run these all the same.
function(lc_by_turns)
  set(order mpich openmpi)
  foreach(name ${ARGN})
    list(POP_FRONT order other)
    list(APPEND order ${other})
    if(TEST ${name}.openmpi AND TEST ${name}.mpich)
      get_test_property(${name}.${other} LABELS labels)
      string(REPLACE ";" " " labels "${labels}")
      lc_tests(${name}.${other} PROPERTIES LABELS "${labels} nightly")
    endif()
  endforeach()
endfunction()

# Programs of this folder and below it, which run for a moment, in a third of the time: without optimisation, but with the frames that optimised ones have.
# What a target says of itself comes after it.
macro(lc_quick_to_compile)
  foreach(language C CXX)
    string(REGEX REPLACE "-O[23]" "-O0 -fomit-frame-pointer" CMAKE_${language}_FLAGS_RELWITHDEBINFO "${CMAKE_${language}_FLAGS_RELWITHDEBINFO}")
  endforeach()
endmacro()
