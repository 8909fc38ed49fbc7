/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/job_times.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/array.h"
#include "base/error.h"
#include "format/bundle.h"
#include "format/recording.h"
#include "model/timed.h"
#include "model/trace.h"

/* Whether the first step had no time and has one now. */
static bool set_time(json_t *manifest, int64_t duration_ns)
{
	json_t *step = json_array_get(json_object_get(manifest, "steps"), 0);

	if (!json_is_object(step) || json_object_get(step, "end_ns"))
		return false;
	return json_object_set_new(step, "start_ns", json_integer(0)) == 0 &&
	       json_object_set_new(step, "end_ns", json_integer(duration_ns)) == 0;
}

/* The new one takes the old one's place whole. */
static int replace(const json_t *manifest, const char *folder, struct gt_error *err)
{
	char part[PATH_MAX];
	char path[PATH_MAX];

	snprintf(part, sizeof(part), "%s/" GT_BUNDLE_PART, folder);
	snprintf(path, sizeof(path), "%s/" GT_BUNDLE_MANIFEST, folder);
	errno = 0;
	if (json_dump_file(manifest, part, JSON_INDENT(1)) < 0 || rename(part, path) < 0) {
		const int code = errno ? errno : EIO;

		(void)remove(part);
		return gt_fail(err, code, "cannot write %s: %s", path, gt_errno_text(code));
	}
	return 0;
}

static int write_time(const char *folder, int64_t duration_ns, struct gt_error *err)
{
	struct gt_content content = {0};
	char path[PATH_MAX];
	json_t *manifest = NULL;
	int result = 0;

	snprintf(path, sizeof(path), "%s/" GT_BUNDLE_MANIFEST, folder);
	if (gt_load_file(&content, path, NULL) < 0)
		return 0;
	manifest = json_loadb((const char *)content.bytes, content.size, 0, NULL);
	if (set_time(manifest, duration_ns))
		result = replace(manifest, folder, err);
	json_decref(manifest);
	gt_unload(&content);
	return result;
}

/* Names come from captures, which anybody may have changed: a folder of launches/ and no other. */
static bool is_name(const char *bundle)
{
	return *bundle && *bundle != '.' && !strchr(bundle, '/');
}

int gt_job_times_write(const char *recording, const struct gt_trace *trace, struct gt_error *err)
{
	char folder[PATH_MAX];
	int result = 0;

	gt_array_each(const struct gt_captured_launch, launch, &trace->captured_launches) {
		const char *bundle = gt_trace_text(trace, launch->bundle);
		const struct gt_kernel *kernel;

		if (result < 0 || !is_name(bundle) || launch->kernel >= trace->kernels.count)
			continue;
		kernel = &trace->kernels.rows[launch->kernel];
		if (!gt_timed(kernel->flags, kernel->start_ns, kernel->end_ns) ||
		    snprintf(folder, sizeof(folder), "%s/" GT_LAUNCHES_FOLDER "/%s", recording,
		             bundle) >= (int)sizeof(folder))
			continue;
		result = write_time(folder, kernel->end_ns - kernel->start_ns, err);
	}
	return result;
}
