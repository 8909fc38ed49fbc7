/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMPARE_BOTH_H
#define GT_CLI_COMPARE_BOTH_H

#include <stdbool.h>

struct gt_error;

/* Whether an output is wanted that shows both sides on one timeline: its name is that of a trace. */
bool gt_is_both(const char *output);

/*
 * Writes two recordings as one trace for Perfetto: the first steady step of each begins at the same
 * moment, without steps the first kernel. Processes and GPUs of the first are on machine A, those
 * of the second on machine B.
 */
int gt_both_write(const char *a, const char *b, const char *output, bool replace,
                  struct gt_error *err);

#endif
