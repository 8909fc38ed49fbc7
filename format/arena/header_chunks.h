/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_ARENA_HEADER_CHUNKS_H
#define GT_FORMAT_ARENA_HEADER_CHUNKS_H

struct gt_arena;
struct gt_writer;

/*
 * Chunks of what an arena holds besides its buffers: strings, clock readings and the ledger. The
 * header notes how far they are written.
 */

/* Writes the strings that are not written yet. */
void gt_write_strings(struct gt_arena *arena, struct gt_writer *writer);

/* The same, the clock readings, the ledger and how much the writer has written, if it counts. */
void gt_write_header_chunks(struct gt_arena *arena, struct gt_writer *writer);

#endif
