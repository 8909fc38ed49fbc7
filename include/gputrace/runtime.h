/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPUTRACE_RUNTIME_H
#define GPUTRACE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "gputrace.h"

/*
 * A small runtime for one GPU, on which gputrace measures and replays: streams, events, work that
 * is put together once (CUDA graphs), pools of memory with statistics, buffers that know who uses
 * them, and errors that are sentences. Link with libgputrace-runtime; libcuda is opened at run
 * time, and no toolkit is needed.
 *
 *     struct gputrace_gpu *gpu;
 *     struct gputrace_error error;
 *
 *     if (gputrace_gpu_open(&gpu, 0, &error) < 0)
 *             fprintf(stderr, "%s\n", error.text);
 *
 * Functions that can fail return 0, or a negative errno value with a sentence in error, which may
 * be NULL; they then leave alone what they would have set. A GPU and all that is of it belong to
 * one thread at a time. Objects not given back go when the GPU is closed. Without memory of the
 * host the program ends.
 */

#ifdef __cplusplus
extern "C" {
#endif

struct gputrace_gpu;
struct gputrace_buffer;
struct gputrace_commands;

struct gputrace_error {
	int code; /* positive errno value */
	char text[512];
};

/* The GPU of that number: its primary context, and stream 0. */
int gputrace_gpu_open(struct gputrace_gpu **gpu, int ordinal, struct gputrace_error *error);
void gputrace_gpu_close(struct gputrace_gpu *gpu);

/* A further stream, by its number; 16 in all. The lower the priority, the sooner it is served. */
int gputrace_stream_add(struct gputrace_gpu *gpu, int priority, uint32_t *stream,
                        struct gputrace_error *error);

/* Waits for all that is in the stream. */
int gputrace_stream_wait(struct gputrace_gpu *gpu, uint32_t stream, struct gputrace_error *error);

/*
 * Events, of a pool that has as many as were ever in use together: one that is recorded in the
 * stream, and the time between two, which is waited for. Given back, an event may be handed out
 * again.
 */
int gputrace_event_record(struct gputrace_gpu *gpu, uint32_t stream, void **event,
                          struct gputrace_error *error);
int gputrace_event_elapsed(struct gputrace_gpu *gpu, void *from, void *until, double *ns,
                           struct gputrace_error *error);
void gputrace_event_give(struct gputrace_gpu *gpu, void *event);

/*
 * Memory out of a pool of the GPU's, or of pinned memory of the host's, which the GPU can use as
 * well. A buffer that is freed is waited for.
 */
enum gputrace_buffer_place {
	GPUTRACE_BUFFER_DEVICE = 0,
	GPUTRACE_BUFFER_PINNED = 1,
};

int gputrace_buffer_new(struct gputrace_gpu *gpu, enum gputrace_buffer_place place, uint64_t bytes,
                        struct gputrace_buffer **buffer, struct gputrace_error *error);
int gputrace_buffer_free(struct gputrace_buffer *buffer, struct gputrace_error *error);

/* Where it is, for the parameters of kernels; and for the host, NULL: it is memory of the GPU. */
uint64_t gputrace_buffer_address(const struct gputrace_buffer *buffer);
void *gputrace_buffer_host(const struct gputrace_buffer *buffer);

/* Waits until nothing uses the buffer: what the host does with it then is in order. */
int gputrace_buffer_wait(struct gputrace_buffer *buffer, struct gputrace_error *error);

/* How the pool is filled, as `gputrace report memory` has it of pools. */
void gputrace_gpu_stats(const struct gputrace_gpu *gpu, enum gputrace_buffer_place place,
                        struct gputrace_pool_stats *stats);

/* A kernel of a module: PTX, a text, or a cubin. */
int gputrace_module_load(struct gputrace_gpu *gpu, const void *image, void **module,
                         struct gputrace_error *error);
int gputrace_module_kernel(struct gputrace_gpu *gpu, void *module, const char *name, void **kernel,
                           struct gputrace_error *error);

/* A buffer that a kernel uses, and whether it changes it. */
struct gputrace_use {
	struct gputrace_buffer *buffer;
	int writes;
};

struct gputrace_launch {
	void *kernel;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_bytes; /* dynamic */
	void **parameters;     /* the address of each, as cuLaunchKernel has them */
	const struct gputrace_use *uses;
	size_t use_count;
};

/*
 * Work in a stream. It waits for what other streams do with the same buffers: a writer for
 * everyone, a reader for writers.
 */
int gputrace_launch(struct gputrace_gpu *gpu, uint32_t stream, const struct gputrace_launch *launch,
                    struct gputrace_error *error);
int gputrace_copy(struct gputrace_gpu *gpu, uint32_t stream, struct gputrace_buffer *to,
                  struct gputrace_buffer *from, uint64_t bytes, struct gputrace_error *error);

/*
 * Work that is put together between begin and end, in any streams, and not run; then it is run by
 * one call as often as wanted, and is ordered as one piece by the buffers that it uses.
 */
int gputrace_commands_begin(struct gputrace_gpu *gpu, uint32_t stream,
                            struct gputrace_error *error);
int gputrace_commands_end(struct gputrace_gpu *gpu, struct gputrace_commands **commands,
                          struct gputrace_error *error);
int gputrace_commands_run(struct gputrace_commands *commands, uint32_t stream,
                          struct gputrace_error *error);
void gputrace_commands_free(struct gputrace_commands *commands);

#ifdef __cplusplus
}
#endif

#endif
