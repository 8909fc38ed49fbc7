/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RECORDING_H
#define GT_CLI_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct gt_error;

/*
 * A recording as a folder on disk: its name, the files in it, making and removing it. What
 * the files say is the collector's business.
 */
struct gt_recording_file {
	char *name; /* without the folder */
	uint64_t bytes;
};

struct gt_recording_files {
	gt_array(struct gt_recording_file) list; /* by name */
	uint64_t bytes;
};

/*
 * NAME of NAME.gputrace, NAME.gputrace/ or NAME.capture; any other path without slashes at its
 * end. The caller frees it.
 */
char *gt_recording_stem(const char *path);

/* The stem with a suffix. The caller frees it. */
char *gt_recording_path(const char *stem, const char *suffix);

/* The files of a folder; of a file: itself. */
int gt_recording_list(struct gt_recording_files *files, const char *path, struct gt_error *err);
void gt_recording_files_release(struct gt_recording_files *files);

/* Makes the folder, for its owner alone. */
int gt_recording_make(const char *folder, struct gt_error *err);

/*
 * Removes an existing recording, but refuses (-ENOTEMPTY) one that holds anything a recording
 * does not: then nothing is removed. Fine when there is none.
 */
int gt_recording_remove(const char *folder, struct gt_error *err);

#endif
