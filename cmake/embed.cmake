# SPDX-License-Identifier: Apache-2.0
# cmake -DHEADER=... -DVARIABLE=... -DFILE=... -P embed.cmake: a header with the file's bytes, and a
# zero, as an array of char. Included, it defines the function alone.
function(gputrace_write_array header variable file)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1, " bytes "${bytes}")
  string(REGEX REPLACE "((0x.., ){16})" "\\1\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${header} CONTENT "static const char ${variable}[] = {\n${bytes}0};\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  gputrace_write_array(${HEADER} ${VARIABLE} ${FILE})
endif()
