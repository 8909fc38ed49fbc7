/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_RECORDING_H
#define GT_TESTS_SUPPORT_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "format/records.h"
#include "support/arena.h"
#include "support/capture.h"

/*
 * A recording folder on the disk, and captures made for it with the real writer, one after the
 * other: begin, add what it is to hold, end. Anything that a test does not say is left out.
 */
struct recording {
	char path[64];
	char name[64];          /* of the capture at hand, without its ending */
	struct capture capture; /* its bytes so far */
};

/* Makes and removes the folder with all that is in it. */
void recording_init(struct recording *recording);
void recording_release(struct recording *recording);

/* Begins NAME.capture: a file header, nothing else. */
void recording_begin(struct recording *recording, const char *name);

/*
 * Basics of most captures: that API calls are recorded, the pid, clocks that all show the same,
 * the strings and the shape below, a device, a context on it and a stream in it, and a ledger.
 */
void recording_add_basics(struct recording *recording, uint32_t pid);

enum {
	STRING_LAUNCH = 1, /* cudaLaunchKernel_v7000 */
	STRING_KERNEL,     /* _Z5saxpyPfS_f */
	STRING_DEVICE,     /* the product's name */
	STRING_UUID,
	STRING_NEXT,              /* the first that is free */
	STRING_OF_LEDGER = 10000, /* api_lost: nothing */
	SHAPE = 1,                /* of STRING_KERNEL, 4 blocks of 256 threads */
	CONTEXT = 1,
	STREAM = 7,
};

void recording_add_meta(struct recording *recording, const char *key, const char *value);
void recording_add_string(struct recording *recording, uint32_t id, const char *text);

/* Records of a kind, as many chunks as they need. */
void recording_add_records(struct recording *recording, uint32_t kind, const void *rows,
                           size_t count);

/* One record: recording_add(&recording, kernel, .start = 1, ...). */
#define recording_add(recording, name, ...)                                                        \
	recording_add_records((recording), GT_RECORD_##name,                                       \
	                      &(struct gt_record_##name){__VA_ARGS__}, 1)

/* A call of cudaLaunchKernel and the kernel it launched, where the basics are. */
void recording_add_call(struct recording *recording, uint64_t start, uint32_t correlation);
void recording_add_kernel(struct recording *recording, uint64_t start, uint32_t correlation);

/* Writes the capture to the folder; clean: with what a process writes at its end. */
void recording_end(struct recording *recording, int clean);

/* Any other file in the folder. */
void recording_add_file(struct recording *recording, const char *name, const void *bytes,
                        size_t size);

/* NAME.arena of the capture at hand. */
void recording_add_arena(struct recording *recording, const struct test_arena *arena);

#endif
