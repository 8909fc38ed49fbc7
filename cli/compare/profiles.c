/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/compare/profiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/command_line/filter.h"
#include "cli/compare/baseline.h"
#include "cli/compare/sides.h"
#include "cli/output/progress.h"
#include "cli/recording/reading.h"

static int read_one(struct gt_profiles *profiles, const char *path,
                    const struct gt_filter_args *filter, struct gt_error *err)
{
	struct gt_progress progress = {0};
	struct gt_reading reading;
	int result;

	gt_reading_init(&reading);
	result = gt_reading_choose(&reading, filter, err);
	gt_progress_begin(&progress, false, "reading %s", path);
	if (result == 0)
		result = gt_reading_read(&reading, path, GT_NAMES_SHORT, &progress, err);
	if (result == 0) {
		struct gt_profile *profile = gt_array_push(&profiles->list);

		gt_profile_init(profile, path, &reading.view);
		result = gt_profile_add_reports(profile, &reading.view, err);
	}
	gt_progress_end(&progress);
	gt_say_condition(path, reading.condition);
	profiles->whole = profiles->whole && gt_reading_status(&reading, true) == 0;
	gt_reading_release(&reading);
	return result;
}

/* A baseline keeps all of what was chosen when it was saved. */
static int read_baseline(struct gt_profiles *profiles, const char *path,
                         const struct gt_filter_args *filter, struct gt_error *err)
{
	static const struct gt_filter_args none;

	if (memcmp(filter, &none, sizeof(none)) != 0)
		return gt_fail(
			err, EINVAL,
			"%s is a baseline, of which no part can be chosen: choose it when the "
			"baseline is saved",
			path);
	return gt_baseline_read(profiles, path, err);
}

int gt_profiles_read(struct gt_profiles *profiles, const struct gt_sides *sides,
                     const struct gt_filter_args *filter, struct gt_error *err)
{
	int result = 0;

	*profiles = (struct gt_profiles){.whole = true};
	for (size_t i = 0; result == 0 && i < sides->paths.list.count; i++) {
		const char *path = sides->paths.list.rows[i];

		if (i == sides->a)
			profiles->a = profiles->list.count;
		result = gt_is_baseline(path) ? read_baseline(profiles, path, filter, err)
		                              : read_one(profiles, path, filter, err);
	}
	return result;
}

void gt_profiles_release(struct gt_profiles *profiles)
{
	gt_array_each(struct gt_profile, profile, &profiles->list)
		gt_profile_release(profile);
	gt_array_release(&profiles->list);
}
