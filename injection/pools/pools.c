/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/pools/pools.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "injection/device_events/names.h"
#include "injection/device_events/program_side.h"
#include "injection/nvtx/texts.h"
#include "injection/pools/blocks.h"
#include "injection/pools/kept.h"
#include "injection/pools/statistics.h"
#include "injection/session/begin.h"
#include "injection/session/services.h"
#include "injection/session/session.h"
#include "injection/session/source.h"

struct gt_pools gt_pools;

void gt_pools_note_once(struct gt_session *session, enum gt_pools_note what, const char *text)
{
	const uint32_t bit = 1u << what;

	if (!(atomic_fetch_or_explicit(&gt_pools.noted, bit, memory_order_relaxed) & bit))
		gt_note(session, "pools", text);
}

/* ---- records ---- */

static void emit_pool(struct gt_session *session, const struct gt_pool_entry *entry,
                      uint32_t number)
{
	const struct gt_nvtx_text name = {.narrow = entry->name, .size = entry->name_size};
	const size_t behind = name.size ? GT_TEXT_BYTES(name.size) : 0;
	struct gt_record_pool *record =
		gt_emit_begin(session, GT_RECORD_pool, sizeof(*record) + behind);

	if (!record)
		return;
	*record = (struct gt_record_pool){
		.number = number,
		.place = entry->place,
		.teller = entry->teller,
		.device = entry->device_plus_one,
		.name = gt_nvtx_put_text(record, sizeof(*record), &name),
		.time_ns = gt_stamp_in_order(),
	};
	gt_emit_commit();
}

static void emit_pool_end(struct gt_session *session, uint32_t number)
{
	struct gt_record_pool_end *record =
		gt_emit_begin(session, GT_RECORD_pool_end, sizeof(*record));

	if (!record)
		return;
	record->number = number;
	record->time_ns = gt_stamp_in_order();
	gt_emit_commit();
}

/* ---- pools ---- */

static void fill_entry(struct gt_pool_entry *entry, const struct gputrace_pool *pool)
{
	struct gt_nvtx_text name = gt_nvtx_narrow(pool->name);

	if (name.size > GT_POOL_NAME_BYTES)
		name = gt_nvtx_cut(pool->name, GT_POOL_NAME_BYTES);
	gt_nvtx_copy_text((uint8_t *)entry->name, &name);
	entry->name_size = name.size;
	entry->place = pool->place;
	entry->teller = pool->teller;
	entry->device_plus_one = pool->device < 0 ? 0 : (uint32_t)pool->device + 1;
	entry->pull = NULL;
}

/* Puts the pool into a free place; 0: there is none, else the place and one. */
static uint32_t keep(const struct gputrace_pool *pool, uint32_t number)
{
	uint32_t place = 0;

	pthread_mutex_lock(&gt_pools.lock);
	while (place < GT_POOLS_KEPT && gt_pool_number_in(&gt_pools.entries[place]) != 0)
		place++;
	if (place < GT_POOLS_KEPT) {
		fill_entry(&gt_pools.entries[place], pool);
		/* Pairs with the acquire in number_in. */
		atomic_store_explicit(&gt_pools.entries[place].state, (uint64_t)number << 32,
		                      memory_order_release);
		if (place >= atomic_load_explicit(&gt_pools.used, memory_order_relaxed))
			atomic_store_explicit(&gt_pools.used, place + 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&gt_pools.lock);
	return place < GT_POOLS_KEPT ? place + 1 : 0;
}

static uint64_t pool_create(const struct gputrace_pool *what)
{
	struct gt_session *session = gt_session_get();
	struct gputrace_pool pool = {.device = -1};
	struct gt_pool_entry entry;
	const int saved = errno;
	uint32_t number;
	uint32_t place;

	if (!what)
		return 0;
	if (!gt_pools_are_kept(session)) {
		gt_forks_count(session);
		return 0;
	}
	gt_pools_read_struct(&pool, sizeof(pool), what);
	number = atomic_fetch_add_explicit(&gt_pools.given, 1, memory_order_relaxed) + 1;
	place = keep(&pool, number);
	if (place == 0)
		gt_pools_note_once(session, GT_POOLS_NOTED_FULL,
		                   "the program has more than 1024 pools at a time: of the others "
		                   "there are no statistics");
	fill_entry(&entry, &pool);
	emit_pool(session, &entry, number);
	errno = saved;
	return gt_pool_id(place, number);
}

static void pool_destroy(uint64_t pool)
{
	struct gt_session *session = gt_session_get();
	const int saved = errno;
	struct gt_pool_entry *entry;

	if (pool == 0 || !gt_pools_are_kept(session))
		return;
	pthread_mutex_lock(&gt_pools.lock);
	entry = gt_pool_entry_of(pool);
	if (entry) {
		entry->pull = NULL;
		atomic_store_explicit(&entry->state, 0, memory_order_release);
	}
	gt_pool_wait_for_pull(gt_pool_number(pool));
	pthread_mutex_unlock(&gt_pools.lock);
	emit_pool_end(session, gt_pool_number(pool));
	errno = saved;
}

/* ---- sessions ---- */

static void init_locks(void)
{
	pthread_mutex_init(&gt_pools.lock, NULL);
	sem_init(&gt_pools.pulled, 0, 0);
	gt_pools.pulling = gt_pools.waiting = 0;
}

void gt_pools_forget(void)
{
	if (gt_pools.entries)
		init_locks();
}

/* The pools that the parent of this process had are this one's too. */
static void replay(struct gt_session *session)
{
	const uint32_t used = atomic_load_explicit(&gt_pools.used, memory_order_relaxed);

	for (uint32_t i = 0; i < used; i++) {
		struct gt_pool_entry *entry = &gt_pools.entries[i];
		const uint32_t number = gt_pool_number_in(entry);

		if (number == 0)
			continue;
		atomic_store_explicit(&entry->state, (uint64_t)number << 32, memory_order_relaxed);
		emit_pool(session, entry, number);
		if (entry->pull)
			gt_want_thread(session, &gt_source_pools);
	}
}

void gt_pools_start(struct gt_session *session)
{
	void *memory;

	if (gt_pools.entries) {
		replay(session);
		return;
	}
	memory = mmap(NULL, GT_POOLS_KEPT * sizeof(*gt_pools.entries), PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return;
	init_locks();
	gt_pools.entries = memory;
}

/* ---- the table ---- */

static uint32_t device_name(const char *text)
{
	const int saved = errno;
	const uint32_t id = gt_device_names_add(gt_session_get(), text);

	errno = saved;
	return id;
}

static void *device_ring(void)
{
	const int saved = errno;
	const uint64_t address = gt_device_ring_of_thread(gt_session_get());

	errno = saved;
	return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static const struct gputrace_api api = {
	.struct_size = sizeof(api),
	.pool_create = pool_create,
	.pool_destroy = pool_destroy,
	.block_alloc = gt_block_alloc,
	.block_free = gt_block_free,
	.pool_stats = gt_pool_stats,
	.pool_pull = gt_pool_pull,
	.executable = gt_executable,
	.block_alloc_at = gt_block_alloc_at,
	.block_free_at = gt_block_free_at,
	.device_name = device_name,
	.device_ring = device_ring,
};

/* NOLINTBEGIN(readability-identifier-naming): gputrace.h looks for this name */
__attribute__((visibility("default"))) gputrace_get_api_function gputrace_get_api;

const struct gputrace_api *gputrace_get_api(uint32_t version)
{
	const struct gt_session *session = gt_session_get();
	const int saved = errno;
	bool is_there;

	gt_session_must_begin(false);
	is_there = version == GPUTRACE_API_VERSION && gt_is_recorded(session) &&
	           ((session->settings.pools && gt_pools.entries) ||
	            session->settings.device_events_bytes);
	errno = saved;
	return is_there ? &api : NULL;
}
/* NOLINTEND(readability-identifier-naming) */
