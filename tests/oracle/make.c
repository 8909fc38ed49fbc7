/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/world.h"

#include <stdlib.h>
#include <string.h>

#include "support/capture.h"

/*
 * Invents a world: threads take turns, the one that is earliest first, and each does something that
 * programs do. The work of streams follows from that. Times of a thread never stand still.
 */

const struct kernel kernels[KERNELS] = {
	{"_Z4gemmPfi", "gemm", 264, 256},
	{"_Z4axpyPff", "axpy", 1, 64},
	{"_Z10reduce_sumPf", "reduce_sum", 66, 128},
	{"_Z7softmaxPf", "softmax", 132, 1024},
	{"_Z9transposePf", "transpose", 500, 32},
	{"_Z4tinyv", "tiny", 1, 1},
	{"_Z4gemmPfi", "gemm", 528, 256},
};

static uint64_t draw(struct world *world, uint64_t below)
{
	return next_random(&world->random) % below;
}

static bool chance(struct world *world, unsigned percent)
{
	return draw(world, 100) < percent;
}

static uint64_t between(struct world *world, uint64_t least, uint64_t most)
{
	return least + draw(world, most - least + 1);
}

/* A length of any size that programs have: from nothing to most, each decade as likely. */
static uint64_t length(struct world *world, uint64_t most)
{
	uint64_t limit = 10;

	while (limit < most && chance(world, 75))
		limit *= 10;
	return draw(world, limit < most ? limit : most);
}

/* Bytes that are moved: any number, or one that programs like, where limits of reports lie too. */
static uint64_t size(struct world *world)
{
	return chance(world, 25) ? 4096ULL << 4 * draw(world, 3) : 1 + length(world, 100000000);
}

static bool has(const struct world *world, unsigned feature)
{
	return (world->features & feature) != 0;
}

static void full(bool is)
{
	if (is)
		abort();
}

static void choose_features(struct world *world)
{
	static const unsigned percents[] = {40, 40, 40, 70, 30, 30, 35, 15, 15, 10, 70, 50, 20, 50};

	for (unsigned i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		if (chance(world, percents[i]))
			world->features |= 1u << i;
	if (has(world, HELPERS))
		world->features |= RANGES | SEVERAL_THREADS;
	if (has(world, OPERATIONS))
		world->features |= RANGES;
}

static void add_stream(struct world *world, int process, int gpu, uint32_t number)
{
	full(world->stream_count == MOST_STREAMS);
	world->streams[world->stream_count++] = (struct stream){.process = process,
	                                                        .gpu = gpu,
	                                                        .number = number,
	                                                        .is_default = number == 7,
	                                                        .last = NONE};
	if (number != 7 && chance(world, 30))
		world->streams[world->stream_count - 1].priority = -(int)between(world, 1, 3);
}

static void add_process(struct world *world)
{
	static const char *const programs[] = {"trainer", "server", "trainer", "loader"};
	static const char *const names[] = {"main", "worker", "autograd", "io"};
	const int number = world->process_count++;
	struct process *process = &world->processes[number];
	const int threads = has(world, SEVERAL_THREADS) ? (int)between(world, 2, 3) : 1;
	uint32_t next_stream = 13;

	*process = (struct process){.pid = 100 + 10 * (uint32_t)number,
	                            .program = programs[number],
	                            .begin = world->begin + length(world, 200000),
	                            .next_correlation = 1};
	if (has(world, SKEW)) {
		process->host_offset = (int64_t)between(world, 1, 2000000000) - 1000000000;
		process->gpu_offset = (int64_t)between(world, 1, 4000000000000000);
	}
	if (has(world, LOSS) && chance(world, 60))
		process->dropped = (uint32_t)between(world, 1, 3);
	if (has(world, GRAPHS))
		process->level = BY_NODE + (enum graph_level)draw(world, 3);
	for (int gpu = 0; gpu < world->gpu_count; gpu++) {
		if (gpu != number % world->gpu_count && chance(world, 40))
			continue;
		add_stream(world, number, gpu, 7);
		for (uint64_t more = draw(world, 3); more > 0; more--)
			add_stream(world, number, gpu, next_stream++);
	}
	for (int i = 0; i < threads; i++)
		world->threads[world->thread_count++] =
			(struct thread){.process = number,
		                        .tid = process->pid + (uint32_t)i,
		                        .name = names[i],
		                        .now = process->begin + between(world, 100, 20000),
		                        .helper = i > 0 && has(world, HELPERS)};
}

static void begin_world(struct world *world, uint64_t seed)
{
	world->seed = seed;
	world->random = seed;
	world->random =
		next_random(&world->random); /* or one world would go on as the next begins */
	world->begin = 5000000000 + draw(world, 1000000000);
	choose_features(world);
	world->gpu_count = has(world, SEVERAL_GPUS) ? (int)between(world, 2, 3) : 1;
	for (uint64_t i = has(world, SEVERAL_PROCESSES) ? between(world, 2, 3) : 1; i > 0; i--)
		add_process(world);
}

static struct call *add_call(struct world *world, struct thread *thread, const char *function)
{
	struct process *process = &world->processes[thread->process];
	struct call *call = &world->calls[world->call_count];

	full(world->call_count == MOST_CALLS);
	*call = (struct call){.thread = (int)(thread - world->threads),
	                      .function = function,
	                      .begin = thread->now,
	                      .end = thread->now + 200 + length(world, 20000),
	                      .correlation = process->next_correlation++,
	                      .stream = NONE,
	                      .event = NONE,
	                      .exec = NONE,
	                      .block = NONE};
	thread->now = call->end + 1 + length(world, 20000);
	world->call_count++;
	return call;
}

/* The call goes on until a moment. */
static void last_until(struct world *world, struct call *call, uint64_t moment)
{
	struct thread *thread = &world->threads[call->thread];

	if (moment > call->end)
		call->end = moment;
	if (thread->now <= call->end)
		thread->now = call->end + 1 + length(world, 20000);
}

static int any_stream(struct world *world, int process)
{
	for (;;) {
		const int stream = (int)draw(world, (uint64_t)world->stream_count);

		if (world->streams[stream].process == process)
			return stream;
	}
}

/* Work that a call asked for, as soon as its stream comes to it. */
static struct work *add_work(struct world *world, enum work_kind kind, int call, int stream_number)
{
	struct stream *stream = &world->streams[stream_number];
	struct work *work = &world->work[world->work_count];
	const uint64_t ready = world->calls[call].begin + 300 + length(world, 60000);

	full(world->work_count == MOST_WORK);
	*work = (struct work){.kind = kind,
	                      .kernel = NONE,
	                      .stream = stream_number,
	                      .call = call,
	                      .exec = NONE,
	                      .node = NONE,
	                      .peer = NONE,
	                      .begin = ready > stream->free_at ? ready : stream->free_at};
	if (chance(world, 70) && work->begin == stream->free_at)
		work->begin += length(world, 3000);
	work->end = work->begin + 1 + length(world, 300000);
	stream->free_at = work->end;
	stream->last = world->work_count++;
	return work;
}

static void launch(struct world *world, struct thread *thread)
{
	const int number = world->call_count;
	struct call *call = add_call(world, thread, "cuLaunchKernel");
	struct work *work;

	call->stream = any_stream(world, thread->process);
	if (has(world, FAILURES) && chance(world, 10)) {
		call->result = 1;
		return;
	}
	if (world->processes[thread->process].dropped > 0 && chance(world, 20)) {
		call->lost = true;
		return;
	}
	work = add_work(world, KERNEL, number, call->stream);
	work->kernel = (int)draw(world, KERNELS);
	if (has(world, PROFILED) && chance(world, 25)) {
		work->profiled = true;
		work->held_from = call->begin;
		work->held_to = work->end + length(world, 100000);
		last_until(world, call, work->held_to + 100);
		world->streams[call->stream].free_at = work->held_to;
	}
}

static void copy(struct world *world, struct thread *thread)
{
	const bool blocking = chance(world, 40);
	const int number = world->call_count;
	struct call *call =
		add_call(world, thread, blocking ? "cudaMemcpy_v3020" : "cudaMemcpyAsync_v3020");
	struct work *work;

	call->stream = any_stream(world, thread->process);
	work = add_work(world, COPY, number, call->stream);
	work->copy = (int)draw(world, world->gpu_count > 1 ? 4 : 3);
	if (work->copy == 3)
		work->peer = (world->streams[call->stream].gpu + 1) % world->gpu_count;
	work->bytes = size(world);
	work->pageable = work->copy < 2 && chance(world, 40);
	if (blocking) {
		call->wait = BLOCKING_COPY;
		last_until(world, call, work->end + 500 + length(world, 2000));
	}
}

static void fill(struct world *world, struct thread *thread)
{
	const int number = world->call_count;
	struct call *call = add_call(world, thread, "cudaMemsetAsync_v3020");

	call->stream = any_stream(world, thread->process);
	add_work(world, FILL, number, call->stream)->bytes = 1 + length(world, 1000000);
}

static uint64_t all_done(const struct world *world, int process, int gpu)
{
	uint64_t done = 0;

	for (int i = 0; i < world->stream_count; i++) {
		const struct stream *stream = &world->streams[i];

		if (stream->process == process && stream->gpu == gpu && stream->free_at > done)
			done = stream->free_at;
	}
	return done;
}

static void synchronize(struct world *world, struct thread *thread)
{
	const bool whole = chance(world, 40);
	struct call *call =
		add_call(world, thread,
	                 whole ? "cudaDeviceSynchronize_v3020" : "cudaStreamSynchronize_v3020");
	const struct stream *stream;
	uint64_t done;

	call->stream = any_stream(world, thread->process);
	call->wait = whole ? CONTEXT_SYNCHRONIZE : STREAM_SYNCHRONIZE;
	stream = &world->streams[call->stream];
	done = whole ? all_done(world, stream->process, stream->gpu) : stream->free_at;
	if (done > call->begin)
		last_until(world, call, done + 300 + length(world, 3000));
}

static int any_event(struct world *world, int process)
{
	for (int i = 0; i < world->event_count; i++)
		if (world->events[i].process == process && chance(world, 50))
			return i;
	full(world->event_count == MOST_EVENTS);
	world->events[world->event_count] =
		(struct event){.process = process,
	                       .gpu = world->streams[any_stream(world, process)].gpu,
	                       .stream = NONE};
	return world->event_count++;
}

static void use_event(struct world *world, struct thread *thread)
{
	static const char *const functions[] = {
		"cudaEventRecord_v3020", "cudaStreamWaitEvent_v3020", "cudaEventSynchronize_v3020"};
	static const enum wait_kind waits[] = {EVENT_RECORD, STREAM_WAIT_EVENT, EVENT_SYNCHRONIZE};
	const int number = any_event(world, thread->process);
	struct event *event = &world->events[number];
	const uint64_t what = event->stream == NONE ? 0 : draw(world, 3);
	struct call *call = add_call(world, thread, functions[what]);
	struct stream *stream;

	call->event = number;
	call->wait = waits[what];
	call->stream = what == 2 ? NONE : any_stream(world, thread->process);
	while (what == 0 && world->streams[call->stream].gpu != event->gpu)
		call->stream = any_stream(world, thread->process);
	if (what == 2) {
		if (event->ready_at > call->begin)
			last_until(world, call, event->ready_at + 300 + length(world, 3000));
		return;
	}
	stream = &world->streams[call->stream];
	if (what == 0) {
		event->stream = call->stream;
		event->ready_at = stream->free_at;
	} else if (event->ready_at > stream->free_at) {
		stream->free_at = event->ready_at;
	}
}

static void use_memory(struct world *world, struct thread *thread)
{
	const bool host = chance(world, 20);
	struct call *call;
	struct block *block;

	for (int i = 0; i < world->block_count; i++) {
		block = &world->blocks[i];
		if (block->process != thread->process || block->freed_by != NONE ||
		    !chance(world, 30))
			continue;
		if (world->calls[block->made_by].end >= thread->now || block->address == 0)
			continue;
		block->freed_by = world->call_count;
		call = add_call(world, thread,
		                block->gpu == NONE ? "cudaFreeHost_v3020" : "cudaFree_v3020");
		call->block = i;
		if (block->gpu != NONE) {
			call->wait = BLOCKING_FREE;
			last_until(world, call, all_done(world, block->process, block->gpu));
			call->stream = NONE;
		}
		return;
	}
	full(world->block_count == MOST_BLOCKS);
	block = &world->blocks[world->block_count];
	*block = (struct block){
		.process = thread->process,
		.gpu = host ? NONE : world->streams[any_stream(world, thread->process)].gpu,
		.address = 0x700000000000 + 0x1000000000 * (uint64_t)world->block_count,
		.bytes = 1 + length(world, 20000000000),
		.made_by = world->call_count,
		.freed_by = NONE};
	call = add_call(world, thread, host ? "cudaHostAlloc_v3020" : "cudaMalloc_v3020");
	call->block = world->block_count++;
	if (has(world, FAILURES) && chance(world, 20)) {
		call->result = 2;
		block->address = 0;
	}
}

static void think(struct world *world, struct thread *thread)
{
	thread->now += length(world, 2000000);
}

static void push(struct world *world, struct thread *thread)
{
	static const char *const names[] = {"train", "step",   "forward", "data",
	                                    "loss",  "step 1", "step 2"};
	static const char *const operations[] = {"aten::mm", "aten::linear", "aten::relu"};
	struct range *range = &world->ranges[world->range_count];

	if (thread->depth == MOST_OPEN || (thread->helper && world->next_sequence == 0)) {
		think(world, thread);
		return;
	}
	full(world->range_count == MOST_RANGES);
	*range = (struct range){.thread = (int)(thread - world->threads),
	                        .parent = thread->depth ? thread->open[thread->depth - 1] : NONE,
	                        .begin = thread->now,
	                        .begin_order = ++thread->order,
	                        .depth = thread->depth,
	                        .sequence = NONE};
	if (has(world, OPERATIONS) && (thread->helper || chance(world, 40))) {
		range->sequence = thread->helper ? (int)draw(world, (uint64_t)world->next_sequence)
		                                 : world->next_sequence++;
		snprintf(range->name, sizeof(range->name), "%s%s, seq = %d, op_id = %d",
		         operations[draw(world, 3)], thread->helper ? "Backward0" : "",
		         range->sequence, world->range_count);
	} else {
		snprintf(range->name, sizeof(range->name), "%s", names[draw(world, 7)]);
	}
	thread->open[thread->depth++] = world->range_count++;
	thread->now += 20 + length(world, 5000);
}

static void pop(struct world *world, struct thread *thread)
{
	struct range *range;

	if (thread->depth == 0)
		return;
	range = &world->ranges[thread->open[--thread->depth]];
	range->end = thread->now;
	range->end_order = ++thread->order;
	thread->now += 20 + length(world, 5000);
}

static void set_mark(struct world *world, struct thread *thread)
{
	struct mark *mark = &world->marks[world->mark_count++];

	full(world->mark_count == MOST_MARKS);
	*mark = (struct mark){.thread = (int)(thread - world->threads),
	                      .at = thread->now,
	                      .order = ++thread->order};
	snprintf(mark->name, sizeof(mark->name), "mark%d", (int)draw(world, 2));
	thread->now += 20 + length(world, 500);
}

/* Captures a graph of some kernels, one after the other, and makes it executable. */
static void make_graph(struct world *world, struct thread *thread)
{
	const int number = world->exec_count;
	struct exec *exec = &world->execs[number];
	const int stream = any_stream(world, thread->process);

	if (number == MOST_EXECS)
		return;
	*exec = (struct exec){.process = thread->process,
	                      .gpu = world->streams[stream].gpu,
	                      .node_count = (int)between(world, 1, 4),
	                      .stream = stream,
	                      .begin_call = world->call_count};
	world->exec_count++;
	add_call(world, thread, "cuStreamBeginCapture_v2")->stream = stream;
	for (int i = 0; i < exec->node_count; i++) {
		exec->nodes[i] = (struct node){(int)draw(world, KERNELS), world->call_count};
		struct call *call = add_call(world, thread, "cuLaunchKernel");

		call->captured = true;
		call->stream = stream;
		call->exec = number;
		if (has(world, RANGES) && thread->depth > 0 && chance(world, 20))
			pop(world, thread);
	}
	exec->end_call = world->call_count;
	add_call(world, thread, "cuStreamEndCapture")->stream = stream;
	exec->instantiate_call = world->call_count;
	add_call(world, thread, "cuGraphInstantiateWithFlags")->exec = number;
}

static void run_whole(struct world *world, int number, int call, int stream, bool together)
{
	struct exec *exec = &world->execs[number];
	struct work *work = add_work(world, WHOLE_GRAPH, call, stream);

	work->exec = number;
	if (together) {
		work->activities = (uint32_t)exec->node_count;
		work->activities_ns = (work->end - work->begin) / 2;
	}
}

static void run_nodes(struct world *world, int number, int call, int stream)
{
	for (int i = 0; i < world->execs[number].node_count; i++) {
		struct work *work = add_work(world, KERNEL, call, stream);

		work->kernel = world->execs[number].nodes[i].kernel;
		work->exec = number;
		work->node = i;
	}
}

static void launch_graph(struct world *world, struct thread *thread)
{
	const enum graph_level level = world->processes[thread->process].level;
	const int number = world->exec_count ? (int)draw(world, (uint64_t)world->exec_count) : 0;
	struct exec *exec = &world->execs[number];
	int call_number;
	struct call *call;

	if (world->exec_count == 0 || exec->process != thread->process ||
	    world->calls[exec->instantiate_call].end >= thread->now) {
		if (chance(world, 60))
			make_graph(world, thread);
		return;
	}
	call_number = world->call_count;
	call = add_call(world, thread, "cuGraphLaunch");
	call->exec = number;
	do
		call->stream = any_stream(world, thread->process);
	while (world->streams[call->stream].gpu != exec->gpu);
	if (level == BY_NODE || (level == SAMPLED && exec->launches % 3 == 0))
		run_nodes(world, number, call_number, call->stream);
	else
		run_whole(world, number, call_number, call->stream, level == SAMPLED);
	exec->launches++;
}

static void do_something(struct world *world, struct thread *thread)
{
	static const struct {
		unsigned weight;
		unsigned feature; /* 0: any world */
		void (*act)(struct world *world, struct thread *thread);
	} acts[] = {
		{30, 0, launch},        {12, 0, copy},
		{5, 0, fill},           {8, 0, synchronize},
		{10, WAITS, use_event}, {8, MEMORY, use_memory},
		{16, RANGES, push},     {14, RANGES, pop},
		{2, RANGES, set_mark},  {12, GRAPHS, launch_graph},
		{10, 0, think},
	};
	unsigned sum = 0;
	uint64_t left;

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		sum += !acts[i].feature || has(world, acts[i].feature) ? acts[i].weight : 0;
	left = draw(world, sum);
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (acts[i].feature && !has(world, acts[i].feature))
			continue;
		if (left >= acts[i].weight) {
			left -= acts[i].weight;
			continue;
		}
		if (thread->helper && acts[i].act == push && !has(world, OPERATIONS))
			think(world, thread);
		else
			acts[i].act(world, thread);
		return;
	}
}

static struct thread *earliest(struct world *world)
{
	struct thread *found = &world->threads[0];

	for (int i = 1; i < world->thread_count; i++)
		if (world->threads[i].now < found->now)
			found = &world->threads[i];
	return found;
}

static bool is_of(const struct world *world, int thread, int process)
{
	return world->threads[thread].process == process;
}

static void die_in_calls(struct world *world, int process, uint64_t death)
{
	for (int i = 0; i < world->call_count; i++) {
		struct call *call = &world->calls[i];

		if (!is_of(world, call->thread, process))
			continue;
		call->gone = call->begin > death;
		if (call->end > death)
			call->end = 0;
	}
	for (int i = 0; i < world->block_count; i++) {
		struct block *block = &world->blocks[i];

		block->gone =
			world->calls[block->made_by].gone || !world->calls[block->made_by].end;
		if (block->freed_by != NONE && !world->calls[block->freed_by].end)
			block->freed_by = NONE;
	}
}

static void die_in_ranges(struct world *world, int process, uint64_t death)
{
	for (int i = 0; i < world->range_count; i++) {
		struct range *range = &world->ranges[i];

		if (!is_of(world, range->thread, process))
			continue;
		range->gone = range->begin > death;
		if (range->end > death)
			range->end = 0;
	}
	for (int i = 0; i < world->mark_count; i++)
		if (is_of(world, world->marks[i].thread, process))
			world->marks[i].gone = world->marks[i].at > death;
}

/* Calls that had not returned have no end, and work that was not done has no times. */
static void die(struct world *world, int number)
{
	struct process *process = &world->processes[number];
	const uint64_t death = process->begin + (world->end - process->begin) / 4 * 3;

	process->death = death;
	die_in_calls(world, number, death);
	die_in_ranges(world, number, death);
	for (int i = 0; i < world->work_count; i++) {
		struct work *work = &world->work[i];

		if (world->streams[work->stream].process != number)
			continue;
		work->gone = world->calls[work->call].gone;
		if (work->end > death || (work->profiled && work->held_to > death)) {
			work->begin = work->end = 0;
			work->profiled = false;
		}
	}
}

static void end_world(struct world *world)
{
	for (int i = 0; i < world->thread_count; i++) {
		struct thread *thread = &world->threads[i];

		while (thread->depth > 0 && chance(world, 90))
			pop(world, thread);
		if (thread->now > world->end)
			world->end = thread->now;
	}
	for (int i = 0; i < world->stream_count; i++)
		if (world->streams[i].free_at > world->end)
			world->end = world->streams[i].free_at;
	world->end += 1 + length(world, 1000000);
	for (int i = 0; i < world->process_count; i++)
		world->processes[i].end = world->end;
}

void make_world(struct world *world, uint64_t seed)
{
	uint64_t acts;

	memset(world, 0, sizeof(*world));
	begin_world(world, seed);
	acts = 8 + draw(world, 30) * (uint64_t)world->thread_count;
	for (uint64_t i = 0; i < acts; i++)
		do_something(world, earliest(world));
	end_world(world);
	if (has(world, DEATH))
		die(world, (int)draw(world, (uint64_t)world->process_count));
}
