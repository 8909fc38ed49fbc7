/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_POOLS_READINGS_H
#define GT_INJECTION_POOLS_READINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

struct gt_session;

/*
 * How CUDA's own pools are filled, over time: those that the program made, and of each GPU in use
 * its default pool and the memory of graphs, as soon as any of it was used. They are asked on a
 * thread of ours, with calls of the driver. A pool that is being destroyed must not be asked: the
 * call that destroys it waits until ours is done, which takes microseconds.
 */

#define GT_MOST_POOLS     64 /* of the program's that are there at once; of more some are not read */
#define GT_MOST_POOL_GPUS 64

/* Kinds of pools, field kind of their records. In files: never change or reuse one. */
enum gt_read_pool_kind { GT_READ_POOL_DEFAULT, GT_READ_POOL_MADE, GT_READ_POOL_GRAPHS };

struct gt_read_pool {
	_Atomic uint32_t state;
	uint32_t device; /* its ordinal plus one, 0: of none */
	uint32_t number; /* of the pool in the process, from 0 */
	uint64_t handle;
	bool announced; /* the thread's */
};

struct gt_pool_readings {
	struct gt_read_pool made[GT_MOST_POOLS];
	_Atomic uint32_t count;  /* of pools that the program made */
	_Atomic uint32_t asking; /* which of made is being asked, plus one; 0: none */
	/* All others are the thread's. */
	bool announced[GT_MOST_POOL_GPUS][2]; /* by ordinal: the default pool, memory of graphs */
	CUresult (*default_pool)(CUmemoryPool *pool, CUdevice device);
	CUresult (*ask)(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
	CUresult (*ask_graphs)(CUdevice device, CUgraphMem_attribute attribute, void *value);
};

/* Threads of the program: a pool was made, is about to be destroyed; all of them may be. */
void gt_pool_readings_add(struct gt_pool_readings *readings, uint64_t handle, uint32_t device);
void gt_pool_readings_end(struct gt_pool_readings *readings, uint64_t handle);
void gt_pool_readings_end_all(struct gt_pool_readings *readings);

/* The thread: finds the driver's calls; false where it has none of them. */
bool gt_pool_readings_open(struct gt_pool_readings *readings);

/* Samples those that the program made, and what there is of one GPU. */
void gt_pool_readings_take(struct gt_session *session, struct gt_pool_readings *readings);
void gt_pool_readings_take_of(struct gt_session *session, struct gt_pool_readings *readings,
                              uint32_t ordinal);

#endif
