/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/pools/pools.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define GPUTRACE_NO_IMPL /* types alone: this is what the functions call */
#include "include/gputrace/gputrace.h"
#include "injection/device_events/names.h"
#include "injection/device_events/rings.h"
#include "injection/nvtx/texts.h"
#include "injection/process/wait.h"
#include "injection/session/begin.h"
#include "injection/session/columns.h"
#include "injection/session/services.h"
#include "injection/session/session.h"
#include "injection/session/source.h"

#define NAME_BYTES      256        /* kept of a pool's name */
#define LONGEST_WAIT_NS 100000000u /* after which pulls that were registered meanwhile are seen */
#define USUAL_PULL_NS   100000000u
#define LEAST_PULL_NS   1000000u
#define SEEN_FOR_NS     1000000000u
#define OVER_NS         10000000u /* that a pull is waited for, before it is looked at again */

enum gt_pools_note { NOTED_FULL, NOTED_SERIES };

enum stat {
#define POOL_STAT(name, unit, kind, help) STAT_##name,
#include "injection/pools/stats.def"
	STAT_COUNT
};

/* Members of the struct lie in the order of the list, behind its size. */
#define POOL_STAT(name, unit, kind, help)                                                          \
	_Static_assert(offsetof(struct gputrace_pool_stats, name) ==                               \
	                       sizeof(size_t) + STAT_##name * sizeof(uint64_t),                    \
	               #name);
#include "injection/pools/stats.def"

enum { LEVEL = 0, TOTAL = 1 }; /* kinds, as counter records have them */

#define BYTE  GT_BYTES
#define COUNT ""

static const struct gt_column_words columns[STAT_COUNT] = {
#define POOL_STAT(name, unit, kind, help) {#name, unit, help, kind},
#include "injection/pools/stats.def"
};

struct gt_pool_entry {
	/* Number of the pool << 32, and which columns of its series were announced; 0: it is free. */
	_Atomic uint64_t state;
	uint32_t place;
	uint32_t teller;
	uint32_t device_plus_one;
	uint32_t name_size;
	char name[NAME_BYTES];
	/* Guarded by the lock. */
	gputrace_pull *pull; /* NULL: none */
	void *user;
	uint64_t interval_ns;
	uint64_t due_ns; /* gt_now */
};

extern const struct gt_source gt_source_pools;

/* An id that a program gets: the entry's place and one, and the pool's number. */
static uint64_t id_of(uint32_t place_plus_one, uint32_t number)
{
	return (uint64_t)place_plus_one << 32 | number;
}

static uint32_t number_of(uint64_t id)
{
	return (uint32_t)id;
}

static uint32_t number_in(const struct gt_pool_entry *entry)
{
	return (uint32_t)(atomic_load_explicit(&entry->state, memory_order_acquire) >> 32);
}

static struct {
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
} pools;

/* The entry of a pool that is there; NULL: it is gone, or there was none left for it. */
static struct gt_pool_entry *entry_of(uint64_t id)
{
	const uint64_t place = id >> 32;

	if (place == 0 || place > GT_POOLS_KEPT ||
	    number_in(&pools.entries[place - 1]) != number_of(id))
		return NULL;
	return &pools.entries[place - 1];
}

static void note_once(struct gt_session *session, enum gt_pools_note what, const char *text)
{
	const uint32_t bit = 1u << what;

	if (!(atomic_fetch_or_explicit(&pools.noted, bit, memory_order_relaxed) & bit))
		gt_note(session, "pools", text);
}

/* A struct of a caller that may have been compiled with another version: what it lacks stays. */
static void read_struct(void *to, size_t size, const void *from)
{
	size_t said;

	memcpy(&said, from, sizeof(said));
	memcpy(to, from, said < size ? said : size);
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

/* A begin or an end that is told now, or, with a time, some time ago on whatever thread. */
__attribute__((always_inline)) static inline uint64_t stamp_of(const uint64_t *stamp)
{
	return stamp ? *stamp : gt_stamp_in_order();
}

__attribute__((always_inline)) static inline void
begin_block(struct gt_session *session, uint64_t pool, const struct gt_record_block_begin *block,
            const uint64_t *stamp)
{
	struct gt_record_block_begin *record;

	if (pool == 0 || !gt_session_records(session))
		return;
	record = gt_emit_begin(session, GT_RECORD_block_begin, sizeof(*record));
	if (!record)
		return;
	*record = *block;
	record->pool = number_of(pool);
	record->thread = stamp ? GT_RECORD_NO_THREAD : 0;
	record->time_ns = stamp_of(stamp);
	gt_emit_commit();
}

__attribute__((always_inline)) static inline void end_block(struct gt_session *session,
                                                            uint64_t pool, const void *address,
                                                            void *stream, const uint64_t *stamp)
{
	struct gt_record_block_end *record;

	if (pool == 0 || !gt_session_records(session))
		return;
	record = gt_emit_begin(session, GT_RECORD_block_end, sizeof(*record));
	if (!record)
		return;
	record->address = (uintptr_t)address;
	record->stream = (uintptr_t)stream;
	record->pool = number_of(pool);
	record->thread = stamp ? GT_RECORD_NO_THREAD : 0;
	record->flags = 0;
	record->time_ns = stamp_of(stamp);
	gt_emit_commit();
}

__attribute__((always_inline)) static inline struct gt_record_block_begin
block_of(const void *address, uint64_t bytes, uint64_t requested, void *stream)
{
	return (struct gt_record_block_begin){
		.address = (uintptr_t)address,
		.size_bytes = bytes,
		.requested_bytes = requested == GPUTRACE_UNKNOWN ? 0 : requested,
		.stream = (uintptr_t)stream,
	};
}

__attribute__((hot)) static void block_alloc(uint64_t pool, const void *address, uint64_t bytes,
                                             uint64_t requested, void *stream)
{
	const struct gt_record_block_begin block = block_of(address, bytes, requested, stream);

	begin_block(gt_session_get(), pool, &block, NULL);
}

__attribute__((hot)) static void block_free(uint64_t pool, const void *address, void *stream)
{
	end_block(gt_session_get(), pool, address, stream, NULL);
}

/*
 * The reading of gt_stamp at a time of CLOCK_MONOTONIC that has passed. Both clocks began at one
 * value and go at rates that hardly change, which their readings now tell; these are kept for a
 * while, since two of them differ by more than what lies between two blocks.
 */
static uint64_t stamp_at(uint64_t monotonic_ns)
{
	const uint64_t now_ns = gt_now();
	const uint64_t start_ns = gt_ticks.ns;
	uint64_t elapsed_ns;
	uint64_t monotonic_elapsed_ns;
	uint64_t at_ns;

	if (gt_now_is_monotonic())
		return monotonic_ns < now_ns ? monotonic_ns : now_ns;
	pthread_mutex_lock(&pools.lock);
	if (pools.seen_ns == 0 || now_ns - pools.seen_ns > SEEN_FOR_NS) {
		pools.seen_monotonic_ns = gt_monotonic();
		pools.seen_ns = gt_now();
	}
	elapsed_ns = pools.seen_ns - start_ns;
	monotonic_elapsed_ns = pools.seen_monotonic_ns - start_ns;
	pthread_mutex_unlock(&pools.lock);
	if (monotonic_ns <= start_ns || monotonic_elapsed_ns == 0)
		return gt_ticks.ticks;
	at_ns = start_ns + (uint64_t)((gt_wide_product)(monotonic_ns - start_ns) * elapsed_ns /
	                              monotonic_elapsed_ns);
	return gt_ticks_at(&gt_ticks, at_ns < now_ns ? at_ns : now_ns);
}

static void block_alloc_at(uint64_t pool, const void *address, uint64_t bytes, uint64_t requested,
                           void *stream, uint64_t time_ns)
{
	struct gt_session *session = gt_session_get();
	const struct gt_record_block_begin block = block_of(address, bytes, requested, stream);
	uint64_t stamp;

	if (pool == 0 || !gt_is_recording(session))
		return;
	stamp = stamp_at(time_ns);
	begin_block(session, pool, &block, &stamp);
}

static void block_free_at(uint64_t pool, const void *address, void *stream, uint64_t time_ns)
{
	struct gt_session *session = gt_session_get();
	uint64_t stamp;

	if (pool == 0 || !gt_is_recording(session))
		return;
	stamp = stamp_at(time_ns);
	end_block(session, pool, address, stream, &stamp);
}

static void executable(const struct gputrace_executable *what)
{
	struct gt_session *session = gt_session_get();
	struct gputrace_executable all;
	struct gt_record_executable *record;
	struct gt_nvtx_text name;

	if (!what || !pools.entries || !gt_is_recording(session))
		return;
	memset(&all, 0xff, sizeof(all)); /* GPUTRACE_UNKNOWN, and any device */
	all.name = NULL;
	read_struct(&all, sizeof(all), what);
	name = gt_nvtx_narrow(all.name);
	record = gt_emit_begin(session, GT_RECORD_executable,
	                       sizeof(*record) + (name.size ? GT_TEXT_BYTES(name.size) : 0));
	if (!record)
		return;
	*record = (struct gt_record_executable){
		.argument_bytes = all.argument_bytes,
		.output_bytes = all.output_bytes,
		.temporary_bytes = all.temporary_bytes,
		.alias_bytes = all.alias_bytes,
		.code_bytes = all.code_bytes,
		.device = all.device < 0 ? 0 : (uint32_t)all.device + 1,
		.name = gt_nvtx_put_text(record, sizeof(*record), &name),
		.start_ns = gt_stamp(),
	};
	record->end_ns = record->start_ns;
	gt_emit_commit();
}

/* ---- pools ---- */

/*
 * Whether there is, or may be, a session that they belong to: not in the child of one with CUDA,
 * nor where the table is there for device events alone.
 */
static bool is_kept(const struct gt_session *session)
{
	return pools.entries && !gt_session_is(session, GT_SESSION_FORGOTTEN);
}

static void fill_entry(struct gt_pool_entry *entry, const struct gputrace_pool *pool)
{
	struct gt_nvtx_text name = gt_nvtx_narrow(pool->name);

	if (name.size > NAME_BYTES)
		name = gt_nvtx_cut(pool->name, NAME_BYTES);
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

	pthread_mutex_lock(&pools.lock);
	while (place < GT_POOLS_KEPT && number_in(&pools.entries[place]) != 0)
		place++;
	if (place < GT_POOLS_KEPT) {
		fill_entry(&pools.entries[place], pool);
		/* Pairs with the acquire in number_in. */
		atomic_store_explicit(&pools.entries[place].state, (uint64_t)number << 32,
		                      memory_order_release);
		if (place >= atomic_load_explicit(&pools.used, memory_order_relaxed))
			atomic_store_explicit(&pools.used, place + 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&pools.lock);
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
	if (!is_kept(session)) {
		gt_forks_count(session);
		return 0;
	}
	read_struct(&pool, sizeof(pool), what);
	number = atomic_fetch_add_explicit(&pools.given, 1, memory_order_relaxed) + 1;
	place = keep(&pool, number);
	if (place == 0)
		note_once(session, NOTED_FULL,
		          "the program has more than 1024 pools at a time: of the others "
		          "there are no statistics");
	fill_entry(&entry, &pool);
	emit_pool(session, &entry, number);
	errno = saved;
	return id_of(place, number);
}

/* With the lock, which is given up meanwhile: until no pull of the pool runs. */
static void wait_for_pull(uint32_t number)
{
	/* A pull that ends its own pool does not wait for itself. */
	while (pools.pulling == number && !gt_thread_is_ours()) {
		pools.waiting++;
		pthread_mutex_unlock(&pools.lock);
		(void)gt_wait(&pools.pulled, OVER_NS);
		pthread_mutex_lock(&pools.lock);
		pools.waiting--;
	}
}

static void pool_destroy(uint64_t pool)
{
	struct gt_session *session = gt_session_get();
	const int saved = errno;
	struct gt_pool_entry *entry;

	if (pool == 0 || !is_kept(session))
		return;
	pthread_mutex_lock(&pools.lock);
	entry = entry_of(pool);
	if (entry) {
		entry->pull = NULL;
		atomic_store_explicit(&entry->state, 0, memory_order_release);
	}
	wait_for_pull(number_of(pool));
	pthread_mutex_unlock(&pools.lock);
	emit_pool_end(session, number_of(pool));
	errno = saved;
}

/* ---- statistics ---- */

/* Which of these columns nobody has announced of the pool; they count as announced from now on. */
static uint32_t claim(struct gt_pool_entry *entry, uint32_t number, uint32_t known)
{
	uint64_t state = atomic_load_explicit(&entry->state, memory_order_relaxed);

	do {
		if (state >> 32 != number)
			return 0;
		if ((known & ~(uint32_t)state) == 0)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&entry->state, &state, state | known, memory_order_relaxed, memory_order_relaxed));
	return known & ~(uint32_t)state;
}

static void emit_stats(struct gt_session *session, uint64_t pool, const uint64_t values[STAT_COUNT])
{
	const uint32_t number = number_of(pool);
	struct gt_pool_entry *entry = entry_of(pool);
	union {
		struct gt_sample sample;
		uint8_t bytes[sizeof(struct gt_sample) + STAT_COUNT * sizeof(double)];
	} row = {.sample = {.time_ns = gt_now(),
	                    .series = (uint16_t)(GT_SERIES_POOLS + number - 1),
	                    .clock = GT_SERIES_HOST,
	                    .columns = STAT_COUNT}};
	uint32_t known = 0;

	if (!entry)
		return;
	if (number > UINT16_MAX - GT_SERIES_POOLS) {
		note_once(session, NOTED_SERIES,
		          "the program has made more pools than there are series for: of later "
		          "ones there are no statistics");
		return;
	}
	for (uint32_t i = 0; i < STAT_COUNT; i++) {
		known |= (uint32_t)(values[i] != GPUTRACE_UNKNOWN) << i;
		row.sample.values[i] = values[i] == GPUTRACE_UNKNOWN ? NAN : (double)values[i];
	}
	if (known == 0)
		return;
	for (uint32_t left = claim(entry, number, known); left; left &= left - 1) {
		const uint32_t stat = (uint32_t)__builtin_ctz(left);

		gt_column_announce(session, &columns[stat],
		                   (struct gt_column_place){.series = row.sample.series,
		                                            .place = stat,
		                                            .pool = number});
	}
	gt_emit_sample(session, &row.sample);
}

static void read_stats(const struct gputrace_pool_stats *stats, uint64_t values[STAT_COUNT])
{
	struct gputrace_pool_stats all;

	memset(&all, 0xff, sizeof(all)); /* GPUTRACE_UNKNOWN */
	read_struct(&all, sizeof(all), stats);
	memcpy(values, &all.num_allocs, STAT_COUNT * sizeof(*values));
}

static void pool_stats(uint64_t pool, const struct gputrace_pool_stats *stats)
{
	struct gt_session *session = gt_session_get();
	uint64_t values[STAT_COUNT];

	if (pool == 0 || !stats || !gt_is_recording(session))
		return;
	read_stats(stats, values);
	emit_stats(session, pool, values);
}

/* ---- pulls ---- */

static void pool_pull(uint64_t pool, gputrace_pull *pull, void *user, uint64_t interval_ns)
{
	struct gt_session *session = gt_session_get();
	const int saved = errno;
	struct gt_pool_entry *entry;

	if (pool == 0 || !is_kept(session))
		return;
	pthread_mutex_lock(&pools.lock);
	entry = entry_of(pool);
	if (entry) {
		entry->pull = NULL;
		wait_for_pull(number_of(pool));
		entry = entry_of(pool); /* it may have been destroyed meanwhile */
	}
	if (entry) {
		entry->user = user;
		entry->interval_ns = interval_ns ? interval_ns : USUAL_PULL_NS;
		if (entry->interval_ns < LEAST_PULL_NS)
			entry->interval_ns = LEAST_PULL_NS;
		entry->due_ns = 0;
		entry->pull = pull;
	}
	pthread_mutex_unlock(&pools.lock);
	if (entry && pull)
		gt_want_thread(session, &gt_source_pools);
	errno = saved;
}

/* The program's function may end the thread, as Python does with threads that outlive it. */
static void end_pull(void *context)
{
	(void)context;
	pthread_mutex_lock(&pools.lock);
	pools.pulling = 0;
	for (uint32_t i = 0; i < pools.waiting; i++)
		sem_post(&pools.pulled);
	pthread_mutex_unlock(&pools.lock);
}

static void call(gputrace_pull *pull, uint64_t pool, struct gputrace_pool_stats *stats, void *user)
{
	memset(stats, 0xff, sizeof(*stats)); /* GPUTRACE_UNKNOWN */
	stats->struct_size = sizeof(*stats);
	pthread_cleanup_push(end_pull, NULL);
	pull(pool, stats, user);
	pthread_cleanup_pop(1);
	stats->struct_size = sizeof(*stats);
}

/* Asks the pool if it is due; returns when it is next, gt_now. */
static uint64_t ask(uint32_t place)
{
	struct gt_pool_entry *entry = &pools.entries[place];
	const uint64_t now_ns = gt_now();
	struct gputrace_pool_stats stats;
	gputrace_pull *pull;
	uint64_t next_ns = UINT64_MAX;
	uint64_t pool;
	void *user;

	pthread_mutex_lock(&pools.lock);
	pool = id_of(place + 1, number_in(entry));
	pull = entry->pull;
	user = entry->user;
	if (pull && entry->due_ns > now_ns) {
		next_ns = entry->due_ns;
		pull = NULL;
	} else if (pull) {
		/* One that comes late makes those after it no later. */
		entry->due_ns += entry->interval_ns;
		if (entry->due_ns <= now_ns)
			entry->due_ns = now_ns + entry->interval_ns;
		next_ns = entry->due_ns;
		pools.pulling = number_of(pool);
	}
	pthread_mutex_unlock(&pools.lock);
	if (pull) {
		call(pull, pool, &stats, user);
		pool_stats(pool, &stats);
	}
	return next_ns;
}

uint64_t gt_pools_pull(struct gt_session *session)
{
	const uint32_t used = atomic_load_explicit(&pools.used, memory_order_relaxed);
	uint64_t next_ns = UINT64_MAX;
	uint64_t now_ns;

	for (uint32_t i = 0; i < used && gt_is_recording(session); i++) {
		const uint64_t own_ns = ask(i);

		if (own_ns < next_ns)
			next_ns = own_ns;
	}
	now_ns = gt_now();
	if (next_ns <= now_ns)
		return 0;
	return next_ns - now_ns < LONGEST_WAIT_NS ? next_ns - now_ns : LONGEST_WAIT_NS;
}

/* ---- sessions ---- */

static void init_locks(void)
{
	pthread_mutex_init(&pools.lock, NULL);
	sem_init(&pools.pulled, 0, 0);
	pools.pulling = pools.waiting = 0;
}

void gt_pools_forget(void)
{
	if (pools.entries)
		init_locks();
}

/* The pools that the parent of this process had are this one's too. */
static void replay(struct gt_session *session)
{
	const uint32_t used = atomic_load_explicit(&pools.used, memory_order_relaxed);

	for (uint32_t i = 0; i < used; i++) {
		struct gt_pool_entry *entry = &pools.entries[i];
		const uint32_t number = number_in(entry);

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

	if (pools.entries) {
		replay(session);
		return;
	}
	memory = mmap(NULL, GT_POOLS_KEPT * sizeof(*pools.entries), PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return;
	init_locks();
	pools.entries = memory;
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
	.block_alloc = block_alloc,
	.block_free = block_free,
	.pool_stats = pool_stats,
	.pool_pull = pool_pull,
	.executable = executable,
	.block_alloc_at = block_alloc_at,
	.block_free_at = block_free_at,
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
	           ((session->settings.pools && pools.entries) ||
	            session->settings.device_events_bytes);
	errno = saved;
	return is_there ? &api : NULL;
}
/* NOLINTEND(readability-identifier-naming) */
