/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "injection/calls/memory.h"
#include "injection/cupti/cupti.h"
#include "injection/driver/driver.h"
#include "injection/nvml/nvml.h"
#include "injection/pools/readings.h"
#include "injection/session/columns.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Power, clocks, temperature and their like of the GPUs on which the process has a context, read
 * over and over on a thread of its own. GPUs that it could use and does not are left to those who
 * do: of eight processes on eight GPUs each reads one. The use of CUDA's own pools is read beside,
 * where that is asked for.
 */

#define MOST_GPUS 64
#define LAST_NS   5000000u   /* a reading that took longer is not made at the program's end */
#define END_NS    100000000u /* NVML's calls can hang */
#define ASKED_NS  10000000u  /* readings that somebody asks for lie so far apart */

struct gpu {
	struct gt_nvml_device device;
	bool known; /* whether NVML knows it was asked */
	bool read;  /* it does */
};

struct telemetry {
	_Atomic uint64_t used; /* bit n: there is or was a context on the GPU of that ordinal */
	struct gt_pool_readings pools;
	/* All others are the thread's. */
	struct gt_driver driver;
	struct gt_nvml nvml;
	struct gpu gpus[MOST_GPUS]; /* by ordinal */
	uint64_t due_ns;            /* of the next sample, gt_now */
	uint64_t cost_ns;           /* what the last one of all GPUs took */
	uint64_t sampled_ns;        /* when it began */
	bool reads_pools;
	bool unknown_noted;
	bool unmeasured_noted;
};

enum { LEVEL = 0, TOTAL = 1, REASONS = 2 }; /* kinds, as counter records have them */

#define MILLIWATT       GT_MILLIWATT
#define MILLIJOULE      GT_MILLIJOULE
#define MEGAHERTZ       GT_MEGAHERTZ
#define CELSIUS         GT_CELSIUS
#define PERCENT         GT_PERCENT
#define BYTE            GT_BYTES
#define BYTE_PER_SECOND GT_BYTES_PER_SECOND
#define COUNT           ""
#define BITS            ""

static const struct gt_column_words counters[] = {
#define COUNTER(name, unit, kind, help) {#name, unit, help, kind},
#include "injection/nvml/counters.def"
};

/* Which need more than one sample, or more than a sample to be told. */
static bool comes_later(size_t counter)
{
	return counter == GT_NVML_process_memory_bytes ||
	       counter == GT_NVML_pcie_tx_bytes_per_second ||
	       counter == GT_NVML_pcie_rx_bytes_per_second ||
	       counter == GT_NVML_others_memory_bytes ||
	       counter == GT_NVML_others_utilization_percent;
}

static uint32_t ordinal_of(struct gt_session *session, CUcontext context)
{
	uint32_t ordinal = MOST_GPUS;

	return gt_cupti_of(session)->cuptiGetDeviceId(context, &ordinal) == CUPTI_SUCCESS
	               ? ordinal
	               : MOST_GPUS;
}

/* The program's thread, which is making a context or ends one, with which pools may go. */
static void hear(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                 CUpti_CallbackId id, const void *data, void *kept)
{
	const CUpti_ResourceData *resource = data;
	struct telemetry *telemetry = state;
	uint32_t ordinal;

	(void)domain;
	(void)kept;
	if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
		gt_pool_readings_end_all(&telemetry->pools);
		return;
	}
	ordinal = ordinal_of(session, resource->context);
	if (ordinal < MOST_GPUS &&
	    !(atomic_fetch_or_explicit(&telemetry->used, UINT64_C(1) << ordinal,
	                               memory_order_relaxed) >>
	              ordinal &
	      1))
		gt_ask_reading(session); /* how it is before the program does anything there */
}

/* Before a pool is destroyed: it must not be asked any more. */
static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	const struct gt_memory_call *what = gt_memory_call_find(call.driver, call.id);
	struct telemetry *telemetry = state;
	struct gt_memory_facts facts;

	(void)session;
	if (!what || what->kind != GT_MEMORY_CALL_DESTROY_POOL)
		return NULL;
	gt_memory_call_read(what, call.data, &facts);
	gt_pool_readings_end(&telemetry->pools, facts.handle);
	return NULL;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	const struct gt_memory_call *what = gt_memory_call_find(call.driver, call.id);
	struct telemetry *telemetry = state;
	struct gt_memory_facts facts;

	(void)session;
	(void)kept;
	if (!what || what->kind != GT_MEMORY_CALL_CREATE_POOL)
		return;
	gt_memory_call_read(what, call.data, &facts);
	if (facts.handle)
		gt_pool_readings_add(&telemetry->pools, facts.handle, facts.place_plus_one);
}

static bool is_about_pools(bool driver, CUpti_CallbackId id)
{
	const struct gt_memory_call *what = gt_memory_call_find(driver, id);

	return what && (what->kind == GT_MEMORY_CALL_CREATE_POOL ||
	                what->kind == GT_MEMORY_CALL_DESTROY_POOL);
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)state;
	(void)err;
	if (!gt_settings_of(session)->telemetry_interval_ns)
		return 0;
	gt_nvml_load();
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	if (gt_settings_of(session)->cuda_pools) {
		gt_want(session, CUPTI_CB_DOMAIN_RESOURCE,
		        CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
		gt_want_known(session, is_about_pools);
	}
	return 0;
}

/* Once for each GPU that is in use. */
static void get_to_know(struct gt_session *session, struct telemetry *telemetry, uint32_t ordinal)
{
	struct gpu *gpu = &telemetry->gpus[ordinal];
	char uuid[GT_UUID_BYTES];
	CUdevice device;

	gpu->known = true;
	gpu->read = telemetry->driver.get(&device, (int)ordinal) == CUDA_SUCCESS &&
	            gt_driver_uuid(&telemetry->driver, device, uuid) &&
	            gt_nvml_find(&telemetry->nvml, uuid, &gpu->device) == 0;
	if (gpu->read) {
		for (uint32_t i = 0; i < GT_NVML_COUNTER_COUNT; i++)
			gt_column_announce(
				session, &counters[i],
				(struct gt_column_place){.series = GT_SERIES_TELEMETRY + ordinal,
			                                 .place = i,
			                                 .device = ordinal + 1});
	} else if (!telemetry->unknown_noted) {
		telemetry->unknown_noted = true;
		gt_note(session, "telemetry", "NVML does not know a GPU that the program uses");
	}
}

static void emit(struct gt_session *session, uint32_t ordinal, uint64_t time_ns,
                 const int64_t values[GT_NVML_COUNTER_COUNT])
{
	union {
		struct gt_sample sample;
		uint8_t bytes[sizeof(struct gt_sample) + GT_NVML_COUNTER_COUNT * sizeof(double)];
	} row = {.sample = {.time_ns = time_ns,
	                    .series = (uint16_t)(GT_SERIES_TELEMETRY + ordinal),
	                    .clock = GT_SERIES_HOST,
	                    .columns = GT_NVML_COUNTER_COUNT}};

	for (size_t i = 0; i < GT_NVML_COUNTER_COUNT; i++)
		row.sample.values[i] = values[i] == GT_NVML_NOT_MEASURED ? NAN : (double)values[i];
	gt_emit_sample(session, &row.sample);
}

/* Said once, of the first GPU on which something is missing: the others are mostly like it. */
static void note_unmeasured(struct gt_session *session, struct telemetry *telemetry,
                            const int64_t values[GT_NVML_COUNTER_COUNT])
{
	char text[256];
	size_t used = (size_t)snprintf(text, sizeof(text),
	                               "not measured, as NVML does not tell it of this GPU:");
	const size_t before = used;

	for (size_t i = 0; i < GT_NVML_COUNTER_COUNT; i++)
		if (values[i] == GT_NVML_NOT_MEASURED && !comes_later(i) && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s",
			                         used > before ? "," : "", counters[i].name);
	if (used == before)
		return;
	telemetry->unmeasured_noted = true;
	gt_note(session, "telemetry", text);
}

static void sample(struct gt_session *session, struct telemetry *telemetry, uint32_t ordinal)
{
	struct gpu *gpu = &telemetry->gpus[ordinal];
	const bool first = !gpu->known;
	int64_t values[GT_NVML_COUNTER_COUNT];
	uint64_t before_ns;

	if (first)
		get_to_know(session, telemetry, ordinal);
	if (!gpu->read)
		return;
	before_ns = gt_now();
	gt_nvml_sample(&telemetry->nvml, &gpu->device, values);
	emit(session, ordinal, before_ns + (gt_now() - before_ns) / 2, values);
	if (first && !telemetry->unmeasured_noted)
		note_unmeasured(session, telemetry, values);
}

static void sample_all(struct gt_session *session, struct telemetry *telemetry)
{
	const uint64_t used = atomic_load_explicit(&telemetry->used, memory_order_relaxed);
	const uint64_t before_ns = gt_now();

	for (uint32_t i = 0; i < MOST_GPUS; i++) {
		if (!(used >> i & 1))
			continue;
		sample(session, telemetry, i);
		if (telemetry->reads_pools)
			gt_pool_readings_take_of(session, &telemetry->pools, i);
	}
	if (telemetry->reads_pools)
		gt_pool_readings_take(session, &telemetry->pools);
	if (used)
		telemetry->sampled_ns = before_ns;
	telemetry->cost_ns = gt_now() - before_ns;
}

/* Between two samples; see gt_nvml_watch_interval_ns. Returns when it is to be called again. */
static uint64_t watch_all(struct telemetry *telemetry, bool now)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < MOST_GPUS; i++) {
		struct gt_nvml_device *device = &telemetry->gpus[i].device;
		int64_t interval_ns;

		if (!telemetry->gpus[i].read)
			continue;
		interval_ns = gt_nvml_watch_interval_ns(device);
		if (interval_ns == INT64_MAX)
			continue;
		if (now)
			gt_nvml_watch(&telemetry->nvml, device);
		if ((uint64_t)interval_ns < next_ns)
			next_ns = (uint64_t)interval_ns;
	}
	return next_ns;
}

/* An allocation has failed: what there is at that moment is worth a sample of its own. */
static bool is_asked(struct gt_session *session, const struct telemetry *telemetry)
{
	return gt_is_reading_asked(session) && gt_now() - telemetry->sampled_ns >= ASKED_NS;
}

/* Does all that is due; returns how long nothing is. */
static uint64_t turn(struct gt_session *session, struct telemetry *telemetry)
{
	const uint64_t interval_ns = gt_settings_of(session)->telemetry_interval_ns;
	const bool due = gt_now() >= telemetry->due_ns;
	const bool asked = is_asked(session, telemetry);
	uint64_t watch_ns;
	uint64_t wait_ns;
	uint64_t now_ns;

	if (due || asked)
		sample_all(session, telemetry);
	watch_ns = watch_all(telemetry, !due && !asked);
	now_ns = gt_now();
	if (due) {
		/* A sample that comes late makes those after it no later. */
		telemetry->due_ns += interval_ns;
		if (telemetry->due_ns <= now_ns)
			telemetry->due_ns = now_ns + interval_ns;
	}
	wait_ns = telemetry->due_ns > now_ns ? telemetry->due_ns - now_ns : 0;
	return watch_ns < wait_ns ? watch_ns : wait_ns;
}

static bool open_all(struct gt_session *session, struct telemetry *telemetry)
{
	if (!gt_driver_open(&telemetry->driver)) {
		gt_note(session, "telemetry", "the driver told nothing about its devices");
		return false;
	}
	if (gt_nvml_open(&telemetry->nvml) < 0) {
		gt_note(session, "telemetry",
		        "no power, clocks or temperatures: NVML (libnvidia-ml.so.1) is not there "
		        "or cannot start");
		return false;
	}
	return true;
}

/* NVML is not shut down at the end: that takes time, which would be the program's. */
static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	struct telemetry *telemetry = state;
	uint64_t wait_ns = 0;

	if (!gt_settings_of(session)->telemetry_interval_ns || !open_all(session, telemetry))
		return;
	telemetry->reads_pools =
		gt_settings_of(session)->cuda_pools && gt_pool_readings_open(&telemetry->pools);
	while (gt_wait_next(waiter, wait_ns))
		wait_ns = turn(session, telemetry);
	if (telemetry->cost_ns <= LAST_NS)
		sample_all(session, telemetry);
}

const struct gt_source gt_source_telemetry = {
	.name = "telemetry",
	.goes_on = true,
	.state_size = sizeof(struct telemetry),
	.start = start,
	.run = run,
	.end_ns = END_NS,
	.hears = {.enter = enter, .leave = leave, .event = hear},
};
