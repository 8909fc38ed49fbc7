/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_TEXTFILE_TEXTFILE_H
#define GT_CLI_TEXTFILE_TEXTFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "format/arena/counts.h"
#include "model/naming/job_rank.h"

struct gt_error;
struct gt_manifest;
struct gt_view;

/*
 * The file of gputrace run --metrics, for the textfile collector of node_exporter. While the program
 * runs it has what can be read without reading the recording: how long the program has run, and the
 * counts that each process keeps in its arena. At the end it has all figures. It appears as a whole
 * each time, and counters in it never go back: the counts of a process whose arena is gone stay.
 *
 * Nothing of an arena tells which of several runs that join a recording its process is of: with
 * --join the counts come at the end.
 */
struct gt_textfile {
	char *path; /* NULL: no file is wanted, and nothing here does anything */
	char *recording;
	char job[GT_JOB_ID_BYTES];
	bool joins;
	bool said; /* that it cannot be written */
	int64_t interval_ns;
	int64_t next_ns; /* CLOCK_BOOTTIME; 0: as soon as somebody looks */
	gt_array(struct gt_arena_counts) processes;
};

struct gt_textfile_choice {
	const char *file; /* a pattern, as that of --output; NULL: none */
	int64_t interval_ns;
	char *const *environment;
	bool joins;
};

/* Before the program: fails with a sentence where the file could not be written. */
int gt_textfile_open(struct gt_textfile *textfile, const struct gt_textfile_choice *choice,
                     struct gt_error *err);
void gt_textfile_release(struct gt_textfile *textfile);

/* While the program runs: writes when it is time. The first failure is said, and no other. */
void gt_textfile_look(struct gt_textfile *textfile, const char *folder,
                      const struct gt_manifest *manifest);

/* The program has ended, and the manifest says how: before arenas are salvaged. */
void gt_textfile_end(struct gt_textfile *textfile, const char *folder,
                     const struct gt_manifest *manifest);

/* All figures of the recording. */
void gt_textfile_finish(struct gt_textfile *textfile, const struct gt_view *view,
                        const struct gt_manifest *manifest);

#endif
