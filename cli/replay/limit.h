/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_LIMIT_H
#define GT_CLI_REPLAY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

struct gt_error;
struct gt_outcome;

/* What --fail-if says: how much slower than what a launch may have become. */
struct gt_limit {
	bool given;
	bool of_job; /* than in the program; else than its newest result, and without one the
	                program */
	double share;
};

/* slower:5% or slower-than-job:5% */
int gt_limit_parse(struct gt_limit *limit, const char *text, struct gt_error *err);

/*
 * Whether the outcome is slower than the limit lets it be; sentence then says so. newest: the
 * newest earlier result, or NULL. Where there is nothing to compare with, or the outcome has no
 * figures, it is crossed as well: what could not be compared was not guarded.
 */
bool gt_limit_is_crossed(const struct gt_limit *limit, const struct gt_outcome *outcome,
                         const struct gt_outcome *newest, char *sentence, size_t size);

/* A share: a number, at most 1000, behind it a per cent sign: "5%", "0.25%". False: it is none. */
bool gt_percent_parse(const char *text, double *share);

#endif
