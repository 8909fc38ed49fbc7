/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_BUNDLE_BUNDLE_H
#define GT_MODEL_BUNDLE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "format/bundle/array_shape.h"
#include "format/bundle/bundle.h"
#include "format/bundle/objects.h"

struct gt_error;
struct gt_sink;

/*
 * Launches that were taken out of a program, with all that running them again needs: a folder that
 * stands alone. docs/bundles.md describes it.
 *
 *     bundle.json     what is described here; written last: without it nothing is whole
 *     blobs/HASH      contents, by XXH3-128 in 32 hexadecimal digits: one frame of zstd each
 *     results/        what gputrace replay measured, one file a run
 *
 * A bundle holds one launch, or a sequence: steps in the order of the program's calls. Everything
 * is named by its number in its list here. Texts of it come from a file that anybody may have
 * changed: nothing is used as a path, an address or a size before it was checked.
 */

#define GT_BUNDLE_NONE UINT32_MAX /* no number of a list */

/* Contents in blobs/. */
struct gt_blob {
	char hash[GT_BUNDLE_HASH_BYTES]; /* "": none was kept */
	uint64_t size;                   /* bytes, uncompressed */
	uint8_t *held; /* they are here instead, whoever has them; NULL, as those of a file */
};

/* A module: cubin, or PTX. */
struct gt_bundle_module {
	struct gt_blob image;
	bool ptx;
	uint32_t arch; /* 90 for sm_90; 0: not known */
};

/* A function, with what the driver says of it. */
struct gt_bundle_function {
	uint32_t module;
	char *name; /* mangled, as in the module */
	uint32_t registers;
	uint32_t shared_bytes; /* static */
	uint32_t local_bytes;  /* of a thread */
	uint32_t constant_bytes;
	uint32_t max_threads;       /* of a block */
	uint32_t max_dynamic_bytes; /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
	int32_t carveout;           /* percent of shared memory wanted, -1: the driver's choice */
	uint32_t cluster[3];        /* that it was compiled for; 0: none */
	bool cluster_other;         /* NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
	/* Where its parameters are in the block of parameters. */
	gt_array(struct gt_bundle_parameter) parameters;
};

struct gt_bundle_parameter {
	uint32_t offset;
	uint32_t size;
};

/*
 * An allocation, a variable of a module, or an array, that the launches can reach. Arrays have no
 * address; they are given some behind all that a GPU has, so that each memory has its own.
 */
struct gt_bundle_memory {
	enum gt_bundle_memory_kind kind;
	uint64_t address; /* on the GPU, in the program */
	uint64_t size;
	uint32_t module;       /* of a variable; UINT32_MAX */
	char *name;            /* of a variable, mangled; ""; else who asked for it, where known */
	struct gt_blob before; /* contents before the first step */
	struct gt_blob after;  /* after the last one */
	bool same;             /* the steps changed nothing of it: after is before */
	bool pointers; /* something in it was taken for the address of other memory of these */
	bool handles;  /* something in it was taken for the handle of an object */
	struct gt_array_shape array; /* of an array, whose bytes are size */
};

/* One pointer that was found: parameter of a step, or in memory. */
struct gt_bundle_pointer {
	uint32_t memory; /* in whose contents before; UINT32_MAX: in a step's parameters */
	uint32_t step;   /* of parameters */
	uint64_t offset; /* there, in bytes */
	uint32_t target; /* number of the memory that it points into */
	bool declared;   /* the parameter's size is that of an address; else any 8 aligned bytes */
};

struct gt_bundle_stream {
	uint32_t number; /* CUPTI's id in the program */
	int32_t priority;
	bool nonblocking;
};

struct gt_bundle_step {
	enum gt_bundle_step_kind kind;
	uint32_t stream;      /* GT_BUNDLE_NONE: the host waits for an event, or for all streams */
	uint32_t correlation; /* CUPTI's, of the call that was captured; 0: not known */
	/*
	 * In the program, since the first step began: of a sequence since the first call of work
	 * was made; negative: not measured.
	 */
	int64_t start_ns; /* on the GPU */
	int64_t end_ns;
	int64_t call_ns; /* when the call was made */
	/* launch */
	uint32_t function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t cluster[3];   /* of the launch; 0: none was asked for */
	uint32_t shared_bytes; /* dynamic */
	bool cooperative;
	bool programmatic; /* programmatic stream serialisation */
	int32_t priority;
	bool has_priority;
	struct gt_blob parameters; /* the block, byte by byte */
	/*
	 * copy and fill: addresses as in the program, slices of rows inside of one memory. from 0:
	 * bytes of the host's, in parameters, row after row; to 0: to the host, which nobody keeps.
	 */
	uint64_t to;
	uint64_t from;
	uint64_t bytes; /* of a row */
	uint64_t rows;
	uint64_t to_pitch;
	uint64_t from_pitch;
	uint64_t slices;         /* of so many rows; more than 1 only where each has several */
	uint64_t to_slice_pitch; /* a multiple of the pitch, as are those of the driver's calls */
	uint64_t from_slice_pitch;
	uint32_t value; /* of a fill */
	uint32_t value_bytes;
	/* record and wait: number of the event, counted from 0; UINT32_MAX: none */
	uint32_t event; /* fewer than steps */
	/*
	 * Which launch of a CUDA graph it is a part of: these are counted from 1, and the steps of
	 * one follow each other, the first in the stream that it was launched in. 0: of none.
	 */
	uint32_t graph;
	bool by_host; /* no call asked for it: what the host itself wrote into memory */
	bool pinned;  /* of a copy from or to the host: in memory that the driver had pinned */
	char *range;  /* path of the NVTX ranges that were open, "/" between; "" */
};

/* Where and when; texts: "" is not known, numbers: 0. */
struct gt_bundle_origin {
	char gputrace[24];
	char date[40]; /* RFC 3339, UTC */
	char host[72];
	char program[256];
	char device[96];
	char uuid[48];
	char driver[32];
	uint32_t pid;
	uint32_t correlation; /* CUPTI's, of the first step */
	uint32_t cc_major;
	uint32_t cc_minor;
	uint32_t sm_count;
	uint64_t memory_bytes;
	uint32_t sm_clock_mhz; /* in the program, when it was captured; 0: not measured */
	/* The program's launches of that function in that shape that were not captured. */
	uint64_t job_ns; /* median */
	uint32_t job_launches;
	int64_t local_bytes; /* memory for local variables that the launch needed; -1: not known */
	int64_t workspace_bytes; /* of reachable memory, what a library asked for; -1: not known */
};

struct gt_bundle {
	char *folder;
	struct gt_bundle_origin origin;
	gt_array(struct gt_bundle_module) modules;
	gt_array(struct gt_bundle_function) functions;
	gt_array(struct gt_bundle_memory)
		memory; /* by address, none overlaps another; arrays last */
	gt_array(struct gt_bundle_pointer) pointers;
	gt_array(struct gt_bundle_object) objects; /* textures and surfaces */
	gt_array(struct gt_bundle_handle) handles; /* of them, in parameters and memory */
	gt_array(struct gt_bundle_stream) streams;
	gt_array(struct gt_bundle_step) steps;
	gt_array(char *) missing; /* sentences: what was not captured and may matter */
	uint32_t focus; /* step, a launch, that was chosen when it was captured; GT_BUNDLE_NONE */
};

/*
 * Reads bundle.json of the folder and checks all that it says, but not the blobs. Fails in a
 * sentence: -ENOENT no such folder, or no bundle.json: what captured it did not end; -EBADMSG what
 * is in it; -ENOTSUP a later version. After a failure the bundle is empty.
 */
int gt_bundle_open(struct gt_bundle *bundle, const char *folder, struct gt_error *err);

/* The same of a text in memory, whose blobs are in the folder. */
int gt_bundle_parse(struct gt_bundle *bundle, const char *text, size_t size, const char *folder,
                    struct gt_error *err);

void gt_bundle_close(struct gt_bundle *bundle);

/*
 * Contents of a blob into bytes, of which there are blob->size. Their hash is compared. -ENOENT the
 * file is missing, -EBADMSG it is cut, changed or of another size.
 */
int gt_bundle_read(const struct gt_bundle *bundle, const struct gt_blob *blob, void *bytes,
                   struct gt_error *err);

/* Gives the contents to a sink, in pieces, before their hash is known to be right. Fails as above. */
int gt_bundle_give(const struct gt_bundle *bundle, const struct gt_blob *blob, struct gt_sink sink,
                   struct gt_error *err);

/* Reads every blob once and forgets it; how many were there. */
int gt_bundle_check(const struct gt_bundle *bundle, size_t *blobs, struct gt_error *err);

/* Whether a step is a launch, a copy or a fill. */
bool gt_bundle_is_work(const struct gt_bundle_step *step);

/* Whether a step is in a launch of a graph that began with a step before it. */
bool gt_bundle_goes_on_with_graph(const struct gt_bundle *bundle, size_t step);

/* Bytes of all memory, without the variables, which modules bring. */
uint64_t gt_bundle_memory_bytes(const struct gt_bundle *bundle);

/* The memory that the address lies in, or UINT32_MAX. */
uint32_t gt_bundle_find(const struct gt_bundle *bundle, uint64_t address);

/*
 * Where in memory a handle stands: before the first step, or once its step, a copy from the host,
 * has run. False: it is in no memory, as those of launches.
 */
bool gt_bundle_handle_place(const struct gt_bundle *bundle, const struct gt_bundle_handle *handle,
                            uint32_t *memory, uint64_t *offset);

#endif
