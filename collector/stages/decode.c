/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/parse.h"
#include "base/strings.h"
#include "collector/rows.h"
#include "collector/stage.h"
#include "format/columns.h"
#include "format/meta.h"
#include "format/reader.h"
#include "format/salvage.h"

/*
 * Captures into rows: times still in the clock they were read from, strings and shapes still
 * by the capture's own ids. Later stages resolve both.
 */

struct decoder {
	struct gt_collection *collection;
	struct gt_capture *capture;
	uint8_t *scratch;     /* a chunk's payload */
	uint8_t *records;     /* a chunk's records */
	uint64_t unknown;     /* chunks of kinds a later gputrace writes */
	uint64_t damaged;     /* chunks whose checksum holds but whose columns do not */
	uint64_t misnumbered; /* strings and shapes with an id that nobody gave out */
};

/*
 * Writers give out ids one by one, but some may be lost on the way here. More than this is no
 * real program, and bounds the memory that a damaged id can ask for.
 */
#define MAX_ID (1u << 26)

/* The bits of records and of rows are the same facts; only the files' values are for ever. */
static gt_count flags_of(uint32_t flags)
{
	return (flags & GT_RECORD_UNFINISHED ? GT_UNFINISHED : 0) |
	       (flags & GT_RECORD_SALVAGED ? GT_SALVAGED : 0) |
	       (flags & GT_RECORD_ASYNC ? GT_ASYNC : 0) |
	       (flags & GT_RECORD_DRIVER_API ? GT_DRIVER_API : 0) |
	       (flags & GT_RECORD_NESTED ? GT_NESTED : 0) |
	       (flags & GT_RECORD_DEVICE_LAUNCHED ? GT_DEVICE_LAUNCHED : 0);
}

static void decode_clock(struct decoder *decoder, const void *record)
{
	*gt_array_push(&decoder->capture->clocks) = *(const struct gt_record_clock *)record;
}

static void decode_thread(struct decoder *decoder, const void *record)
{
	*gt_array_push(&decoder->capture->raw_threads) = *(const struct gt_record_thread *)record;
}

static void decode_device(struct decoder *decoder, const void *record)
{
	*gt_array_push(&decoder->capture->raw_devices) = *(const struct gt_record_device *)record;
}

static void decode_note(struct decoder *decoder, const void *record)
{
	*gt_array_push(&decoder->capture->raw_notes) = *(const struct gt_record_note *)record;
}

static void decode_context(struct decoder *decoder, const void *record)
{
	const struct gt_record_context *from = record;
	struct gt_trace *trace = decoder->collection->trace;
	const gt_id row = gt_row_of_context(trace, decoder->capture, from->id, from->device);

	trace->contexts.rows[row].null_stream = from->null_stream;
}

static void decode_stream(struct decoder *decoder, const void *record)
{
	const struct gt_record_stream *from = record;
	struct gt_trace *trace = decoder->collection->trace;
	const gt_id row = gt_row_of_stream(trace, decoder->capture, from->context, from->id,
	                                   GT_UNKNOWN_ORDINAL);

	trace->streams.rows[row].priority = (gt_code)from->priority;
	trace->streams.rows[row].flags = from->flags;
}

static void decode_shape(struct decoder *decoder, const void *record)
{
	const struct gt_record_shape *from = record;

	if (from->id > MAX_ID)
		decoder->misnumbered++;
	else
		*gt_array_push(&decoder->capture->raw_shapes) = *from;
}

static void decode_ledger(struct decoder *decoder, const void *record)
{
	const struct gt_record_ledger *from = record;

	gt_array_each(struct gt_record_ledger, known, &decoder->capture->raw_ledger) {
		if (known->name == from->name) {
			known->value = from->value;
			return;
		}
	}
	*gt_array_push(&decoder->capture->raw_ledger) = *from;
}

static void decode_kernel(struct decoder *decoder, const void *record)
{
	const struct gt_record_kernel *from = record;
	struct gt_trace *trace = decoder->collection->trace;

	*gt_array_push(&trace->kernels) = (struct gt_kernel){
		.start_ns = (gt_time)from->start_ns,
		.end_ns = (gt_time)from->end_ns,
		.graph_node = from->graph_node,
		.graph = from->graph,
		.shape = from->shape,
		.stream = gt_row_of_stream(trace, decoder->capture, from->context, from->stream,
	                                   from->device),
		.device = gt_row_of_device(trace, decoder->capture, from->device),
		.api_call = GT_NONE,
		.correlation = from->correlation,
		.flags = flags_of(from->flags),
	};
	decoder->capture->kernels.count++;
}

static gt_id peer(struct decoder *decoder, uint32_t ordinal_plus_one)
{
	return ordinal_plus_one ? gt_row_of_device(decoder->collection->trace, decoder->capture,
	                                           ordinal_plus_one - 1)
	                        : GT_NONE;
}

static void decode_copy(struct decoder *decoder, const void *record)
{
	const struct gt_record_copy *from = record;
	struct gt_trace *trace = decoder->collection->trace;
	const gt_id src_device = peer(decoder, from->src_device);
	const gt_id dst_device = peer(decoder, from->dst_device);

	*gt_array_push(&trace->copies) = (struct gt_copy){
		.start_ns = (gt_time)from->start_ns,
		.end_ns = (gt_time)from->end_ns,
		.size_bytes = from->size_bytes,
		.graph_node = from->graph_node,
		.graph = from->graph,
		.stream = gt_row_of_stream(trace, decoder->capture, from->context, from->stream,
	                                   from->device),
		.device = gt_row_of_device(trace, decoder->capture, from->device),
		.src_device = src_device,
		.dst_device = dst_device,
		.api_call = GT_NONE,
		.correlation = from->correlation,
		.kind = from->kind,
		.src_kind = from->src_kind,
		.dst_kind = from->dst_kind,
		.flags = flags_of(from->flags),
	};
	decoder->capture->copies.count++;
}

static void decode_fill(struct decoder *decoder, const void *record)
{
	const struct gt_record_fill *from = record;
	struct gt_trace *trace = decoder->collection->trace;

	*gt_array_push(&trace->fills) = (struct gt_fill){
		.start_ns = (gt_time)from->start_ns,
		.end_ns = (gt_time)from->end_ns,
		.size_bytes = from->size_bytes,
		.graph_node = from->graph_node,
		.graph = from->graph,
		.stream = gt_row_of_stream(trace, decoder->capture, from->context, from->stream,
	                                   from->device),
		.device = gt_row_of_device(trace, decoder->capture, from->device),
		.api_call = GT_NONE,
		.correlation = from->correlation,
		.value = from->value,
		.memory_kind = from->memory_kind,
		.flags = flags_of(from->flags),
	};
	decoder->capture->fills.count++;
}

static void decode_sync(struct decoder *decoder, const void *record)
{
	const struct gt_record_sync *from = record;
	struct gt_trace *trace = decoder->collection->trace;
	const bool names_stream =
		from->stream != UINT32_MAX; /* CUPTI_SYNCHRONIZATION_INVALID_VALUE */

	*gt_array_push(&trace->syncs) = (struct gt_sync){
		.start_ns = (gt_time)from->start_ns,
		.end_ns = (gt_time)from->end_ns,
		.context = gt_row_of_context(trace, decoder->capture, from->context,
	                                     GT_UNKNOWN_ORDINAL),
		.stream = names_stream ? gt_row_of_stream(trace, decoder->capture, from->context,
	                                                  from->stream, GT_UNKNOWN_ORDINAL)
	                               : GT_NONE,
		.api_call = GT_NONE,
		.correlation = from->correlation,
		.kind = from->kind,
		.thread = GT_NONE,
		.event = from->event != UINT32_MAX
	                         ? gt_row_of_event(trace, decoder->capture, from->event)
	                         : GT_NONE,
		.record = GT_NONE,
	};
	decoder->capture->syncs.count++;
}

static void decode_overhead(struct decoder *decoder, const void *record)
{
	const struct gt_record_overhead *from = record;

	*gt_array_push(&decoder->collection->trace->overheads) = (struct gt_overhead){
		.start_ns = (gt_time)from->start_ns,
		.end_ns = (gt_time)from->end_ns,
		.process = decoder->capture->process,
		.tid = from->tid,
		.kind = from->kind,
		.correlation = from->correlation,
	};
	decoder->capture->overheads.count++;
}

static void decode_api_call(struct decoder *decoder, const void *record)
{
	const struct gt_record_api_call *from = record;
	struct gt_trace *trace = decoder->collection->trace;

	*gt_array_push(&trace->api_calls) = (struct gt_api_call){
		.start_ns = (gt_time)from->start_ns,
		.end_ns = (gt_time)from->end_ns,
		.thread = gt_row_of_thread(trace, decoder->capture, from->thread),
		.function = from->function,
		.correlation = from->correlation,
		.result = (gt_code)from->result,
		.flags = flags_of(from->flags),
	};
	decoder->capture->api_calls.count++;
}

static void decode_strings(struct decoder *decoder, const struct gt_chunk *chunk)
{
	struct gt_capture *capture = decoder->capture;
	struct gt_text text;
	size_t offset = 0;

	while (gt_chunk_next_string(chunk, &offset, &text) > 0) {
		if (text.id > MAX_ID) {
			decoder->misnumbered++;
			continue;
		}
		while (capture->strings.count <= text.id)
			*gt_array_push(&capture->strings) = 0;
		capture->strings.rows[text.id] = gt_strings_add_bytes(
			decoder->collection->trace->strings, text.bytes, text.size);
	}
}

static gt_string text_of(struct decoder *decoder, const struct gt_text *text)
{
	return gt_strings_add_bytes(decoder->collection->trace->strings, text->bytes, text->size);
}

static uint64_t number_of(const struct gt_text *text)
{
	char digits[24];
	uint64_t value = 0;

	snprintf(digits, sizeof(digits), "%.*s", (int)text->size, text->bytes);
	(void)gt_parse_count(digits, &value);
	return value;
}

/* The words of a command line, each ended by a zero byte, as one text with blanks between. */
static gt_string command_of(struct decoder *decoder, const struct gt_text *text)
{
	char *words = gt_allocate(text->size + 1);
	size_t size = text->size;
	gt_string id;

	memcpy(words, text->bytes, size);
	while (size && words[size - 1] == '\0')
		size--;
	for (size_t i = 0; i < size; i++)
		if (words[i] == '\0')
			words[i] = ' ';
	id = gt_strings_add_bytes(decoder->collection->trace->strings, words, size);
	free(words);
	return id;
}

static gt_string file_of(struct decoder *decoder, const struct gt_text *path)
{
	const char *slash = memrchr(path->bytes, '/', path->size);
	const char *name = slash ? slash + 1 : path->bytes;

	return gt_strings_add_bytes(decoder->collection->trace->strings, name,
	                            path->size - (size_t)(name - path->bytes));
}

static void take_driver(struct decoder *decoder, const struct gt_text *value)
{
	struct gt_trace *trace = decoder->collection->trace;
	const uint64_t version = number_of(value);
	char text[32];

	snprintf(text, sizeof(text), "%u.%u", (unsigned)(version / 1000),
	         (unsigned)(version % 1000 / 10));
	trace->driver = gt_strings_add(trace->strings, text);
}

static void take_cupti_version(struct decoder *decoder, const struct gt_text *value)
{
	struct gt_trace *trace = decoder->collection->trace;
	char text[1024];

	snprintf(text, sizeof(text), "%s (version %.*s)", gt_trace_text(trace, trace->cupti),
	         (int)value->size, value->bytes);
	trace->cupti = gt_strings_add(trace->strings, text);
}

static void take_api(struct gt_capture *capture, const char *said)
{
	capture->api_known = true;
	capture->api_recorded = strcmp(said, "none") != 0;
}

static void take_pair(struct decoder *decoder, const struct gt_text *key,
                      const struct gt_text *value)
{
	struct gt_trace *trace = decoder->collection->trace;
	struct gt_process *process = &trace->processes.rows[decoder->capture->process];
	char word[32];
	char said[16];

	snprintf(word, sizeof(word), "%.*s", (int)key->size, key->bytes);
	snprintf(said, sizeof(said), "%.*s", (int)value->size, value->bytes);
	if (strcmp(word, GT_META_TOOL) == 0)
		trace->tool_version = text_of(decoder, value);
	else if (strcmp(word, GT_META_HOST) == 0)
		process->host = text_of(decoder, value);
	else if (strcmp(word, GT_META_PID) == 0)
		process->pid = (gt_count)number_of(value);
	else if (strcmp(word, GT_META_PPID) == 0)
		process->parent_pid = (gt_count)number_of(value);
	else if (strcmp(word, GT_META_STARTED) == 0)
		process->started_ticks = number_of(value);
	else if (strcmp(word, GT_META_PROGRAM) == 0)
		process->name = file_of(decoder, value);
	else if (strcmp(word, GT_META_COMMAND) == 0)
		process->command = command_of(decoder, value);
	else if (strcmp(word, GT_META_CUPTI_PATH) == 0)
		trace->cupti = text_of(decoder, value);
	else if (strcmp(word, GT_META_CUPTI_VERSION) == 0)
		take_cupti_version(decoder, value);
	else if (strcmp(word, GT_META_DRIVER) == 0)
		take_driver(decoder, value);
	else if (strcmp(word, GT_META_API) == 0)
		take_api(decoder->capture, said);
	else if (strcmp(word, GT_META_END) == 0)
		*(strcmp(said, GT_META_END_CLEAN) == 0 ? &decoder->capture->clean
		                                       : &decoder->capture->died) = true;
}

static void decode_meta(struct decoder *decoder, const struct gt_chunk *chunk)
{
	struct gt_text key;
	struct gt_text value;
	size_t offset = 0;

	while (gt_chunk_next_pair(chunk, &offset, &key, &value) > 0)
		take_pair(decoder, &key, &value);
}

static void decode_records(struct decoder *decoder, const struct gt_chunk *chunk)
{
	static void (*const decoders[GT_RECORD_KIND_COUNT])(struct decoder *, const void *) = {
		[GT_RECORD_clock] = decode_clock,       [GT_RECORD_thread] = decode_thread,
		[GT_RECORD_device] = decode_device,     [GT_RECORD_context] = decode_context,
		[GT_RECORD_stream] = decode_stream,     [GT_RECORD_shape] = decode_shape,
		[GT_RECORD_kernel] = decode_kernel,     [GT_RECORD_copy] = decode_copy,
		[GT_RECORD_fill] = decode_fill,         [GT_RECORD_sync] = decode_sync,
		[GT_RECORD_overhead] = decode_overhead, [GT_RECORD_api_call] = decode_api_call,
		[GT_RECORD_note] = decode_note,         [GT_RECORD_ledger] = decode_ledger,
	};
	const struct gt_record_info *info = gt_record_info(chunk->header.kind);

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
	for (uint32_t i = 0; i < chunk->header.count; i++)
		decoders[chunk->header.kind](decoder, decoder->records + (size_t)i * info->size);
}

static int decode_bytes(struct decoder *decoder, const uint8_t *bytes, size_t size,
                        struct gt_reader *reader, struct gt_error *err)
{
	struct gt_chunk chunk;
	const int result = gt_reader_init(reader, bytes, size, decoder->scratch, err);

	if (result < 0)
		return result;
	while (gt_reader_next(reader, &chunk) > 0) {
		if (chunk.header.kind == GT_RECORD_STRINGS)
			decode_strings(decoder, &chunk);
		else if (chunk.header.kind == GT_RECORD_META)
			decode_meta(decoder, &chunk);
		else
			decode_records(decoder, &chunk);
	}
	return 0;
}

/* Bytes in memory that a salvager appends to. */
struct bytes {
	gt_array(uint8_t) all;
};

static int append(void *context, const void *data, size_t size)
{
	struct bytes *bytes = context;

	for (size_t i = 0; i < size; i++)
		*gt_array_push(&bytes->all) = ((const uint8_t *)data)[i];
	return 0;
}

static int decode_arena(struct decoder *decoder, const struct gt_mapping *capture,
                        struct gt_error *err)
{
	uint8_t header[GT_FILE_HEADER_SIZE] = GT_FILE_MAGIC;
	struct bytes bytes = {0};
	struct gt_mapping arena;
	struct gt_reader reader;
	int result = gt_map_file(&arena, decoder->capture->arena_path, true, err);

	gt_put_u32(header + 8, GT_FORMAT_VERSION);
	gt_put_u32(header + 12, GT_FILE_HEADER_SIZE);
	append(&bytes, header, sizeof(header));
	if (result == 0)
		result = gt_salvage_arena(arena.bytes, arena.size, capture->bytes, capture->size,
		                          (struct gt_sink){append, &bytes}, err);
	if (result == 0)
		result = decode_bytes(decoder, bytes.all.rows, bytes.all.count, &reader, err);
	gt_array_release(&bytes.all);
	gt_unmap(&arena);
	return result;
}

/* What a dead process left in its arena; of a running one, only what it has written counts. */
static void add_arena(struct decoder *decoder, const struct gt_mapping *capture)
{
	struct gt_capture *to = decoder->capture;
	struct gt_error why = {0};

	if (!to->arena_path)
		return;
	if (gt_arena_is_live(to->arena_path)) {
		to->running = true;
		gt_collection_note(
			decoder->collection, to->process, "decode",
			"the process still runs: the latest events are not in its capture "
			"yet");
	} else if (decode_arena(decoder, capture, &why) < 0 && why.code != ENODATA) {
		gt_collection_note(decoder->collection, to->process, "decode",
		                   "%s could not be salvaged: %s", to->arena_path, why.text);
	}
}

static enum gt_end end_of(const struct gt_capture *capture)
{
	if (capture->running)
		return GT_END_RUNNING;
	if (capture->clean)
		return GT_END_CLEAN;
	return capture->died ? GT_END_DIED : GT_END_TORN;
}

static void remark_end(struct decoder *decoder, const struct gt_reader *reader)
{
	struct gt_collection *collection = decoder->collection;
	const struct gt_capture *capture = decoder->capture;

	if (reader->size == 0)
		gt_collection_note(collection, capture->process, "decode", "%s is empty",
		                   capture->name);
	else if (reader->size < GT_FILE_HEADER_SIZE)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s ends inside its header", capture->name);
	else if (reader->size == GT_FILE_HEADER_SIZE && end_of(capture) == GT_END_TORN)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s holds nothing but its header", capture->name);
	else if (reader->torn)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s ends inside a chunk: its last %zu bytes could not be read",
		                   capture->name, reader->size - reader->good_bytes);
}

static void remark(struct decoder *decoder, const struct gt_reader *reader)
{
	struct gt_collection *collection = decoder->collection;
	const struct gt_capture *capture = decoder->capture;

	if (reader->skipped)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s is damaged: %llu bytes from byte %zu on could not be read",
		                   capture->name, (unsigned long long)reader->skipped,
		                   reader->damage_at);
	remark_end(decoder, reader);
	if (decoder->unknown)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s holds %llu chunks of kinds that a later gputrace writes",
		                   capture->name, (unsigned long long)decoder->unknown);
	if (decoder->damaged)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s holds %llu chunks whose contents do not fit their kind",
		                   capture->name, (unsigned long long)decoder->damaged);
	if (decoder->misnumbered)
		gt_collection_note(collection, capture->process, "decode",
		                   "%s holds %llu names or launch shapes with numbers that cannot "
		                   "be right",
		                   capture->name, (unsigned long long)decoder->misnumbered);
}

static int decode_capture(struct decoder *decoder, struct gt_error *err)
{
	struct gt_capture *capture = decoder->capture;
	struct gt_trace *trace = decoder->collection->trace;
	struct gt_mapping mapping;
	struct gt_reader reader = {0};
	struct gt_error why = {0};
	size_t own = SIZE_MAX;
	int result = gt_map_file(&mapping, capture->path, false, &why);

	capture->process = (gt_id)trace->processes.count;
	*gt_array_push(&trace->processes) =
		(struct gt_process){.capture = gt_strings_add(trace->strings, capture->name)};
	capture->kernels.first = trace->kernels.count;
	capture->copies.first = trace->copies.count;
	capture->fills.first = trace->fills.count;
	capture->syncs.first = trace->syncs.count;
	capture->overheads.first = trace->overheads.count;
	capture->api_calls.first = trace->api_calls.count;
	/* A salvage that was cut short left the arena: what it appended is read from there. */
	if (result == 0 && capture->arena_path)
		result = gt_capture_own_bytes(mapping.bytes, mapping.size, &own, &why);
	if (result == 0)
		result = decode_bytes(decoder, mapping.bytes,
		                      own < mapping.size ? own : mapping.size, &reader, &why);
	if (result == -EBADMSG && decoder->collection->captures.count > 1) {
		/* The captures of other processes are none the worse for it. */
		gt_collection_note(decoder->collection, capture->process, "decode",
		                   "%s was left out: %s", capture->name, why.text);
		trace->processes.rows[capture->process].ended = GT_END_TORN;
		gt_unmap(&mapping);
		return 0;
	}
	if (result < 0) {
		gt_unmap(&mapping);
		return gt_fail(err, why.code, "cannot read %s: %s", capture->path, why.text);
	}
	add_arena(decoder, &mapping);
	remark(decoder, &reader);
	trace->processes.rows[capture->process].ended = end_of(capture);
	gt_unmap(&mapping);
	return 0;
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct decoder decoder = {
		.collection = collection,
		.scratch = gt_allocate(GT_CHUNK_MAX_RAW),
		.records = gt_allocate((size_t)GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE),
	};
	int result = 0;

	gt_array_each(struct gt_capture, capture, &collection->captures) {
		decoder.capture = capture;
		decoder.unknown = decoder.damaged = decoder.misnumbered = 0;
		result = decode_capture(&decoder, err);
		if (result < 0)
			break;
	}
	free(decoder.scratch);
	free(decoder.records);
	return result;
}

const struct gt_stage gt_stage_decode = {.name = "decode", .run = run};
