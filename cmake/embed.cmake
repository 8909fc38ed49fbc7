# SPDX-License-Identifier: Apache-2.0
# cmake -DHEADER=... -DVARIABLE=... -DFILE=... -P embed.cmake: a header with the file's bytes, and a
# zero, as an array of char. Included, it defines the function alone.
function(gputrace_write_array header variable file)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1, " bytes "${bytes}")
  string(REGEX REPLACE "((0x.., ){16})" "\\1\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${header} CONTENT "static const char ${variable}[] = {\n${bytes}0};\n")
endfunction()

# The file's hash as a Content-Security-Policy names it: "sha256-" and base64 (W3C CSP 3, section 2.3.1).
function(gputrace_write_hash header variable file)
  set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  file(SHA256 ${file} hash)
  set(text "")
  # 32 bytes and one more, a zero, are 11 groups of 3 bytes; the last letter stands for the zero alone.
  foreach(group RANGE 10)
    math(EXPR at "${group} * 6")
    string(SUBSTRING "${hash}00" ${at} 6 bytes)
    foreach(shift 18 12 6 0)
      math(EXPR number "(0x${bytes} >> ${shift}) & 63")
      string(SUBSTRING ${letters} ${number} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endforeach()
  string(REGEX REPLACE ".$" "=" text ${text})
  file(CONFIGURE OUTPUT ${header} CONTENT "static const char ${variable}[] = \"sha256-${text}\";\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  gputrace_write_array(${HEADER} ${VARIABLE} ${FILE})
endif()
