# How tests are registered: as set_tests_properties, with a rule for each of LABELS and TIMEOUT.
#
# One of the labels says what the test rests on, and so what may be done with it (tests/README.md):
#   exact   neither clocks nor launchers: its result is the same on any machine, and it is never repeated
#   real    MPI launchers, signals, hosts, browsers: judges logic only, may be repeated where it is listed as flaky then
#   figure  measured time or statistics of a machine, judged by `latecomer.sh measure`: never part of the gate, so `nightly` too
# TIMEOUT is what the test needs at most on a quiet machine; LC_PATIENCE (set by latecomer.sh after a look at the machine) multiplies it.
# A limit ends tests that hang; it judges nothing.
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
      if("figure" IN_LIST value)
        set_tests_properties(${names} PROPERTIES PROCESSORS 2) # not beside others
      endif()
    else()
      set(value "${word}")
    endif()
    set_tests_properties(${names} PROPERTIES ${key} "${value}")
    set(key)
  endforeach()
endfunction()
