/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/nvtx/payload_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/strings.h"
#include "collector/nvtx/names.h"
#include "collector/stage.h"
#include "format/ranges.h"

#define MOST_NESTING  8
#define MOST_ELEMENTS 256  /* of an array that are shown */
#define MOST_ENTRIES  1024 /* of a schema; none is recorded with more */

bool gt_payloads_spend(struct gt_payloads *payloads, uint64_t much)
{
	if (much > payloads->room) {
		payloads->room = 0;
		return false;
	}
	payloads->room -= much;
	return true;
}

const struct gt_record_payload_schema *gt_payloads_schema_of(struct gt_payloads *payloads,
                                                             uint64_t id)
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

/* The text that a pointer at this place of the payload pointed to; NULL: none was kept. */
static const char *text_at(struct gt_payloads *payloads, const struct gt_payload_bytes *payload,
                           size_t at)
{
	if (!gt_payloads_spend(payloads, (uint64_t)(payload->end - payload->data)))
		return NULL;
	for (const struct gt_record_range_data *row = payload->data + 1; row < payload->end; row++)
		if (row->which == payload->data->which && row->place == at)
			return gt_trace_text(payloads->names->trace,
			                     gt_capture_string(payloads->capture, row->content));
	return NULL;
}

static void add_enum(struct gt_payloads *payloads, struct gt_payload_text *out,
                     const struct gt_payload_part *part,
                     const struct gt_record_payload_schema *schema)
{
	const size_t left = part->payload->size - part->base;
	const size_t bytes = schema->bytes < left ? (size_t)schema->bytes : left;
	const uint64_t value = gt_payload_whole_at(part->payload->bytes + part->base, bytes);
	size_t count;
	const struct gt_record_payload_entry *entries = entries_of(payloads, schema->id, &count);

	for (size_t i = 0; i < count && gt_payloads_spend(payloads, 1); i++) {
		if (entries[i].type != value)
			continue;
		gt_payload_add_text(
			out, gt_trace_text(payloads->names->trace,
		                           gt_capture_string(payloads->capture, entries[i].name)));
		return;
	}
	gt_payload_add(out, "%" PRIu64, value);
}

/* A number of a struct; missing where the payload ends before it. part->base is the struct's. */
static uint64_t number_at(const struct gt_payload_part *part, uint64_t offset, size_t bytes,
                          uint64_t missing)
{
	const size_t left = part->payload->size - part->base;

	if (bytes == 0 || offset > left || bytes > left - offset)
		return missing;
	return gt_payload_whole_at(part->payload->bytes + part->base + offset, bytes);
}

/* How many elements an array has; the entry with its length may be anywhere. */
static uint64_t length_of(const struct gt_payload_part *part,
                          const struct gt_record_payload_entry *entries, size_t count,
                          const struct gt_record_payload_entry *entry)
{
	if ((entry->flags & GT_PAYLOAD_FLAG_ARRAYS) != GT_PAYLOAD_FLAG_ARRAY_LENGTH)
		return entry->detail;
	if (entry->detail >= count)
		return 0;
	return number_at(part, entries[entry->detail].offset,
	                 gt_payload_bytes_of_type(entries[entry->detail].type), 0);
}

/* Which member of a union holds is said by a number beside it, */
static uint64_t member_beside(const struct gt_payload_part *part,
                              const struct gt_record_payload_entry *entries, size_t count,
                              const struct gt_record_payload_entry *entry)
{
	if (entry->detail >= count)
		return GT_PAYLOAD_ALL_MEMBERS;
	return number_at(part, entries[entry->detail].offset,
	                 gt_payload_bytes_of_type(entries[entry->detail].type),
	                 GT_PAYLOAD_ALL_MEMBERS);
}

/* or inside, up to where the next member begins. */
static uint64_t member_inside(const struct gt_payload_part *part,
                              const struct gt_record_payload_entry *entries, size_t count)
{
	const struct gt_record_payload_entry *selector = NULL;
	uint64_t bytes = sizeof(uint64_t);
	uint64_t member;

	if (count > MOST_ELEMENTS)
		count = MOST_ELEMENTS;
	for (size_t i = 0; i < count && !selector; i++)
		selector = entries[i].type == GT_PAYLOAD_TYPE_SELECTOR ? &entries[i] : NULL;
	if (!selector)
		return GT_PAYLOAD_ALL_MEMBERS;
	for (size_t i = 0; i < count; i++)
		if (entries[i].offset > selector->offset &&
		    entries[i].offset - selector->offset < bytes)
			bytes = entries[i].offset - selector->offset;
	member = number_at(part, selector->offset, (size_t)bytes, GT_PAYLOAD_ALL_MEMBERS);
	return member == (uint64_t)(selector - entries) ? GT_PAYLOAD_ALL_MEMBERS : member;
}

void gt_payload_add_letters(struct gt_payload_text *out, const uint8_t *at, size_t most)
{
	const size_t size = strnlen((const char *)at, most);
	char text[1024];
	const size_t shown = size < sizeof(text) ? size : sizeof(text) - 1;

	memcpy(text, at, shown);
	text[shown] = '\0';
	gt_payload_add_text(out, text);
}

static size_t bytes_of_element(struct gt_payloads *payloads, uint64_t type)
{
	const struct gt_record_payload_schema *schema = gt_payloads_schema_of(payloads, type);

	return schema ? (size_t)schema->bytes : gt_payload_bytes_of_type(type);
}

/* part->base is where the array begins. */
static void add_array(struct gt_payloads *payloads, struct gt_payload_text *out,
                      const struct gt_payload_part *part,
                      const struct gt_record_payload_entry *entry, uint64_t length)
{
	const size_t left = part->payload->size - part->base;
	const size_t one = bytes_of_element(payloads, entry->type);
	struct gt_payload_part element = *part;

	if (entry->type == GT_PAYLOAD_TYPE_CHAR || entry->type == GT_PAYLOAD_TYPE_CHAR8 ||
	    gt_payload_is_text(entry->type)) {
		const bool bounded =
			(entry->flags & GT_PAYLOAD_FLAG_ARRAYS) != GT_PAYLOAD_FLAG_ARRAY_ZERO;

		gt_payload_add_letters(out, part->payload->bytes + part->base,
		                       bounded && length < left ? (size_t)length : left);
		return;
	}
	if (one == 0 || one > left ||
	    (entry->flags & GT_PAYLOAD_FLAG_ARRAYS) == GT_PAYLOAD_FLAG_ARRAY_ZERO) {
		gt_payload_add_digits(out, part->payload->bytes + part->base, left);
		return;
	}
	gt_payload_add(out, "[");
	for (uint64_t i = 0; i < length && i < MOST_ELEMENTS && (i + 1) * one <= left; i++) {
		gt_payload_add(out, i ? "," : "");
		element.base = part->base + (size_t)i * one;
		gt_payload_add_value(payloads, out, &element, entry->type);
	}
	gt_payload_add(out, "]");
}

static void set_message(struct gt_payloads *payloads, const struct gt_payload_part *part,
                        const struct gt_record_payload_entry *entry)
{
	const size_t at = part->base;
	const char *text;

	if (!(entry->flags & GT_PAYLOAD_FLAG_MESSAGE) || !part->message || *part->message)
		return;
	if (entry->type == GT_PAYLOAD_TYPE_REGISTERED && part->payload->size - at >= 8) {
		*part->message = gt_nvtx_registered(
			payloads->names,
			(uint32_t)gt_payload_whole_at(part->payload->bytes + at, sizeof(uint64_t)));
	} else if (gt_payload_is_text(entry->type)) {
		text = text_at(payloads, part->payload, at);
		if (text)
			*part->message = gt_strings_add(payloads->names->trace->strings, text);
	}
}

/* part->base is the struct's. */
static void add_entry(struct gt_payloads *payloads, struct gt_payload_text *out,
                      const struct gt_payload_part *part,
                      const struct gt_record_payload_entry *entries, size_t count, size_t i)
{
	const struct gt_record_payload_entry *entry = &entries[i];
	struct gt_payload_part inside = *part;
	const bool fixed_text =
		gt_payload_is_text(entry->type) && entry->detail &&
		!(entry->flags & (GT_PAYLOAD_FLAG_ARRAYS | GT_PAYLOAD_FLAG_POINTER));

	if (entry->offset > part->payload->size - part->base) {
		gt_payload_add(
			out, "null"); /* it depends on the payload, or the payload ends before it */
		return;
	}
	inside.base += (size_t)entry->offset;
	inside.member = entry->flags & GT_PAYLOAD_FLAG_ARRAYS
	                        ? GT_PAYLOAD_ALL_MEMBERS
	                        : member_beside(part, entries, count, entry);
	set_message(payloads, &inside, entry);
	if (entry->flags & GT_PAYLOAD_FLAG_POINTER)
		gt_payload_add_value(payloads, out, &inside, GT_PAYLOAD_TYPE_ADDRESS);
	else if (entry->flags & GT_PAYLOAD_FLAG_ARRAYS || fixed_text)
		add_array(payloads, out, &inside, entry, length_of(part, entries, count, entry));
	else
		gt_payload_add_value(payloads, out, &inside, entry->type);
}

/* All entries of a struct, and of a union the one that holds, where that is known. */
static void find_members(const struct gt_payload_part *part,
                         const struct gt_record_payload_schema *schema,
                         const struct gt_record_payload_entry *entries, size_t *first, size_t *end)
{
	uint64_t member = GT_PAYLOAD_ALL_MEMBERS;

	if (schema->type == GT_PAYLOAD_SCHEMA_UNION)
		member = part->member;
	else if (schema->type == GT_PAYLOAD_SCHEMA_UNION_INTERNAL)
		member = member_inside(part, entries, *end);
	if (member >= *end)
		return;
	*first = (size_t)member;
	*end = *first + 1;
}

static void add_struct(struct gt_payloads *payloads, struct gt_payload_text *out,
                       const struct gt_payload_part *part,
                       const struct gt_record_payload_schema *schema)
{
	size_t count;
	const struct gt_record_payload_entry *entries = entries_of(payloads, schema->id, &count);
	struct gt_payload_part inside = *part;
	size_t first = 0;
	size_t end = count;

	inside.nesting++;
	if (count == 0 || part->nesting >= MOST_NESTING) {
		gt_payload_add_digits(out, part->payload->bytes + part->base,
		                      part->payload->size - part->base);
		return;
	}
	find_members(part, schema, entries, &first, &end);
	gt_payload_add(out, "{");
	for (size_t i = first; i < end && out->used + 64 < GT_PAYLOAD_TEXT_MAX; i++) {
		const char *name =
			gt_trace_text(payloads->names->trace,
		                      gt_capture_string(payloads->capture, entries[i].name));
		char number[32];

		(void)snprintf(number, sizeof(number), "%" PRIu32, entries[i].place);
		gt_payload_add(out, i > first ? "," : "");
		gt_payload_add_text(out, *name ? name : number);
		gt_payload_add(out, ":");
		add_entry(payloads, out, &inside, entries, count, i);
	}
	gt_payload_add(out, "}");
}

void gt_payload_add_value(struct gt_payloads *payloads, struct gt_payload_text *out,
                          const struct gt_payload_part *part, uint64_t type)
{
	const struct gt_record_payload_schema *schema = gt_payloads_schema_of(payloads, type);
	const uint8_t *at = part->payload->bytes + part->base;
	const size_t left = part->payload->size - part->base;
	const size_t bytes = gt_payload_bytes_of_type(type);
	const char *text;

	if (schema && schema->type == GT_SCHEMA_ENUM) {
		add_enum(payloads, out, part, schema);
	} else if (schema) {
		add_struct(payloads, out, part, schema);
	} else if (gt_payload_is_text(type)) {
		text = text_at(payloads, part->payload, part->base);
		if (text)
			gt_payload_add_text(out, text);
		else
			gt_payload_add(out, "null");
	} else if (type == GT_PAYLOAD_TYPE_REGISTERED && left >= bytes) {
		gt_payload_add_text(
			out, gt_trace_text(
				     payloads->names->trace,
				     gt_nvtx_registered(payloads->names,
		                                        (uint32_t)gt_payload_whole_at(at, bytes))));
	} else if (bytes == 0 || left < bytes) {
		gt_payload_add_digits(out, at, left);
	} else {
		gt_payload_add_scalar(out, type, at, bytes);
	}
}
