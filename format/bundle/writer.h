/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_BUNDLE_WRITER_H
#define GT_FORMAT_BUNDLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/bundle/bundle.h"

struct gt_error;

/*
 * Writes a bundle (model/bundle/bundle.h says what one is): blobs first, bundle.json at the end,
 * first under another name, so that a bundle that has one is whole. Takes no memory but the
 * caller's: it works in traced programs. One thread at a time.
 *
 * After the first failure every call does nothing but fail in the same way; closing then removes
 * what is there.
 */

struct gt_bundle_writer {
	int folder; /* of the bundle, -1: none is open */
	dev_t device;
	ino_t inode;    /* of the folder: a descriptor that the program took away is not used */
	char name[256]; /* of the folder, in the one that it is in */
	struct ZSTD_CCtx_s *compressor; /* inside memory, as all below */
	struct gt_blob_hasher *hasher;
	uint8_t *out;
	char *text; /* of the manifest, not yet written */
	size_t text_used;
	uint64_t text_written;
	unsigned depth; /* of objects and lists that are open, with the outermost */
	bool first;     /* of its object or list: no comma before it */
	int failed;     /* the first failure, a positive errno value */
	int blob;       /* the file of the blob that is being written, -1 */
	uint64_t blob_bytes;
	uint64_t bytes; /* that blobs took on disk */
	uint64_t most;  /* that they may take; more fails with EFBIG */
	bool too_large; /* they would have taken more */
};

/* Bytes of memory that a writer needs, aligned to 64. */
size_t gt_bundle_writer_memory(void);

/* A writer that is closed, over memory of that size. */
void gt_bundle_writer_init(struct gt_bundle_writer *writer, void *memory);

/*
 * Makes the folder, whose parents are made as well, and begins bundle.json with its version.
 * -EEXIST: there is one. most: bytes that blobs may take on disk.
 */
int gt_bundle_writer_open(struct gt_bundle_writer *writer, const char *folder, uint64_t most,
                          struct gt_error *err);

/* Writes contents, unless the bundle has them; hash is set. */
int gt_bundle_blob(struct gt_bundle_writer *writer, const void *bytes, size_t size,
                   char hash[GT_BUNDLE_HASH_BYTES], struct gt_error *err);

/*
 * The same of contents that come in pieces, size bytes in all: begin, append as often as needed,
 * end. One at a time, and none of gt_bundle_blob meanwhile.
 */
int gt_bundle_blob_begin(struct gt_bundle_writer *writer, uint64_t size, struct gt_error *err);
int gt_bundle_blob_append(struct gt_bundle_writer *writer, const void *bytes, size_t size,
                          struct gt_error *err);
int gt_bundle_blob_end(struct gt_bundle_writer *writer, char hash[GT_BUNDLE_HASH_BYTES],
                       struct gt_error *err);

/*
 * bundle.json, as it is described: objects, lists and members in the order of the calls, from the
 * outermost object's members on; "version" is there. key is NULL in a list. Bytes of texts that are
 * no UTF-8 become U+FFFD. Failures are told when the writer is closed.
 */
void gt_bundle_begin_object(struct gt_bundle_writer *writer, const char *key);
void gt_bundle_begin_list(struct gt_bundle_writer *writer, const char *key);
void gt_bundle_end_object(struct gt_bundle_writer *writer);
void gt_bundle_end_list(struct gt_bundle_writer *writer);
void gt_bundle_text(struct gt_bundle_writer *writer, const char *key, const char *value);
void gt_bundle_number(struct gt_bundle_writer *writer, const char *key, int64_t value);
void gt_bundle_address(struct gt_bundle_writer *writer, const char *key, uint64_t value); /* "0x" */
void gt_bundle_flag(struct gt_bundle_writer *writer, const char *key, bool value);

/* {"hash", "size"} of a blob, and [x, y, z] of a grid and its like. */
void gt_bundle_contents(struct gt_bundle_writer *writer, const char *key, const char *hash,
                        uint64_t size);
void gt_bundle_triple(struct gt_bundle_writer *writer, const char *key, const uint32_t values[3]);

/*
 * The bundle is whole, or nothing of it is left and why is told; parents that were made stay. The
 * writer is closed.
 */
int gt_bundle_writer_close(struct gt_bundle_writer *writer, struct gt_error *err);

/* Removes what was written; the writer is closed. */
void gt_bundle_writer_drop(struct gt_bundle_writer *writer);

#endif
