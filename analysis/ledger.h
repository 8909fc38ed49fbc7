/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_LEDGER_H
#define GT_ANALYSIS_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

/* Whether a class of the ledger counts what is missing from the recording, by its name. */
bool gt_ledger_is_loss(const char *name);

/*
 * Records that the ledgers of all processes count as missing or without times. What two classes
 * count from two sides counts once: a kernel without times (kernels_unfinished) is the launch
 * without times too, and launches_missing are explained by what CUPTI or gputrace dropped, as
 * far as that reaches.
 */
uint64_t gt_ledger_lost(const struct gt_trace *trace);

/* Sources, or kinds of activity, that could not start: how much they miss is not known. */
uint64_t gt_ledger_sources_failed(const struct gt_trace *trace);

/* Processes whose recording did not end cleanly. */
uint64_t gt_ledger_broken(const struct gt_trace *trace);

#endif
