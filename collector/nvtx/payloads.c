/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/nvtx/payloads.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "collector/nvtx/names.h"
#include "collector/stage.h"
#include "format/ranges.h"

/* Numbers of nvToolsExtPayload.h, of NVTX 3.2. In files. */
enum {
	FLAG_POINTER = 2,
	FLAG_ARRAYS = 7 << 4,
	FLAG_ARRAY_FIXED = 1 << 4,
	FLAG_ARRAY_ZERO = 2 << 4,
	FLAG_ARRAY_LENGTH = 3 << 4,
	FLAG_MESSAGE = 1 << 10,
	TYPE_CHAR = 1,
	TYPE_UCHAR,
	TYPE_SHORT,
	TYPE_USHORT,
	TYPE_INT,
	TYPE_UINT,
	TYPE_LONG,
	TYPE_ULONG,
	TYPE_LONGLONG,
	TYPE_ULONGLONG,
	TYPE_INT8,
	TYPE_UINT8,
	TYPE_INT16,
	TYPE_UINT16,
	TYPE_INT32,
	TYPE_UINT32,
	TYPE_INT64,
	TYPE_UINT64,
	TYPE_FLOAT,
	TYPE_DOUBLE,
	TYPE_LONGDOUBLE,
	TYPE_SIZE,
	TYPE_ADDRESS,
	TYPE_WCHAR,
	TYPE_CHAR8,
	TYPE_CHAR16,
	TYPE_CHAR32,
	TYPE_BYTE = 32,
	TYPE_FLOAT32 = 43,
	TYPE_FLOAT64 = 44,
	TYPE_CATEGORY = 68,
	TYPE_COLOR = 69,
	TYPE_SCOPE = 70,
	TYPE_PID32 = 71,
	TYPE_PID64 = 72,
	TYPE_TID32 = 73,
	TYPE_TID64 = 74,
	TYPE_TEXT = 75,
	TYPE_TEXT_UTF8 = 76,
	TYPE_REGISTERED = 80,
	TYPE_SELECTOR = 100, /* of the union that it is in */
	SCHEMA_UNION = 3,
	SCHEMA_UNION_INTERNAL = 4,
};

#define ALL_MEMBERS   UINT64_MAX
#define MOST_NESTING  8
#define MOST_ELEMENTS 256  /* of an array that are shown */
#define MOST_ENTRIES  1024 /* of a schema; none is recorded with more */
#define MOST_ROWS     512  /* of payloads and texts of one event; no program of ours has as many */
#define PLACE_USED    (GT_PLACE_PAYLOAD - 1) /* an event has had it */

/* JSON in the making, which may come to its end at any letter. */
struct out {
	char *text;
	size_t used;
};

/* One payload, and the texts that it points to. */
struct payload {
	const struct gt_record_range_data *data; /* the first behind it is of it, if it is */
	const struct gt_record_range_data *end;
	const uint8_t *bytes;
	size_t size;
};

/* A part of a payload on its way to text. */
struct part {
	const struct payload *payload;
	size_t base; /* of the struct that it is in */
	int nesting;
	uint64_t member; /* of a union: the one that holds, or ALL_MEMBERS */
	gt_string *message;
};

__attribute__((format(printf, 2, 3))) static void add(struct out *out, const char *format, ...)
{
	const size_t left = GT_PAYLOAD_TEXT_MAX - out->used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(out->text + out->used, left, format, arguments);
	va_end(arguments);
	if (length > 0)
		out->used += (size_t)length < left ? (size_t)length : left - 1;
}

static void add_text(struct out *out, const char *text)
{
	add(out, "\"");
	while (*text) {
		const size_t size = gt_utf8_size(text);

		if (size == 0)
			add(out, GT_UTF8_REPLACEMENT);
		else if (size == 1 &&
		         ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\'))
			add(out, "\\u%04x", (unsigned char)*text);
		else
			add(out, "%.*s", (int)size, text);
		text += size ? size : 1;
	}
	add(out, "\"");
}

static void add_digits(struct out *out, const uint8_t *bytes, size_t size)
{
	add(out, "\"0x");
	for (size_t i = 0; i < size && out->used + 8 < GT_PAYLOAD_TEXT_MAX; i++)
		add(out, "%02x", bytes[i]);
	add(out, "\"");
}

/* ---- types ---- */

/* Bytes of a value; programs are of machines with 64 bits. 0: it has no fixed size. */
static size_t bytes_of_type(uint64_t type)
{
	static const uint8_t bytes[] = {
		0, 1, 1, 2, 2, 4, 4,  8,  8, 8, 8, 1, 1, 2, 2, 4, 4, 8, 8,  4, 8, 16, 8, 8, 4, 1, 2,
		4, 0, 0, 0, 0, 1, 16, 16, 0, 0, 0, 0, 0, 0, 0, 2, 4, 8, 16, 0, 0, 0,  0, 2, 0, 4,
	};

	if (type < sizeof(bytes))
		return bytes[type];
	if (type == TYPE_CATEGORY || type == TYPE_COLOR || type == TYPE_PID32 || type == TYPE_TID32)
		return 4;
	return (type >= TYPE_SCOPE && type <= TYPE_TEXT_UTF8 + 2) || type == TYPE_REGISTERED ? 8
	                                                                                     : 0;
}

static bool is_text(uint64_t type)
{
	return type == TYPE_TEXT || type == TYPE_TEXT_UTF8;
}

static uint64_t whole_at(const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = bytes < sizeof(value) ? bytes : sizeof(value); i-- > 0;)
		value = value << 8 | at[i];
	return value;
}

static int64_t signed_at(const uint8_t *at, size_t bytes)
{
	const uint64_t value = whole_at(at, bytes);
	const unsigned shift = bytes < sizeof(value) ? 64 - 8 * (unsigned)bytes : 0;

	return (int64_t)(value << shift) >> shift;
}

static void add_real(struct out *out, double value)
{
	if (isfinite(value))
		add(out, "%.17g", value);
	else
		add(out, "\"%f\"", value); /* JSON has no such numbers */
}

static void add_scalar(struct out *out, uint64_t type, const uint8_t *at, size_t bytes)
{
	float narrow;
	double real;

	switch (type) {
	case TYPE_SHORT:
	case TYPE_INT:
	case TYPE_LONG:
	case TYPE_LONGLONG:
	case TYPE_INT8:
	case TYPE_INT16:
	case TYPE_INT32:
	case TYPE_INT64:
		add(out, "%" PRId64, signed_at(at, bytes));
		break;
	case TYPE_FLOAT:
	case TYPE_FLOAT32:
		memcpy(&narrow, at, sizeof(narrow));
		add_real(out, (double)narrow);
		break;
	case TYPE_DOUBLE:
	case TYPE_FLOAT64:
		memcpy(&real, at, sizeof(real));
		add_real(out, real);
		break;
	case TYPE_ADDRESS:
		add(out, "\"0x%" PRIx64 "\"", whole_at(at, bytes));
		break;
	case TYPE_CHAR:
	case TYPE_CHAR8:
		if (*at >= 0x20 && *at < 0x7f)
			add_text(out, (const char[]){(char)*at, '\0'});
		else
			add(out, "%u", *at);
		break;
	default: /* what is no number of at most 64 bits is shown as it is */
		if (bytes <= sizeof(uint64_t) && (type < TYPE_BYTE || type >= TYPE_CATEGORY))
			add(out, "%" PRIu64, whole_at(at, bytes));
		else
			add_digits(out, at, bytes);
		break;
	}
}

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

/* False when there is no room for so much more. */
static bool spend(struct gt_payloads *payloads, uint64_t much)
{
	if (much > payloads->room) {
		payloads->room = 0;
		return false;
	}
	payloads->room -= much;
	return true;
}

static const struct gt_record_payload_schema *schema_of(struct gt_payloads *payloads, uint64_t id)
{
	const gt_id row = gt_known_find(&payloads->schemas, id);

	return row == GT_NONE ? NULL : &payloads->capture->raw_payload_schemas.rows[row];
}

/* The entries of a schema, of which each place comes once. */
static const struct gt_record_payload_entry *entries_of(struct gt_payloads *payloads, uint64_t id,
                                                        size_t *count)
{
	const gt_id first = gt_known_find(&payloads->firsts, id);
	const struct gt_record_payload_entry *rows = payloads->capture->raw_payload_entries.rows;

	*count = 0;
	if (first == GT_NONE)
		return NULL;
	*count = gt_known_find(&payloads->ends, id) - first;
	if (*count > MOST_ENTRIES)
		*count = MOST_ENTRIES;
	return &rows[first];
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

/* ---- values ---- */

static void add_value(struct gt_payloads *payloads, struct out *out, const struct part *part,
                      uint64_t type);

/* The text that a pointer at this place of the payload pointed to; NULL: none was kept. */
static const char *text_at(struct gt_payloads *payloads, const struct payload *payload, size_t at)
{
	if (!spend(payloads, (uint64_t)(payload->end - payload->data)))
		return NULL;
	for (const struct gt_record_range_data *row = payload->data + 1; row < payload->end; row++)
		if (row->which == payload->data->which && row->place == at)
			return gt_trace_text(payloads->names->trace,
			                     gt_capture_string(payloads->capture, row->content));
	return NULL;
}

static void add_enum(struct gt_payloads *payloads, struct out *out, const struct part *part,
                     const struct gt_record_payload_schema *schema)
{
	const size_t left = part->payload->size - part->base;
	const size_t bytes = schema->bytes < left ? (size_t)schema->bytes : left;
	const uint64_t value = whole_at(part->payload->bytes + part->base, bytes);
	size_t count;
	const struct gt_record_payload_entry *entries = entries_of(payloads, schema->id, &count);

	for (size_t i = 0; i < count && spend(payloads, 1); i++) {
		if (entries[i].type != value)
			continue;
		add_text(out, gt_trace_text(payloads->names->trace,
		                            gt_capture_string(payloads->capture, entries[i].name)));
		return;
	}
	add(out, "%" PRIu64, value);
}

/* A number of a struct; missing where the payload ends before it. part->base is the struct's. */
static uint64_t number_at(const struct part *part, uint64_t offset, size_t bytes, uint64_t missing)
{
	const size_t left = part->payload->size - part->base;

	if (bytes == 0 || offset > left || bytes > left - offset)
		return missing;
	return whole_at(part->payload->bytes + part->base + offset, bytes);
}

/* How many elements an array has; the entry with its length may be anywhere. */
static uint64_t length_of(const struct part *part, const struct gt_record_payload_entry *entries,
                          size_t count, const struct gt_record_payload_entry *entry)
{
	if ((entry->flags & FLAG_ARRAYS) != FLAG_ARRAY_LENGTH)
		return entry->detail;
	if (entry->detail >= count)
		return 0;
	return number_at(part, entries[entry->detail].offset,
	                 bytes_of_type(entries[entry->detail].type), 0);
}

/* Which member of a union holds is said by a number beside it, */
static uint64_t member_beside(const struct part *part,
                              const struct gt_record_payload_entry *entries, size_t count,
                              const struct gt_record_payload_entry *entry)
{
	if (entry->detail >= count)
		return ALL_MEMBERS;
	return number_at(part, entries[entry->detail].offset,
	                 bytes_of_type(entries[entry->detail].type), ALL_MEMBERS);
}

/* or inside, up to where the next member begins. */
static uint64_t member_inside(const struct part *part,
                              const struct gt_record_payload_entry *entries, size_t count)
{
	const struct gt_record_payload_entry *selector = NULL;
	uint64_t bytes = sizeof(uint64_t);
	uint64_t member;

	if (count > MOST_ELEMENTS)
		count = MOST_ELEMENTS;
	for (size_t i = 0; i < count && !selector; i++)
		selector = entries[i].type == TYPE_SELECTOR ? &entries[i] : NULL;
	if (!selector)
		return ALL_MEMBERS;
	for (size_t i = 0; i < count; i++)
		if (entries[i].offset > selector->offset &&
		    entries[i].offset - selector->offset < bytes)
			bytes = entries[i].offset - selector->offset;
	member = number_at(part, selector->offset, (size_t)bytes, ALL_MEMBERS);
	return member == (uint64_t)(selector - entries) ? ALL_MEMBERS : member;
}

static void add_letters(struct out *out, const uint8_t *at, size_t most)
{
	const size_t size = strnlen((const char *)at, most);
	char text[1024];
	const size_t shown = size < sizeof(text) ? size : sizeof(text) - 1;

	memcpy(text, at, shown);
	text[shown] = '\0';
	add_text(out, text);
}

static size_t bytes_of_element(struct gt_payloads *payloads, uint64_t type)
{
	const struct gt_record_payload_schema *schema = schema_of(payloads, type);

	return schema ? (size_t)schema->bytes : bytes_of_type(type);
}

/* part->base is where the array begins. */
static void add_array(struct gt_payloads *payloads, struct out *out, const struct part *part,
                      const struct gt_record_payload_entry *entry, uint64_t length)
{
	const size_t left = part->payload->size - part->base;
	const size_t one = bytes_of_element(payloads, entry->type);
	struct part element = *part;

	if (entry->type == TYPE_CHAR || entry->type == TYPE_CHAR8 || is_text(entry->type)) {
		const bool bounded = (entry->flags & FLAG_ARRAYS) != FLAG_ARRAY_ZERO;

		add_letters(out, part->payload->bytes + part->base,
		            bounded && length < left ? (size_t)length : left);
		return;
	}
	if (one == 0 || one > left || (entry->flags & FLAG_ARRAYS) == FLAG_ARRAY_ZERO) {
		add_digits(out, part->payload->bytes + part->base, left);
		return;
	}
	add(out, "[");
	for (uint64_t i = 0; i < length && i < MOST_ELEMENTS && (i + 1) * one <= left; i++) {
		add(out, i ? "," : "");
		element.base = part->base + (size_t)i * one;
		add_value(payloads, out, &element, entry->type);
	}
	add(out, "]");
}

static void set_message(struct gt_payloads *payloads, const struct part *part,
                        const struct gt_record_payload_entry *entry)
{
	const size_t at = part->base;
	const char *text;

	if (!(entry->flags & FLAG_MESSAGE) || !part->message || *part->message)
		return;
	if (entry->type == TYPE_REGISTERED && part->payload->size - at >= 8) {
		*part->message = gt_nvtx_registered(payloads->names,
		                                    (uint32_t)whole_at(part->payload->bytes + at,
		                                                       sizeof(uint64_t)));
	} else if (is_text(entry->type)) {
		text = text_at(payloads, part->payload, at);
		if (text)
			*part->message = gt_strings_add(payloads->names->trace->strings, text);
	}
}

/* part->base is the struct's. */
static void add_entry(struct gt_payloads *payloads, struct out *out, const struct part *part,
                      const struct gt_record_payload_entry *entries, size_t count, size_t i)
{
	const struct gt_record_payload_entry *entry = &entries[i];
	struct part inside = *part;
	const bool fixed_text = is_text(entry->type) && entry->detail &&
	                        !(entry->flags & (FLAG_ARRAYS | FLAG_POINTER));

	if (entry->offset > part->payload->size - part->base) {
		add(out, "null"); /* it depends on the payload, or the payload ends before it */
		return;
	}
	inside.base += (size_t)entry->offset;
	inside.member = entry->flags & FLAG_ARRAYS ? ALL_MEMBERS
	                                           : member_beside(part, entries, count, entry);
	set_message(payloads, &inside, entry);
	if (entry->flags & FLAG_POINTER)
		add_value(payloads, out, &inside, TYPE_ADDRESS);
	else if (entry->flags & FLAG_ARRAYS || fixed_text)
		add_array(payloads, out, &inside, entry, length_of(part, entries, count, entry));
	else
		add_value(payloads, out, &inside, entry->type);
}

/* All entries of a struct, and of a union the one that holds, where that is known. */
static void find_members(const struct part *part, const struct gt_record_payload_schema *schema,
                         const struct gt_record_payload_entry *entries, size_t *first, size_t *end)
{
	uint64_t member = ALL_MEMBERS;

	if (schema->type == SCHEMA_UNION)
		member = part->member;
	else if (schema->type == SCHEMA_UNION_INTERNAL)
		member = member_inside(part, entries, *end);
	if (member >= *end)
		return;
	*first = (size_t)member;
	*end = *first + 1;
}

static void add_struct(struct gt_payloads *payloads, struct out *out, const struct part *part,
                       const struct gt_record_payload_schema *schema)
{
	size_t count;
	const struct gt_record_payload_entry *entries = entries_of(payloads, schema->id, &count);
	struct part inside = *part;
	size_t first = 0;
	size_t end = count;

	inside.nesting++;
	if (count == 0 || part->nesting >= MOST_NESTING) {
		add_digits(out, part->payload->bytes + part->base,
		           part->payload->size - part->base);
		return;
	}
	find_members(part, schema, entries, &first, &end);
	add(out, "{");
	for (size_t i = first; i < end && out->used + 64 < GT_PAYLOAD_TEXT_MAX; i++) {
		const char *name =
			gt_trace_text(payloads->names->trace,
		                      gt_capture_string(payloads->capture, entries[i].name));
		char number[32];

		(void)snprintf(number, sizeof(number), "%" PRIu32, entries[i].place);
		add(out, i > first ? "," : "");
		add_text(out, *name ? name : number);
		add(out, ":");
		add_entry(payloads, out, &inside, entries, count, i);
	}
	add(out, "}");
}

/* Adds the value at part->base. */
static void add_value(struct gt_payloads *payloads, struct out *out, const struct part *part,
                      uint64_t type)
{
	const struct gt_record_payload_schema *schema = schema_of(payloads, type);
	const uint8_t *at = part->payload->bytes + part->base;
	const size_t left = part->payload->size - part->base;
	const size_t bytes = bytes_of_type(type);
	const char *text;

	if (schema && schema->type == GT_SCHEMA_ENUM) {
		add_enum(payloads, out, part, schema);
	} else if (schema) {
		add_struct(payloads, out, part, schema);
	} else if (is_text(type)) {
		text = text_at(payloads, part->payload, part->base);
		if (text)
			add_text(out, text);
		else
			add(out, "null");
	} else if (type == TYPE_REGISTERED && left >= bytes) {
		add_text(out, gt_trace_text(payloads->names->trace,
		                            gt_nvtx_registered(payloads->names,
		                                               (uint32_t)whole_at(at, bytes))));
	} else if (bytes == 0 || left < bytes) {
		add_digits(out, at, left);
	} else {
		add_scalar(out, type, at, bytes);
	}
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
static void add_payload(struct gt_payloads *payloads, struct out *out,
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
	const struct payload payload = {data, end, size ? bytes : nothing, size};
	const struct part part = {.payload = &payload, .member = ALL_MEMBERS, .message = message};

	(void)spend(payloads, 2 * most);
	if (is_text(data->schema))
		add_letters(out, payload.bytes, size);
	else
		add_value(payloads, out, &part, data->schema);
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
	const struct gt_record_payload_schema *schema = schema_of(payloads, id);

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
	struct out out = {0};
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
	add(&out, "[");
	if (strlen(already) > 2)
		add(&out, "%.*s,", (int)strlen(already) - 2, already + 1);
	for (size_t i = first; i < end; i++) {
		if (rows[i].place != GT_PLACE_PAYLOAD)
			continue;
		add(&out, i > first ? "," : "");
		add_payload(payloads, &out, &rows[i], rows + end, message);
		rows[i].place = PLACE_USED;
	}
	add(&out, "]");
	(void)spend(payloads, out.used);
	name_by_schema(payloads, rows[first].schema, message);
	result = gt_strings_add(payloads->names->trace->strings, out.text);
	free(out.text);
	return result;
}
