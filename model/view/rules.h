/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_VIEW_RULES_H
#define GT_MODEL_VIEW_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ranges/owners.h"
#include "model/view/chosen.h"
#include "model/view/filter.h"
#include "model/work/activity.h"

/*
 * Rules by which rows stay in a view: for each table, whether it keeps a row is asked of the tables
 * before it.
 */

/* Tables are decided one after the other, each from those before it. */
struct gt_cut {
	const struct gt_trace *trace;
	const struct gt_filter *filter;
	const struct gt_window *window;
	struct gt_chosen *chosen;
	bool *fits[GT_ACTIVITY_TYPES]; /* by row of work: chosen but for the window */
	bool *used_streams;            /* a wait for them is a wait for what stays */
	bool *used_contexts;           /* with such a stream */
	bool *used_events;             /* a wait that stays is about them */
	bool *asked;                   /* by API call: for something that stays */
	bool *inside;   /* by API call: made inside a chosen range; NULL: none are given */
	gt_wide *calls; /* that stay: process and correlation, sorted */
	size_t call_count;
};

/* Names a row that stays, or none. */
bool gt_cut_is_kept(const struct gt_cut *cut, int table, gt_id row);

/* Whether that is inside a chosen range; true where none are given. */
bool gt_cut_is_in_range(const struct gt_cut *cut, struct gt_owner owner);

/* For qsort. */
int gt_cut_compare_wide(const void *a, const void *b);

/* A process and the correlation of a call. */
gt_wide gt_cut_call_key(gt_id process, gt_count correlation);

/* A row without a time has 0 there, and no recording goes back to when the machine was started. */
bool gt_cut_in_window(const struct gt_cut *cut, const uint8_t *row);

/* Measurements of a launch are in the window that the launch's work is in. */
bool gt_cut_has_its_work(int number, const void *row);

/* Whether a row stays by the rule of its table, whatever the window is. */
bool gt_cut_row_stays(const struct gt_cut *cut, int number, const struct gt_table *table,
                      const void *at, size_t row);

/* The tables of things to choose, in the order in which they are decided. */
enum { GT_CUT_THINGS = 6 };
extern const int gt_cut_things[GT_CUT_THINGS];

#endif
