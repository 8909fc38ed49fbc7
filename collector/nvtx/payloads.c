/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/nvtx/payloads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/strings.h"
#include "collector/nvtx/names.h"
#include "collector/nvtx/payload_types.h"
#include "collector/nvtx/payload_values.h"
#include "collector/stage.h"
#include "format/ranges.h"

#define MOST_ROWS  512 /* of payloads and texts of one event; no program of ours has as many */
#define PLACE_USED (GT_PLACE_PAYLOAD - 1) /* an event has had it */

/* ---- schemas ---- */

static int by_place(const void *a, const void *b)
{
	const struct gt_record_payload_entry *left = a;
	const struct gt_record_payload_entry *right = b;

	if (left->schema != right->schema)
		return left->schema < right->schema ? -1 : 1;
	return (left->place > right->place) - (left->place < right->place);
}

static int by_event(const void *a, const void *b)
{
	const struct gt_record_range_data *left = a;
	const struct gt_record_range_data *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->order != right->order)
		return left->order < right->order ? -1 : 1;
	if (left->which != right->which)
		return left->which < right->which ? -1 : 1;
	/* The payload before the texts that it points to. */
	return (left->place + 1u > right->place + 1u) - (left->place + 1u < right->place + 1u);
}

/* Records of entries may come twice. */
static void sort_entries(struct gt_payloads *payloads)
{
	struct gt_record_payload_entry *rows = payloads->capture->raw_payload_entries.rows;
	const size_t count = payloads->capture->raw_payload_entries.count;
	size_t kept = 0;

	if (count > 1)
		qsort(rows, count, sizeof(*rows), by_place);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || by_place(&rows[kept - 1], &rows[i]) != 0)
			rows[kept++] = rows[i];
	payloads->capture->raw_payload_entries.count = kept;
	for (size_t i = 0; i < kept; i++)
		if (i == 0 || rows[i].schema != rows[i - 1].schema)
			gt_known_add(&payloads->firsts, rows[i].schema, (gt_id)i);
	for (size_t i = 0; i < kept; i++)
		if (i + 1 == kept || rows[i].schema != rows[i + 1].schema)
			gt_known_add(&payloads->ends, rows[i].schema, (gt_id)i + 1);
}

void gt_payloads_init(struct gt_payloads *payloads, struct gt_nvtx_names *names,
                      struct gt_capture *capture)
{
	*payloads = (struct gt_payloads){
		.names = names,
		.capture = capture,
		.room = GT_PAYLOADS_ROOM +
	                GT_PAYLOADS_ROOM_ONE * (uint64_t)capture->raw_range_data.count,
	};
	for (size_t i = 0; i < capture->raw_payload_schemas.count; i++) {
		const uint64_t id = capture->raw_payload_schemas.rows[i].id;

		if (gt_known_find(&payloads->schemas, id) == GT_NONE)
			gt_known_add(&payloads->schemas, id, (gt_id)i);
	}
	sort_entries(payloads);
	if (capture->raw_range_data.count > 1)
		qsort(capture->raw_range_data.rows, capture->raw_range_data.count,
		      sizeof(struct gt_record_range_data), by_event);
}

void gt_payloads_release(struct gt_payloads *payloads)
{
	gt_known_release(&payloads->schemas);
	gt_known_release(&payloads->firsts);
	gt_known_release(&payloads->ends);
}

/* ---- payloads of an event ---- */

static int digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* The bytes that digits stand for, as far as they are any. */
static size_t read_digits(const char *digits, uint8_t *bytes, size_t most)
{
	size_t size = 0;

	while (size < most && digit_of(digits[0]) >= 0 && digit_of(digits[1]) >= 0) {
		bytes[size++] = (uint8_t)(digit_of(digits[0]) << 4 | digit_of(digits[1]));
		digits += 2;
	}
	return size;
}

/* NOLINTBEGIN(readability-non-const-parameter): the message is written to as a part */
static void add_payload(struct gt_payloads *payloads, struct gt_payload_text *out,
                        const struct gt_record_range_data *data,
                        const struct gt_record_range_data *end, gt_string *message)
/* NOLINTEND(readability-non-const-parameter) */
{
	static const uint8_t nothing[1];
	const char *digits = gt_trace_text(payloads->names->trace,
	                                   gt_capture_string(payloads->capture, data->content));
	const size_t most = strlen(digits) / 2;
	uint8_t *bytes = gt_allocate(most + 1);
	const size_t size = read_digits(digits, bytes, most);
	const struct gt_payload_bytes payload = {data, end, size ? bytes : nothing, size};
	const struct gt_payload_part part = {
		.payload = &payload, .member = GT_PAYLOAD_ALL_MEMBERS, .message = message};

	(void)gt_payloads_spend(payloads, 2 * most);
	if (gt_payload_is_text(data->schema))
		gt_payload_add_letters(out, payload.bytes, size);
	else
		gt_payload_add_value(payloads, out, &part, data->schema);
	free(bytes);
}

static bool is_of(const struct gt_record_range_data *row, const struct gt_payload_event *event)
{
	return row->thread == event->tid && row->order == event->order &&
	       row->time_ns == event->time_ns;
}

static int of_event(const void *a, const void *b)
{
	const struct gt_record_range_data *left = a;
	const struct gt_payload_event *right = b;

	if (left->thread != right->tid)
		return left->thread < right->tid ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->order > right->order) - (left->order < right->order);
}

/* The first row of the event, or the end. */
static size_t find(const struct gt_payloads *payloads, const struct gt_payload_event *event)
{
	return gt_count_before(&payloads->capture->raw_range_data, event, of_event);
}

/* An event without a message gets the name of the first of its payloads. */
static void name_by_schema(struct gt_payloads *payloads, uint64_t id, gt_string *message)
{
	const struct gt_record_payload_schema *schema = gt_payloads_schema_of(payloads, id);

	if (schema && message && *message == 0)
		*message = gt_capture_string(payloads->capture, schema->name);
}

gt_string gt_payloads_of(struct gt_payloads *payloads, const struct gt_payload_event *event,
                         gt_string before, gt_string *message)
{
	struct gt_record_range_data *rows = payloads->capture->raw_range_data.rows;
	const size_t count = payloads->capture->raw_range_data.count;
	const size_t first = count ? find(payloads, event) : 0;
	const char *already = gt_trace_text(payloads->names->trace, before);
	size_t end = first;
	struct gt_payload_text out = {0};
	gt_string result;

	while (end < count && end - first < MOST_ROWS && is_of(&rows[end], event))
		end++;
	if (end == first || rows[first].place != GT_PLACE_PAYLOAD)
		return before;
	if (payloads->room == 0) {
		payloads->left_out++;
		return before;
	}
	out.text = gt_allocate(GT_PAYLOAD_TEXT_MAX);
	gt_payload_add(&out, "[");
	if (strlen(already) > 2)
		gt_payload_add(&out, "%.*s,", (int)strlen(already) - 2, already + 1);
	for (size_t i = first; i < end; i++) {
		if (rows[i].place != GT_PLACE_PAYLOAD)
			continue;
		gt_payload_add(&out, i > first ? "," : "");
		add_payload(payloads, &out, &rows[i], rows + end, message);
		rows[i].place = PLACE_USED;
	}
	gt_payload_add(&out, "]");
	(void)gt_payloads_spend(payloads, out.used);
	name_by_schema(payloads, rows[first].schema, message);
	result = gt_strings_add(payloads->names->trace->strings, out.text);
	free(out.text);
	return result;
}
