/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "format/ranges.h"
#include "import/builder.h"
#include "import/nsys/database.h"
#include "import/nsys/rows.h"

/* NVTX, and the names of threads. */

/* ENUM_NSYS_EVENT_TYPE. */
enum {
	TYPE_CATEGORY = 33,
	TYPE_MARK = 34,
	TYPE_THREAD = 39,
	TYPE_PUSHED = 59,
	TYPE_STARTED = 60,
	TYPE_DOMAIN = 75,
};

#define NUMBER(column) gt_nsys_number(row, column, 0)
#define TIME(column)   gt_nsys_number(row, column, GT_NO_TIME)

/* Texts stand in the row, or are registered. Most that stand in the row come once. */
static uint32_t text_of(struct gt_nsys_reading *reading, sqlite3_stmt *row)
{
	const char *text = (const char *)sqlite3_column_text(row, NSYS_nvtx_text);

	if (text && *text)
		return gt_builder_text(reading->builder, text, strlen(text));
	if (sqlite3_column_type(row, NSYS_nvtx_textId) == SQLITE_NULL)
		return 0;
	return gt_nsys_text(reading->nsys, reading->builder, NUMBER(NSYS_nvtx_textId));
}

/* Numbers of nvtxPayloadType_t; the bits of what stands there. */
static void take_payload(sqlite3_stmt *row, struct gt_built_range *range)
{
	static const int columns[] = {0,
	                              NSYS_nvtx_uint64Value,
	                              NSYS_nvtx_int64Value,
	                              NSYS_nvtx_doubleValue,
	                              NSYS_nvtx_uint32Value,
	                              NSYS_nvtx_int32Value,
	                              NSYS_nvtx_floatValue};
	double real;
	float narrow;
	uint32_t bits;

	for (uint32_t type = 1; type < GT_COUNT_OF(columns); type++) {
		if (sqlite3_column_type(row, columns[type]) == SQLITE_NULL)
			continue;
		range->payload_type = type;
		range->payload = (uint64_t)NUMBER(columns[type]);
		real = sqlite3_column_double(row, columns[type]);
		narrow = (float)real;
		if (columns[type] == NSYS_nvtx_doubleValue)
			memcpy(&range->payload, &real, sizeof(real));
		if (columns[type] == NSYS_nvtx_floatValue) {
			memcpy(&bits, &narrow, sizeof(bits));
			range->payload = bits;
		}
		return;
	}
}

static uint32_t tid_of(int64_t global)
{
	return (uint32_t)(global & 0xffffff);
}

static void take_range(struct gt_nsys_reading *reading, sqlite3_stmt *row, uint32_t kind)
{
	const int64_t thread = NUMBER(NSYS_nvtx_globalTid);
	struct gt_built_range range = {
		.start_ns = TIME(NSYS_nvtx_start),
		.end_ns = TIME(NSYS_nvtx_end),
		.tid = tid_of(thread),
		.end_tid = tid_of(gt_nsys_number(row, NSYS_nvtx_endGlobalTid, thread)),
		.text = text_of(reading, row),
		.domain = (uint32_t)NUMBER(NSYS_nvtx_domainId),
		.category = (uint32_t)NUMBER(NSYS_nvtx_category),
		.color = (uint32_t)NUMBER(NSYS_nvtx_color),
		.kind = kind,
	};

	if (!gt_builder_time(reading->builder, range.start_ns))
		return;
	if (kind == GT_RANGE_STEP_MARK)
		range.end_ns = range.start_ns;
	else if (range.end_ns < range.start_ns)
		range.end_ns = GT_NO_TIME;
	take_payload(row, &range);
	gt_builder_range(reading->builder, &range);
	reading->payloads_left_out += sqlite3_column_type(row, NSYS_nvtx_binaryData) != SQLITE_NULL;
}

static void give_name(struct gt_nsys_reading *reading, sqlite3_stmt *row, uint32_t kind,
                      uint64_t number)
{
	struct gt_builder *builder = reading->builder;

	gt_builder_add(
		builder, given_name, .time_ns = gt_builder_time(builder, TIME(NSYS_nvtx_start)),
		.number = number, .text = text_of(reading, row), .kind = kind,
		.domain = kind == GT_NAMED_CATEGORY ? (uint32_t)NUMBER(NSYS_nvtx_domainId) : 0);
}

static void take_nvtx(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;

	switch (NUMBER(NSYS_nvtx_eventType)) {
	case TYPE_PUSHED:
		take_range(reading, row, GT_RANGE_STEP_STACK);
		break;
	case TYPE_STARTED:
		take_range(reading, row, GT_RANGE_STEP_ID);
		break;
	case TYPE_MARK:
		take_range(reading, row, GT_RANGE_STEP_MARK);
		break;
	case TYPE_DOMAIN:
		give_name(reading, row, GT_NAMED_DOMAIN, (uint32_t)NUMBER(NSYS_nvtx_domainId));
		break;
	case TYPE_CATEGORY:
		give_name(reading, row, GT_NAMED_CATEGORY, (uint32_t)NUMBER(NSYS_nvtx_category));
		break;
	case TYPE_THREAD:
		give_name(reading, row, GT_NAMED_THREAD, tid_of(NUMBER(NSYS_nvtx_globalTid)));
		break;
	default:
		break;
	}
}

static void take_thread(void *context, sqlite3_stmt *row)
{
	struct gt_nsys_reading *reading = context;

	gt_builder_add(reading->builder, thread, .tid = tid_of(NUMBER(NSYS_thread_globalTid)),
	               .name = gt_nsys_text(reading->nsys, reading->builder,
	                                    NUMBER(NSYS_thread_nameId)));
}

void gt_nsys_read_ranges(struct gt_nsys_reading *reading)
{
	gt_nsys_each(reading->nsys, NSYS_nvtx, reading->process, take_nvtx, reading);
	gt_nsys_each(reading->nsys, NSYS_thread, reading->process, take_thread, reading);
}
