/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_LEDGER_H
#define GT_ANALYSIS_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

/* Whether a class of the ledger counts what is missing from the recording, by its name. */
bool gt_ledger_is_loss(const char *name);

/* Everything the ledgers of all processes count as missing. */
uint64_t gt_ledger_lost(const struct gt_trace *trace);

/* Processes whose recording did not end cleanly. */
uint64_t gt_ledger_broken(const struct gt_trace *trace);

#endif
