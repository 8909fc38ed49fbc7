/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reports/hazards/declared_accesses.h"

#include "analysis/traffic/payload_text.h"

/* Fields of one struct that were read so far: bits of has. */
enum { HAS_ADDRESS = 1, HAS_BYTES = 2, HAS_MODE = 4, HAS_ALL = 7 };

enum { MOST_OF_RANGE = 64 };

struct reading {
	struct gt_declared declared;
	unsigned has;
};

/* Reads the value of a key. */
static void read_member(struct reading *reading, const struct gt_payload_text *text)
{
	uint64_t number;

	if (!gt_payload_number(text, &number))
		return;
	if (gt_payload_is(text, "gputrace.address")) {
		reading->declared.address = number;
		reading->has |= HAS_ADDRESS;
	} else if (gt_payload_is(text, "gputrace.bytes")) {
		reading->declared.size_bytes = number;
		reading->has |= HAS_BYTES;
	} else if (gt_payload_is(text, "gputrace.mode")) {
		reading->declared.mode = (uint32_t)(number & GT_DECLARED_BOTH);
		reading->has |= HAS_MODE;
	}
}

static bool is_whole(const struct reading *reading)
{
	return reading->has == HAS_ALL && reading->declared.mode != 0 &&
	       reading->declared.size_bytes > 0 &&
	       reading->declared.address <= UINT64_MAX - reading->declared.size_bytes;
}

size_t gt_declared_read(const char *text, struct gt_declared *list, size_t most)
{
	struct gt_payload_text payload = {text};
	struct reading reading = {.has = 0};
	size_t count = 0;

	while (count < most) {
		switch (gt_payload_next(&payload)) {
		case GT_PAYLOAD_END:
			return count;
		case GT_PAYLOAD_MEMBER:
			read_member(&reading, &payload);
			break;
		case GT_PAYLOAD_CLOSES:
			if (is_whole(&reading))
				list[count++] = reading.declared;
			reading = (struct reading){.has = 0};
			break;
		case GT_PAYLOAD_OPENS:
			reading = (struct reading){.has = 0};
			break;
		}
	}
	return count;
}

void gt_declared_accesses_init(struct gt_declared_accesses *declared, const struct gt_trace *trace)
{
	struct gt_declared list[MOST_OF_RANGE];

	*declared = (struct gt_declared_accesses){
		.first = gt_allocate((trace->ranges.count + 1) * sizeof(*declared->first)),
	};
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const char *text = gt_trace_text(trace, trace->ranges.rows[i].data);
		const size_t count = *text ? gt_declared_read(text, list, MOST_OF_RANGE) : 0;

		declared->first[i] = declared->list.count;
		for (size_t j = 0; j < count; j++)
			*gt_array_push(&declared->list) = list[j];
	}
	declared->first[trace->ranges.count] = declared->list.count;
	declared->any = declared->list.count > 0;
}

void gt_declared_accesses_release(struct gt_declared_accesses *declared)
{
	gt_array_release(&declared->list);
	gt_array_free(declared->first);
	*declared = (struct gt_declared_accesses){0};
}
