/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPUTRACE_GPUTRACE_H
#define GPUTRACE_GPUTRACE_H

#include <stddef.h>
#include <stdint.h>

/*
 * What a program can tell gputrace while it runs. Nothing is linked: the functions look for the
 * library that `gputrace run` loads into a program, and do nothing where there is none.
 *
 * An allocator that takes memory from CUDA in large pieces and hands out small ones says so here,
 * since CUDA knows of the large pieces alone:
 *
 *     struct gputrace_pool pool = {sizeof(pool), "activations", GPUTRACE_POOL_DEVICE, device};
 *     uint64_t id = gputrace_pool_create(&pool);
 *
 *     gputrace_block_alloc(id, address, bytes);
 *     gputrace_block_free(id, address);
 *     gputrace_pool_destroy(id);
 *
 * Every function may be called from any thread, blocks nobody, keeps nothing of what it is given
 * but what it copies, and reports no error: what cannot be recorded is counted in the recording.
 */

#ifdef __cplusplus
extern "C" {
#endif

enum gputrace_pool_place {
	GPUTRACE_POOL_DEVICE = 0,  /* memory of a GPU */
	GPUTRACE_POOL_PINNED = 1,  /* of the host, that CUDA has pinned */
	GPUTRACE_POOL_MANAGED = 2, /* that moves between both */
	GPUTRACE_POOL_HOST = 3,    /* of the host, that CUDA knows nothing of */
};

/* Who tells of a pool: what other programs give out is PROGRAM. */
enum gputrace_pool_teller {
	GPUTRACE_TELLER_PROGRAM = 0,
	GPUTRACE_TELLER_PYTORCH = 1,
	GPUTRACE_TELLER_JAX = 2,
};

struct gputrace_pool {
	size_t struct_size; /* sizeof(struct gputrace_pool) as the caller was compiled */
	const char *name;   /* UTF-8; copied */
	uint32_t place;     /* enum gputrace_pool_place */
	int32_t device;     /* CUDA's ordinal, -1: none */
	uint32_t teller;    /* enum gputrace_pool_teller */
	uint32_t padding;
};

#define GPUTRACE_UNKNOWN UINT64_MAX

/* How a pool is filled at one moment. GPUTRACE_UNKNOWN: not known. Bytes where nothing is said. */
struct gputrace_pool_stats {
	size_t struct_size;
	uint64_t num_allocs; /* calls that handed out a block, since the pool was made */
	uint64_t num_frees;
	uint64_t bytes_in_use;    /* of blocks that are handed out, as the pool rounds them */
	uint64_t bytes_requested; /* of the same blocks, as they were asked for */
	uint64_t peak_bytes_in_use;
	uint64_t largest_alloc;  /* that was ever handed out */
	uint64_t bytes_reserved; /* that the pool has from CUDA */
	uint64_t peak_bytes_reserved;
	uint64_t bytes_reservable_limit; /* that it may have at most */
	uint64_t limit;                  /* that may be in use at most */
	uint64_t largest_free_block;
	uint64_t cached;            /* reserved and in use by nobody */
	uint64_t free;              /* cached, and fit to be handed out now */
	uint64_t num_segments;      /* pieces that it has from CUDA */
	uint64_t num_reserve_calls; /* times that it had to ask CUDA for more: misses of the cache */
	uint64_t num_splits;
	uint64_t num_trims;  /* times that it gave memory back, or tried again after that */
	uint64_t num_failed; /* calls that found no memory */
};

/* Fills in stats when it is asked to; on a thread of gputrace's, not before it is done. */
typedef void gputrace_pull(uint64_t pool, struct gputrace_pool_stats *stats, void *user);

/* What a program of XLA's needs, as XLA's compiler says. Bytes. */
struct gputrace_executable {
	size_t struct_size;
	const char *name;
	int32_t device; /* -1: any */
	uint32_t padding;
	uint64_t argument_bytes;
	uint64_t output_bytes;
	uint64_t temporary_bytes;
	uint64_t alias_bytes; /* of outputs that lie in arguments */
	uint64_t code_bytes;
};

/*
 * The functions of the library as one table: gputrace_get_api(GPUTRACE_API_VERSION), NULL where
 * that version is not known. The inline functions below are the way to them.
 */
#define GPUTRACE_API_VERSION 1

struct gputrace_api {
	size_t struct_size;
	uint64_t (*pool_create)(const struct gputrace_pool *pool); /* 0: not recorded */
	void (*pool_destroy)(uint64_t pool);
	void (*block_alloc)(uint64_t pool, const void *address, uint64_t bytes, uint64_t requested,
	                    void *stream);
	void (*block_free)(uint64_t pool, const void *address, void *stream);
	void (*pool_stats)(uint64_t pool, const struct gputrace_pool_stats *stats);
	void (*pool_pull)(uint64_t pool, gputrace_pull *pull, void *user, uint64_t interval_ns);
	void (*executable)(const struct gputrace_executable *executable);
	/*
	 * The same of a block that was handed out, or given back, some time ago, on whatever
	 * thread: in nanoseconds of CLOCK_BOOTTIME. A library whose struct_size ends before has
	 * them not.
	 */
	void (*block_alloc_at)(uint64_t pool, const void *address, uint64_t bytes,
	                       uint64_t requested, void *stream, uint64_t time_ns);
	void (*block_free_at)(uint64_t pool, const void *address, void *stream, uint64_t time_ns);
};

typedef const struct gputrace_api *gputrace_get_api_function(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
