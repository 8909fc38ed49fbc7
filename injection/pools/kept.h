/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_POOLS_KEPT_H
#define GT_INJECTION_POOLS_KEPT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GPUTRACE_NO_IMPL /* types alone: this is what the functions call */
#include "include/gputrace/gputrace.h"
#include "injection/pools/pools.h"
#include "injection/session/session.h"

/*
 * All that is kept of the pools that are there, shared by the files of this folder. A pool's id,
 * which the program has, says its entry and its number; numbers are given out once.
 */

struct gt_source;

#define GT_POOL_NAME_BYTES 256 /* kept of a pool's name */

enum gt_pools_note { GT_POOLS_NOTED_FULL, GT_POOLS_NOTED_SERIES };

struct gt_pool_entry {
	/* Number of the pool << 32, and which columns of its series were announced; 0: it is free. */
	_Atomic uint64_t state;
	uint32_t place;
	uint32_t teller;
	uint32_t device_plus_one;
	uint32_t name_size;
	char name[GT_POOL_NAME_BYTES];
	/* Guarded by the lock. */
	gputrace_pull *pull; /* NULL: none */
	void *user;
	uint64_t interval_ns;
	uint64_t due_ns; /* gt_now */
};

struct gt_pools {
	struct gt_pool_entry *entries; /* GT_POOLS_KEPT of them; NULL: there was no memory */
	_Atomic uint32_t given;        /* numbers of pools */
	_Atomic uint32_t used;         /* entries that have been in use */
	_Atomic uint32_t noted;        /* what was said once: 1 << enum gt_pools_note */
	/*
	 * Guards what entries say of pulls, and what is below. None of the program's code runs
	 * while it is held, nor is anything waited for.
	 */
	pthread_mutex_t lock;
	uint32_t pulling; /* number of the pool whose pull runs, 0: none does */
	uint32_t waiting; /* threads that wait for its end */
	sem_t pulled;
	/* One moment on two clocks, for times that are told later: gt_now and CLOCK_MONOTONIC. */
	uint64_t seen_ns; /* 0: not yet */
	uint64_t seen_monotonic_ns;
};

extern struct gt_pools gt_pools;

/* Its thread calls the pulls. */
extern const struct gt_source gt_source_pools;

/* An id that a program gets: the entry's place and one, and the pool's number. */
static inline uint64_t gt_pool_id(uint32_t place_plus_one, uint32_t number)
{
	return (uint64_t)place_plus_one << 32 | number;
}

static inline uint32_t gt_pool_number(uint64_t id)
{
	return (uint32_t)id;
}

static inline uint32_t gt_pool_number_in(const struct gt_pool_entry *entry)
{
	return (uint32_t)(atomic_load_explicit(&entry->state, memory_order_acquire) >> 32);
}

/* The entry of a pool that is there; NULL: it is gone, or there was none left for it. */
static inline struct gt_pool_entry *gt_pool_entry_of(uint64_t id)
{
	const uint64_t place = id >> 32;

	if (place == 0 || place > GT_POOLS_KEPT ||
	    gt_pool_number_in(&gt_pools.entries[place - 1]) != gt_pool_number(id))
		return NULL;
	return &gt_pools.entries[place - 1];
}

/*
 * Whether there is, or may be, a session that they belong to: not in the child of one with CUDA,
 * nor where the table is there for device events alone.
 */
static inline bool gt_pools_are_kept(const struct gt_session *session)
{
	return gt_pools.entries && !gt_session_is(session, GT_SESSION_FORGOTTEN);
}

/* A struct of a caller that may have been compiled with another version: what it lacks stays. */
static inline void gt_pools_read_struct(void *to, size_t size, const void *from)
{
	size_t said;

	memcpy(&said, from, sizeof(said));
	memcpy(to, from, said < size ? said : size);
}

/* Says it once in the life of the process. */
void gt_pools_note_once(struct gt_session *session, enum gt_pools_note what, const char *text);

#endif
