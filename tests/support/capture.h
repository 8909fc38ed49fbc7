/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_CAPTURE_H
#define GT_TESTS_SUPPORT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "format/file/reader.h"
#include "format/file/writer.h"
#include "format/records.h"

/*
 * A capture file that only exists in memory, on a "disk" that may be full: a write that does not
 * fit leaves what did fit behind, as a file would, and is refused.
 */
struct capture {
	uint8_t *bytes;
	size_t size;
	size_t limit;
	struct gt_writer writer; /* writes here */
	void *memory;            /* the writer's */
};

#define CAPTURE_UNLIMITED SIZE_MAX

/* An empty capture, without a file header; with one: capture_begin. */
void capture_init(struct capture *capture, size_t limit);
void capture_begin(struct capture *capture, size_t limit);
void capture_release(struct capture *capture);

/* Another sink of the same bytes. */
struct gt_sink capture_sink(struct capture *capture);

/* Bytes added as they are: garbage between chunks. */
void capture_add_bytes(struct capture *capture, const void *bytes, size_t size);

/* A reader over the first size bytes, which it needs scratch of its own for. */
int capture_read(struct gt_reader *reader, const void *bytes, size_t size, void *scratch);

/* All records of a kind that are in these bytes, in order; the caller frees them. */
void *read_records(const void *bytes, size_t size, uint32_t kind, size_t *count);

/* A sequence of numbers that is the same in every run; the state may begin as anything. */
uint64_t next_random(uint64_t *state);

/* Fills records with all kinds of values: 0, 1, the largest, near the one before, anything. */
void random_records(const struct gt_record_info *info, void *rows, size_t count, uint64_t seed);

#endif
