/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/pools/readings.h"

#include <math.h>
#include <semaphore.h>
#include <stddef.h>

#include "injection/driver/driver_calls.h"
#include "injection/process/wait.h"
#include "injection/session/columns.h"
#include "injection/session/services.h"

enum { FREE, FILLING, LIVE };

/* Who destroys a pool waits so long at most. */
enum { MOST_WAITS = 200, WAIT_NS = 100000 };

enum {
	DEFAULT_SERIES = GT_SERIES_CUDA_POOLS,
	GRAPH_SERIES = DEFAULT_SERIES + 64,
	MADE_SERIES = GRAPH_SERIES + 64,
};

enum { USED, USED_HIGH, RESERVED, RESERVED_HIGH, THRESHOLD, COLUMNS };

static const struct gt_column_words words[COLUMNS] = {
	{"bytes_in_use", GT_BYTES, "Memory of the pool that is handed out", 0},
	{"peak_bytes_in_use", GT_BYTES, "The most of it that was handed out", 0},
	{"bytes_reserved", GT_BYTES, "Memory of the device that the pool has", 0},
	{"peak_bytes_reserved", GT_BYTES, "The most that it had", 0},
	{"release_threshold", GT_BYTES, "So much the pool keeps when the program waits for the GPU",
         0},
};

void gt_pool_readings_add(struct gt_pool_readings *readings, uint64_t handle, uint32_t device)
{
	for (uint32_t i = 0; i < GT_MOST_POOLS; i++) {
		struct gt_read_pool *pool = &readings->made[i];
		uint32_t state = FREE;

		if (!atomic_compare_exchange_strong_explicit(&pool->state, &state, FILLING,
		                                             memory_order_acquire,
		                                             memory_order_relaxed))
			continue;
		pool->handle = handle;
		pool->device = device;
		pool->number = atomic_fetch_add_explicit(&readings->count, 1, memory_order_relaxed);
		pool->announced = false;
		/* Pairs with the load in is_live. */
		atomic_store_explicit(&pool->state, LIVE, memory_order_release);
		return;
	}
}

static bool is_live(struct gt_read_pool *pool)
{
	/* With the store of asking in ask_made: either the thread sees the end, or the end it. */
	return atomic_load_explicit(&pool->state, memory_order_seq_cst) == LIVE;
}

/* The slot is free for another pool only when nobody asks the one that was in it. */
static void end(struct gt_pool_readings *readings, uint32_t slot)
{
	struct gt_read_pool *pool = &readings->made[slot];
	sem_t nobodys; /* a wait for it is a pause */

	(void)sem_init(&nobodys, 0, 0);
	atomic_store_explicit(&pool->state, FILLING, memory_order_seq_cst);
	for (int i = 0; i < MOST_WAITS; i++) {
		if (atomic_load_explicit(&readings->asking, memory_order_seq_cst) != slot + 1) {
			atomic_store_explicit(&pool->state, FREE, memory_order_release);
			return;
		}
		(void)gt_wait(&nobodys, WAIT_NS);
	}
}

void gt_pool_readings_end(struct gt_pool_readings *readings, uint64_t handle)
{
	for (uint32_t i = 0; i < GT_MOST_POOLS; i++)
		if (is_live(&readings->made[i]) && readings->made[i].handle == handle)
			end(readings, i);
}

void gt_pool_readings_end_all(struct gt_pool_readings *readings)
{
	for (uint32_t i = 0; i < GT_MOST_POOLS; i++)
		if (is_live(&readings->made[i]))
			end(readings, i);
}

bool gt_pool_readings_open(struct gt_pool_readings *readings)
{
	(void)gt_driver_find("cuDeviceGetGraphMemAttribute", &readings->ask_graphs);
	return gt_driver_find("cuDeviceGetDefaultMemPool", &readings->default_pool) &&
	       gt_driver_find("cuMemPoolGetAttribute", &readings->ask);
}

struct reading {
	double values[COLUMNS]; /* NAN: not told */
};

static double ask(const struct gt_pool_readings *readings, CUmemoryPool pool,
                  CUmemPool_attribute attribute)
{
	uint64_t value = 0;

	return readings->ask(pool, attribute, &value) == CUDA_SUCCESS ? (double)value : NAN;
}

static struct reading read_pool(const struct gt_pool_readings *readings, CUmemoryPool pool)
{
	return (struct reading){{
		[USED] = ask(readings, pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT),
		[USED_HIGH] = ask(readings, pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH),
		[RESERVED] = ask(readings, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
		[RESERVED_HIGH] = ask(readings, pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH),
		[THRESHOLD] = ask(readings, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD),
	}};
}

static double ask_graphs(const struct gt_pool_readings *readings, CUdevice device,
                         CUgraphMem_attribute attribute)
{
	uint64_t value = 0;

	return readings->ask_graphs(device, attribute, &value) == CUDA_SUCCESS ? (double)value
	                                                                       : NAN;
}

static struct reading read_graphs(const struct gt_pool_readings *readings, CUdevice device)
{
	return (struct reading){{
		[USED] = ask_graphs(readings, device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT),
		[USED_HIGH] = ask_graphs(readings, device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH),
		[RESERVED] = ask_graphs(readings, device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT),
		[RESERVED_HIGH] = ask_graphs(readings, device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH),
		[THRESHOLD] = NAN,
	}};
}

static void announce(struct gt_session *session, struct gt_record_cuda_pool pool)
{
	struct gt_record_cuda_pool *record =
		gt_emit_begin(session, GT_RECORD_cuda_pool, sizeof(*record));

	if (record) {
		*record = pool;
		gt_emit_commit();
	}
	for (uint32_t i = 0; i < COLUMNS; i++)
		gt_column_announce(session, &words[i],
		                   (struct gt_column_place){.series = pool.series, .place = i});
}

static void emit(struct gt_session *session, uint32_t series, uint64_t time_ns,
                 const struct reading *reading)
{
	union {
		struct gt_sample sample;
		uint8_t bytes[sizeof(struct gt_sample) + COLUMNS * sizeof(double)];
	} row = {.sample = {.time_ns = time_ns,
	                    .series = (uint16_t)series,
	                    .clock = GT_SERIES_HOST,
	                    .columns = COLUMNS}};

	for (uint32_t i = 0; i < COLUMNS; i++)
		row.sample.values[i] = reading->values[i];
	gt_emit_sample(session, &row.sample);
}

/* A pool that nobody has used yet is not worth a sample; nor is one that is not told. */
static bool was_used(const struct reading *reading)
{
	return reading->values[RESERVED_HIGH] > 0 || reading->values[USED_HIGH] > 0;
}

static void take(struct gt_session *session, struct gt_record_cuda_pool pool, bool *announced,
                 const struct reading *reading)
{
	const uint64_t now_ns = gt_now();

	if (!*announced && !was_used(reading))
		return;
	if (!*announced) {
		pool.time_ns = gt_stamp();
		announce(session, pool);
	}
	*announced = true;
	emit(session, pool.series, now_ns, reading);
}

static void take_made(struct gt_session *session, struct gt_pool_readings *readings, uint32_t slot)
{
	struct gt_read_pool *pool = &readings->made[slot];
	const uint32_t series = MADE_SERIES + pool->number;
	struct reading reading;

	if (series >= GT_SERIES_NVTX)
		return;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): a handle */
	reading = read_pool(readings, (CUmemoryPool)(uintptr_t)pool->handle);
	take(session,
	     (struct gt_record_cuda_pool){.handle = pool->handle,
	                                  .series = series,
	                                  .device = pool->device,
	                                  .kind = GT_READ_POOL_MADE},
	     &pool->announced, &reading);
}

void gt_pool_readings_take(struct gt_session *session, struct gt_pool_readings *readings)
{
	for (uint32_t i = 0; i < GT_MOST_POOLS; i++) {
		if (!is_live(&readings->made[i]))
			continue;
		atomic_store_explicit(&readings->asking, i + 1, memory_order_seq_cst);
		if (is_live(&readings->made[i]))
			take_made(session, readings, i);
		atomic_store_explicit(&readings->asking, 0, memory_order_seq_cst);
	}
}

void gt_pool_readings_take_of(struct gt_session *session, struct gt_pool_readings *readings,
                              uint32_t ordinal)
{
	CUmemoryPool pool = NULL;
	struct reading reading;

	if (ordinal >= GT_MOST_POOL_GPUS)
		return;
	if (readings->default_pool(&pool, (CUdevice)ordinal) == CUDA_SUCCESS) {
		reading = read_pool(readings, pool);
		take(session,
		     (struct gt_record_cuda_pool){.handle = (uintptr_t)pool,
		                                  .series = DEFAULT_SERIES + ordinal,
		                                  .device = ordinal + 1,
		                                  .kind = GT_READ_POOL_DEFAULT},
		     &readings->announced[ordinal][0], &reading);
	}
	if (!readings->ask_graphs)
		return;
	reading = read_graphs(readings, (CUdevice)ordinal);
	take(session,
	     (struct gt_record_cuda_pool){.series = GRAPH_SERIES + ordinal,
	                                  .device = ordinal + 1,
	                                  .kind = GT_READ_POOL_GRAPHS},
	     &readings->announced[ordinal][1], &reading);
}
