/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/deferred.h"

#include <string.h>
#include <time.h>

#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/payloads.h"
#include "injection/process/now.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

#include <nvtx3/nvToolsExtSemanticsTime.h>

#define MOST_SEMANTICS 16         /* in a list */
#define MOST_OF_BATCH  (1u << 16) /* events of one call */

/* NVTX_PAYLOAD_ENTRY_FLAG_RANGE_... are numbers in these bits. */
#define EVENT_FLAGS (7u << 12)

/* ---- clocks ---- */

int64_t gt_nvtx_timestamp(void)
{
	return (int64_t)gt_now();
}

uint64_t gt_nvtx_clock_of(const nvtxSemanticsHeader_t *semantics)
{
	for (int i = 0; semantics && i < MOST_SEMANTICS; i++, semantics = semantics->next)
		if (semantics->semanticId == NVTX_SEMANTIC_ID_TIME_V1 &&
		    semantics->structSize >= sizeof(nvtxSemanticsTime_t))
			return ((const nvtxSemanticsTime_t *)semantics)->timeDomainId;
	return 0;
}

/* One that finds no place is a clock of which nothing is known. */
uint64_t gt_nvtx_register_clock(nvtxDomainHandle_t domain, const nvtxTimeDomainAttr_t *what)
{
	uint32_t number;
	uint64_t id;

	(void)domain;
	if (!what)
		return NVTX_TIME_DOMAIN_ID_NONE;
	number = atomic_fetch_add_explicit(&gt_nvtx.clocks_given, 1, memory_order_relaxed);
	id = what->timeDomainId ? what->timeDomainId : NVTX_TIME_DOMAIN_ID_DYNAMIC_START + number;
	if (number < GT_NVTX_CLOCKS) {
		atomic_store_explicit(&gt_nvtx.clocks[number].id, id, memory_order_relaxed);
		/* Pairs with the acquire of whoever looks for it. */
		atomic_store_explicit(&gt_nvtx.clocks[number].source, what->timestampTypeId + 1,
		                      memory_order_release);
	}
	return id;
}

/* NVTX_TIMESTAMP_TYPE_... of a clock, which may be named by that. */
static uint64_t source_of(uint64_t clock)
{
	if (clock < NVTX_TIME_DOMAIN_ID_STATIC_START)
		return clock;
	for (size_t i = 0; i < GT_NVTX_CLOCKS; i++) {
		const uint64_t source =
			atomic_load_explicit(&gt_nvtx.clocks[i].source, memory_order_acquire);

		if (source &&
		    atomic_load_explicit(&gt_nvtx.clocks[i].id, memory_order_relaxed) == clock)
			return source - 1;
	}
	return NVTX_TIMESTAMP_TYPE_NONE;
}

/* One of the kernel's clocks as it stands to ours now: they drift apart by some millionths. */
static uint64_t from_clock(clockid_t clock, uint64_t value, uint64_t now_ns)
{
	return now_ns - gt_read_clock(clock) + value;
}

/* 0: not known. */
static uint64_t time_of(uint64_t source, uint64_t value, uint64_t now_ns)
{
	switch (source) {
	case NVTX_TIMESTAMP_TYPE_NONE: /* whose times are none of ours are found by being far off */
	case NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED:
		return value;
	case NVTX_TIMESTAMP_TYPE_CPU_TSC:
		if (gt_now_is_monotonic() || value < gt_ticks.ticks)
			return 0;
		return gt_ticks_ns(&gt_ticks, value);
	case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME:
	case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME_COARSE:
		return from_clock(CLOCK_REALTIME, value, now_ns);
	case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC:
	case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_COARSE:
		return from_clock(CLOCK_MONOTONIC, value, now_ns);
	case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC_RAW:
		return from_clock(CLOCK_MONOTONIC_RAW, value, now_ns);
	case NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_BOOTTIME:
		return from_clock(CLOCK_BOOTTIME, value, now_ns);
	default:
		return 0;
	}
}

bool gt_nvtx_time(uint64_t clock, int64_t value, uint64_t *time_ns)
{
	const uint64_t source = source_of(clock);
	const uint64_t now_ns = gt_now();
	const uint64_t found = time_of(source, (uint64_t)value, now_ns);

	/* gt_now goes on from where CLOCK_MONOTONIC stood at the start. */
	if (found == 0 || found > now_ns || found < gt_ticks.ns)
		return false;
	*time_ns = found;
	return true;
}

void gt_nvtx_note_clock(struct gt_session *session)
{
	if (!atomic_exchange_explicit(&gt_nvtx.clock_noted, true, memory_order_relaxed))
		gt_note(session, "nvtx",
		        "the program told NVTX of events or samples later, with times of a clock that "
		        "gputrace cannot convert: events are marks at the time of the call, samples "
		        "are left out");
}

/* ---- events ---- */

/* When an event was, as its payloads say. */
struct times {
	uint64_t ns[2]; /* begin and end; 0: not there */
	bool unknown;   /* one is there, but is of a clock that is not known */
};

static void read_time(const nvtxPayloadData_t *data, const struct gt_nvtx_entry *entry,
                      struct times *times)
{
	const uint32_t event = (uint32_t)entry->flags & EVENT_FLAGS;
	const bool ends = event == NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END ||
	                  (event != NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN && times->ns[0]);
	int64_t value;

	if (!(entry->flags & NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP) ||
	    gt_nvtx_type_bytes(entry->type) != sizeof(value) || data->size < sizeof(value) ||
	    entry->offset > data->size - sizeof(value))
		return;
	memcpy(&value, (const uint8_t *)data->payload + entry->offset, sizeof(value));
	if (!gt_nvtx_time(entry->clock, value, &times->ns[ends]))
		times->unknown = true;
}

static struct times times_of(const nvtxPayloadData_t *data, size_t count)
{
	struct times times = {0};

	for (size_t i = 0; i < count; i++) {
		const struct gt_nvtx_schema *schema = data[i].payload && data[i].size != SIZE_MAX
		                                              ? gt_nvtx_schema(data[i].schemaId)
		                                              : NULL;

		for (uint32_t entry = 0; schema && entry < schema->count; entry++)
			read_time(&data[i], &schema->entries[entry], &times);
	}
	return times;
}

void gt_nvtx_submit(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct gt_session *session = gt_session_get();
	struct times times = {0};
	uint64_t stamps[2] = {0};

	if (data && gt_is_recording(session))
		times = times_of(data, count);
	if (times.ns[0])
		stamps[0] = gt_ticks_at(&gt_ticks, times.ns[0]);
	if (times.ns[1])
		stamps[1] = gt_ticks_at(&gt_ticks, times.ns[1]);
	if (times.unknown)
		gt_nvtx_note_clock(session);
	if (times.unknown || stamps[0] == 0)
		gt_nvtx_mark_data(domain, data, count);
	else
		gt_nvtx_later(domain, data, count, stamps);
}

void gt_nvtx_submit_batch(nvtxDomainHandle_t domain, const nvtxEventBatch_t *batch)
{
	const struct gt_nvtx_schema *schema =
		batch && batch->events ? gt_nvtx_schema(batch->eventSchemaId) : NULL;
	const uint64_t bytes = schema ? schema->bytes : 0;

	if (!batch || !batch->events)
		return;
	if (bytes == 0 || bytes > batch->size) {
		const nvtxPayloadData_t all = {batch->eventSchemaId, batch->size, batch->events};

		gt_nvtx_mark_data(domain, &all, 1);
		return;
	}
	for (size_t i = 0; i < batch->size / bytes && i < MOST_OF_BATCH; i++) {
		const nvtxPayloadData_t one = {batch->eventSchemaId, bytes,
		                               (const uint8_t *)batch->events + i * bytes};

		gt_nvtx_submit(domain, &one, 1);
	}
}
