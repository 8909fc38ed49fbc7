/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/stage.h"
#include "model/index.h"
#include "model/memory.h"

/*
 * Which call ended what another one made: memory, and what stands for some. An address comes again
 * as soon as it is free. What is made is known when the call returns, and what is ended is gone
 * from when the call is entered: in that order every address is free before it is given out again,
 * whatever the threads do at the same time.
 */

/* What is known by a number in one space of a process. */
struct key {
	uint64_t number;
	uint32_t process;
	uint32_t space;
};

/* What became of what a call made. */
struct life {
	bool made;
	gt_id ended_by; /* rows of memory_calls */
	gt_time end_ns; /* 0: it was there at the end */
	gt_id device;
};

/* Who holds a number now. */
struct holder {
	gt_id call;     /* that made it; GT_NONE: nobody */
	uint32_t times; /* that it was made and not ended: handles and imports are counted by CUDA */
};

struct moment {
	gt_time time_ns;
	gt_id call;
	bool ends;
};

struct linker {
	struct gt_trace *trace;
	struct gt_index *keys;
	gt_array(struct holder) holders; /* by number of the key */
	struct life *lives;              /* by row of memory_calls */
};

static bool is_by_handle(enum gt_memory_space space)
{
	return space == GT_MEMORY_SPACE_HANDLE || space == GT_MEMORY_SPACE_ARRAY ||
	       space == GT_MEMORY_SPACE_POOL || space == GT_MEMORY_SPACE_EXTERNAL;
}

static struct holder *holder_of(struct linker *linker, gt_id process, enum gt_memory_space space,
                                uint64_t number)
{
	const struct key key = {.number = number, .process = process, .space = space};
	const size_t place = gt_index_add(linker->keys, &key);

	if (place == linker->holders.count)
		*gt_array_push(&linker->holders) = (struct holder){.call = GT_NONE};
	return &linker->holders.rows[place];
}

static gt_id process_of(const struct gt_trace *trace, const struct gt_memory_call *call)
{
	return call->thread < trace->threads.count ? trace->threads.rows[call->thread].process
	                                           : GT_NONE;
}

static gt_id device_of_holder(struct linker *linker, gt_id process, enum gt_memory_space space,
                              uint64_t handle)
{
	const gt_id call = handle ? holder_of(linker, process, space, handle)->call : GT_NONE;

	return call == GT_NONE ? GT_NONE : linker->lives[call].device;
}

/* Where it is: as the call says, as what it was taken from says, or its context. */
static gt_id device_of(struct linker *linker, gt_id process, const struct gt_memory_call *call)
{
	const struct gt_trace *trace = linker->trace;
	gt_id device = call->place;

	switch (gt_memory_space(call->kind)) {
	case GT_MEMORY_SPACE_MAPPING:
		return device_of_holder(linker, process, GT_MEMORY_SPACE_HANDLE, call->handle);
	case GT_MEMORY_SPACE_POINTER:
		device = device_of_holder(linker, process, GT_MEMORY_SPACE_POOL, call->handle);
		break;
	case GT_MEMORY_SPACE_ARRAY:
	case GT_MEMORY_SPACE_IMPORTED:
		break;
	case GT_MEMORY_SPACE_NONE:
	case GT_MEMORY_SPACE_HOST:
	case GT_MEMORY_SPACE_REGISTERED:
	case GT_MEMORY_SPACE_ADDRESSES:
	case GT_MEMORY_SPACE_HANDLE:
	case GT_MEMORY_SPACE_POOL:
	case GT_MEMORY_SPACE_EXTERNAL:
		return device;
	}
	if (device == GT_NONE && call->context < trace->contexts.count)
		device = trace->contexts.rows[call->context].device;
	return device;
}

static void end(struct linker *linker, struct holder *holder, gt_time time_ns, gt_id ended_by)
{
	struct life *life = &linker->lives[holder->call];

	life->end_ns = time_ns;
	life->ended_by = ended_by;
	*holder = (struct holder){.call = GT_NONE};
}

static void make(struct linker *linker, gt_id row, gt_id process)
{
	const struct gt_memory_call *call = &linker->trace->memory_calls.rows[row];
	const enum gt_memory_space space = gt_memory_space(call->kind);
	const uint64_t number = is_by_handle(space) ? call->handle : call->address;
	struct holder *holder;

	if (number == 0)
		return;
	holder = holder_of(linker, process, space, number);
	if (holder->call != GT_NONE &&
	    (space == GT_MEMORY_SPACE_HANDLE || space == GT_MEMORY_SPACE_IMPORTED)) {
		holder->times++;
		return;
	}
	if (holder->call != GT_NONE) /* nobody saw its end, which was before this */
		end(linker, holder, call->start_ns, GT_NONE);
	*holder = (struct holder){.call = row, .times = 1};
	linker->lives[row].made = true;
	linker->lives[row].device = device_of(linker, process, call);
}

/* One call may take back several mappings that lie side by side. */
static void unmap(struct linker *linker, gt_id row, gt_id process)
{
	const struct gt_memory_call *call = &linker->trace->memory_calls.rows[row];
	uint64_t at = call->address;
	uint64_t left = call->size_bytes;

	while (left > 0) {
		struct holder *holder = holder_of(linker, process, GT_MEMORY_SPACE_MAPPING, at);
		const gt_id made = holder->call;
		uint64_t size;

		if (made == GT_NONE)
			return;
		size = linker->trace->memory_calls.rows[made].size_bytes;
		end(linker, holder, call->start_ns, row);
		at += size;
		left = size && size < left ? left - size : 0;
	}
}

static void end_one(struct linker *linker, gt_id row, gt_id process)
{
	const struct gt_memory_call *call = &linker->trace->memory_calls.rows[row];
	const enum gt_memory_space space = gt_memory_space(call->kind);
	const uint64_t number = is_by_handle(space) ? call->handle : call->address;
	struct holder *holder = holder_of(linker, process, space, number);

	if (holder->call != GT_NONE && --holder->times == 0)
		end(linker, holder, call->start_ns, row);
}

static void follow(struct linker *linker, const struct moment *moment)
{
	const struct gt_memory_call *call = &linker->trace->memory_calls.rows[moment->call];
	const gt_id process = process_of(linker->trace, call);

	if (process == GT_NONE)
		return;
	if (!moment->ends)
		make(linker, moment->call, process);
	else if (gt_memory_space(call->kind) == GT_MEMORY_SPACE_MAPPING)
		unmap(linker, moment->call, process);
	else
		end_one(linker, moment->call, process);
}

static int by_moment(const void *a, const void *b)
{
	const struct moment *left = a;
	const struct moment *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->ends != right->ends)
		return left->ends ? 1 : -1;
	return (left->call > right->call) - (left->call < right->call);
}

/* Calls that failed, that did not return and that became a node of a graph did nothing. */
static bool did_something(const struct gt_memory_call *call)
{
	return call->result == 0 && !(call->flags & (GT_UNFINISHED | GT_GRAPH_NODE)) &&
	       gt_memory_does(call->kind) != GT_MEMORY_TELLS;
}

static void follow_all(struct linker *linker)
{
	const struct gt_trace *trace = linker->trace;
	struct moment *moments = gt_allocate((trace->memory_calls.count + 1) * sizeof(*moments));
	size_t count = 0;

	for (size_t i = 0; i < trace->memory_calls.count; i++) {
		const struct gt_memory_call *call = &trace->memory_calls.rows[i];
		const bool ends = gt_memory_does(call->kind) == GT_MEMORY_ENDS;

		linker->lives[i] = (struct life){.ended_by = GT_NONE, .device = GT_NONE};
		if (did_something(call))
			moments[count++] = (struct moment){
				.time_ns = ends ? call->start_ns : call->end_ns,
				.call = (gt_id)i,
				.ends = ends,
			};
	}
	qsort(moments, count, sizeof(*moments), by_moment);
	for (size_t i = 0; i < count; i++)
		follow(linker, &moments[i]);
	gt_array_free(moments);
}

static gt_id range_of(const struct gt_trace *trace, gt_id api_call)
{
	return api_call < trace->api_calls.count ? trace->api_calls.rows[api_call].range : GT_NONE;
}

/* In the order of the calls that made them, which is that of time. */
static void add_rows(const struct linker *linker)
{
	struct gt_trace *trace = linker->trace;

	for (size_t i = 0; i < trace->memory_calls.count; i++) {
		const struct gt_memory_call *call = &trace->memory_calls.rows[i];
		const struct life *life = &linker->lives[i];

		if (!life->made)
			continue;
		*gt_array_push(&trace->allocations) = (struct gt_allocation){
			.start_ns = call->start_ns,
			.end_ns = life->end_ns,
			.address = call->address,
			.handle = call->handle,
			.size_bytes = call->size_bytes,
			.process = process_of(trace, call),
			.device = life->device,
			.context = call->context,
			.stream = call->stream,
			.made_by = (gt_id)i,
			.ended_by = life->ended_by,
			.range = range_of(trace, call->api_call),
			.kind = call->kind,
			.flags = (call->flags & (GT_SALVAGED | GT_DRIVER_API)) |
		                 (life->end_ns ? 0 : GT_UNFINISHED),
		};
	}
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_stage has it */
static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;
	struct linker linker = {.trace = trace};

	(void)err;
	linker.keys = gt_index_new(sizeof(struct key));
	linker.lives = gt_allocate((trace->memory_calls.count + 1) * sizeof(*linker.lives));
	follow_all(&linker);
	add_rows(&linker);
	gt_array_free(linker.lives);
	gt_array_release(&linker.holders);
	gt_index_free(linker.keys);
	return 0;
}

const struct gt_stage gt_stage_allocations = {.name = "allocations", .run = run};
