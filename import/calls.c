/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/records.h"
#include "import/builder.h"

/* API calls of a file, and of those that wait or order work what they wait for. */

enum {
#define SYNC_KIND(name, number, words, waits_host) KIND_##name = (number),
#include "format/kinds/sync.def"
};

static const struct line {
	const char *name;
	uint32_t kind;
	bool alone;
} waiting[] = {
#define WAIT(name, kind, alone) {name, KIND_##kind, alone},
#include "import/waits.def"
};

/* cudaMemcpy_v3020 is cudaMemcpy, cudaMemcpyAsync is not. */
uint32_t gt_builder_waiting(const char *function)
{
	for (uint32_t i = 0; i < GT_COUNT_OF(waiting); i++) {
		const size_t length = strlen(waiting[i].name);

		if (strncmp(function, waiting[i].name, length) == 0 &&
		    (function[length] == '\0' || function[length] == '_'))
			return i + 1;
	}
	return 0;
}

static int compare(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct gt_built_call *left = a;
	const struct gt_built_call *right = b;

	if (left->tid != right->tid)
		return compare(left->tid, right->tid);
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	if (left->end_ns != right->end_ns)
		return left->end_ns > right->end_ns ? -1 : 1;
	return compare(left->correlation, right->correlation);
}

/* Those that name a stream first. */
static int by_correlation(const void *a, const void *b)
{
	const struct gt_built_wait *left = a;
	const struct gt_built_wait *right = b;

	if (left->correlation != right->correlation)
		return compare(left->correlation, right->correlation);
	return compare(left->stream, right->stream);
}

/* A call inside of another one with its correlation id is a part of that one. */
static void mark_nested(struct gt_builder *builder)
{
	const struct gt_built_call *outer = NULL;

	gt_array_each(struct gt_built_call, call, &builder->calls) {
		if (outer && outer->tid == call->tid && call->end_ns <= outer->end_ns &&
		    call->start_ns < outer->end_ns) {
			if (call->correlation == outer->correlation)
				call->flags |= GT_RECORD_NESTED;
			continue;
		}
		outer = call;
	}
}

/* The first wait of a correlation id in rows that are sorted; NULL: there is none. */
static struct gt_built_wait *find_wait(const struct gt_builder *builder, uint32_t correlation)
{
	size_t low = 0;
	size_t high = builder->waits.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (builder->waits.rows[middle].correlation < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	return low < builder->waits.count && builder->waits.rows[low].correlation == correlation
	               ? &builder->waits.rows[low]
	               : NULL;
}

/* Handles that stand for streams: above those that CUDA gives a meaning, and unlike any other's. */
static uint64_t handle_of(uint32_t context, uint32_t stream)
{
	return stream == GT_NOT_SAID ? UINT64_MAX : ((uint64_t)context + 1) << 32 | stream;
}

/* Waits say which stream of the context they are about where work was seen on it. */
static void write_streams(struct gt_builder *builder)
{
	gt_array_each(const struct gt_built_stream, stream, &builder->streams)
		gt_builder_add(builder, handle,
		               .time_ns = gt_builder_time(builder, stream->first_ns),
		               .handle = handle_of(stream->context, stream->stream),
		               .context = stream->context, .stream = stream->stream);
}

/* The context of a wait that does not say it, where there is but one. */
static uint32_t only_context(const struct gt_builder *builder)
{
	uint32_t context = GT_NOT_SAID;

	gt_array_each(const struct gt_built_stream, stream, &builder->streams) {
		if (context != GT_NOT_SAID && context != stream->context)
			return GT_NOT_SAID;
		context = stream->context;
	}
	return context;
}

static void write_wait(struct gt_builder *builder, const struct gt_built_call *call,
                       const struct line *line, const struct gt_built_wait *wait)
{
	const uint32_t context = wait ? wait->context : only_context(builder);
	const bool whole = line->kind == KIND_CONTEXT_SYNCHRONIZE;

	gt_builder_add(builder, sync_call, .start_ns = gt_builder_time(builder, call->start_ns),
	               .end_ns = gt_builder_time(builder, call->end_ns),
	               .stream = wait && !whole ? handle_of(context, wait->stream) : UINT64_MAX,
	               .event = wait && wait->event != GT_NOT_SAID ? (uint64_t)wait->event + 1 : 0,
	               .correlation = call->correlation, .context = context, .thread = call->tid,
	               .kind = line->kind, .result = call->result);
}

static void write_call(struct gt_builder *builder, const struct gt_built_call *call)
{
	gt_builder_add(
		builder, api_call, .start_ns = gt_builder_time(builder, call->start_ns),
		.end_ns = gt_builder_time(builder, call->end_ns), .correlation = call->correlation,
		.function = call->function, .result = call->result, .thread = call->tid,
		.flags = call->flags | (call->end_ns == GT_NO_TIME ? GT_RECORD_UNFINISHED : 0u));
}

/* All of a correlation id are told of by its call: CUPTI has one for a query, too. */
static void forget(struct gt_builder *builder, struct gt_built_wait *wait)
{
	const uint32_t correlation = wait->correlation;

	for (; wait != gt_array_end(&builder->waits) && wait->correlation == correlation; wait++)
		wait->start_ns = GT_NO_TIME;
}

/* A wait whose call is not in the file. */
static void write_lone_wait(struct gt_builder *builder, const struct gt_built_wait *wait)
{
	gt_builder_add(builder, sync, .start_ns = gt_builder_time(builder, wait->start_ns),
	               .end_ns = gt_builder_time(builder, wait->end_ns),
	               .correlation = wait->correlation, .context = wait->context,
	               .stream = wait->stream, .event = GT_NOT_SAID, .kind = wait->kind);
}

void gt_builder_write_calls(struct gt_builder *builder)
{
	if (builder->calls.count > 1)
		qsort(builder->calls.rows, builder->calls.count, sizeof(*builder->calls.rows),
		      by_thread_and_time);
	if (builder->waits.count > 1)
		qsort(builder->waits.rows, builder->waits.count, sizeof(*builder->waits.rows),
		      by_correlation);
	mark_nested(builder);
	write_streams(builder);
	gt_array_each(const struct gt_built_call, call, &builder->calls) {
		const struct line *line = call->waiting ? &waiting[call->waiting - 1] : NULL;
		struct gt_built_wait *wait = find_wait(builder, call->correlation);

		write_call(builder, call);
		if (line && !(call->flags & GT_RECORD_NESTED) && (line->alone || wait))
			write_wait(builder, call, line, wait);
		if (wait)
			forget(builder, wait);
	}
	gt_array_each(const struct gt_built_wait, wait, &builder->waits)
		if (wait->start_ns != GT_NO_TIME)
			write_lone_wait(builder, wait);
}
