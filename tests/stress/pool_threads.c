/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that tell of pools and blocks, and make and destroy pools that are asked meanwhile, while
 * recording is switched off and on. Data that a pool's function reads is gone with the pool:
 * under the sanitizers it is the test of who waits for whom.
 */
#include <pthread.h>
#include <unistd.h>

#include "injection/session/services.h"
#include "injection/session/session.h"
#include "stress/folder.h"
#include "stress/stress.h"

#define GPUTRACE_NO_IMPL /* types alone: the library is part of this program */
#include "include/gputrace/gputrace.h"

gputrace_get_api_function gputrace_get_api;

enum {
	THREADS = 4,
	BLOCKS = 20000, /* by each thread */
	POOLS = 150,
	SWITCHES = 20,
	ALIVE = 4711,
};

#define LIMIT_NS 20000000000u

static const struct gputrace_api *api;
static uint64_t shared;
static atomic_uint asked;

static void pull(uint64_t pool, struct gputrace_pool_stats *stats, void *user)
{
	MUST(*(int *)user == ALIVE);
	stats->num_allocs = pool;
	atomic_fetch_add(&asked, 1);
}

static uint64_t create(void)
{
	const struct gputrace_pool pool = {.struct_size = sizeof(pool), .name = "pool"};
	const uint64_t id = api->pool_create(&pool);

	MUST(id);
	return id;
}

static void *use_blocks(void *argument)
{
	uint8_t *addresses = argument;

	for (int i = 0; i < BLOCKS; i++) {
		api->block_alloc(shared, addresses + i % 16, 1, 1, NULL);
		api->block_free(shared, addresses + i % 16, NULL);
	}
	return NULL;
}

static void *use_pools(void *argument)
{
	(void)argument;
	for (int i = 0; i < POOLS; i++) {
		struct gputrace_pool_stats stats = {.struct_size = sizeof(stats)};
		const uint64_t pool = create();
		int *alive = malloc(sizeof(*alive));

		MUST(alive);
		*alive = ALIVE;
		api->pool_pull(pool, pull, alive, 1);
		api->pool_stats(pool, &stats);
		api->block_alloc(pool, alive, 4, 4, NULL);
		if (i % 4 == 0)
			usleep(1500); /* it is asked after a millisecond */
		if (i % 8 == 0)
			api->pool_pull(pool, pull, alive, 1);
		api->pool_destroy(pool);
		*alive = 0;
		free(alive);
	}
	return NULL;
}

static void *switch_off_and_on(void *argument)
{
	struct gt_session *session = argument;

	for (int i = 0; i < SWITCHES; i++) {
		MUST(gt_session_disarm(session, GT_CAUSE_COMMAND, LIMIT_NS));
		MUST(gt_session_arm(session, GT_CAUSE_COMMAND, LIMIT_NS));
	}
	return NULL;
}

static void run(void *(*use)(void *))
{
	static uint8_t addresses[THREADS][16];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, use, addresses[i]) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
}

int main(void)
{
	struct gt_session *session = gt_session_get();
	char folder[] = "/tmp/gputrace-stress-XXXXXX";
	int alive = ALIVE;
	pthread_t switcher;

	MUST(mkdtemp(folder));
	MUST(setenv("GPUTRACE_OUTPUT", folder, 1) == 0);
	api = gputrace_get_api(GPUTRACE_API_VERSION);
	MUST(api);
	MUST(!gputrace_get_api(GPUTRACE_API_VERSION + 1));
	shared = create();
	run(use_blocks);
	MUST(atomic_load(&session->arena.header->ledger[GT_LEDGER_records_lost]) == 0);

	/* As long as it is asked all others are looked at every millisecond. */
	api->pool_pull(shared, pull, &alive, 1);
	while (atomic_load(&asked) == 0)
		usleep(1000);
	run(use_pools);
	MUST(pthread_create(&switcher, NULL, switch_off_and_on, session) == 0);
	run(use_pools);
	run(use_blocks);
	MUST(pthread_join(switcher, NULL) == 0);
	api->pool_destroy(shared);
	gt_session_stop(session);
	remove_all(folder);
	return 0;
}
