/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_BUNDLE_WRITER_H
#define GT_FORMAT_BUNDLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_error;

/*
 * Writes a bundle (model/bundle.h says what one is): blobs first, bundle.json at the end, first
 * under another name, so that a bundle that has one is whole. Takes no memory but the caller's and
 * what zstd was given at gt_bundle_writer_init: it works in traced programs.
 */

enum { GT_BUNDLE_WRITER_HASH_BYTES = 33 };

struct gt_bundle_writer {
	int folder; /* of the bundle, -1: none is open */
	int blobs;
	int manifest; /* the file that becomes bundle.json */
	void *scratch;
	size_t scratch_size;
	char *text; /* of the manifest, not yet written */
	size_t text_size;
	size_t text_used;
	unsigned depth;
	bool first;     /* of its object or list: no comma before it */
	int failed;     /* the first failure, a positive errno value */
	uint64_t bytes; /* that blobs took on disk */
	uint64_t most;  /* that they may take; more fails with EFBIG */
};

/* Bytes of memory that a writer needs, aligned to 64. */
size_t gt_bundle_writer_memory(void);

/* A writer that is closed, over memory of that size; for one thread at a time. */
void gt_bundle_writer_init(struct gt_bundle_writer *writer, void *memory);

/*
 * Makes the folder, whose parents are made as well. -EEXIST: there is one. most: bytes that blobs
 * may take on disk.
 */
int gt_bundle_writer_open(struct gt_bundle_writer *writer, const char *folder, uint64_t most,
                          struct gt_error *err);

/*
 * Writes contents, unless the bundle has them; hash is set. Contents may come in pieces: begin,
 * append as often as needed, end. One blob at a time.
 */
int gt_bundle_blob(struct gt_bundle_writer *writer, const void *bytes, size_t size,
                   char hash[GT_BUNDLE_WRITER_HASH_BYTES], struct gt_error *err);

/* bundle.json, as it is described: objects, lists and members in the order of the calls. */
void gt_bundle_begin_object(struct gt_bundle_writer *writer, const char *key); /* NULL: in a list */
void gt_bundle_begin_list(struct gt_bundle_writer *writer, const char *key);
void gt_bundle_end_object(struct gt_bundle_writer *writer);
void gt_bundle_end_list(struct gt_bundle_writer *writer);
void gt_bundle_text(struct gt_bundle_writer *writer, const char *key, const char *value);
void gt_bundle_number(struct gt_bundle_writer *writer, const char *key, int64_t value);
void gt_bundle_address(struct gt_bundle_writer *writer, const char *key, uint64_t value); /* "0x" */
void gt_bundle_flag(struct gt_bundle_writer *writer, const char *key, bool value);

/* The bundle is whole, or nothing of it is left and why is told. The writer is closed. */
int gt_bundle_writer_close(struct gt_bundle_writer *writer, struct gt_error *err);

/* Removes what was written; the writer is closed. */
void gt_bundle_writer_drop(struct gt_bundle_writer *writer);

#endif
