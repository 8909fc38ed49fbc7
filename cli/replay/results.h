/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_RESULTS_H
#define GT_CLI_REPLAY_RESULTS_H

#include "base/array.h"
#include "cli/replay/outcome.h"

struct gt_error;

/*
 * Outcomes that are kept in a bundle: a file each in its folder results/, by when they were
 * measured; of what differs in nothing but that, the last GT_RESULTS_KEPT.
 */
enum { GT_RESULTS_KEPT = 10, GT_RESULTS_MOST = 10000 /* files that are read */ };

struct gt_results {
	gt_array(struct gt_kept {
		char *file; /* its path */
		struct gt_outcome outcome;
	}) list; /* oldest first */
};

/*
 * Reads all of a bundle. A file that cannot be read is told to complain, if that is not NULL, in a
 * sentence. No folder is fine.
 */
void gt_results_load(struct gt_results *results, const char *bundle,
                     void (*complain)(const char *sentence));
void gt_results_release(struct gt_results *results);

/* Writes one and removes those that are then too many. */
int gt_results_save(const char *bundle, const struct gt_outcome *outcome, struct gt_error *err);

/*
 * The newest that differs in nothing but time, has figures, and was neither too slow nor of wrong
 * outputs: what one compares with. NULL: there is none.
 */
const struct gt_outcome *gt_results_newest(const struct gt_results *results,
                                           const struct gt_outcome *like);

#endif
