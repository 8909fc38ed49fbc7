/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_GPU_GPU_H
#define GT_REPLAY_GPU_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "replay/gpu/cuda.h"

struct gt_error;

/* Addresses, or memory that is mapped there. */
struct gt_gpu_range {
	CUdeviceptr address;
	size_t bytes;
};

/*
 * A GPU in use: its primary context, one stream, two events to time what is in that stream, and all
 * modules, memory, further streams and events that were taken, which are given back together. For
 * one thread, whose current context it sets.
 */
struct gt_gpu {
	const struct gt_cuda *cuda;
	CUdevice device;
	int ordinal;
	CUcontext context;
	CUstream stream;
	CUevent begin;
	CUevent end;
	gt_array(CUmodule) modules;
	gt_array(CUdeviceptr) blocks;
	gt_array(void *) pinned;
	gt_array(void *) registered;
	gt_array(struct gt_gpu_range) reserved;
	gt_array(struct gt_gpu_range) mapped;
	gt_array(CUstream) streams;
	gt_array(CUevent) events; /* all that were made */
	gt_array(CUevent) spare;  /* of these, the ones that nobody has */
};

/* The GPU of that number. After a failure it is closed. cuda must outlive it. */
int gt_gpu_open(struct gt_gpu *gpu, const struct gt_cuda *cuda, int ordinal, struct gt_error *err);
void gt_gpu_close(struct gt_gpu *gpu);

/* Makes its context the thread's again, after that of another GPU. */
int gt_gpu_select(const struct gt_gpu *gpu, struct gt_error *err);

/* 0 where the driver does not say. */
int gt_gpu_attribute(const struct gt_gpu *gpu, CUdevice_attribute attribute);

enum { GT_GPU_UUID_BYTES = 48 };

/* GPU- and so on, as nvidia-smi prints it; "" when the driver does not tell. */
void gt_gpu_uuid(const struct gt_gpu *gpu, char text[GT_GPU_UUID_BYTES]);

/* Memory of the GPU, and of the host, which the GPU can address; until the GPU is closed. */
int gt_gpu_alloc(struct gt_gpu *gpu, size_t bytes, CUdeviceptr *address, struct gt_error *err);
int gt_gpu_alloc_pinned(struct gt_gpu *gpu, size_t bytes, void **address, struct gt_error *err);

/*
 * Reserves addresses that begin at wanted, 0: anywhere; multiples of what gt_gpu_granularity says.
 * The driver may choose others than the wanted ones: -EADDRINUSE, and nothing is reserved.
 */
int gt_gpu_reserve(struct gt_gpu *gpu, CUdeviceptr wanted, size_t bytes, CUdeviceptr *address,
                   struct gt_error *err);

/* Puts memory of the GPU at addresses that are reserved. */
int gt_gpu_map(struct gt_gpu *gpu, CUdeviceptr address, size_t bytes, struct gt_error *err);

/* Bytes that sizes and addresses of the two above are multiples of. */
size_t gt_gpu_granularity(const struct gt_gpu *gpu);

/* Pins memory of the host's that the GPU can address from then on, where the host has it. */
int gt_gpu_register(struct gt_gpu *gpu, void *address, size_t bytes, struct gt_error *err);

/* A further stream, until the GPU is closed. */
int gt_gpu_add_stream(struct gt_gpu *gpu, int priority, CUstream *stream, struct gt_error *err);

/* An event of the pool, which has as many as were ever in use together. They tell times. */
int gt_gpu_take_event(struct gt_gpu *gpu, CUevent *event, struct gt_error *err);
void gt_gpu_give_event(struct gt_gpu *gpu, CUevent event);

/* Work put into stream later begins after all that is in other now. */
int gt_gpu_order(struct gt_gpu *gpu, CUstream other, CUstream stream, struct gt_error *err);

/* Gives back the memory, before the GPU is closed. */
void gt_gpu_free_all(struct gt_gpu *gpu);

/* Code for the GPU: PTX, which the driver compiles, or a cubin. what is what a sentence calls it. */
int gt_gpu_load(struct gt_gpu *gpu, const void *image, const char *what, CUmodule *module,
                struct gt_error *err);

/* The same, PTX with at most so many registers a thread; 0: as many as the compiler likes. */
int gt_gpu_load_with(struct gt_gpu *gpu, const void *image, unsigned max_registers,
                     const char *what, CUmodule *module, struct gt_error *err);

/* Between the two: work in the stream, whose time is then waited for. */
int gt_gpu_start_timer(const struct gt_gpu *gpu, struct gt_error *err);
int gt_gpu_stop_timer(const struct gt_gpu *gpu, double *ns, struct gt_error *err);

/* Waits for all that is in the stream. */
int gt_gpu_wait(const struct gt_gpu *gpu, struct gt_error *err);

/* The same for so long at most: -ETIMEDOUT. */
int gt_gpu_wait_for(const struct gt_gpu *gpu, int64_t most_ns, struct gt_error *err);

/* Gives nothing back when it is closed: work on it may never end. The driver does at the process's.
 */
void gt_gpu_abandon(struct gt_gpu *gpu);

/* CLOCK_MONOTONIC. */
int64_t gt_gpu_now_ns(void);

#endif
