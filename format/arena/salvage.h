/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_SALVAGE_H
#define GT_FORMAT_ARENA_SALVAGE_H

#include <stddef.h>
#include <stdint.h>

#include "format/file/writer.h"

struct gt_content;
struct gt_error;

/* Takes what a process that died left in its arena. format/arena/files.h finds such arenas. */

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

/*
 * The same of a process that runs, of a copy that gt_arena_load_live made before the capture was
 * read. Chunks that the capture has meanwhile are left out, and no end of the process is written.
 */
int gt_salvage_live(const struct gt_content *arena, const struct gt_content *capture,
                    struct gt_sink sink, struct gt_error *err);

/*
 * The same for a capture of its own, which lasts: that it is a dump stands as its end. dumped_ns:
 * of CLOCK_BOOTTIME, before the arena was copied.
 */
int gt_salvage_dump(const struct gt_content *arena, const struct gt_content *capture,
                    uint64_t dumped_ns, struct gt_sink sink, struct gt_error *err);

#endif
