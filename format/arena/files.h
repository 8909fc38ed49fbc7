/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_FILES_H
#define GT_FORMAT_ARENA_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct gt_error;

/*
 * Files of arenas in the folder of a recording. That of a process that runs is held by a lock
 * (gt_file_lock), which the kernel drops with the process or with its exec.
 */

struct gt_salvage {
	unsigned arenas;  /* salvaged */
	unsigned running; /* of processes that still run, or are just starting: left alone */
	unsigned failed;  /* could not be read or appended: left as they are */
	uint64_t bytes;   /* written */
};

/*
 * Appends what every dead process's arena in a recording folder holds to its capture and
 * removes the arena; what an earlier salvage that did not come to its end appended is done
 * again. An arena that cannot be salvaged is left, with its capture as it was, and counted; err
 * then says which and why for the last of them and the result is negative.
 */
int gt_salvage_folder(const char *folder, struct gt_salvage *salvage, struct gt_error *err);

/*
 * Looks for arenas to salvage, without touching them: those that nobody holds, and those of
 * processes that run. bytes is not set; what cannot be opened is failed, which is no error here.
 */
int gt_salvage_look(const char *folder, struct gt_salvage *found, struct gt_error *err);

/* Whether the process that owns the arena file still runs, or may: no lock could be had. */
bool gt_arena_is_live(const char *path);

/* Whether the arena file holds nothing and nobody is about to change that. */
bool gt_arena_is_unused(const char *path);

#endif
