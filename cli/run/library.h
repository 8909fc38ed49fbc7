/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_LIBRARY_H
#define GT_CLI_RUN_LIBRARY_H

struct gt_error;

/*
 * Where libgputrace-injection.so is, as an absolute path that the caller frees: what
 * GPUTRACE_INJECTION names, else ../lib beside the folder of this executable, which fits the
 * build tree and an installed one.
 */
int gt_library_find(char **path, struct gt_error *err);

#endif
