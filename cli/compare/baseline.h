/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMPARE_BASELINE_H
#define GT_CLI_COMPARE_BASELINE_H

#include <stdbool.h>
#include <stdio.h>

struct gt_error;
struct gt_profiles;

/*
 * Profiles of runs as a file of JSON, small enough for a repository: a line for each run and for
 * each row. It holds values, and needs the recordings no more.
 */
enum { GT_BASELINE_VERSION = 1 };

/* Whether a word names such a file: its name ends in .json. */
bool gt_is_baseline(const char *word);

void gt_baseline_write(const struct gt_profiles *profiles, FILE *out);

/*
 * Adds its profiles to those that are there. Fails with one sentence: -EINVAL for what is no
 * baseline, -EPROTO where a newer gputrace wrote it, others as the system gave them.
 */
int gt_baseline_read(struct gt_profiles *profiles, const char *path, struct gt_error *err);

#endif
