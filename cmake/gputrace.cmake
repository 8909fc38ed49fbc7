# SPDX-License-Identifier: Apache-2.0
# What all code is compiled with, tests included.
add_library(gputrace_flags INTERFACE)
target_include_directories(gputrace_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(gputrace_flags INTERFACE _GNU_SOURCE GPUTRACE_VERSION="${PROJECT_VERSION}")
target_compile_options(gputrace_flags INTERFACE
  -Wall -Wextra -Wstrict-prototypes -Wvla -Wformat=2 -Wno-missing-field-initializers
  -fno-common -fstack-protector-strong
  $<$<BOOL:${GPUTRACE_WERROR}>:-Werror>
  $<$<CONFIG:RelWithDebInfo>:-D_FORTIFY_SOURCE=2>)

# What the product is held to on top. Criterion's macros do not survive these.
add_library(gputrace_strict INTERFACE)
target_link_libraries(gputrace_strict INTERFACE gputrace_flags)
target_compile_options(gputrace_strict INTERFACE
  -Wpedantic -Wshadow -Wmissing-prototypes -Wconversion -Wno-sign-conversion -Wundef
  -Wcast-qual -Wwrite-strings -Wswitch-enum)

if(GPUTRACE_SANITIZE)
  add_compile_options(-fsanitize=${GPUTRACE_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GPUTRACE_SANITIZE})
endif()
# Data of sanitized programs is full of addresses. A program that need not correct them first starts in 70 percent of the time.
if(GPUTRACE_SANITIZE MATCHES "address")
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

# gputrace_library(NAME HEADER LIBRARY [STATIC] [OPTIONAL]): the imported target gputrace::NAME, static
# when asked for, or when GPUTRACE_STATIC wants a build that runs on machines without the libraries.
# An optional one that is missing has no target.
function(gputrace_library name header library)
  set(required REQUIRED)
  if("OPTIONAL" IN_LIST ARGN)
    set(required)
  endif()
  find_path(GPUTRACE_${name}_INCLUDE ${header} ${required})
  if(GPUTRACE_STATIC OR "STATIC" IN_LIST ARGN)
    find_library(GPUTRACE_${name}_LIBRARY NAMES lib${library}.a ${library} ${required})
  else()
    find_library(GPUTRACE_${name}_LIBRARY NAMES ${library} ${required})
  endif()
  if(NOT GPUTRACE_${name}_INCLUDE OR NOT GPUTRACE_${name}_LIBRARY)
    return()
  endif()
  add_library(gputrace::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(gputrace::${name} PROPERTIES
    IMPORTED_LOCATION ${GPUTRACE_${name}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${GPUTRACE_${name}_INCLUDE})
endfunction()

# gputrace_family_members(OUT LIST): the x of every line WORD(x) of LIST.def in this folder.
function(gputrace_family_members out list)
  set(file ${CMAKE_CURRENT_SOURCE_DIR}/${list}.def)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} members REGEX "^[A-Z]+\\([a-z0-9_]+\\)")
  list(TRANSFORM members REPLACE "^[A-Z]+\\(([a-z0-9_]+)\\).*" "\\1")
  set(${out} ${members} PARENT_SCOPE)
endfunction()

# gputrace_folder(NAME SOURCES files... [FAMILY list] [USES folders...] [LIBRARIES targets...])
# One folder, one static library. A family is a list of like things: FAMILY reports reads
# reports.def and compiles reports/x.c for every line REPORT(x) in it.
function(gputrace_folder name)
  cmake_parse_arguments(arg "" "FAMILY" "SOURCES;USES;LIBRARIES" ${ARGN})
  if(arg_FAMILY)
    gputrace_family_members(members ${arg_FAMILY})
    list(TRANSFORM members REPLACE "(.+)" "${arg_FAMILY}/\\1.c")
  endif()
  add_library(gputrace_${name} STATIC ${arg_SOURCES} ${members})
  target_link_libraries(gputrace_${name} PRIVATE gputrace_strict)
  foreach(used IN LISTS arg_USES)
    target_link_libraries(gputrace_${name} PUBLIC gputrace_${used})
  endforeach()
  target_link_libraries(gputrace_${name} PUBLIC ${arg_LIBRARIES})
endfunction()

# gputrace_find_nvcc(): sets GPUTRACE_NVCC where there is one.
function(gputrace_find_nvcc)
  get_filename_component(cuda_root "${GPUTRACE_CUDA_INCLUDE}" DIRECTORY)
  find_program(GPUTRACE_NVCC nvcc HINTS ${cuda_root}/bin $ENV{CUDA_HOME}/bin PATHS /usr/local/cuda/bin)
endfunction()

# gputrace_cuda_programs(TARGET [ALL] NAMES NAME... FOLDER DIR [FROM FOLDER] [DEPENDS FILE...] FLAGS FLAG...): the
# target builds NAME.cu of this folder, or of the folder FROM in it, as DIR/NAME, by nvcc itself: CMake's own CUDA
# language would make the toolkit a condition of configuring anything at all. Without nvcc there is no such target.
# ALL: with everything else, unless GPUTRACE_SAMPLES is off.
function(gputrace_cuda_programs target)
  cmake_parse_arguments(arg "ALL" "FOLDER;FROM" "NAMES;DEPENDS;FLAGS" ${ARGN})
  gputrace_find_nvcc()
  if(NOT GPUTRACE_NVCC)
    message(STATUS "nvcc was not found: no target ${target}")
    return()
  endif()
  set(programs "")
  if(NOT arg_FROM)
    set(arg_FROM .)
  endif()
  foreach(name IN LISTS arg_NAMES)
    set(program ${arg_FOLDER}/${name})
    add_custom_command(OUTPUT ${program}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${arg_FOLDER}
      COMMAND ${GPUTRACE_NVCC} ${arg_FLAGS} -o ${program} ${CMAKE_CURRENT_SOURCE_DIR}/${arg_FROM}/${name}.cu
      DEPENDS ${arg_FROM}/${name}.cu ${arg_DEPENDS}
      COMMENT "Building ${name} with nvcc" VERBATIM)
    list(APPEND programs ${program})
  endforeach()
  if(arg_ALL AND GPUTRACE_SAMPLES)
    set(all ALL)
  endif()
  add_custom_target(${target} ${all} DEPENDS ${programs})
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/embed.cmake)

# gputrace_embed(HEADER VARIABLE FILE): a header with the file's bytes, and a zero, as an array of
# char, made anew when the file changes.
function(gputrace_embed header variable file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  gputrace_write_array(${PROJECT_BINARY_DIR}/generated/${header} ${variable} ${file})
endfunction()

# gputrace_embed_hash(HEADER VARIABLE FILE): the same with the file's hash for a Content-Security-Policy.
function(gputrace_embed_hash header variable file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  gputrace_write_hash(${PROJECT_BINARY_DIR}/generated/${header} ${variable} ${file})
endfunction()

# gputrace_without_tls(NAME LIBRARY): a target that stands in for what a static libmicrohttpd calls
# of GnuTLS, which has no static library of its own everywhere. It is called at the start and the
# end of the program; TLS itself is never used.
function(gputrace_without_tls name library)
  execute_process(COMMAND ${CMAKE_NM} --undefined-only ${library} OUTPUT_VARIABLE symbols
    ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "gnutls_[a-z0-9_]+" symbols "${symbols}")
  list(REMOVE_DUPLICATES symbols)
  set(text)
  foreach(symbol IN LISTS symbols)
    string(APPEND text "int ${symbol}(void);\nint ${symbol}(void)\n{\n\treturn 0;\n}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${name}.c CONTENT "${text}" @ONLY)
  add_library(${name} STATIC ${PROJECT_BINARY_DIR}/generated/${name}.c)
endfunction()
