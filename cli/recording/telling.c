/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/telling.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "cli/recording/recording.h"
#include "format/recording.h"

/* manifest.json is of the first run, manifest.2.json of the second. */
static unsigned number_of(const struct gt_manifest *manifest)
{
	const size_t stem = strlen(GT_MANIFEST_STEM);
	const unsigned long number =
		strlen(manifest->file) > stem ? strtoul(manifest->file + stem, NULL, 10) : 0;

	return number > 0 && number <= UINT32_MAX ? (unsigned)number : 1;
}

struct gt_told_run gt_told_run_of(const struct gt_manifest *manifest)
{
	const int64_t start_ns = manifest->start.boottime_ns;
	const int64_t end_ns = manifest->end.boottime_ns;
	const bool known = manifest->ended && start_ns > 0 && end_ns >= start_ns;

	return (struct gt_told_run){
		.version = manifest->tool_version,
		.host = manifest->host,
		.number = number_of(manifest),
		.elapsed_ns = known ? end_ns - start_ns : -1,
		.exit_status = gt_ending_status(&manifest->ending),
		.ended = manifest->ended,
	};
}

char *gt_telling_name(const char *path)
{
	char *stem = gt_recording_stem(path);
	char *name = gt_recording_path(gt_path_name(stem), "");

	free(stem);
	return name;
}

void gt_telling_init(struct gt_telling *telling, const char *recording)
{
	size_t count;

	*telling = (struct gt_telling){.recording = gt_telling_name(recording)};
	(void)gt_manifests_load(&telling->manifests, recording, NULL);
	count = telling->manifests.list.count;
	telling->runs = gt_allocate((count + 1) * sizeof(*telling->runs));
	for (size_t i = 0; i < count; i++)
		telling->runs[i] = gt_told_run_of(&telling->manifests.list.rows[i]);
	telling->told = (struct gt_told){
		.recording = telling->recording,
		.runs = telling->runs,
		.run_count = count,
	};
}

void gt_telling_release(struct gt_telling *telling)
{
	gt_manifests_release(&telling->manifests);
	gt_array_free(telling->runs);
	free(telling->recording);
}
