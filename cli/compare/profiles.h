/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMPARE_PROFILES_H
#define GT_CLI_COMPARE_PROFILES_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/compare/profile.h"
#include "base/array.h"

struct gt_error;
struct gt_filter_args;
struct gt_sides;

/* Profiles of recordings, read one after the other. */
struct gt_profiles {
	gt_array(struct gt_profile) list; /* side A first */
	size_t a;                         /* how many are of side A */
	bool whole;                       /* all recordings are undamaged and complete */
};

/*
 * Reads recordings, and baselines (baseline.h), with progress on a terminal; what cannot be read of
 * one is said. A filter is for recordings: -EINVAL with a baseline.
 */
int gt_profiles_read(struct gt_profiles *profiles, const struct gt_sides *sides,
                     const struct gt_filter_args *filter, struct gt_error *err);
void gt_profiles_release(struct gt_profiles *profiles);

#endif
