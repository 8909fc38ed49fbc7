/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/work.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ranges.h"
#include "import/builder.h"
#include "import/kineto/event.h"

enum {
#define SYNC_KIND(name, number, words, waits_host) KIND_##name = (number),
#include "format/kinds/sync.def"
	PAYLOAD_INT64 = 2, /* nvtxPayloadType_t */
};

uint32_t gt_kineto_number(int64_t number, uint32_t otherwise)
{
	return number == GT_KINETO_NONE ? otherwise : (uint32_t)number;
}

int64_t gt_kineto_end(const struct gt_kineto_event *event)
{
	if (event->start_ns == GT_KINETO_NONE || event->duration_ns < 0 ||
	    event->start_ns > INT64_MAX / 2 || event->duration_ns > INT64_MAX / 2)
		return GT_NO_TIME;
	return event->start_ns + event->duration_ns;
}

/* ---- of GPUs ---- */

/* Times of work, its stream and its device, as all records of work have them. */
struct place {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t flags;
};

static struct place place_of(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	const int64_t end_ns = gt_kineto_end(event);
	struct place place = {
		.device = gt_kineto_number(event->device, gt_kineto_number(event->pid, 0)),
		.context = gt_kineto_number(event->context, 0),
		.stream = gt_kineto_number(event->stream, gt_kineto_number(event->tid, 0)),
		.flags = end_ns == GT_NO_TIME ? GT_RECORD_UNFINISHED : 0,
	};

	if (end_ns != GT_NO_TIME) {
		place.start_ns = gt_builder_time(builder, event->start_ns);
		place.end_ns = gt_builder_time(builder, end_ns);
		gt_builder_stream(builder, place.context, place.stream, event->start_ns);
	}
	return place;
}

#define PLACE                                                                                      \
	.start_ns = place.start_ns, .end_ns = place.end_ns, .device = place.device,                \
	.context = place.context, .stream = place.stream, .flags = place.flags,                    \
	.correlation = gt_kineto_number(event->correlation, 0),                                    \
	.graph = gt_kineto_number(event->graph, 0),                                                \
	.graph_node = event->graph_node > 0 ? (uint64_t)event->graph_node : 0

/* Static and dynamic shared memory are one number there. */
static void add_kernel(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	const struct place place = place_of(builder, event);
	struct gt_record_shape shape;

	memset(&shape, 0, sizeof(shape)); /* padding too: equal shapes are found by their bytes */
	shape.name = gt_builder_text(builder, event->name, strlen(event->name));
	shape.grid_x = (uint32_t)event->grid[0];
	shape.grid_y = (uint32_t)event->grid[1];
	shape.grid_z = (uint32_t)event->grid[2];
	shape.block_x = (uint32_t)event->block[0];
	shape.block_y = (uint32_t)event->block[1];
	shape.block_z = (uint32_t)event->block[2];
	shape.registers = gt_kineto_number(event->registers, 0);
	shape.shared_static = gt_kineto_number(event->shared_bytes, 0);
	gt_builder_add(builder, kernel, PLACE, .shape = gt_builder_shape(builder, &shape));
}

/* CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind of "Memcpy HtoD (Pageable -> Device)". */
static void read_copy(const char *name, struct gt_record_copy *copy)
{
	static const char *const kinds[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
	                                    "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
	static const char *const memories[] = {
		"",      "Pageable", "Pinned",        "Device",
		"Array", "Managed",  "Device Static", "Managed Static"};
	char kind[8] = "";
	char from[32] = "";
	char to[32] = "";

	(void)sscanf(name, "%*s %7[A-Za-z] (%31[A-Za-z -]> %31[A-Za-z ])", kind, from, to);
	for (size_t i = strlen(from); i > 0 && strchr(" -", from[i - 1]); i--)
		from[i - 1] = '\0';
	for (uint32_t i = 1; i < GT_COUNT_OF(kinds); i++)
		if (strcmp(kinds[i], kind) == 0)
			copy->kind = i;
	for (uint32_t i = 1; i < GT_COUNT_OF(memories); i++) {
		if (strcmp(memories[i], from) == 0)
			copy->src_kind = i;
		if (strcmp(memories[i], to) == 0)
			copy->dst_kind = i;
	}
}

static uint64_t bytes_of(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	builder->counts.unsized += event->bytes < 0;
	return event->bytes > 0 ? (uint64_t)event->bytes : 0;
}

static void add_copy(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	const struct place place = place_of(builder, event);
	struct gt_record_copy copy = {
		PLACE,
		.size_bytes = bytes_of(builder, event),
		.src_device = (uint32_t)(event->from_device >= 0 ? event->from_device + 1 : 0),
		.dst_device = (uint32_t)(event->to_device >= 0 ? event->to_device + 1 : 0),
	};

	read_copy(event->name, &copy);
	gt_builder_record(builder, GT_RECORD_copy, &copy);
}

static void add_fill(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	const struct place place = place_of(builder, event);

	gt_builder_add(builder, fill, PLACE, .size_bytes = bytes_of(builder, event),
	               .memory_kind = strstr(event->name, "(Device") ? 3 : 0);
}

/* ---- of threads ---- */

static void add_call(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	const struct gt_built_call call = {
		.start_ns = event->start_ns,
		.end_ns = gt_kineto_end(event),
		.correlation = gt_kineto_number(event->correlation, 0),
		.tid = gt_kineto_number(event->tid, GT_RECORD_NO_THREAD),
		.flags = strcmp(event->category, "cuda_driver") == 0 ? GT_RECORD_DRIVER_API : 0,
	};

	gt_builder_call(builder, &call, event->name);
}

static void add_range(struct gt_builder *builder, const struct gt_kineto_event *event,
                      const struct gt_built_range *text)
{
	struct gt_built_range range = *text;

	range.start_ns = event->start_ns;
	range.end_ns = gt_kineto_end(event);
	range.tid = range.end_tid = gt_kineto_number(event->tid, GT_RECORD_NO_THREAD);
	range.kind = GT_RANGE_STEP_STACK;
	gt_builder_range(builder, &range);
}

/* As PyTorch names operations for NVTX: "aten::mm, seq = 12, op_id = 34, sizes = [[2, 3]]". */
static void add_operation(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	char text[GT_TEXT_MAX + 1];
	size_t length;

	length = (size_t)snprintf(text, sizeof(text), "%.*s",
	                          (int)(sizeof(text) - GT_KINETO_MOST_SIZES - 128), event->name);
	if (event->sequence >= 0)
		length += (size_t)snprintf(text + length, sizeof(text) - length, ", seq = %lld",
		                           (long long)event->sequence);
	length += (size_t)snprintf(text + length, sizeof(text) - length, ", op_id = %lld",
	                           event->operation >= 0 ? (long long)event->operation : 0);
	if (*event->sizes)
		length += (size_t)snprintf(text + length, sizeof(text) - length, ", sizes = %s",
		                           event->sizes);
	add_range(builder, event,
	          &(struct gt_built_range){.text = gt_builder_text_once(builder, text, length)});
}

/* Steps are one range that repeats: their numbers are values beside it. */
static void add_annotation(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	static const char step[] = "ProfilerStep#";
	const size_t length = strlen(step);
	const char *digits = event->name + length;
	struct gt_built_range range = {0};

	if (strncmp(event->name, "Optimizer.", strlen("Optimizer.")) == 0) {
		add_operation(builder, event); /* whose operations are of no direction */
		return;
	}
	if (strncmp(event->name, step, length) == 0 && isdigit((unsigned char)*digits)) {
		range.text = gt_builder_text(builder, step, length - 1);
		range.payload = strtoull(digits, NULL, 10);
		range.payload_type = PAYLOAD_INT64;
	} else {
		range.text = gt_builder_text(builder, event->name, strlen(event->name));
	}
	add_range(builder, event, &range);
}

/* A wait says which record of its event it waits for: so that record's call is known, too. */
static void add_wait(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	static const char *const kinds[] = {
		[KIND_EVENT_SYNCHRONIZE] = "Event Sync",
		[KIND_STREAM_WAIT_EVENT] = "Stream Wait Event",
		[KIND_STREAM_SYNCHRONIZE] = "Stream Sync",
		[KIND_CONTEXT_SYNCHRONIZE] = "Context Sync",
	};
	struct gt_built_wait wait = {
		.start_ns = event->start_ns,
		.end_ns = gt_kineto_end(event),
		.correlation = gt_kineto_number(event->correlation, 0),
		.context = gt_kineto_number(event->context, GT_NOT_SAID),
		.stream = gt_kineto_number(event->stream, GT_NOT_SAID),
		.event = gt_kineto_number(event->wait_event, GT_NOT_SAID),
	};

	for (uint32_t i = 1; i < GT_COUNT_OF(kinds); i++)
		if (strcmp(kinds[i], *event->sync ? event->sync : event->name) == 0)
			wait.kind = i;
	gt_builder_wait(builder, &wait);
	if (event->wait_record <= 0 || event->wait_stream < 0)
		return;
	wait.start_ns = wait.end_ns = GT_NO_TIME;
	wait.correlation = (uint32_t)event->wait_record;
	wait.kind = KIND_EVENT_RECORD;
	wait.stream = (uint32_t)event->wait_stream;
	gt_builder_wait(builder, &wait);
}

/* CUpti_ActivityOverheadKind, in the words of torch.profiler. */
static void add_overhead(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} kinds[] = {
		{"Driver Compiler", 1},
		{"Buffer Flush", 1 << 16},
		{"Instrumentation", 2 << 16},
		{"Resource", 3 << 16},
		{"Runtime Triggered Module Loading", 4 << 16},
		{"Lazy Function Loading", 5 << 16},
		{"Command Buffer Full", 6 << 16},
		{"Activity Buffer Request", 7 << 16},
		{"UVM Activity Init", 8 << 16},
	};
	uint32_t kind = 0;

	for (size_t i = 0; i < GT_COUNT_OF(kinds); i++)
		if (strcmp(kinds[i].name, event->name) == 0)
			kind = kinds[i].kind;
	gt_builder_add(builder, overhead, .start_ns = gt_builder_time(builder, event->start_ns),
	               .end_ns = gt_builder_time(builder, gt_kineto_end(event)),
	               .tid = event->pid >= 0 ? gt_kineto_number(event->tid, 0) : 0, .kind = kind);
}

/* The time that the profiler was on. */
static void add_window(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	(void)gt_builder_time(builder, event->start_ns);
	(void)gt_builder_time(builder, gt_kineto_end(event));
}

/* gputrace works out itself when a GPU worked for a range, and what launched what. */
static void leave_out(struct gt_builder *builder, const struct gt_kineto_event *event)
{
	(void)builder;
	(void)event;
}

enum whose { OF_GPU, OF_THREAD, OF_CALLS, OF_PROFILER };

/* Categories of today and, behind them, of files before 2022. */
static const struct {
	const char *category;
	void (*add)(struct gt_builder *builder, const struct gt_kineto_event *event);
	enum whose whose;
} categories[] = {
	{"kernel", add_kernel, OF_GPU},
	{"gpu_memcpy", add_copy, OF_GPU},
	{"gpu_memset", add_fill, OF_GPU},
	{"cuda_runtime", add_call, OF_CALLS},
	{"cuda_driver", add_call, OF_CALLS},
	{"cpu_op", add_operation, OF_THREAD},
	{"user_annotation", add_annotation, OF_THREAD},
	{"cuda_sync", add_wait, OF_GPU},
	{"overhead", add_overhead, OF_PROFILER},
	{"Trace", add_window, OF_PROFILER},
	{"gpu_user_annotation", leave_out, OF_PROFILER},
	{"Kernel", add_kernel, OF_GPU},
	{"Memcpy", add_copy, OF_GPU},
	{"Memset", add_fill, OF_GPU},
	{"Runtime", add_call, OF_CALLS},
	{"Operator", add_operation, OF_THREAD},
};

bool gt_kineto_add(struct gt_builder *builder, const struct gt_kineto_event *event, bool *host,
                   bool *calls)
{
	*host = *calls = false;
	for (size_t i = 0; i < GT_COUNT_OF(categories); i++) {
		if (strcmp(categories[i].category, event->category) != 0)
			continue;
		*calls = categories[i].whose == OF_CALLS;
		*host = *calls || categories[i].whose == OF_THREAD;
		/* A row without a begin can be placed nowhere. */
		if (!*host || gt_builder_time(builder, event->start_ns))
			categories[i].add(builder, event);
		return true;
	}
	return false;
}
