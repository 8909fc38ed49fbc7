/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/declared_accesses.h"

#include <stdlib.h>
#include <string.h>

/* What is read of one struct so far: bits of has. */
enum { HAS_ADDRESS = 1, HAS_BYTES = 2, HAS_MODE = 4, HAS_ALL = 7 };

enum { MOST_OF_RANGE = 64 };

struct reading {
	struct gt_declared declared;
	unsigned has;
};

/* Behind the string that begins at the quote; the end of the text where it is cut off. */
static const char *skip_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

/* A number, or one in quotes, as addresses are; false: it is none. */
static bool read_number(const char *at, uint64_t *number)
{
	char *end;

	if (*at == '"')
		at++;
	if (*at < '0' || *at > '9')
		return false;
	*number = strtoull(at, &end, 0);
	return *end == '"' || *end == ',' || *end == '}' || *end == ']';
}

static bool is_key(const char *at, const char *end, const char *key)
{
	return (size_t)(end - at) == strlen(key) + 2 && memcmp(at + 1, key, strlen(key)) == 0;
}

/* What stands behind a key. */
static void read_member(struct reading *reading, const char *key, const char *end)
{
	uint64_t number;

	if (!read_number(end + 1, &number))
		return;
	if (is_key(key, end, "gputrace.address")) {
		reading->declared.address = number;
		reading->has |= HAS_ADDRESS;
	} else if (is_key(key, end, "gputrace.bytes")) {
		reading->declared.size_bytes = number;
		reading->has |= HAS_BYTES;
	} else if (is_key(key, end, "gputrace.mode")) {
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
	struct reading reading = {.has = 0};
	size_t count = 0;

	while (*text && count < most) {
		if (*text == '"') {
			const char *end = skip_string(text);

			if (*end == ':')
				read_member(&reading, text, end);
			text = end;
			continue;
		}
		if (*text == '}' && is_whole(&reading))
			list[count++] = reading.declared;
		if (*text == '{' || *text == '}')
			reading = (struct reading){.has = 0};
		text++;
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
