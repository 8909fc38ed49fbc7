/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CUPTI_LIBRARY_H
#define GT_CUPTI_LIBRARY_H

#include <limits.h>

struct gt_error;

#define GT_CUPTI_OLDEST_VERSION 22u /* CUDA 12.4's: the oldest whose records are read */

/*
 * Opens libcupti at run time: a copy that the process has mapped already is preferred, since a
 * second one records nothing and says nothing; then the one whose soname fits the driver, then the
 * places where toolkits and Python packages keep it. driver_version as cuDriverGetVersion gives it
 * (13000), 0 when not known; wanted is a path that the user chose, or "". path gets the file that
 * was opened. NULL with a sentence that says what to install.
 */
void *gt_cupti_library_open(int driver_version, const char *wanted, char path[PATH_MAX],
                            struct gt_error *err);

#endif
