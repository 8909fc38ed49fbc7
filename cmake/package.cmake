# SPDX-License-Identifier: Apache-2.0
# What cpack makes: a .deb and a tarball. Built with preset package (scripts/package), they run on
# Ubuntu 22.04 to 24.04 and Debian 12: libraries that those have in different versions are linked
# in, and tests/install looks for symbols of a newer C library.
set(CPACK_GENERATOR DEB TGZ)
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
include(CPack)
