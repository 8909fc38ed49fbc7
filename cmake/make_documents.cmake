# SPDX-License-Identifier: Apache-2.0
# cmake -DGPUTRACE=PROGRAM -DFOLDER=WHERE -DRELEASED=DATE -P make_documents.cmake: what the program says of itself,
# as FOLDER/man/manN/PAGE.N and FOLDER/completion/SHELL.
function(make file)
  execute_process(COMMAND ${GPUTRACE} ${ARGN} OUTPUT_FILE ${FOLDER}/${file} RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "gputrace ${ARGN}: ${result}")
  endif()
endfunction()

# The pages of a version that was not released yet are as old as the last change to it.
find_program(git git)
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH} AND NOT RELEASED AND git)
  execute_process(COMMAND ${git} log -1 --format=%ct WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR}
    OUTPUT_VARIABLE seconds OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(ENV{SOURCE_DATE_EPOCH} "${seconds}")
endif()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/man/man1 ${FOLDER}/man/man5 ${FOLDER}/completion)
execute_process(COMMAND ${GPUTRACE} manual OUTPUT_VARIABLE pages RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "gputrace manual: ${result}")
endif()
string(STRIP "${pages}" pages)
string(REPLACE "\n" ";" pages "${pages}")
foreach(page IN LISTS pages)
  string(REGEX REPLACE ".*[.]" "" section ${page})
  make(man/man${section}/${page} manual ${page})
endforeach()
foreach(shell bash zsh fish)
  make(completion/${shell} completion ${shell})
endforeach()
file(TOUCH ${FOLDER}/stamp)
