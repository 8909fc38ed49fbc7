/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "collector/decode/decoder.h"
#include "collector/decode/rows.h"
#include "collector/kinds.h"
#include "format/file/columns.h"

/*
 * Records into rows, column by column as collector/kinds.h says, and the records that become no
 * rows of their own one by one. Times are still in the clock they were read from, strings and
 * shapes still by the capture's own ids.
 */

/* ---- rows ---- */

/* A chunk's records and the rows that they become. */
struct move {
	struct gt_decoder *decoder;
	const struct gt_kind *kind;
	const uint8_t *records;
	size_t record_size;
	uint8_t *rows;
	size_t row_size;
	size_t count;
};

static uint32_t load_u32(const uint8_t *record, const struct gt_field *field)
{
	uint32_t value;

	memcpy(&value, record + field->offset, sizeof(value));
	return value;
}

static uint64_t load_u64(const uint8_t *record, const struct gt_field *field)
{
	uint64_t value;

	memcpy(&value, record + field->offset, sizeof(value));
	return value;
}

/* Values that stay as they are. Inlined with the width constant: most columns come through here. */
static inline __attribute__((always_inline)) void
copy(const struct move *move, const struct gt_binding *binding, size_t width)
{
	const uint8_t *from = move->records + binding->field->offset;
	uint8_t *to = move->rows + binding->column->offset;
	/* Read once: for all that the compiler knows, what is written to a row could change them. */
	const size_t record_size = move->record_size;
	const size_t row_size = move->row_size;
	const size_t count = move->count;

	for (size_t i = 0; i < count; i++) {
		memcpy(to, from, width);
		from += record_size;
		to += row_size;
	}
}

/* The bits of records and of rows are the same facts, and the same bits. */
_Static_assert((int)GT_RECORD_UNFINISHED == (int)GT_UNFINISHED &&
                       (int)GT_RECORD_SALVAGED == (int)GT_SALVAGED &&
                       (int)GT_RECORD_ASYNC == (int)GT_ASYNC &&
                       (int)GT_RECORD_DRIVER_API == (int)GT_DRIVER_API &&
                       (int)GT_RECORD_NESTED == (int)GT_NESTED &&
                       (int)GT_RECORD_DEVICE_LAUNCHED == (int)GT_DEVICE_LAUNCHED &&
                       (int)GT_RECORD_GRAPH_NODE == (int)GT_GRAPH_NODE &&
                       (int)GT_RECORD_CUT == (int)GT_CUT,
               "flags of records are flags of rows");

static uint32_t device_number(const struct move *move, const uint8_t *record)
{
	return move->kind->device ? load_u32(record, move->kind->device) : GT_UNKNOWN_ORDINAL;
}

static gt_id device_of(const struct move *move, const struct gt_field *field, const uint8_t *record)
{
	return gt_row_of_device(move->decoder->collection->trace, move->decoder->capture,
	                        load_u32(record, field));
}

static gt_id peer_of(const struct move *move, const struct gt_field *field, const uint8_t *record)
{
	const uint32_t ordinal_plus_one = load_u32(record, field);

	return ordinal_plus_one ? gt_row_of_device(move->decoder->collection->trace,
	                                           move->decoder->capture, ordinal_plus_one - 1)
	                        : GT_NONE;
}

static gt_id context_of(const struct move *move, const struct gt_field *field,
                        const uint8_t *record)
{
	const uint32_t number = load_u32(record, field);

	return number == UINT32_MAX
	               ? GT_NONE
	               : gt_row_of_context(move->decoder->collection->trace, move->decoder->capture,
	                                   number, device_number(move, record));
}

static gt_id stream_of(const struct move *move, const struct gt_field *field, const uint8_t *record)
{
	const uint32_t number = load_u32(record, field);

	return number == UINT32_MAX
	               ? GT_NONE
	               : gt_row_of_stream(move->decoder->collection->trace, move->decoder->capture,
	                                  load_u32(record, move->kind->context), number,
	                                  device_number(move, record));
}

/* Which stream has the handle depends on the time: stage handles knows all that had it. */
static gt_id handle_of(const struct move *move, const struct gt_field *field, const uint8_t *record)
{
	struct gt_capture *capture = move->decoder->capture;
	const uint64_t handle = load_u64(record, field);
	gt_id place;

	if (handle == UINT64_MAX)
		return GT_NONE;
	if (gt_known_is_new(&capture->handle_places, handle, capture->handles.count, &place))
		*gt_array_push(&capture->handles) = handle;
	return place;
}

static gt_id event_of(const struct move *move, const struct gt_field *field, const uint8_t *record)
{
	const uint32_t number = load_u32(record, field);

	return number == UINT32_MAX ? GT_NONE
	                            : gt_row_of_event(move->decoder->collection->trace,
	                                              move->decoder->capture, number);
}

static gt_id event_with_handle(const struct move *move, const struct gt_field *field,
                               const uint8_t *record)
{
	const uint64_t handle = load_u64(record, field);

	return handle == 0 || handle == UINT64_MAX
	               ? GT_NONE
	               : gt_row_of_event(move->decoder->collection->trace, move->decoder->capture,
	                                 handle);
}

static gt_id thread_of(const struct move *move, const struct gt_field *field, const uint8_t *record)
{
	return gt_row_of_thread(move->decoder->collection->trace, move->decoder->capture,
	                        load_u32(record, field));
}

typedef gt_id convert(const struct move *move, const struct gt_field *field, const uint8_t *record);

/* The conversion of a role's values; NULL: they stay as they are. A missing one is seen. */
static convert *conversion(enum gt_role role)
{
	switch (role) {
	case GT_ROLE_cupti_time:
	case GT_ROLE_host_time:
	case GT_ROLE_mono_time:
	case GT_ROLE_boot_time:
	case GT_ROLE_real_time:
	case GT_ROLE_wide:
	case GT_ROLE_size:
	case GT_ROLE_real:
	case GT_ROLE_count:
	case GT_ROLE_code:
	case GT_ROLE_string: /* stage names */
	case GT_ROLE_shape:  /* stage names */
	case GT_ROLE_correlation:
	case GT_ROLE_flags:
	case GT_ROLE_COUNT:
		return NULL;
	case GT_ROLE_device:
		return device_of;
	case GT_ROLE_peer:
		return peer_of;
	case GT_ROLE_context:
		return context_of;
	case GT_ROLE_stream:
		return stream_of;
	case GT_ROLE_stream_handle:
		return handle_of;
	case GT_ROLE_event:
		return event_of;
	case GT_ROLE_event_handle:
		return event_with_handle;
	case GT_ROLE_thread:
		return thread_of;
	}
	return NULL;
}

/* The input of a conversion; neighbours mostly have the same. */
struct asked {
	uint64_t value;
	uint64_t place; /* context and device */
};

static struct asked asked_of(const struct move *move, const struct gt_field *field,
                             const uint8_t *record)
{
	const struct gt_kind *kind = move->kind;

	return (struct asked){
		.value = field->width == sizeof(uint64_t) ? load_u64(record, field)
	                                                  : load_u32(record, field),
		.place = (kind->context ? (uint64_t)load_u32(record, kind->context) << 32 : 0) |
	                 (kind->device ? load_u32(record, kind->device) : 0),
	};
}

static void move_column(const struct move *move, const struct gt_binding *binding)
{
	convert *const how = conversion(binding->field->role);
	const uint8_t *record = move->records;
	uint8_t *to = move->rows + binding->column->offset;

	if (!how) {
		if (binding->field->width == sizeof(uint64_t))
			copy(move, binding, sizeof(uint64_t));
		else
			copy(move, binding, sizeof(uint32_t));
		return;
	}
	struct asked before = {0};
	gt_id value = GT_NONE;

	for (size_t i = 0; i < move->count; i++) {
		const struct asked now = asked_of(move, binding->field, record);

		if (i == 0 || now.value != before.value || now.place != before.place)
			value = how(move, binding->field, record);
		before = now;
		memcpy(to, &value, sizeof(value));
		record += move->record_size;
		to += move->row_size;
	}
}

/* Columns that no field fills: a process is the capture's, other ids name no row, the rest is 0. */
static void make_empty(const struct move *move, const struct gt_table *table, uint8_t *row)
{
	memset(row, 0, table->row_size);
	for (size_t c = 0; c < table->column_count; c++) {
		const struct gt_column *column = &table->columns[c];
		const gt_id id = column->target == GT_TABLE_processes
		                         ? move->decoder->capture->process
		                         : GT_NONE;

		if (column->target != GT_TABLE_NONE)
			memcpy(row + column->offset, &id, sizeof(id));
	}
}

static void empty_rows(const struct move *move, const struct gt_table *table)
{
	uint8_t empty[GT_ROW_MAX];

	make_empty(move, table, empty);
	for (size_t i = 0; i < move->count; i++)
		memcpy(move->rows + i * move->row_size, empty, move->row_size);
}

static void note_segment(struct gt_capture *capture, uint32_t kind, size_t first, size_t count)
{
	struct gt_segment *last = gt_array_end(&capture->segments);

	if (capture->segments.count && last[-1].kind == kind &&
	    last[-1].first + last[-1].count == first)
		last[-1].count += count;
	else
		*gt_array_push(&capture->segments) =
			(struct gt_segment){.kind = kind, .first = first, .count = count};
}

static void add_rows(struct gt_decoder *decoder, const struct gt_kind *kind, uint32_t number,
                     size_t count)
{
	struct gt_trace *trace = decoder->collection->trace;
	const size_t first = *gt_trace_rows(trace, kind->table).count;
	struct move move = {
		.decoder = decoder,
		.kind = kind,
		.records = decoder->records,
		.record_size = kind->info->size,
		.rows = gt_trace_extend(trace, kind->table, count),
		.count = count,
	};
	const struct gt_table table = gt_trace_table(trace, kind->table);

	move.row_size = table.row_size;
	empty_rows(&move, &table);
	for (size_t i = 0; i < kind->binding_count; i++)
		move_column(&move, &kind->bindings[i]);
	note_segment(decoder->capture, number, first, count);
}

/* ---- what becomes no rows of its own: one function for each kind ---- */

#define KEPT(name, list)                                                                           \
	static void gt_decode_##name(struct gt_decoder *decoder, const void *record)               \
	{                                                                                          \
		*gt_array_push(&decoder->capture->list) =                                          \
			*(const struct gt_record_##name *)record;                                  \
	}
#include "collector/kept.def"

static void gt_decode_clock(struct gt_decoder *decoder, const void *record)
{
	*gt_array_push(&decoder->capture->clocks) = *(const struct gt_record_clock *)record;
}

static void gt_decode_context(struct gt_decoder *decoder, const void *record)
{
	const struct gt_record_context *from = record;
	struct gt_trace *trace = decoder->collection->trace;
	const gt_id row = gt_row_of_context(trace, decoder->capture, from->id, from->device);

	trace->contexts.rows[row].null_stream = from->null_stream;
	trace->contexts.rows[row].sm_count = from->sm_count;
}

static void gt_decode_stream(struct gt_decoder *decoder, const void *record)
{
	const struct gt_record_stream *from = record;
	struct gt_trace *trace = decoder->collection->trace;
	const gt_id row = gt_row_of_stream(trace, decoder->capture, from->context, from->id,
	                                   GT_UNKNOWN_ORDINAL);

	trace->streams.rows[row].priority = from->priority;
	trace->streams.rows[row].flags = from->flags;
}

static void gt_decode_shape(struct gt_decoder *decoder, const void *record)
{
	const struct gt_record_shape *from = record;

	if (from->id > GT_MAX_ID)
		decoder->misnumbered++;
	else
		*gt_array_push(&decoder->capture->raw_shapes) = *from;
}

static void gt_decode_ledger(struct gt_decoder *decoder, const void *record)
{
	const struct gt_record_ledger *from = record;

	struct gt_capture *capture = decoder->capture;
	const gt_id row = gt_known_find(&capture->ledger_names, from->name);

	if (row != GT_NONE) {
		capture->raw_ledger.rows[row].value = from->value;
		return;
	}
	gt_known_add(&capture->ledger_names, from->name, (gt_id)capture->raw_ledger.count);
	*gt_array_push(&capture->raw_ledger) = *from;
}

static void gt_decode_written(struct gt_decoder *decoder, const void *record)
{
	const struct gt_record_written *from = record;

	decoder->capture->counts_written = true;
	if (from->kind < GT_RECORD_KIND_COUNT)
		decoder->capture->written[from->kind].told = from->rows;
}

typedef void decode(struct gt_decoder *decoder, const void *record);

/* A kind that is listed without becoming rows, and has no function above, does not compile. */
#define DECODE_row(into)   NULL
#define DECODE_state(into) gt_decode_##into
#define DECODE_fact(into)  gt_decode_##into
#define DECODE_piece(into) gt_decode_##into
static decode *const decodes[GT_RECORD_KIND_COUNT] = {
#define RECORD(name, number, becomes, into, help) [number] = DECODE_##becomes(into),
#define FIELD(record, role, name, number, coding, help)
#define END(name)
#include "format/records.def"
};

static uint64_t room_of(const struct gt_decoder *decoder, const struct gt_kind *rows,
                        const struct gt_chunk *chunk)
{
	const struct gt_trace *trace = decoder->collection->trace;

	if (rows)
		return GT_ROOM_OF_ROW(gt_trace_table(trace, rows->table).row_size) *
		       chunk->header.count;
	return (GT_ROOM_OF_RECORD(gt_record_info(chunk->header.kind)->size) +
	        (chunk->header.kind == GT_RECORD_range_begin ? GT_ROOM_OF_RANGE : 0)) *
	       chunk->header.count;
}

void gt_decode_records(struct gt_decoder *decoder, const struct gt_chunk *chunk)
{
	const uint32_t kind = chunk->header.kind;
	const struct gt_record_info *info = gt_record_info(kind);
	const struct gt_kind *rows = gt_kind_find(decoder->collection->kinds, kind);

	if (!info) {
		decoder->unknown++;
		return;
	}
	if (chunk->header.count > GT_CHUNK_MAX_RECORDS ||
	    gt_columns_decode(info, chunk->payload, chunk->header.raw, decoder->records,
	                      chunk->header.count) < 0) {
		decoder->damaged++;
		return;
	}
	if (!gt_decoder_take(decoder, room_of(decoder, rows, chunk))) {
		decoder->refused++;
		return;
	}
	if (rows && chunk->header.count > 0) {
		add_rows(decoder, rows, kind, chunk->header.count);
		return;
	}
	for (uint32_t i = 0; i < chunk->header.count; i++)
		decodes[kind](decoder, decoder->records + (size_t)i * info->size);
}
