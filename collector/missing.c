/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/missing.h"

#include <inttypes.h>
#include <string.h>

#include "base/sums.h"
#include "collector/stage.h"
#include "format/arena/translate.h"

/* The class of the ledger for missing records of a kind; NULL for numbers of no kind. */
static const char *const classes[GT_RECORD_KIND_COUNT] = {
	[GT_RECORD_META] = "missing_meta",
	[GT_RECORD_STRINGS] = "missing_strings",
	[GT_RECORD_SERIES] = "missing_samples",
#define RECORD(name, number, becomes, into, help) [number] = "missing_" #name,
#define FIELD(record, role, name, number, coding, help)
#define END(name)
#include "format/records.def"
};

static uint64_t short_of(uint64_t told, uint64_t found)
{
	return told > found ? told - found : 0;
}

static void add(struct gt_collection *collection, const struct gt_capture *capture,
                const char *class, uint64_t told, uint64_t found)
{
	if (found >= told || told > GT_MOST_COUNTED)
		return;
	gt_trace_add_ledger(collection->trace, capture->process, class, told - found);
	gt_collection_note(collection, capture->process, "ledger",
	                   "%s lacks records that its process counted: %s, %" PRIu64 " of %" PRIu64
	                   " are there",
	                   capture->name, class + strlen("missing_"), found, told);
}

/* The process's own count of a class, from its ledger; 0: it has none. */
static uint64_t counted(const struct gt_collection *collection, const struct gt_capture *capture,
                        const char *class)
{
	gt_array_each(const struct gt_record_ledger, row, &capture->raw_ledger)
		if (strcmp(gt_trace_text(collection->trace, gt_capture_string(capture, row->name)),
		           class) == 0)
			return row->value;
	return 0;
}

static uint64_t find_nvtx(const struct gt_capture *capture)
{
	uint64_t found = 0;

	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		found += gt_record_is_nvtx(kind) ? capture->written[kind].read : 0;
	return found;
}

/* A record that several activities become is counted once. */
static uint64_t find_activity(const struct gt_capture *capture)
{
	bool looked[GT_RECORD_KIND_COUNT] = {false};
	uint64_t found = 0;

	for (int i = 0; i < GT_ACTIVITY_COUNT; i++) {
		const uint16_t kind = gt_activity_record((enum gt_cupti_activity)i);

		found += looked[kind] ? 0 : capture->written[kind].read;
		looked[kind] = true;
	}
	return found;
}

/* Before records of kind written there were only these counts, of groups of kinds. */
static void add_groups(struct gt_collection *collection, const struct gt_capture *capture)
{
	const uint64_t activity = counted(collection, capture, "activity_records");
	const uint64_t kept = short_of(activity, counted(collection, capture, "activity_folded"));

	add(collection, capture, "missing_api_call", counted(collection, capture, "api_calls"),
	    capture->written[GT_RECORD_api_call].read);
	add(collection, capture, "missing_device_event",
	    counted(collection, capture, "device_events"),
	    capture->written[GT_RECORD_device_event].read);
	add(collection, capture, "missing_nvtx", counted(collection, capture, "nvtx_calls"),
	    find_nvtx(capture));
	add(collection, capture, "missing_activity",
	    short_of(kept, counted(collection, capture, "unknown_records")),
	    find_activity(capture));
}

void gt_missing_add(struct gt_collection *collection, const struct gt_capture *capture)
{
	if (!capture->counts_written) {
		add_groups(collection, capture);
		return;
	}
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (classes[kind])
			add(collection, capture, classes[kind],
			    short_of(capture->written[kind].told, capture->written[kind].gone),
			    capture->written[kind].read);
}
