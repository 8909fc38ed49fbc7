/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_OUTPUT_OUTPUT_H
#define GT_INJECTION_OUTPUT_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "injection/output/files.h"
#include "injection/output/roll.h"
#include "injection/output/trim.h"

struct gt_arena;
struct gt_error;
struct gt_settings;

/* The files of this process in the recording. */
struct gt_output {
	const struct gt_settings *settings; /* these two are set before anything is opened */
	struct gt_arena *arena;
	uint64_t filters; /* of system calls, that are not the program's own */
	struct gt_files files;
	struct gt_roll_share roll;
	struct gt_trim trim;

	char folder[PATH_MAX];
	char capture_name[NAME_MAX + 1];
	char arena_path[PATH_MAX];
	size_t arena_bytes;
	int capture_fd;       /* of the table of files, or, where that has none, of the program's */
	dev_t capture_device; /* which file the capture is */
	ino_t capture_inode;
};

/*
 * Makes the files of this process in the recording folder: the capture, opened to append, and
 * the arena, allocated on the disk (so that touching it can never fail later), mapped and
 * locked. On failure nothing is left behind.
 */
int gt_capture_file_open(struct gt_output *output, struct gt_error *err);

/* Before anything is in them: both files go again. */
void gt_capture_file_remove(struct gt_output *output);

/*
 * Appends to the capture: 0 or a negative errno value. A program may close every descriptor it
 * did not open, and its own files then get the numbers; what is not our file is left alone.
 */
int gt_capture_file_write(struct gt_output *output, const void *data, size_t size);

/*
 * For trim.c, in a job of the thread for files: whether the descriptor is of that file, and the
 * file that is at the capture's place now.
 */
bool gt_capture_file_is(int fd, dev_t device, ino_t inode);
void gt_capture_file_replace(struct gt_output *output, int fd, dev_t device, ino_t inode);

/* In the child of a fork: closes its copy of the capture's descriptor. */
void gt_capture_file_forget(struct gt_output *output);

/* Gives the capture's and, unless something is left in it, the arena's file back. */
void gt_capture_file_close(struct gt_output *output, int remove_arena);

#endif
