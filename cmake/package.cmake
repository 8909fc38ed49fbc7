# SPDX-License-Identifier: Apache-2.0
# What cpack makes: a .deb, a tarball, a wheel and, where there is rpmbuild, an .rpm. Built with
# preset package (scripts/package) on Debian 12, they run where the C library is 2.34 or later: all
# other libraries are linked in, and tests/install looks for symbols of a newer C library.
set(CPACK_GENERATOR DEB TGZ)
find_program(GPUTRACE_PYTHON3 python3)
if(GPUTRACE_PYTHON3 AND CMAKE_OBJDUMP)
  list(APPEND CPACK_GENERATOR External)
endif()
find_program(GPUTRACE_RPMBUILD rpmbuild)
if(GPUTRACE_RPMBUILD)
  list(APPEND CPACK_GENERATOR RPM)
endif()
set(CPACK_PACKAGE_NAME gputrace)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Profiler and event tracer for NVIDIA GPUs")
set(CPACK_PACKAGE_VENDOR "The gputrace authors")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME
  gputrace-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The gputrace authors")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Records what an unchanged program does on NVIDIA GPUs: every kernel, copy
and fill, the API calls that asked for them, and who waited for what. Makes
traces for ui.perfetto.dev, and tables.

To record, a machine needs the NVIDIA driver and a libcupti: the CUDA
toolkit's, or the one that PyTorch and JAX bring along.")
# From the symbols that are used, so that an older system than this one will do.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_DESCRIPTION ${CPACK_DEBIAN_PACKAGE_DESCRIPTION})
# Files stay as they are in the other packages, and none is for a debugger alone.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define __os_install_post %{nil}\n%define _build_id_links none")
# Folders that other packages own.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
  /usr/share/man /usr/share/man/man1 /usr/share/man/man5 /usr/share/bash-completion
  /usr/share/bash-completion/completions /usr/share/fish /usr/share/fish/vendor_completions.d
  /usr/share/zsh /usr/share/zsh/site-functions /usr/share/zsh/vendor-completions)

# The wheel.
set(CPACK_EXTERNAL_ENABLE_STAGING ON)
set(CPACK_EXTERNAL_PACKAGE_SCRIPT ${PROJECT_SOURCE_DIR}/cmake/wheel.cmake)
set(CPACK_GPUTRACE_WHEEL ${GPUTRACE_PYTHON3} ${PROJECT_SOURCE_DIR}/cmake/wheel.py)
set(CPACK_GPUTRACE_MACHINE ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_GPUTRACE_OBJDUMP ${CMAKE_OBJDUMP})
include(CPack)
