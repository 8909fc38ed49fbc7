/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

#include "fakes/apps/app_clone.h"
#include "include/gputrace/gputrace.h"

/*
 * Tells gputrace of pools that are made up, through the real header, and says in one line of JSON
 * what it told: app_pools WORD... in this order.
 *
 *   basics       a pool of each place, blocks in ranges and on streams, what is no proper use
 *   cuda         starts CUDA, a pool on its GPU with a block on the default stream and on another
 *   loop N       N blocks, each given back before the next
 *   threads N    N threads that hand one another the same 8 addresses, 10000 times each
 *   stats        statistics that are pushed
 *   pull         statistics that are asked for, for a third of a second; says how often they were
 *   destroy      pools that are destroyed while they are asked
 *   many         more pools than gputrace keeps at a time
 *   later        a block in a range that is told of after it was given back, around one that is not
 *   executable   two programs of XLA's
 *   fork         a child that hands out blocks too
 *   clone        the same of a child that the system call clone makes
 *   child-cuda   a child that starts CUDA, with a pool of its parent's
 *   open WORD    leaves a pool with two blocks and then: exit, _exit, abort, kill, return
 */

#define ADDRESSES 8
#define TURNS     10000

static atomic_ullong allocs;
static atomic_ullong frees;
static atomic_ullong pulls;
static unsigned recorded; /* pools with an id */

static void fail(const char *what)
{
	(void)fprintf(stderr, "app_pools: %s\n", what);
	exit(99);
}

static void must(CUresult result)
{
	if (result != CUDA_SUCCESS)
		fail("CUDA failed");
}

static void report(void)
{
	printf("{\"allocs\": %llu, \"frees\": %llu, \"pulls\": %llu, \"recorded\": %u}\n",
	       atomic_load(&allocs), atomic_load(&frees), atomic_load(&pulls), recorded);
	(void)fflush(stdout);
}

static const void *at(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

static uint64_t create(const char *name, uint32_t place, int device)
{
	const struct gputrace_pool pool = {
		.struct_size = sizeof(pool), .name = name, .place = place, .device = device};
	const uint64_t id = gputrace_pool_create(&pool);

	recorded += id != 0;
	return id;
}

static void take(uint64_t pool, uint64_t address, uint64_t bytes)
{
	atomic_fetch_add(&allocs, 1);
	gputrace_block_alloc(pool, at(address), bytes);
}

static void give(uint64_t pool, uint64_t address)
{
	atomic_fetch_add(&frees, 1);
	gputrace_block_free(pool, at(address));
}

static void basics(void)
{
	static const char *const names[] = {"device", "pinned", "managed", "host"};
	uint64_t pools[4];

	for (uint32_t place = 0; place < 4; place++)
		pools[place] = create(names[place], place, place == GPUTRACE_POOL_HOST ? -1 : 0);
	nvtxRangePushA("outer");
	take(pools[0], 0x1000, 512);
	take(pools[1], 0x1000, 1024); /* the same address, of another pool */
	nvtxRangePushA("inner");
	gputrace_block_alloc_on(pools[0], at(0x2000), 1024, 1000, GPUTRACE_NO_STREAM);
	atomic_fetch_add(&allocs, 1);
	nvtxRangePop();
	give(pools[0], 0x1000);
	take(pools[0], 0x1000, 256);
	nvtxRangePop();
	give(pools[0], 0x1000);
	give(pools[0], 0x2000);
	give(pools[1], 0x1000);
	take(pools[2], 0x3000, 2048); /* which goes with its pool */
	gputrace_pool_destroy(pools[2]);
	give(pools[3], 0x9000);    /* never handed out */
	take(pools[3], 0x4000, 1); /* twice */
	take(pools[3], 0x4000, 2);
	give(pools[3], 0x4000);
	take(pools[3], 0x5000, 4096); /* stays */
	take(0, 0x6000, 1);
	give(0, 0x6000);
	gputrace_pool_destroy(0);
	gputrace_pool_pull(0, NULL, NULL, 0);
	gputrace_pool_destroy(pools[1]);
	gputrace_pool_destroy(pools[1]);
}

static void cuda(void)
{
	CUcontext context;
	CUstream stream;
	uint64_t pool;

	must(cuInit(0));
	must(cuCtxCreate(&context, NULL, 0, 0));
	must(cuStreamCreate(&stream, 0));
	pool = create("on a GPU", GPUTRACE_POOL_DEVICE, 0);
	gputrace_block_alloc_on(pool, at(0x1000), 64, 0, NULL);
	gputrace_block_alloc_on(pool, at(0x2000), 64, 0, stream);
	gputrace_block_alloc_on(pool, at(0x3000), 64, 0, GPUTRACE_NO_STREAM);
	gputrace_block_free_on(pool, at(0x2000), stream);
	atomic_fetch_add(&allocs, 3);
	atomic_fetch_add(&frees, 1);
	must(cuCtxSynchronize());
}

static void loop(long count)
{
	const uint64_t pool = create("loop", GPUTRACE_POOL_HOST, -1);

	for (long i = 0; i < count; i++) {
		take(pool, 0x1000, 64);
		give(pool, 0x1000);
	}
}

/* A pool that several threads use: an address that is free is anybody's. */
struct shared {
	uint64_t pool;
	pthread_mutex_t lock;
	uint32_t used; /* bits */
};

static void *use(void *context)
{
	struct shared *shared = context;

	for (int i = 0; i < TURNS; i++) {
		uint32_t which = 0;

		pthread_mutex_lock(&shared->lock);
		while (which < ADDRESSES && shared->used >> which & 1)
			which++;
		shared->used |= 1u << which;
		pthread_mutex_unlock(&shared->lock);
		if (which == ADDRESSES)
			fail("more threads than addresses");
		take(shared->pool, 0x1000 * (which + 1), 4096);
		give(shared->pool, 0x1000 * (which + 1));
		pthread_mutex_lock(&shared->lock);
		shared->used &= ~(1u << which);
		pthread_mutex_unlock(&shared->lock);
	}
	return NULL;
}

static void threads(long count)
{
	struct shared shared = {.pool = create("shared", GPUTRACE_POOL_HOST, -1),
	                        .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t all[ADDRESSES];

	for (long i = 0; i < count && i < ADDRESSES; i++)
		pthread_create(&all[i], NULL, use, &shared);
	for (long i = 0; i < count && i < ADDRESSES; i++)
		pthread_join(all[i], NULL);
}

static void push_stats(void)
{
	const uint64_t pool = create("counted", GPUTRACE_POOL_HOST, -1);
	struct gputrace_pool_stats stats;

	gputrace_pool_stats_init(&stats);
	gputrace_pool_stats_push(pool, &stats); /* nothing is known */
	for (uint64_t i = 1; i <= 5; i++) {
		stats.num_allocs = i;
		stats.bytes_in_use = 1000 * i;
		if (i == 3)
			stats.largest_free_block = 77;
		gputrace_pool_stats_push(pool, &stats);
	}
	/* As from a program that was compiled with fewer members, and one with more. */
	stats.struct_size = offsetof(struct gputrace_pool_stats, bytes_in_use);
	gputrace_pool_stats_push(pool, &stats);
	gputrace_pool_destroy(pool);
	gputrace_pool_stats_push(pool, &stats); /* too late */
}

struct asked {
	atomic_ullong times;
	atomic_bool gone;
};

static void answer(uint64_t pool, struct gputrace_pool_stats *stats, void *user)
{
	struct asked *asked = user;

	if (pool == 0 || stats->num_allocs != GPUTRACE_UNKNOWN ||
	    stats->struct_size != sizeof(*stats))
		fail("a pull is not as it should be");
	if (atomic_load(&asked->gone))
		fail("a pool that is gone is asked");
	atomic_fetch_add(&pulls, 1);
	stats->num_allocs = atomic_fetch_add(&asked->times, 1);
	stats->bytes_reserved = 4096;
}

static void sleep_ms(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* Until a pool was asked so often: on a slow machine that may take a while. */
static void await_pulls(unsigned least)
{
	for (int i = 0; i < 10000 && recorded && atomic_load(&pulls) < least; i++)
		sleep_ms(1);
}

static void pull_stats(void)
{
	struct asked asked = {0};
	const uint64_t pool = create("asked", GPUTRACE_POOL_HOST, -1);

	gputrace_pool_pull(pool, answer, &asked, 10000000);
	sleep_ms(330);
	await_pulls(5);
	gputrace_pool_pull(pool, NULL, NULL, 0);
	atomic_store(&asked.gone, true);
	sleep_ms(50);
	gputrace_pool_destroy(pool);
}

static uint64_t monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void later(void)
{
	const uint64_t pool = create("later", GPUTRACE_POOL_HOST, -1);
	uint64_t begin_ns;
	uint64_t end_ns;

	begin_ns = monotonic();
	sleep_ms(5);
	take(pool, 0x2000, 256);
	sleep_ms(5);
	end_ns = monotonic();
	nvtxRangePushA("told");
	sleep_ms(5);
	gputrace_block_alloc_at(pool, at(0x1000), 512, 500, GPUTRACE_NO_STREAM, begin_ns);
	gputrace_block_free_at(pool, at(0x1000), GPUTRACE_NO_STREAM, end_ns);
	nvtxRangePop();
	atomic_fetch_add(&allocs, 1);
	atomic_fetch_add(&frees, 1);
}

/* Ends its pool itself, the third time. */
static void end_itself(uint64_t pool, struct gputrace_pool_stats *stats, void *user)
{
	answer(pool, stats, user);
	if (atomic_load(&((struct asked *)user)->times) == 3) {
		gputrace_pool_destroy(pool);
		atomic_store(&((struct asked *)user)->gone, true);
	}
}

static void destroy(void)
{
	struct asked *own = calloc(1, sizeof(*own));
	const uint64_t pool = create("ends itself", GPUTRACE_POOL_HOST, -1);

	gputrace_pool_pull(pool, end_itself, own, 1);
	for (int i = 0; i < 200; i++) {
		struct asked *asked = calloc(1, sizeof(*asked));
		const uint64_t id = create("short", GPUTRACE_POOL_HOST, -1);

		gputrace_pool_pull(id, answer, asked, 1);
		if (i % 10 == 0)
			sleep_ms(2);
		gputrace_pool_destroy(id);
		atomic_store(&asked->gone, true);
		memset(asked, 0xff, sizeof(*asked));
		free(asked);
	}
	await_pulls(1);
}

static void many(void)
{
	uint64_t pools[1500];

	for (size_t i = 0; i < 1500; i++) {
		pools[i] = create("one of many", GPUTRACE_POOL_HOST, -1);
		take(pools[i], 0x1000, i + 1);
	}
	for (size_t i = 0; i < 1500; i++) {
		struct gputrace_pool_stats stats;

		gputrace_pool_stats_init(&stats);
		stats.bytes_in_use = i;
		if (i % 100 == 99)
			gputrace_pool_stats_push(pools[i], &stats);
		give(pools[i], 0x1000);
		gputrace_pool_destroy(pools[i]);
	}
}

static void executables(void)
{
	struct gputrace_executable executable = {.struct_size = sizeof(executable),
	                                         .name = "jit_step",
	                                         .device = 0,
	                                         .argument_bytes = 1,
	                                         .output_bytes = 2,
	                                         .temporary_bytes = 3,
	                                         .alias_bytes = 4,
	                                         .code_bytes = GPUTRACE_UNKNOWN};

	gputrace_executable_add(&executable);
	executable.device = -1;
	executable.name = NULL;
	gputrace_executable_add(&executable);
}

static void fork_child(pid_t (*split)(void), bool starts_cuda)
{
	const uint64_t pool = create("of the parent", GPUTRACE_POOL_HOST, -1);
	struct asked asked = {0};
	pid_t child;

	gputrace_pool_pull(pool, answer, &asked, 2000000);
	await_pulls(1);
	take(pool, 0x1000, 64);
	(void)fflush(stdout);
	child = split();
	if (child == 0) {
		atomic_store(&pulls, 0);
		if (starts_cuda)
			cuda();
		take(pool, 0x2000, 128);
		give(pool, 0x2000);
		if (!starts_cuda)
			many();
		sleep_ms(150);
		if (starts_cuda)
			await_pulls(1);
		gputrace_pool_destroy(pool);
		exit(starts_cuda == (atomic_load(&pulls) > 0) ? 0 : 98);
	}
	(void)waitpid(child, NULL, 0);
	give(pool, 0x1000);
	gputrace_pool_destroy(pool);
}

static void leave_open(const char *how)
{
	const uint64_t pool = create("left", GPUTRACE_POOL_HOST, -1);
	struct asked *asked = calloc(1, sizeof(*asked));

	gputrace_pool_pull(pool, answer, asked, 1000000);
	take(pool, 0x1000, 100);
	take(pool, 0x2000, 200);
	give(pool, 0x1000);
	take(pool, 0x3000, 300);
	sleep_ms(10);
	report();
	if (strcmp(how, "exit") == 0)
		exit(0);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "return") != 0)
		fail("how should it end?");
	exit(0);
}

static void run_word(const char *word)
{
	if (strcmp(word, "basics") == 0)
		basics();
	else if (strcmp(word, "cuda") == 0)
		cuda();
	else if (strcmp(word, "stats") == 0)
		push_stats();
	else if (strcmp(word, "pull") == 0)
		pull_stats();
	else if (strcmp(word, "destroy") == 0)
		destroy();
	else if (strcmp(word, "many") == 0)
		many();
	else if (strcmp(word, "later") == 0)
		later();
	else if (strcmp(word, "executable") == 0)
		executables();
	else if (strcmp(word, "fork") == 0)
		fork_child(fork, false);
	else if (strcmp(word, "clone") == 0)
		fork_child(app_clone, false);
	else if (strcmp(word, "child-cuda") == 0)
		fork_child(fork, true);
	else
		fail("which word?");
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (i + 1 < argc && strcmp(argv[i], "loop") == 0)
			loop(strtol(argv[++i], NULL, 10));
		else if (i + 1 < argc && strcmp(argv[i], "threads") == 0)
			threads(strtol(argv[++i], NULL, 10));
		else if (i + 1 < argc && strcmp(argv[i], "open") == 0)
			leave_open(argv[++i]);
		else
			run_word(argv[i]);
	}
	report();
	return 0;
}
