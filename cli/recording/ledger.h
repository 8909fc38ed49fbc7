/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RECORDING_LEDGER_H
#define GT_CLI_RECORDING_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

struct gt_trace;

#define GT_LEDGER_BYTES 1024 /* that every sentence fits into */

/*
 * Outcome of everything the program launched, in one line without a line end:
 * "ledger: 1,000 launches = 998 kernels + 2 unfinished". Returns whether the ledger is clean
 * (model/ledger.h). For a whole trace, before anything is cut out of it.
 */
bool gt_ledger_sentence(const struct gt_trace *trace, char *text, size_t size);

#endif
