/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_SALVAGE_H
#define GT_FORMAT_ARENA_SALVAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/file/writer.h"

struct gt_error;

/*
 * Takes what a process that died left in its arena. The arena of a process that runs is held
 * by a lock (gt_file_lock) on its file, which the kernel drops with the process or with its exec.
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

/*
 * How much of a capture the process itself wrote: up to the first salvaged chunk, without a
 * torn end. Beside an arena only that counts. 0 bytes: not even the file header is whole.
 * Returns 0, or what gt_reader_init says.
 */
int gt_capture_own_bytes(const void *capture, size_t size, size_t *own, struct gt_error *err);

/*
 * Writes the chunks of an arena in memory (a private, writable copy or mapping) to a sink,
 * leaving out those that the capture of the process (its own bytes, see above) has already; if it
 * has none, all strings and clock readings that are still there come too. The chunks have no file
 * header before them. 0, or negative with err set.
 */
int gt_salvage_arena(void *arena, size_t arena_size, const void *capture, size_t capture_size,
                     struct gt_sink sink, struct gt_error *err);

#endif
