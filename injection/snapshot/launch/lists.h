/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_LAUNCH_LISTS_H
#define GT_INJECTION_SNAPSHOT_LAUNCH_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#include "format/bundle/bundle.h"
#include "injection/snapshot/launch/function.h"

struct gt_bundle_writer;
struct gt_error;

/*
 * The contents of a bundle that is being captured, beside memory: its steps with the modules,
 * functions, streams and events that they are about, each by its number in its list. Memory of
 * fixed size; one thread at a time. Functions that add fail with -E2BIG and a sentence where there
 * is no room.
 */

enum {
	GT_CAPTURE_MODULES = 256,
	GT_CAPTURE_FUNCTIONS = 2048,
	GT_CAPTURE_LAYOUT = 65536, /* parameters of all functions */
	GT_CAPTURE_TEXT = 1 << 20, /* names of all functions */
	GT_CAPTURE_STREAMS = 256,
	GT_CAPTURE_EVENTS = 4096,
	GT_CAPTURE_STEPS = 16384,
};

#define GT_CAPTURE_NONE UINT32_MAX /* no number of a list */

struct gt_capture_module {
	CUmodule handle;
	uint64_t hash; /* of the kept file */
	void *image;   /* mapped until the lists are emptied */
	size_t size;
	uint32_t arch;
	char blob[GT_BUNDLE_HASH_BYTES];
};

/* A function, with the carveout that a launch of it asks for. */
struct gt_capture_code {
	CUfunction handle;
	struct gt_function_facts facts;
	uint32_t module;
	uint32_t name;            /* offset in text */
	uint32_t images;          /* modules of the program that have a function of that name */
	uint32_t first_parameter; /* in layout */
	uint32_t parameter_count;
};

struct gt_capture_stream {
	CUstream handle;
	uint32_t number; /* CUPTI's; 0: it does not say */
	int priority;
	unsigned flags;
};

struct gt_capture_step {
	enum gt_bundle_step_kind kind;
	uint32_t correlation; /* CUPTI's, of the call */
	uint32_t graph;       /* the launch of a CUDA graph that it is of, from 1; 0: none */
	uint32_t stream;      /* GT_CAPTURE_NONE: the host waits for all, or for an event */
	uint32_t event;       /* GT_CAPTURE_NONE: none */
	/* launch */
	uint32_t function;
	struct gt_launch_shape launch;
	/* Parameters of a launch, or what a copy takes from the host; 0 bytes: none. */
	char blob[GT_BUNDLE_HASH_BYTES];
	uint64_t blob_bytes;
	/* copy and fill: 0 is the host */
	uint64_t to;
	uint64_t from;
	uint64_t bytes; /* of a row */
	uint64_t rows;
	uint64_t to_pitch;
	uint64_t from_pitch;
	uint64_t slices; /* of so many rows; only where each has several */
	uint64_t to_slice_pitch;
	uint64_t from_slice_pitch;
	uint32_t value;
	uint32_t value_bytes;
	bool prefers_overlap; /* of a copy, with kernels */
	bool by_host;         /* no call of the program's: what the host wrote into memory */
	bool pinned;          /* what a copy has of the host is pinned */
};

struct gt_capture_lists {
	uint32_t module_count;
	uint32_t function_count;
	uint32_t layout_count;
	uint32_t text_used;
	uint32_t stream_count;
	uint32_t event_count;
	uint32_t step_count;
	struct gt_capture_module modules[GT_CAPTURE_MODULES];
	struct gt_capture_code functions[GT_CAPTURE_FUNCTIONS];
	struct gt_captured_parameter layout[GT_CAPTURE_LAYOUT];
	char text[GT_CAPTURE_TEXT];
	struct gt_capture_stream streams[GT_CAPTURE_STREAMS];
	CUevent events[GT_CAPTURE_EVENTS];
	struct gt_capture_step steps[GT_CAPTURE_STEPS];
};

/* Images of modules are unmapped. */
void gt_capture_lists_empty(struct gt_capture_lists *lists);

/* GT_CAPTURE_NONE where there is no such one. */
uint32_t gt_capture_find_module(const struct gt_capture_lists *lists, CUmodule handle,
                                uint64_t hash);
uint32_t gt_capture_find_function(const struct gt_capture_lists *lists, CUfunction handle,
                                  int carveout);

/* Its number, or negative. The image is the lists' then. */
int gt_capture_add_module(struct gt_capture_lists *lists, const struct gt_capture_module *module,
                          struct gt_error *err);

/* code: all but what the name and the parameters become. */
int gt_capture_add_function(struct gt_capture_lists *lists, const struct gt_capture_code *code,
                            const char *name, const struct gt_captured_function *function,
                            struct gt_error *err);

/* The number of it, which it gets if it has none: streams by CUPTI's number, else by handle. */
int gt_capture_number_stream(struct gt_capture_lists *lists, const struct gt_capture_stream *stream,
                             struct gt_error *err);
int gt_capture_number_event(struct gt_capture_lists *lists, CUevent event, struct gt_error *err);

int gt_capture_add_step(struct gt_capture_lists *lists, const struct gt_capture_step *step,
                        struct gt_error *err);

/* Whether steps of that kind are work of the GPU's, and whether anything of it is. */
bool gt_capture_is_work(enum gt_bundle_step_kind kind);
bool gt_capture_has_work(const struct gt_capture_lists *lists);

/* The members of bundle.json that are about them; range: the text of each step's. */
void gt_capture_write_code(const struct gt_capture_lists *lists, struct gt_bundle_writer *writer);
void gt_capture_write_steps(const struct gt_capture_lists *lists, const char *range,
                            struct gt_bundle_writer *writer);

/* Sentences for its list missing, which is open. */
void gt_capture_write_doubts(const struct gt_capture_lists *lists, struct gt_bundle_writer *writer);

#endif
