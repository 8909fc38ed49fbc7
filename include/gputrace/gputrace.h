/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPUTRACE_GPUTRACE_H
#define GPUTRACE_GPUTRACE_H

#include <stddef.h>
#include <stdint.h>

#if !defined(GPUTRACE_DISABLE) && !defined(GPUTRACE_NO_IMPL)
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#endif

/*
 * A running program can tell gputrace about itself. Nothing is linked: the functions look for the
 * library that `gputrace run` loads into a program, and do nothing where there is none. C11, C++11
 * and later, gcc and clang on Linux; a glibc before 2.34 wants -ldl. With GPUTRACE_DISABLE defined
 * before this file is included nothing of it is left in the program, and with GPUTRACE_NO_IMPL
 * there are types and gputrace_device_name_id alone.
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
 * A block is told of when the program has it, and that it is given back before another thread can
 * get it: then every address is free before it is handed out again, whatever threads do at the
 * same time. No lock is needed around these calls.
 *
 * Every function may be called from any thread, whether CUDA has started or not, blocks nobody (but
 * gputrace_pool_destroy and gputrace_pool_pull, see there), keeps nothing of what it is given but
 * what it copies, and reports no error: what cannot be recorded is counted in the recording. None
 * may be called from signal handlers or from within malloc.
 *
 * Where nobody records the id of each pool is 0, and telling of a block is one test of that.
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
	GPUTRACE_TELLER_PYTORCH_PART = 4, /* its memory is in PYTORCH's pool of the device too */
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

/* Nothing is said of the stream that a block is for. NULL is the default stream. */
#define GPUTRACE_NO_STREAM ((void *)UINTPTR_MAX)

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

/*
 * Fills in stats, of which all but struct_size is GPUTRACE_UNKNOWN, when it is asked to; on a
 * thread of gputrace's, one pool after the other. Fields that it leaves are unknown.
 */
typedef void gputrace_pull(uint64_t pool, struct gputrace_pool_stats *stats, void *user);

/* Memory that an XLA program needs, as XLA's compiler says. Bytes; GPUTRACE_UNKNOWN: not known. */
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
 * that version is not known or nothing is recorded. The inline functions below are the way to them.
 * A pool of 0 is none; later versions of the table are longer.
 */
#define GPUTRACE_API_VERSION 1

struct gputrace_api {
	size_t struct_size;
	uint64_t (*pool_create)(const struct gputrace_pool *pool); /* 0: not recorded */
	void (*pool_destroy)(uint64_t pool);
	/* requested: 0, it is not told. stream: CUstream, or GPUTRACE_NO_STREAM */
	void (*block_alloc)(uint64_t pool, const void *address, uint64_t bytes, uint64_t requested,
	                    void *stream);
	void (*block_free)(uint64_t pool, const void *address, void *stream);
	void (*pool_stats)(uint64_t pool, const struct gputrace_pool_stats *stats);
	/* pull: NULL, no more. interval_ns: 0, a tenth of a second; a millisecond at least */
	void (*pool_pull)(uint64_t pool, gputrace_pull *pull, void *user, uint64_t interval_ns);
	void (*executable)(const struct gputrace_executable *executable);
	/*
	 * A block was handed out, or given back, some time ago, on an unknown thread.
	 * time_ns: of CLOCK_MONOTONIC. These two are not in every table of this version:
	 * where struct_size ends before them they are missing.
	 */
	void (*block_alloc_at)(uint64_t pool, const void *address, uint64_t bytes,
	                       uint64_t requested, void *stream, uint64_t time_ns);
	void (*block_free_at)(uint64_t pool, const void *address, void *stream, uint64_t time_ns);
	/*
	 * For events that kernels write: gputrace_device_name and gputrace_device_ring below. Again
	 * not in every table of this version.
	 */
	uint32_t (*device_name)(const char *text);
	void *(*device_ring)(void);
};

/* Whether there is a table, and the function in it. */
#define GPUTRACE_HAS(api, function)                                                                \
	((api) &&                                                                                  \
	 (api)->struct_size >= offsetof(struct gputrace_api, function) + sizeof((api)->function))

typedef const struct gputrace_api *gputrace_get_api_function(uint32_t version);

/*
 * The id that a name of device events has, on the host as in kernels: FNV-1a of its bytes, folded
 * to 28 bits, and 1 in place of 0. 0: no name.
 */
static inline uint32_t gputrace_device_name_id(const char *text)
{
	uint32_t hash = 2166136261u;

	if (!text)
		return 0;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	hash = (hash >> 28) ^ (hash & 0xfffffffu);
	return hash ? hash : 1;
}

#ifndef GPUTRACE_NO_IMPL
#ifndef GPUTRACE_DISABLE
/*
 * The table; NULL: nobody records; its own address: nobody has looked yet. One for each program or
 * shared object that includes this file.
 */
extern const void *gputrace_found __attribute__((weak, visibility("hidden")));
const void *gputrace_found __attribute__((weak, visibility("hidden"))) = &gputrace_found;

static inline const struct gputrace_api *gputrace_ask(void *library)
{
	void *const symbol = library ? dlsym(library, "gputrace_get_api") : NULL;
	gputrace_get_api_function *get_api;

	if (!symbol)
		return NULL;
	memcpy(&get_api, &symbol, sizeof(get_api));
	return get_api(GPUTRACE_API_VERSION);
}

/* The library that a variable names, for CUDA or NVTX to load. It is another tool's? Then not. */
static inline void *gputrace_open(const char *variable)
{
	const char *const path = getenv(variable);
	const char *const slash = path ? strrchr(path, '/') : NULL;

	if (!path || !*path || getauxval(AT_SECURE))
		return NULL;
	return dlopen(path, strstr(slash ? slash : path, "gputrace") ? RTLD_LAZY
	                                                             : RTLD_LAZY | RTLD_NOLOAD);
}

__attribute__((cold, noinline, unused)) static const struct gputrace_api *gputrace_look(void)
{
	const struct gputrace_api *api = gputrace_ask(dlopen(NULL, RTLD_LAZY)); /* linked with it */

	if (!api)
		api = gputrace_ask(gputrace_open("CUDA_INJECTION64_PATH"));
	if (!api)
		api = gputrace_ask(gputrace_open("NVTX_INJECTION64_PATH"));
	__atomic_store_n(&gputrace_found, (const void *)api, __ATOMIC_RELEASE);
	return api;
}
#endif

/* NULL where nobody records. */
static inline const struct gputrace_api *gputrace_table(void)
{
#ifdef GPUTRACE_DISABLE
	return NULL;
#else
	const void *const found = __atomic_load_n(&gputrace_found, __ATOMIC_ACQUIRE);

	if (__builtin_expect(found == &gputrace_found, 0))
		return gputrace_look();
	return (const struct gputrace_api *)found;
#endif
}

/* Whether somebody records: what is not told needs not be worked out. */
static inline int gputrace_is_recorded(void)
{
	return gputrace_table() != NULL;
}

/* The pool's id for all calls below; 0: it is not recorded, and these do nothing. */
static inline uint64_t gputrace_pool_create(const struct gputrace_pool *pool)
{
	const struct gputrace_api *api = gputrace_table();

#ifndef GPUTRACE_DISABLE
	if (!api) /* CUDA may have loaded the library since somebody looked last */
		api = gputrace_look();
#endif
	return api ? api->pool_create(pool) : 0;
}

/*
 * The pool is gone, with all blocks that it has out. Waits for the function that gputrace_pool_pull
 * registered if that is running: it is not called any more when this returns. So hold no lock that
 * it takes; it may itself call this.
 */
static inline void gputrace_pool_destroy(uint64_t pool)
{
	const struct gputrace_api *const api = pool ? gputrace_table() : NULL;

	if (api)
		api->pool_destroy(pool);
}

/* The pool handed out so many bytes; in the other form, of which so many were asked for. */
static inline void gputrace_block_alloc_on(uint64_t pool, const void *address, uint64_t bytes,
                                           uint64_t requested, void *stream)
{
	const struct gputrace_api *const api = pool ? gputrace_table() : NULL;

	if (api)
		api->block_alloc(pool, address, bytes, requested, stream);
}

static inline void gputrace_block_alloc(uint64_t pool, const void *address, uint64_t bytes)
{
	gputrace_block_alloc_on(pool, address, bytes, 0, GPUTRACE_NO_STREAM);
}

/* The block that begins at the address is about to be given back. */
static inline void gputrace_block_free_on(uint64_t pool, const void *address, void *stream)
{
	const struct gputrace_api *const api = pool ? gputrace_table() : NULL;

	if (api)
		api->block_free(pool, address, stream);
}

static inline void gputrace_block_free(uint64_t pool, const void *address)
{
	gputrace_block_free_on(pool, address, GPUTRACE_NO_STREAM);
}

/*
 * The same of what was some time ago, on whatever thread: time_ns is of CLOCK_MONOTONIC. Calls for
 * one address are told in the order in which they happened.
 */
static inline void gputrace_block_alloc_at(uint64_t pool, const void *address, uint64_t bytes,
                                           uint64_t requested, void *stream, uint64_t time_ns)
{
	const struct gputrace_api *const api = pool ? gputrace_table() : NULL;

	if (GPUTRACE_HAS(api, block_alloc_at))
		api->block_alloc_at(pool, address, bytes, requested, stream, time_ns);
}

static inline void gputrace_block_free_at(uint64_t pool, const void *address, void *stream,
                                          uint64_t time_ns)
{
	const struct gputrace_api *const api = pool ? gputrace_table() : NULL;

	if (GPUTRACE_HAS(api, block_free_at))
		api->block_free_at(pool, address, stream, time_ns);
}

/* Nothing is known yet. */
static inline void gputrace_pool_stats_init(struct gputrace_pool_stats *stats)
{
	unsigned char *const bytes = (unsigned char *)stats;

	for (size_t i = 0; i < sizeof(*stats); i++)
		bytes[i] = 0xff; /* GPUTRACE_UNKNOWN */
	stats->struct_size = sizeof(*stats);
}

/* How the pool is filled now. */
static inline void gputrace_pool_stats_push(uint64_t pool, const struct gputrace_pool_stats *stats)
{
	const struct gputrace_api *const api = pool ? gputrace_table() : NULL;

	if (api)
		api->pool_stats(pool, stats);
}

/*
 * The same, asked for every so many nanoseconds: 0, ten times a second; a millisecond at least.
 * The function registered before is not called any more; NULL: none is. Waits as
 * gputrace_pool_destroy does.
 */
static inline void gputrace_pool_pull(uint64_t pool, gputrace_pull *pull, void *user,
                                      uint64_t interval_ns)
{
	const struct gputrace_api *const api = pool ? gputrace_table() : NULL;

	if (api)
		api->pool_pull(pool, pull, user, interval_ns);
}

static inline void gputrace_executable_add(const struct gputrace_executable *executable)
{
	const struct gputrace_api *const api = gputrace_table();

	if (api)
		api->executable(executable);
}

/*
 * gputrace_device_name_id, and the recording is told what it stands for; telling it again does
 * nothing. UTF-8,
 * 1 to 63 bytes. A name that is empty, too long, or whose id another name of the process has got
 * is refused and counted in the recording; the id is that of the text all the same.
 */
static inline uint32_t gputrace_device_name(const char *text)
{
	const struct gputrace_api *api = gputrace_table();

#ifndef GPUTRACE_DISABLE
	if (!api) /* as in gputrace_pool_create */
		api = gputrace_look();
#endif
	if (GPUTRACE_HAS(api, device_name))
		(void)api->device_name(text);
	return gputrace_device_name_id(text);
}

/*
 * Device address of the ring of the calling thread's current context, a struct gputrace_device_ring
 * (gputrace/device_layout.h), for kernels that get it as an argument: it is made if it is not there
 * yet. The same for all calls as long as the context lives. NULL where nobody records device
 * events, no context is current, or there is no memory left for it. Calls CUDA's driver: neither
 * from functions that CUDA calls in streams, nor while the program destroys the context. A stream
 * may be in the middle of being captured.
 */
static inline void *gputrace_device_ring(void)
{
	const struct gputrace_api *api = gputrace_table();

#ifndef GPUTRACE_DISABLE
	if (!api)
		api = gputrace_look();
#endif
	return GPUTRACE_HAS(api, device_ring) ? api->device_ring() : (void *)0;
}

#endif /* GPUTRACE_NO_IMPL */

#ifdef __cplusplus
}
#endif

#endif
