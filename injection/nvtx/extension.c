/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "injection/nvtx/deferred.h"
#include "injection/nvtx/memory.h"
#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/payloads.h"
#include "injection/nvtx/texts.h"
#include "injection/session/begin.h"
#include "injection/session/columns.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

/*
 * Extensions of NVTX: payloads and counters. Each is a module with slots for its functions, which
 * NVTX asks InitializeInjectionNvtxExtension to fill, for each shared object that uses it.
 *
 * A counter, or a group of them, becomes a series beside the rows, one column for each number.
 */

#define COUNTERS      1024 /* a power of two */
#define MOST_COLUMNS  GT_NVTX_ENTRIES_KEPT

#define MOST_OF_BATCH (1u << 16) /* samples of one call */

/* NVTX_COUNTER_BATCH_FLAG_..., which are shifted too far in its header. */
#define BATCH_FROM_FIRST (1ull << 32)
#define BATCH_TO_LAST    (2ull << 32)

/* NOLINTBEGIN(readability-identifier-naming): NVTX looks for this name */
__attribute__((visibility("default"))) int
InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module);
/* NOLINTEND(readability-identifier-naming) */

/* ---- payloads ---- */

static uint64_t on_schema_register(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t *what)
{
	return gt_nvtx_register_schema(gt_session_get(), gt_nvtx_domain(domain), what);
}

static uint64_t on_enum_register(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t *what)
{
	return gt_nvtx_register_enum(gt_session_get(), gt_nvtx_domain(domain), what);
}

static bool is_wanted(nvtxDomainHandle_t domain)
{
	return gt_nvtx_domain(domain) != GT_DOMAIN_UNWANTED;
}

static uint8_t on_is_enabled(nvtxDomainHandle_t domain)
{
	return is_wanted(domain);
}

/* Where something happened: known by its name alone. */
static uint64_t on_scope_register(nvtxDomainHandle_t domain, const nvtxScopeAttr_t *what)
{
	(void)domain;
	if (what && what->scopeId)
		return what->scopeId;
	return NVTX_SCOPE_ID_DYNAMIC_START +
	       atomic_fetch_add_explicit(&gt_nvtx.scopes_given, 1, memory_order_relaxed) + 1;
}

/* ---- counters ---- */

struct gt_nvtx_counter {
	_Atomic uint64_t id;     /* 0: free */
	_Atomic uint32_t filled; /* enum gt_nvtx_filled */
	uint16_t series;
	uint16_t columns;
	uint64_t bytes; /* of a sample; 0: not known */
	uint64_t clock; /* of samples that are told later */
	uint64_t types[MOST_COLUMNS];
	uint64_t offsets[MOST_COLUMNS];
};

void gt_nvtx_counters_init(void)
{
	void *memory = mmap(NULL, COUNTERS * sizeof(struct gt_nvtx_counter), PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	gt_nvtx.counters = memory == MAP_FAILED ? NULL : memory;
}

/* The place of an id, a free one for it where claim is set, NULL where there is none. */
static struct gt_nvtx_counter *counter_of(uint64_t id, bool claim)
{
	const uint64_t hash = id * 0x9e3779b97f4a7c15u >> 32;

	for (uint64_t i = 0; gt_nvtx.counters && id && i < COUNTERS / 2; i++) {
		struct gt_nvtx_counter *place = &gt_nvtx.counters[(hash + i) % COUNTERS];
		uint64_t there = atomic_load_explicit(&place->id, memory_order_relaxed);

		if (there == id)
			return place;
		if (there == 0 && !claim)
			return NULL;
		if (there == 0 &&
		    (atomic_compare_exchange_strong(&place->id, &there, id) || there == id))
			return place;
	}
	return NULL;
}

/* A number, from the bytes of a sample; NAN for what is none. */
static double number_at(const uint8_t *at, uint64_t type)
{
	const uint32_t bytes = gt_nvtx_type_bytes(type);
	union {
		uint64_t whole;
		double real;
		float narrow;
	} value = {0};

	if (bytes > sizeof(value))
		return NAN;
	memcpy(&value, at, bytes);
	switch (type) {
	case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
	case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
		return (double)value.narrow;
	case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
	case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
		return value.real;
	case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
	case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
		return (int8_t)value.whole;
	case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
	case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
		return (int16_t)value.whole;
	case NVTX_PAYLOAD_ENTRY_TYPE_INT:
	case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
		return (int32_t)value.whole;
	case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
	case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
	case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
		return (double)(int64_t)value.whole;
	default: /* all others are numbers without a sign, of any size */
		return (double)value.whole;
	}
}

static bool is_number(uint64_t type)
{
	const uint32_t bytes = gt_nvtx_type_bytes(type);

	return bytes > 0 && bytes <= sizeof(uint64_t) &&
	       (type <= NVTX_PAYLOAD_ENTRY_TYPE_SIZE || type == NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32 ||
	        type == NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64);
}

static const nvtxSemanticsCounter_t *semantics_of(const nvtxCounterAttr_t *what)
{
	const nvtxSemanticsHeader_t *at = what->semantics;

	for (int i = 0; at && i < 16; i++, at = at->next)
		if (at->semanticId == NVTX_SEMANTIC_ID_COUNTERS_V1 &&
		    at->structSize >= offsetof(nvtxSemanticsCounter_t, unitScaleNumerator))
			return (const nvtxSemanticsCounter_t *)at;
	return NULL;
}

/* A column of the series: a counter, or one of its group. */
static void announce(struct gt_session *session, const struct gt_nvtx_counter *counter,
                     uint32_t place, const char *name, const nvtxCounterAttr_t *what)
{
	const nvtxSemanticsCounter_t *semantics = semantics_of(what);
	const struct gt_nvtx_text texts[] = {
		gt_nvtx_narrow(name),
		gt_nvtx_narrow(semantics && semantics->unit ? semantics->unit : ""),
		gt_nvtx_narrow(what->description ? what->description : ""),
	};
	size_t bytes = sizeof(struct gt_record_counter);
	struct gt_record_counter *record;
	uint32_t places[3];
	size_t behind = 0;

	for (size_t i = 0; i < 3; i++)
		behind += GT_TEXT_BYTES(texts[i].size);
	record = gt_emit_begin(session, GT_RECORD_counter, bytes + behind);
	if (!record)
		return;
	for (size_t i = 0; i < 3; i++) {
		places[i] = gt_nvtx_put_text(record, bytes, &texts[i]);
		bytes += texts[i].size ? GT_TEXT_BYTES(texts[i].size) : 0;
	}
	*record = (struct gt_record_counter){
		.series = counter->series,
		.place = place,
		.name = places[0],
		.unit = places[1],
		.help = places[2],
	};
	gt_emit_commit();
}

static void announce_all(struct gt_session *session, const struct gt_nvtx_counter *counter,
                         const struct gt_nvtx_schema *schema, const nvtxCounterAttr_t *what)
{
	uint32_t place = 0;

	if (!schema) {
		announce(session, counter, 0, what->name ? what->name : "", what);
		return;
	}
	for (uint32_t i = 0; i < schema->count && place < counter->columns; i++) {
		char name[128];

		if (schema->entries[i].offset != counter->offsets[place])
			continue;
		(void)snprintf(name, sizeof(name), "%.90s.%s", what->name ? what->name : "",
		               schema->names[i]);
		announce(session, counter, place++, name, what);
	}
}

static void lay_out(struct gt_nvtx_counter *counter, const struct gt_nvtx_schema *schema,
                    uint64_t type)
{
	counter->columns = 0;
	counter->bytes = schema ? schema->bytes : gt_nvtx_type_bytes(type);
	if (!schema && is_number(type)) {
		counter->types[0] = type;
		counter->offsets[0] = 0;
		counter->columns = 1;
	}
	for (uint32_t i = 0; schema && i < schema->count; i++) {
		const struct gt_nvtx_entry *entry = &schema->entries[i];

		if (entry->flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER || entry->flags & (7u << 4) ||
		    entry->offset == GT_OFFSET_UNKNOWN || !is_number(entry->type))
			continue;
		counter->types[counter->columns] = entry->type;
		counter->offsets[counter->columns++] = entry->offset;
	}
}

static uint64_t on_counter_register(nvtxDomainHandle_t domain, const nvtxCounterAttr_t *what)
{
	struct gt_session *session = gt_session_get();
	struct gt_nvtx_counter *counter;
	const struct gt_nvtx_schema *schema;
	uint32_t number;
	uint64_t id;

	if (!what || what->structSize < sizeof(*what))
		return NVTX_COUNTER_ID_NONE;
	number = atomic_fetch_add_explicit(&gt_nvtx.counters_given, 1, memory_order_relaxed) + 1;
	id = what->counterId ? what->counterId : NVTX_COUNTER_ID_DYNAMIC_START + number;
	counter = is_wanted(domain) ? counter_of(id, true) : NULL;
	if (!counter || number > GT_SERIES_POOLS - 1 - GT_SERIES_NVTX ||
	    !gt_nvtx_fill(&counter->filled))
		return id;
	schema = gt_nvtx_schema(what->schemaId);
	counter->series = (uint16_t)(GT_SERIES_NVTX + number);
	counter->clock = gt_nvtx_clock_of(what->semantics);
	lay_out(counter, schema, what->schemaId);
	if (counter->columns == 0)
		gt_note(session, "nvtx", "a counter of NVTX without numbers is not recorded");
	if (gt_is_recording(session))
		announce_all(session, counter, schema, what);
	atomic_store_explicit(&counter->filled, GT_NVTX_FILLED, memory_order_release);
	return id;
}

/* Columns that the bytes do not reach are not measured. */
static void sample_at(const struct gt_nvtx_counter *counter, const void *bytes, size_t size,
                      double missing, uint64_t time_ns)
{
	struct gt_session *session = gt_session_get();
	union {
		struct gt_sample sample;
		uint8_t bytes[sizeof(struct gt_sample) + MOST_COLUMNS * sizeof(double)];
	} row = {.sample = {.clock = GT_SERIES_HOST}};

	if (counter->columns == 0 || !gt_is_recording(session))
		return;
	row.sample.series = counter->series;
	row.sample.columns = (uint8_t)counter->columns;
	for (uint32_t i = 0; i < counter->columns; i++) {
		const uint64_t offset = counter->offsets[i];
		const uint32_t wide = gt_nvtx_type_bytes(counter->types[i]);
		const bool there = bytes && size >= wide && offset <= size - wide;

		row.sample.values[i] =
			there ? number_at((const uint8_t *)bytes + offset, counter->types[i])
			      : missing;
	}
	row.sample.time_ns = time_ns; /* the drain leaves samples as they are */
	gt_emit_sample(session, &row.sample);
}

static void sample(uint64_t id, const void *bytes, size_t size, double missing)
{
	const struct gt_nvtx_counter *counter = counter_of(id, false);

	if (counter && gt_nvtx_is_filled(&counter->filled))
		sample_at(counter, bytes, size, missing, gt_now());
}

static void on_sample_int64(nvtxDomainHandle_t domain, uint64_t id, int64_t value)
{
	if (is_wanted(domain))
		sample(id, &value, sizeof(value), NAN);
}

static void on_sample_float64(nvtxDomainHandle_t domain, uint64_t id, double value)
{
	if (is_wanted(domain))
		sample(id, &value, sizeof(value), NAN);
}

static void on_sample(nvtxDomainHandle_t domain, uint64_t id, const void *values, size_t size)
{
	if (is_wanted(domain))
		sample(id, values, size, NAN);
}

static void on_sample_no_value(nvtxDomainHandle_t domain, uint64_t id, uint8_t reason)
{
	if (is_wanted(domain) && reason != NVTX_COUNTER_SAMPLE_UNCHANGED)
		sample(id, NULL, 0, reason == NVTX_COUNTER_SAMPLE_ZERO ? 0 : NAN);
}

/* A sample's time in a batch: its own, or in even steps from the first's, or up to the last's. */
static bool time_in_batch(const struct gt_nvtx_counter *counter, const nvtxCounterBatch_t *batch,
                          size_t i, size_t count, uint64_t *time_ns)
{
	const size_t there = batch->timestamps ? batch->timestampsSize / sizeof(int64_t) : 0;
	const bool from_first = batch->flags & BATCH_FROM_FIRST;
	const bool to_last = batch->flags & BATCH_TO_LAST;
	uint64_t value;

	if ((from_first || to_last) && there >= 2) {
		const uint64_t step = (uint64_t)batch->timestamps[1];

		value = (uint64_t)batch->timestamps[0] +
		        (from_first ? step * i : 0 - step * (count - 1 - i));
	} else if (i < there) {
		value = (uint64_t)batch->timestamps[i];
	} else {
		return false;
	}
	return gt_nvtx_time(counter->clock, (int64_t)value, time_ns);
}

static void on_counter_batch(nvtxDomainHandle_t domain, const nvtxCounterBatch_t *batch)
{
	struct gt_session *session = gt_session_get();
	const struct gt_nvtx_counter *counter;
	uint64_t time_ns;
	size_t count;

	counter = batch && batch->counters && is_wanted(domain)
	                  ? counter_of(batch->counterId, false)
	                  : NULL;
	if (!counter || !gt_nvtx_is_filled(&counter->filled) || counter->bytes == 0)
		return;
	count = batch->countersSize / counter->bytes;
	for (size_t i = 0; i < count && i < MOST_OF_BATCH; i++) {
		if (!time_in_batch(counter, batch, i, count, &time_ns)) {
			gt_nvtx_note_clock(session);
			return;
		}
		sample_at(counter, (const uint8_t *)batch->counters + i * counter->bytes,
		          counter->bytes, NAN, time_ns);
	}
}

/* ---- modules ---- */

struct function {
	uint32_t slot;
	void (*call)(void);
};

#define FUNCTION(name, call)                                                                       \
	{                                                                                          \
		NVTX3EXT_CBID_##name, (void (*)(void))(call)                                       \
	}

static const struct function payload_functions[] = {
	FUNCTION(nvtxPayloadSchemaRegister, on_schema_register),
	FUNCTION(nvtxPayloadEnumRegister, on_enum_register),
	FUNCTION(nvtxMarkPayload, gt_nvtx_mark_data),
	FUNCTION(nvtxRangePushPayload, gt_nvtx_push_data),
	FUNCTION(nvtxRangePopPayload, gt_nvtx_pop_data),
	FUNCTION(nvtxRangeStartPayload, gt_nvtx_start_data),
	FUNCTION(nvtxRangeEndPayload, gt_nvtx_end_data),
	FUNCTION(nvtxDomainIsEnabled, on_is_enabled),
	FUNCTION(nvtxScopeRegister, on_scope_register),
	FUNCTION(nvtxTimestampGet, gt_nvtx_timestamp),
	FUNCTION(nvtxTimeDomainRegister, gt_nvtx_register_clock),
	FUNCTION(nvtxEventSubmit, gt_nvtx_submit),
	FUNCTION(nvtxEventBatchSubmit, gt_nvtx_submit_batch),
};

static const struct function counter_functions[] = {
	FUNCTION(nvtxCounterRegister, on_counter_register),
	FUNCTION(nvtxCounterSampleInt64, on_sample_int64),
	FUNCTION(nvtxCounterSampleFloat64, on_sample_float64),
	FUNCTION(nvtxCounterSample, on_sample),
	FUNCTION(nvtxCounterSampleNoValue, on_sample_no_value),
	FUNCTION(nvtxCounterBatchSubmit, on_counter_batch),
};

static const struct function memory_functions[] = {
	FUNCTION(nvtxMemHeapRegister, gt_nvtx_heap_register),
	FUNCTION(nvtxMemHeapUnregister, gt_nvtx_heap_unregister),
	FUNCTION(nvtxMemHeapReset, gt_nvtx_heap_reset),
	FUNCTION(nvtxMemRegionsRegister, gt_nvtx_regions_register),
	FUNCTION(nvtxMemRegionsResize, gt_nvtx_regions_resize),
	FUNCTION(nvtxMemRegionsUnregister, gt_nvtx_regions_unregister),
	FUNCTION(nvtxMemRegionsName, gt_nvtx_regions_name),
};

/* An older NVTX has fewer slots; what stays empty does nothing. */
static int fill(const nvtxExtModuleInfo_t *module, const struct function *functions, size_t count)
{
	if (module->segmentsCount == 0 || !module->segments || !module->segments[0].functionSlots)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (functions[i].slot < module->segments[0].slotCount)
			module->segments[0].functionSlots[functions[i].slot] =
				(intptr_t)functions[i].call;
	return 1;
}

static int attach(const nvtxExtModuleInfo_t *module)
{
	switch (module->moduleId) {
	case NVTX_EXT_PAYLOAD_MODULEID:
		return fill(module, payload_functions,
		            sizeof(payload_functions) / sizeof(payload_functions[0]));
	case NVTX_EXT_COUNTERS_MODULEID:
		return fill(module, counter_functions,
		            sizeof(counter_functions) / sizeof(counter_functions[0]));
	case NVTX_EXT_MODULEID_MEM:
		return fill(module, memory_functions,
		            sizeof(memory_functions) / sizeof(memory_functions[0]));
	default: /* others there may be */
		return 0;
	}
}

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module)
{
	struct gt_session *session = gt_session_get();
	const int saved = errno;
	int result = 0;

	gt_session_must_begin(false);
	if (module && module->structSize >= sizeof(*module) && session->settings.nvtx &&
	    gt_is_recorded(session))
		result = attach(module);
	errno = saved;
	return result;
}
