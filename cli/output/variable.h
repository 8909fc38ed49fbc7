/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_OUTPUT_VARIABLE_H
#define GT_CLI_OUTPUT_VARIABLE_H

/* A variable of gputrace's own environment; NULL for one that is not set, or empty. */
const char *gt_variable(const char *name);

#endif
