# SPDX-License-Identifier: Apache-2.0
# fake_names(OUT HEADER PREFIX KEEP): a file of lines [number] = "KEEP...", for every enumerator of an
# installed header that is called PREFIX... there. The names stay where they are defined.
function(fake_names out header prefix keep)
  file(STRINGS ${GPUTRACE_CUDA_INCLUDE}/${header} lines
    REGEX "^ *${prefix}[A-Za-z0-9_]+ += [0-9]+,")
  set(text "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^ *${prefix}([A-Za-z0-9_]+) += ([0-9]+),.*" "\\1;\\2" pair "${line}")
    list(GET pair 0 name)
    list(GET pair 1 number)
    if(number LESS 1024)
      string(APPEND text "[${number}] = \"${keep}${name}\",\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${out} CONTENT "${text}" @ONLY)
endfunction()
