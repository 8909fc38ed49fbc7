/* SPDX-License-Identifier: Apache-2.0 */
#include "import/builder.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "format/file/chunk.h"
#include "format/file/meta.h"
#include "format/file/writer.h"

#define HASH_FUNCTION(key, size, hash) (hash) = (unsigned)gt_hash_bytes(key, size, builder)
#define uthash_fatal(msg)              abort()
#include <uthash.h>

/*
 * Times in the capture are those of the file and so much more, since 0 means "not known" there; on
 * the common timeline the first time that was seen lies as far from 0.
 */
#define BIAS_NS ((int64_t)1 << 50)

/* Times so far from the first are damage, to the collector too (collector/clocks/line.c). */
#define FAR_NS ((int64_t)100 * 86400 * 1000000000)

struct gt_build_shape {
	UT_hash_handle hh;
	struct gt_record_shape shape; /* its id is 0 */
	uint32_t id;
};

void gt_builder_init(struct gt_builder *builder, const struct gt_capture_place *place)
{
	*builder = (struct gt_builder){.place = place};
}

/* Their order of making stays in them when the table is gone. */
static void release_shapes(struct gt_builder *builder)
{
	struct gt_build_shape *shape = builder->shapes;

	HASH_CLEAR(hh, builder->shapes);
	while (shape) {
		struct gt_build_shape *next = shape->hh.next;

		free(shape);
		shape = next;
	}
}

void gt_builder_release(struct gt_builder *builder)
{
	for (size_t i = 0; i < GT_RECORD_KIND_COUNT; i++)
		free(builder->pending[i].rows);
	release_shapes(builder);
	gt_strings_free(builder->interned);
	gt_array_release(&builder->ids);
	gt_array_release(&builder->texts);
	gt_array_release(&builder->ranges);
	gt_array_release(&builder->calls);
	gt_array_release(&builder->waits);
	gt_array_release(&builder->streams);
	free(builder->writer);
	free(builder->memory);
	*builder = (struct gt_builder){.place = builder->place, .counts = builder->counts};
}

int gt_builder_begin(struct gt_builder *builder, struct gt_error *err)
{
	const size_t memory = gt_align_64(gt_writer_memory());
	struct gt_sink sink;
	int result;

	gt_builder_release(builder);
	result = builder->place->begin(builder->place->context, &sink, err);
	if (result < 0)
		return result;
	builder->writer = gt_allocate(sizeof(*builder->writer));
	builder->memory = aligned_alloc(64, memory);
	if (!builder->memory)
		abort();
	builder->interned = gt_strings_new();
	*gt_array_push(&builder->ids) = 0;
	builder->anchor_ns = GT_NO_TIME;
	result = gt_writer_init(builder->writer, sink, builder->memory, memory);
	if (result == 0)
		result = gt_writer_file_header(builder->writer);
	builder->result = result;
	return 0;
}

/* A capture that could not be written to its end is none: the first failure counts. */
static void check(struct gt_builder *builder, int result)
{
	if (result < 0 && builder->result == 0)
		builder->result = result;
}

/* ---- texts ---- */

static void write_texts(struct gt_builder *builder)
{
	if (builder->texts_pending)
		check(builder,
		      gt_writer_payload(builder->writer, GT_RECORD_STRINGS, builder->texts.rows,
		                        builder->texts.count, builder->texts_pending));
	builder->texts.count = 0;
	builder->texts_pending = 0;
}

static void add_bytes(struct gt_builder *builder, const void *bytes, size_t size)
{
	const size_t needed = builder->texts.count + size;

	if (needed > builder->texts.capacity) {
		builder->texts.capacity = 2 * needed;
		builder->texts.rows =
			gt_array_resize(builder->texts.rows, builder->texts.capacity, 1);
	}
	if (size)
		memcpy(builder->texts.rows + builder->texts.count, bytes, size);
	builder->texts.count = needed;
}

/* Whole characters of what is longer than any text may be. */
static size_t fitting(const char *text, size_t size)
{
	size_t end = size < GT_TEXT_MAX ? size : GT_TEXT_MAX;

	for (int i = 0; end < size && i < 3 && ((unsigned char)text[end] & 0xc0) == 0x80; i++)
		end--;
	return end;
}

uint32_t gt_builder_text_once(struct gt_builder *builder, const char *text, size_t size)
{
	uint8_t head[2 * GT_VARINT_MAX];
	uint8_t *end;

	size = fitting(text, size);
	if (size == 0)
		return 0;
	if (builder->texts.count + sizeof(head) + size > GT_CHUNK_MAX_RAW / 2)
		write_texts(builder);
	end = gt_put_varint(gt_put_varint(head, ++builder->text_count), size);
	add_bytes(builder, head, (size_t)(end - head));
	add_bytes(builder, text, size);
	builder->texts_pending++;
	return builder->text_count;
}

uint32_t gt_builder_text(struct gt_builder *builder, const char *text, size_t size)
{
	uint32_t place;

	size = fitting(text, size);
	place = gt_strings_add_bytes(builder->interned, text, size);
	if (place < builder->ids.count)
		return builder->ids.rows[place];
	*gt_array_push(&builder->ids) = gt_builder_text_once(builder, text, strnlen(text, size));
	return builder->ids.rows[place];
}

static uint32_t text_of(struct gt_builder *builder, const char *text)
{
	return gt_builder_text(builder, text, strlen(text));
}

/* ---- records ---- */

/* The texts that records name stand before them. */
static void write_rows(struct gt_builder *builder, uint32_t kind)
{
	struct gt_build_rows *pending = &builder->pending[kind];

	write_texts(builder);
	check(builder, gt_writer_records(builder->writer, kind, pending->rows, pending->count,
	                                 (struct gt_origin){0}));
	pending->count = 0;
}

void gt_builder_record(struct gt_builder *builder, uint32_t kind, const void *record)
{
	struct gt_build_rows *pending = &builder->pending[kind];
	const size_t size = gt_record_info(kind)->size;

	if (!pending->rows)
		pending->rows = gt_allocate(GT_CHUNK_MAX_RECORDS * size);
	memcpy(pending->rows + pending->count * size, record, size);
	if (++pending->count == GT_CHUNK_MAX_RECORDS)
		write_rows(builder, kind);
	builder->counts.kernels += kind == GT_RECORD_kernel;
	builder->counts.copies += kind == GT_RECORD_copy;
	builder->counts.fills += kind == GT_RECORD_fill;
	builder->counts.graphs += kind == GT_RECORD_graph_trace;
}

uint32_t gt_builder_shape(struct gt_builder *builder, const struct gt_record_shape *shape)
{
	struct gt_build_shape *found;
	struct gt_record_shape record = *shape;

	HASH_FIND(hh, builder->shapes, shape, sizeof(*shape), found);
	if (found)
		return found->id;
	found = gt_allocate_zeroed(1, sizeof(*found));
	found->shape = *shape;
	found->id = record.id = ++builder->shape_count;
	HASH_ADD(hh, builder->shapes, shape, sizeof(found->shape), found);
	gt_builder_record(builder, GT_RECORD_shape, &record);
	return found->id;
}

uint64_t gt_builder_time(struct gt_builder *builder, int64_t time_ns)
{
	if (time_ns == GT_NO_TIME || time_ns <= -BIAS_NS || time_ns > INT64_MAX / 2)
		return 0;
	if (builder->anchor_ns == GT_NO_TIME)
		builder->anchor_ns = builder->first_ns = builder->last_ns = time_ns;
	if (llabs(time_ns - builder->anchor_ns) < FAR_NS) {
		if (time_ns < builder->first_ns)
			builder->first_ns = time_ns;
		if (time_ns > builder->last_ns)
			builder->last_ns = time_ns;
	}
	return (uint64_t)(time_ns + BIAS_NS);
}

void gt_builder_range(struct gt_builder *builder, const struct gt_built_range *range)
{
	*gt_array_push(&builder->ranges) = *range;
	builder->counts.ranges++;
}

void gt_builder_call(struct gt_builder *builder, const struct gt_built_call *call,
                     const char *function)
{
	struct gt_built_call *row = gt_array_push(&builder->calls);

	*row = *call;
	row->function = text_of(builder, function);
	row->waiting = gt_builder_waiting(function);
	builder->counts.calls++;
}

void gt_builder_wait(struct gt_builder *builder, const struct gt_built_wait *wait)
{
	*gt_array_push(&builder->waits) = *wait;
}

void gt_builder_stream(struct gt_builder *builder, uint32_t context, uint32_t stream,
                       int64_t time_ns)
{
	for (size_t i = builder->streams.count; i-- > 0;)
		if (builder->streams.rows[i].stream == stream &&
		    builder->streams.rows[i].context == context)
			return;
	*gt_array_push(&builder->streams) =
		(struct gt_built_stream){.first_ns = time_ns, .context = context, .stream = stream};
}

/*
 * From compute capability 8.0 on the system takes 1 KiB of shared memory of each block (CUDA C++
 * Programming Guide, "Compute Capabilities").
 */
void gt_builder_device(struct gt_builder *builder, const struct gt_record_device *device)
{
	struct gt_record_device record = *device;

	if (record.shared_reserved_bytes == 0 && record.cc_major >= 8)
		record.shared_reserved_bytes = 1024;
	gt_builder_record(builder, GT_RECORD_device, &record);
}

/* Sentences have words of the file in them. */
static void make_printable(char *text)
{
	while (*text) {
		const size_t size = gt_utf8_size(text);

		if (size == 0 || (unsigned char)*text < ' ')
			*text = '?';
		text += size ? size : 1;
	}
}

static void note(struct gt_builder *builder, const char *text)
{
	gt_builder_add(builder, note, .topic = text_of(builder, "import"),
	               .text = text_of(builder, text));
}

void gt_builder_note(struct gt_builder *builder, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	make_printable(text);
	note(builder, text);
}

void gt_builder_remark(struct gt_builder *builder, const char *fmt, ...)
{
	char *remarks = builder->counts.remarks;
	const size_t length = strlen(remarks);
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	make_printable(text);
	note(builder, text);
	if (!strstr(remarks, text))
		snprintf(remarks + length, sizeof(builder->counts.remarks) - length, "%s%s",
		         length ? "; " : "", text);
}

void gt_builder_cut(struct gt_builder *builder, const char *name, const char *why)
{
	builder->counts.cut = true;
	gt_builder_remark(builder, "%s is not complete: %s", name, why);
}

/* ---- the end ---- */

/* Two readings of the one clock that all times are of: the recording begins and ends there. */
static void write_clocks(struct gt_builder *builder, const struct gt_built_process *process)
{
	const int64_t ends[] = {builder->first_ns, builder->last_ns};

	if (builder->anchor_ns == GT_NO_TIME)
		return;
	for (size_t i = 0; i < GT_COUNT_OF(ends); i++) {
		const uint64_t time = gt_builder_time(builder, ends[i]);
		const bool dated = process->realtime_offset_ns != GT_NO_TIME &&
		                   ends[i] + process->realtime_offset_ns > 0;

		gt_builder_add(builder, clock, .host_ns = time, .cupti_ns = time,
		               .boottime_ns = (uint64_t)(ends[i] - builder->anchor_ns + BIAS_NS),
		               .realtime_ns =
		                       dated ? (uint64_t)(ends[i] + process->realtime_offset_ns)
		                             : 0);
	}
}

static void write_fact(struct gt_builder *builder, const char *key, const char *value)
{
	if (value && *value)
		check(builder, gt_meta_write_one(builder->writer, key, value));
}

static void write_number(struct gt_builder *builder, const char *key, uint32_t value)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", value);
	if (value)
		write_fact(builder, key, digits);
}

static void write_facts(struct gt_builder *builder, const struct gt_built_process *process)
{
	write_fact(builder, GT_META_TOOL, GPUTRACE_VERSION);
	write_fact(builder, GT_META_HOST, process->host);
	write_fact(builder, GT_META_PROGRAM, process->program);
	write_fact(builder, GT_META_ENVIRONMENT, process->environment);
	write_number(builder, GT_META_PID, process->pid);
	write_number(builder, GT_META_DRIVER, process->cuda_driver);
	if (process->cupti)
		write_fact(builder, GT_META_CUPTI_PATH, "CUPTI");
	write_number(builder, GT_META_CUPTI_VERSION, process->cupti);
	write_fact(builder, GT_META_API, builder->calls.count ? "outer" : "none");
}

/* "HOST-PID-1", of letters that any file system takes. */
static void name_capture(const char *host, uint32_t pid, char *name, size_t size)
{
	char letters[65];

	snprintf(letters, sizeof(letters), "%s", host && *host ? host : "imported");
	for (char *at = letters; *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.",
		            *at))
			*at = '_';
	if (*letters == '.')
		*letters = '_';
	snprintf(name, size, "%s-%u-1", letters, pid);
}

int gt_builder_end(struct gt_builder *builder, const struct gt_built_process *process,
                   struct gt_error *err)
{
	char name[128];
	int result;

	gt_builder_write_ranges(builder);
	gt_builder_write_calls(builder);
	write_clocks(builder, process);
	write_facts(builder, process);
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++)
		if (builder->pending[kind].count)
			write_rows(builder, kind);
	if (!builder->counts.cut)
		write_fact(builder, GT_META_END, GT_META_END_IMPORTED);
	builder->counts.processes++;
	result = builder->result;
	gt_builder_release(builder);
	if (result < 0)
		return gt_fail(err, -result, "cannot write the recording: %s",
		               gt_errno_text(-result));
	name_capture(process->host, process->pid, name, sizeof(name));
	return builder->place->end(builder->place->context, name, err);
}
