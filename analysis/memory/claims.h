/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_MEMORY_CLAIMS_H
#define GT_ANALYSIS_MEMORY_CLAIMS_H

#include <stdbool.h>

#include "analysis/memory/account.h"
#include "model/view/view.h"

/*
 * Claims on the memory of a GPU at one moment, by what calls and pools say: the lines of an account
 * that NVML has no part in.
 */

/* Data found while lines are made. */
struct gt_account_book {
	struct gt_account *account;
	const struct gt_view *view;
	const struct gt_trace *trace;
	const gt_id *carriers;
	gt_id device;
	double *carried; /* by pool: of its carriers */
	double *handed;  /* by pool: of its blocks */
	bool *told;      /* by pool: it has blocks, at any time */
	gt_id *wholes;   /* by pool: the one that it counts with, most often itself */
	double ordered;  /* memory of CUDA's pools that is in use */
	double graphs;   /* memory of graphs that is */
	double program;
	gt_time at_ns;
	struct gt_interval still; /* about that, nothing is allocated or freed */
};

/* A new line of the account; valid until the next one. */
struct gt_account_line *gt_account_add_line(struct gt_account_book *book, enum gt_account_item item,
                                            double bytes, const char *source);

/* The same, where there are any bytes: an item without needs no line. */
void gt_account_add_some(struct gt_account_book *book, enum gt_account_item item, double bytes,
                         const char *source);

/* The source of what pools say; compared as a pointer. */
extern const char gt_account_statistics[];

/* Adds all claims; of the book ordered, graphs and program have to be 0. */
void gt_account_add_claims(struct gt_account_book *book);

#endif
