/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "injection/cupti/cupti.h"
#include "injection/driver.h"
#include "injection/nvml.h"
#include "injection/services.h"
#include "injection/source.h"

/*
 * Power, clocks, temperature and their like of the GPUs on which the process has a context, read
 * over and over on a thread of its own. GPUs that it could use and does not are left to those who
 * do: of eight processes on eight GPUs each reads one.
 */

#define MOST_GPUS 64
#define LAST_NS   5000000u   /* a reading that took longer is not made at the program's end */
#define END_NS    100000000u /* NVML's calls can hang */

struct gpu {
	struct gt_nvml_device device;
	bool known; /* whether NVML knows it was asked */
	bool read;  /* it does */
};

struct telemetry {
	_Atomic uint64_t used; /* bit n: there is or was a context on the GPU of that ordinal */
	/* All others are the thread's. */
	struct gt_driver driver;
	struct gt_nvml nvml;
	struct gpu gpus[MOST_GPUS]; /* by ordinal */
	uint64_t due_ns;            /* of the next sample, gt_now */
	uint64_t cost_ns;           /* what the last one of all GPUs took */
	bool unknown_noted;
	bool unmeasured_noted;
};

enum { LEVEL = 0, TOTAL = 1, REASONS = 2 }; /* kinds, as counter records have them */

#define MILLIWATT       "mW"
#define MILLIJOULE      "mJ"
#define MEGAHERTZ       "MHz"
#define CELSIUS         "C"
#define PERCENT         "%"
#define BYTE            "bytes"
#define BYTE_PER_SECOND "bytes/s"
#define COUNT           ""
#define BITS            ""

static const struct counter {
	const char *name;
	const char *unit;
	const char *help;
	uint32_t kind;
} counters[] = {
#define COUNTER(name, unit, kind, help) {#name, unit, help, kind},
#include "injection/telemetry_counters.def"
};

/* Which need more than one sample, or more than a sample to be told. */
static bool comes_later(size_t counter)
{
	return counter == GT_NVML_pcie_tx_bytes_per_second ||
	       counter == GT_NVML_pcie_rx_bytes_per_second ||
	       counter == GT_NVML_others_memory_bytes ||
	       counter == GT_NVML_others_utilization_percent;
}

/* The program's thread, which is making a context. */
static void hear(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                 CUpti_CallbackId id, const void *data, void *kept)
{
	const CUpti_ResourceData *resource = data;
	struct telemetry *telemetry = state;
	uint32_t ordinal = MOST_GPUS;

	(void)domain;
	(void)id;
	(void)kept;
	if (gt_cupti_of(session)->cuptiGetDeviceId(resource->context, &ordinal) == CUPTI_SUCCESS &&
	    ordinal < MOST_GPUS)
		atomic_fetch_or_explicit(&telemetry->used, UINT64_C(1) << ordinal,
		                         memory_order_relaxed);
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)state;
	(void)err;
	if (!gt_settings_of(session)->telemetry_interval_ns)
		return 0;
	gt_nvml_load();
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	return 0;
}

static void announce(struct gt_session *session, uint32_t ordinal, uint32_t place)
{
	const struct counter *counter = &counters[place];
	const struct gt_column column = {
		.series = ordinal + 1,
		.place = place,
		.kind = counter->kind,
		.device = ordinal + 1,
		.name = counter->name,
		.unit = counter->unit,
		.help = counter->help,
	};

	gt_emit_column(session, &column);
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
			announce(session, ordinal, i);
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
	                    .series = (uint16_t)(ordinal + 1),
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

	for (uint32_t i = 0; i < MOST_GPUS; i++)
		if (used >> i & 1)
			sample(session, telemetry, i);
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

/* What is due; returns how long nothing is. */
static uint64_t turn(struct gt_session *session, struct telemetry *telemetry)
{
	const uint64_t interval_ns = gt_settings_of(session)->telemetry_interval_ns;
	const bool due = gt_now() >= telemetry->due_ns;
	uint64_t watch_ns;
	uint64_t wait_ns;
	uint64_t now_ns;

	if (due)
		sample_all(session, telemetry);
	watch_ns = watch_all(telemetry, !due);
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
	while (gt_wait_next(waiter, wait_ns))
		wait_ns = turn(session, telemetry);
	if (telemetry->cost_ns <= LAST_NS)
		sample_all(session, telemetry);
}

const struct gt_source gt_source_telemetry = {
	.name = "telemetry",
	.state_size = sizeof(struct telemetry),
	.start = start,
	.run = run,
	.end_ns = END_NS,
	.hears = {.event = hear},
};
