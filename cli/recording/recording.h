/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RECORDING_RECORDING_H
#define GT_CLI_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct gt_error;
struct gt_words;

/* For the help of commands that take one. */
#define GT_RECORDING_HELP                                                                          \
	"RECORDING is a folder NAME.gputrace; NAME is enough. Without one the newest of this "     \
	"folder is taken."

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

/*
 * The recording that a word means: its path, or that without .gputrace ("app" when there is
 * app.gputrace); NULL when there is none. The caller frees it.
 */
char *gt_recording_find(const char *word);

/* Paths of the recordings that lie in the folder of a path, by name; none where it is no folder. */
void gt_recording_inside(const char *path, struct gt_words *paths);

/*
 * The recording that a word means, or why there is none, in the words of who typed it; what only
 * reading it can tell is left to that. word NULL or a folder of recordings means the only one
 * there, or the newest, which is then said. The caller frees *path.
 */
int gt_recording_choose(const char *word, char **path, struct gt_error *err);

/* 0, or -EINVAL when the name is one of another kind of file, and which. */
int gt_recording_is_foreign(const char *word, struct gt_error *err);

/* Whether the name is that of a trace for Perfetto. */
bool gt_recording_is_trace(const char *word);

/* Whether a file of this name is a manifest. */
bool gt_recording_is_manifest(const char *name);

/* Whether it is a file that can be run. */
bool gt_recording_is_program(const char *path);

/* The things that a word was taken for when it names nothing. */
struct gt_wanted {
	const char *what;         /* "recording", "recording or report" */
	const char *const *names; /* of what is no recording, NULL at the end; NULL: none */
	const char *see;          /* what shows the names of what is no recording; or NULL */
	int code;                 /* to fail with */
};

/*
 * The recordings of this folder whose names a word is a part of, as "a.gputrace, b.gputrace and 3
 * more"; "": none is, or the chosen one is.
 */
void gt_recording_namesakes(const char *word, const char *chosen, char *text, size_t size);

/* Fails with what was probably meant. */
int gt_recording_missing(const char *word, const struct gt_wanted *wanted, struct gt_error *err);

/* Commands take one recording: -EINVAL where there are several words, or for the second one. */
int gt_recording_one(int count, char **words, struct gt_error *err);
int gt_recording_second(const char *word, struct gt_error *err);

/* The stem with a suffix. The caller frees it. */
char *gt_recording_path(const char *stem, const char *suffix);

/*
 * The files of a folder, kept modules as modules/NAME, those of captured launches as
 * launches/NAME/...; of a file: itself.
 */
int gt_recording_list(struct gt_recording_files *files, const char *path, struct gt_error *err);

/* Whether a folder holds the capture of a process. */
bool gt_recording_has_captures(const char *folder);
void gt_recording_files_release(struct gt_recording_files *files);

/* Makes the folder, for its owner alone. -EEXIST: there is something of that name. */
int gt_recording_make(const char *folder, struct gt_error *err);

/*
 * Whether a folder holds nothing but what a recording does: 0, or -ENOTEMPTY and what else
 * there is, -ENOTDIR for what is no folder, or a link to one.
 */
int gt_recording_check(const char *folder, struct gt_error *err);

/* How many processes write into it now. One whose file tells nothing counts as one that does. */
unsigned gt_recording_writers(const char *folder);

/*
 * Removes an existing recording, but refuses one that gt_recording_check does: then nothing is
 * removed. Fine when there is none.
 */
int gt_recording_remove(const char *folder, struct gt_error *err);

/* Removes the folder of a recording without captures; any other stays as it is (false). */
bool gt_recording_discard(const char *folder);

#endif
