/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>

#include "base/strings.h"
#include "collector/graphs/memory.h"
#include "collector/stage.h"
#include "model/index.h"
#include "model/kinds/memory.h"
#include "model/known.h"
#include "model/ranges/owners.h"

/*
 * Which call ended what another one made: memory, and what stands for some. An address comes again
 * as soon as it is free. An allocation is known when its call returns, and gone from when the call
 * that ends it is entered: in that order every address is free before it is given out again,
 * whatever the threads do at the same time. Physical memory is there until its last handle is
 * released and the last of its mappings is gone.
 */

/* Key of something that is known by a number in one space of a process. */
struct key {
	uint64_t number;
	uint32_t process;
	uint32_t space;
};

/* An allocation from its begin to its end: a row of allocations. */
struct life {
	gt_time start_ns;
	gt_time end_ns;  /* 0: it was there at the end */
	gt_id made_by;   /* rows of memory_calls */
	gt_id ended_by;  /* GT_NONE: no call */
	gt_id backed_by; /* of a mapping: the call that made its physical memory */
	gt_id physical;  /* likewise its life; GT_NONE: not known */
	gt_id launch;    /* that allocated it, GT_NONE: none did */
	gt_id device;
	uint64_t handle;   /* of the call, or of the pool that was the device's then */
	uint32_t mappings; /* of physical memory, that are there */
	bool released;     /* of physical memory: by its last handle, while it is mapped */
};

/* Who holds a number now. */
struct holder {
	gt_id life;     /* GT_NONE: nobody */
	uint32_t times; /* that it was made and not ended: handles and imports are counted by CUDA */
};

struct moment {
	gt_time time_ns;
	gt_id row; /* of memory_calls, or of the list of memory of graphs */
	bool ends;
	bool of_graph;
};

struct linker {
	struct gt_trace *trace;
	struct gt_index *keys;
	gt_array(struct holder) holders; /* by number of the key */
	gt_array(struct life) lives;
	struct gt_known pools; /* that devices were given, by process and device: rows of calls */
	struct gt_graph_memories graphs;
};

static bool is_by_handle(enum gt_memory_space space)
{
	return space == GT_MEMORY_SPACE_HANDLE || space == GT_MEMORY_SPACE_ARRAY ||
	       space == GT_MEMORY_SPACE_POOL || space == GT_MEMORY_SPACE_EXTERNAL;
}

/* Stays where it is until the next new number. */
static struct holder *holder_of(struct linker *linker, gt_id process, enum gt_memory_space space,
                                uint64_t number)
{
	const struct key key = {.number = number, .process = process, .space = space};
	const size_t place = gt_index_add(linker->keys, &key);

	if (place == linker->holders.count)
		*gt_array_push(&linker->holders) = (struct holder){.life = GT_NONE};
	return &linker->holders.rows[place];
}

static gt_id device_of_context(const struct gt_trace *trace, gt_id context)
{
	return context < trace->contexts.count ? trace->contexts.rows[context].device : GT_NONE;
}

/* The life behind a handle, or GT_NONE. */
static gt_id life_of_handle(struct linker *linker, gt_id process, enum gt_memory_space space,
                            uint64_t handle)
{
	return handle ? holder_of(linker, process, space, handle)->life : GT_NONE;
}

/*
 * Where it is: as the call says, as what it was taken from says, or its context. A pool that is
 * known and has no device is the host's.
 */
static gt_id device_of(struct linker *linker, gt_id process, const struct gt_memory_call *call)
{
	gt_id life = GT_NONE;

	switch (gt_memory_space(call->kind)) {
	case GT_MEMORY_SPACE_MAPPING:
		life = life_of_handle(linker, process, GT_MEMORY_SPACE_HANDLE, call->handle);
		return life == GT_NONE ? GT_NONE : linker->lives.rows[life].device;
	case GT_MEMORY_SPACE_POINTER:
		life = life_of_handle(linker, process, GT_MEMORY_SPACE_POOL, call->handle);
		if (life != GT_NONE)
			return linker->lives.rows[life].device;
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
		return call->place;
	}
	return call->place != GT_NONE ? call->place
	                              : device_of_context(linker->trace, call->context);
}

static uint64_t device_key(gt_id process, gt_id device)
{
	return (uint64_t)process << 32 | device;
}

/* From now on what names no pool comes from this one, on that device. */
static void use_pool(struct linker *linker, gt_id row, gt_id process)
{
	const gt_id device = linker->trace->memory_calls.rows[row].place;
	const uint64_t key = device_key(process, device);

	if (device != GT_NONE)
		gt_known_set(&linker->pools, key, row);
}

/* A stream-ordered allocation that names no pool has the device's; 0 is the default pool. */
static uint64_t handle_of(struct linker *linker, gt_id process, const struct gt_memory_call *call,
                          gt_id device)
{
	const gt_id row = call->kind == GT_MEMORY_CALL_ALLOCATE_ORDERED && !call->handle
	                          ? gt_known_find(&linker->pools, device_key(process, device))
	                          : GT_NONE;
	const uint64_t handle =
		row == GT_NONE ? call->handle : linker->trace->memory_calls.rows[row].handle;

	/* A pool that the program made, or the default pool again. */
	return call->handle || life_of_handle(linker, process, GT_MEMORY_SPACE_POOL, handle) !=
	                               GT_NONE
	               ? handle
	               : 0;
}

static void finish(struct linker *linker, gt_id row, gt_time time_ns, gt_id ended_by)
{
	struct life *life = &linker->lives.rows[row];
	struct life *physical =
		life->physical == GT_NONE ? NULL : &linker->lives.rows[life->physical];

	life->end_ns = time_ns;
	life->ended_by = ended_by;
	if (!physical || --physical->mappings > 0 || !physical->released)
		return;
	physical->end_ns = time_ns;
	physical->ended_by = ended_by;
}

/* Ends the life of a number, unless it is physical memory that is still mapped. */
static void end(struct linker *linker, struct holder *holder, gt_time time_ns, gt_id ended_by)
{
	const gt_id row = holder->life;

	*holder = (struct holder){.life = GT_NONE};
	if (linker->lives.rows[row].mappings > 0)
		linker->lives.rows[row].released = true;
	else
		finish(linker, row, time_ns, ended_by);
}

static gt_id add_life(struct linker *linker, struct life life)
{
	*gt_array_push(&linker->lives) = life;
	return (gt_id)(linker->lives.count - 1);
}

/* The memory behind a new mapping stays while the mapping is there. */
static void back(struct linker *linker, gt_id process, uint64_t handle, struct life *mapping)
{
	const gt_id row = life_of_handle(linker, process, GT_MEMORY_SPACE_HANDLE, handle);

	if (row == GT_NONE)
		return;
	mapping->physical = row;
	mapping->backed_by = linker->lives.rows[row].made_by;
	linker->lives.rows[row].mappings++;
}

/* A handle for what is mapped at an address is another one of that memory; false: of none known. */
static bool retain(struct linker *linker, gt_id process, const struct gt_memory_call *call)
{
	const gt_id mapping =
		holder_of(linker, process, GT_MEMORY_SPACE_MAPPING, call->address)->life;
	const gt_id physical = mapping == GT_NONE ? GT_NONE : linker->lives.rows[mapping].physical;

	if (physical == GT_NONE)
		return false;
	linker->lives.rows[physical].released = false;
	*holder_of(linker, process, GT_MEMORY_SPACE_HANDLE, call->handle) =
		(struct holder){.life = physical, .times = 1};
	return true;
}

static void make(struct linker *linker, gt_id row, gt_id process)
{
	const struct gt_memory_call *call = &linker->trace->memory_calls.rows[row];
	const enum gt_memory_space space = gt_memory_space(call->kind);
	const uint64_t number = is_by_handle(space) ? call->handle : call->address;
	struct life life = {.start_ns = call->start_ns,
	                    .made_by = row,
	                    .ended_by = GT_NONE,
	                    .backed_by = GT_NONE,
	                    .physical = GT_NONE,
	                    .launch = GT_NONE};
	struct holder *holder;

	if (number == 0)
		return;
	holder = holder_of(linker, process, space, number);
	if (holder->life != GT_NONE &&
	    (space == GT_MEMORY_SPACE_HANDLE || space == GT_MEMORY_SPACE_IMPORTED)) {
		holder->times++;
		return;
	}
	if (holder->life != GT_NONE) /* nobody saw its end, which was before this */
		end(linker, holder, call->start_ns, GT_NONE);
	if (call->kind == GT_MEMORY_CALL_RETAIN && retain(linker, process, call))
		return;
	life.device = device_of(linker, process, call);
	life.handle = handle_of(linker, process, call, life.device);
	if (space == GT_MEMORY_SPACE_MAPPING)
		back(linker, process, call->handle, &life);
	*holder_of(linker, process, space, number) =
		(struct holder){.life = add_life(linker, life), .times = 1};
}

/* One call may take back several mappings that lie side by side. */
static void unmap(struct linker *linker, gt_id row, gt_id process)
{
	const struct gt_memory_call *call = &linker->trace->memory_calls.rows[row];
	uint64_t at = call->address;
	uint64_t left = call->size_bytes;

	while (left > 0) {
		struct holder *holder = holder_of(linker, process, GT_MEMORY_SPACE_MAPPING, at);
		const gt_id made = holder->life;
		uint64_t size;

		if (made == GT_NONE)
			return;
		size = linker->trace->memory_calls.rows[linker->lives.rows[made].made_by].size_bytes;
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

	if (holder->life != GT_NONE && --holder->times == 0)
		end(linker, holder, call->start_ns, row);
}

/* GPU that the node names, or on which the graph was launched. */
static gt_id device_of_launch(const struct gt_trace *trace, const struct gt_graph_memory *memory)
{
	const gt_id place = memory->made_by == GT_NONE
	                            ? GT_NONE
	                            : trace->memory_calls.rows[memory->made_by].place;

	return place != GT_NONE
	               ? place
	               : device_of_context(trace,
	                                   trace->graph_launches.rows[memory->launch].context);
}

/* Allocations that one launch makes or ends at one address. */
static void launch_nodes(struct linker *linker, const struct gt_graph_memory *memory, gt_id process)
{
	const struct gt_trace *trace = linker->trace;
	const gt_id call = memory->made_by == GT_NONE ? memory->ended_by : memory->made_by;
	const gt_time launched_ns = trace->graph_launches.rows[memory->launch].start_ns;
	struct life life = {.start_ns = memory->start_ns,
	                    .end_ns = memory->end_ns,
	                    .made_by = memory->made_by,
	                    .ended_by = memory->ended_by,
	                    .backed_by = GT_NONE,
	                    .physical = GT_NONE,
	                    .launch = memory->launch,
	                    .device = device_of_launch(trace, memory)};
	struct holder *holder = holder_of(linker, process, GT_MEMORY_SPACE_POINTER,
	                                  trace->memory_calls.rows[call].address);

	if (holder->life != GT_NONE) /* it frees that, or does so before it allocates it again */
		end(linker, holder, launched_ns, memory->made_by == GT_NONE ? call : GT_NONE);
	if (memory->made_by == GT_NONE)
		return;
	if (memory->ended_by == GT_NONE)
		*holder = (struct holder){.life = add_life(linker, life), .times = 1};
	else
		(void)add_life(linker, life);
}

static void follow(struct linker *linker, const struct moment *moment)
{
	const struct gt_trace *trace = linker->trace;
	const struct gt_graph_memory *memory =
		moment->of_graph ? &linker->graphs.list.rows[moment->row] : NULL;
	const gt_id thread = memory ? trace->graph_launches.rows[memory->launch].thread
	                            : trace->memory_calls.rows[moment->row].thread;
	const gt_id process = gt_trace_thread_process(trace, thread);

	if (process == GT_NONE)
		return;
	if (memory)
		launch_nodes(linker, memory, process);
	else if (trace->memory_calls.rows[moment->row].kind == GT_MEMORY_CALL_USE_POOL)
		use_pool(linker, moment->row, process);
	else if (!moment->ends)
		make(linker, moment->row, process);
	else if (gt_memory_space(trace->memory_calls.rows[moment->row].kind) ==
	         GT_MEMORY_SPACE_MAPPING)
		unmap(linker, moment->row, process);
	else
		end_one(linker, moment->row, process);
}

static int by_moment(const void *a, const void *b)
{
	const struct moment *left = a;
	const struct moment *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->ends != right->ends)
		return left->ends ? 1 : -1;
	if (left->of_graph != right->of_graph)
		return left->of_graph ? 1 : -1;
	return (left->row > right->row) - (left->row < right->row);
}

/* Calls that failed, that did not return and that made a node of a graph did nothing. */
static bool did_something(const struct gt_memory_call *call)
{
	return call->result == 0 && !(call->flags & (GT_UNFINISHED | GT_GRAPH_NODE)) &&
	       (gt_memory_does(call->kind) != GT_MEMORY_TELLS ||
	        call->kind == GT_MEMORY_CALL_USE_POOL) &&
	       call->kind != GT_MEMORY_CALL_ALLOCATE_NODE && call->kind != GT_MEMORY_CALL_FREE_NODE;
}

static void follow_all(struct linker *linker)
{
	const struct gt_trace *trace = linker->trace;
	struct moment *moments = gt_allocate(
		(trace->memory_calls.count + linker->graphs.list.count + 1) * sizeof(*moments));
	size_t count = 0;

	for (size_t i = 0; i < trace->memory_calls.count; i++) {
		const struct gt_memory_call *call = &trace->memory_calls.rows[i];
		const bool ends = gt_memory_does(call->kind) == GT_MEMORY_ENDS;

		if (did_something(call))
			moments[count++] = (struct moment){
				.time_ns = ends ? call->start_ns : call->end_ns,
				.row = (gt_id)i,
				.ends = ends,
			};
	}
	for (size_t i = 0; i < linker->graphs.list.count; i++) {
		const gt_id row = linker->graphs.list.rows[i].launch;

		moments[count++] = (struct moment){
			.time_ns = trace->graph_launches.rows[row].start_ns,
			.row = (gt_id)i,
			.of_graph = true,
		};
	}
	qsort(moments, count, sizeof(*moments), by_moment);
	for (size_t i = 0; i < count; i++)
		follow(linker, &moments[i]);
	gt_array_free(moments);
}

static int by_start(const void *a, const void *b)
{
	const struct life *left = a;
	const struct life *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	if (left->made_by != right->made_by)
		return left->made_by < right->made_by ? -1 : 1;
	return (left->launch > right->launch) - (left->launch < right->launch);
}

static struct gt_allocation row_of(const struct gt_trace *trace, const struct life *life)
{
	const struct gt_memory_call *call = &trace->memory_calls.rows[life->made_by];
	const struct gt_graph_launch *launch =
		life->launch == GT_NONE ? NULL : &trace->graph_launches.rows[life->launch];
	const struct gt_owner owner = gt_owner_of_call(trace, call->api_call);

	return (struct gt_allocation){
		.start_ns = life->start_ns,
		.end_ns = life->end_ns,
		.address = call->address,
		.handle = launch ? call->handle : life->handle,
		.size_bytes = call->size_bytes,
		.process = gt_trace_thread_process(trace, call->thread),
		.device = life->device,
		.context = launch ? launch->context : call->context,
		.stream = launch ? launch->stream : call->stream,
		.made_by = life->made_by,
		.ended_by = life->ended_by,
		.backed_by = life->backed_by,
		.launch = life->launch,
		.range = owner.range,
		.library = call->library,
		.kind = launch ? GT_MEMORY_CALL_ALLOCATE_NODE : call->kind,
		.flags = (call->flags & (GT_SALVAGED | GT_DRIVER_API)) |
	                 (life->end_ns ? 0 : GT_UNFINISHED) | (owner.by_time ? GT_BY_TIME : 0),
	};
}

static void add_rows(struct linker *linker)
{
	if (linker->lives.count)
		qsort(linker->lives.rows, linker->lives.count, sizeof(*linker->lives.rows),
		      by_start);
	gt_array_each(const struct life, life, &linker->lives)
		*gt_array_push(&linker->trace->allocations) = row_of(linker->trace, life);
}

static void note_cut(struct gt_trace *trace)
{
	static const char text[] =
		"graphs that allocate memory were launched more often than can be "
		"shown: what later launches allocated is left out";

	*gt_array_push(&trace->notes) = (struct gt_note){
		.process = GT_NONE,
		.topic = gt_strings_add(trace->strings, "allocations"),
		.text = gt_strings_add(trace->strings, text),
	};
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_stage has it */
static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct linker linker = {.trace = collection->trace};

	(void)err;
	gt_graph_memory_find(linker.trace, &linker.graphs);
	if (linker.graphs.cut)
		note_cut(linker.trace);
	linker.keys = gt_index_new(sizeof(struct key));
	follow_all(&linker);
	add_rows(&linker);
	gt_array_release(&linker.graphs.list);
	gt_array_release(&linker.lives);
	gt_array_release(&linker.holders);
	gt_known_release(&linker.pools);
	gt_index_free(linker.keys);
	return 0;
}

const struct gt_stage gt_stage_allocations = {.name = "allocations", .run = run};
