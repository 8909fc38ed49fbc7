/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check_scene.h"
#include "model/path/changes.h"
#include "model/path/path.h"
#include "model/path/spans.h"
#include "model/work/sync.h"

/*
 * Programs that a seed makes up: two threads of one process or of two, two streams, one GPU, few
 * calls and little work. Their path and its what-ifs are found a second time, slowly, from the
 * table of edges in docs/reports/critical-path.md alone, and compared with the report's.
 */

enum { MOST_ITEMS = 16, MOST_EDGES = 160, MOST_RANGES = 16, SEEDS = 2500, BOUND_NS = 500 };

enum { LASTS_NS = 100000000 };

enum { THREADS = 2, STREAMS = 2, SHAPES = 3 };

static const char *const shape_names[SHAPES] = {"gemm", "softmax", "norm"};

struct item {
	enum { CALL, KERNEL, COPY } sort;
	gt_time start_ns;
	gt_time end_ns;
	int call; /* that asked for it; of a call itself */
	int thread;
	int stream;
	int shape;
	int range; /* -1: in none */
	const char *function;
	gt_id row;
};

/* Points are twice the number of an item, its end is one more. */
struct edge {
	int from;
	int to;
	enum gt_path_edge_kind kind;
};

struct open_range {
	gt_time start_ns;
	gt_time end_ns;
	int thread;
	bool is_step;
	gt_id row;
};

static struct {
	uint64_t state;
	struct item items[MOST_ITEMS + 1];
	int item_count;
	struct edge edges[MOST_EDGES];
	int edge_count;
	struct open_range ranges[MOST_RANGES];
	int range_count;
	bool two_processes;
	bool by_ranges;
	gt_time shift_ns; /* of the GPU's clock */
	gt_time now_ns[THREADS];
	gt_time next_ns[THREADS]; /* when it enters its next call */
	int last_call[THREADS];
	int open[THREADS]; /* range; -1: none */
	int last_work[STREAMS];
	int awaited[STREAMS]; /* work of the other stream that the next of this one waits for; -1 */
	gt_time typical_ns[GT_PATH_EDGE_KINDS];
	bool tied; /* two edges could have held a point, or two ends be the last */
} made;

static gt_time up_to(gt_time most_ns)
{
	made.state = made.state * 6364136223846793005u + 1442695040888963407u;
	return (gt_time)((made.state >> 33) % (uint64_t)(most_ns + 1));
}

static bool once_in(int count)
{
	return up_to(count - 1) == 0;
}

/* ---- a program ---- */

static void add_edge(int from, int to, enum gt_path_edge_kind kind)
{
	cr_assert(lt(int, made.edge_count, MOST_EDGES));
	made.edges[made.edge_count++] = (struct edge){from, to, kind};
}

static int process_of(int thread_number)
{
	return made.two_processes ? thread_number : 0;
}

static void begin_or_end_range(int of)
{
	const gt_time gap_ns = made.next_ns[of] - made.now_ns[of];

	if (made.open[of] >= 0 && once_in(2)) {
		made.ranges[made.open[of]].end_ns = made.now_ns[of] + gap_ns / 3;
		made.open[of] = -1;
	}
	if (made.open[of] < 0 && made.range_count < MOST_RANGES && once_in(2)) {
		made.open[of] = made.range_count;
		made.ranges[made.range_count++] =
			(struct open_range){.start_ns = made.now_ns[of] + gap_ns * 2 / 3,
		                            .thread = of,
		                            .is_step = !once_in(4)};
	}
}

static int add_call(int of, const char *function, gt_time least_ns)
{
	const int number = made.item_count++;

	made.items[number] = (struct item){
		.sort = CALL,
		.start_ns = made.next_ns[of],
		.end_ns = made.next_ns[of] + least_ns,
		.call = number,
		.thread = of,
		.range = made.open[of],
		.function = function,
	};
	if (made.last_call[of] >= 0)
		add_edge(2 * made.last_call[of] + 1, 2 * number, GT_PATH_PROGRAM);
	add_edge(2 * number, 2 * number + 1, GT_PATH_CALL);
	made.last_call[of] = number;
	return number;
}

static void begin_after(gt_time *start_ns, int work, gt_time lag_ns)
{
	if (work >= 0 && made.items[work].end_ns + lag_ns > *start_ns)
		*start_ns = made.items[work].end_ns + lag_ns;
}

static void launch(int of, int on, bool copies)
{
	const int call =
		add_call(of, copies ? "cudaMemcpyAsync" : "cudaLaunchKernel", 500 + up_to(8000));
	const int number = made.item_count++;
	gt_time start_ns = made.items[call].start_ns + up_to(12000);

	begin_after(&start_ns, made.last_work[on], up_to(3000));
	begin_after(&start_ns, made.awaited[on], up_to(4000));
	if (once_in(8))
		start_ns += up_to(60000);
	made.items[number] = (struct item){
		.sort = copies ? COPY : KERNEL,
		.start_ns = start_ns,
		.end_ns = start_ns + 1 + up_to(once_in(3) ? 200000 : 30000),
		.call = call,
		.thread = of,
		.stream = on,
		.shape = (int)up_to(SHAPES - 1),
		.range = made.open[of],
	};
	add_edge(2 * number, 2 * number + 1, GT_PATH_WORK);
	if (made.last_work[on] >= 0)
		add_edge(2 * made.last_work[on] + 1, 2 * number, GT_PATH_STREAM);
	add_edge(2 * call, 2 * number, GT_PATH_LAUNCH);
	if (made.awaited[on] >= 0)
		add_edge(2 * made.awaited[on] + 1, 2 * number,
		         made.two_processes ? GT_PATH_SHARED : GT_PATH_EVENT);
	made.last_work[on] = number;
	made.awaited[on] = -1;
}

static void wait_in(int call, int work)
{
	if (work < 0)
		return;
	add_edge(2 * work + 1, 2 * call + 1, GT_PATH_WAIT);
	begin_after(&made.items[call].end_ns, work, up_to(5000));
}

static void do_something(int of)
{
	const int on = made.two_processes ? of : (int)up_to(STREAMS - 1);
	const int what = (int)up_to(9);
	int call;

	if (what < 5) {
		launch(of, on, what == 4);
		return;
	}
	if (what < 7) {
		call = add_call(of, "cudaStreamSynchronize", 500 + up_to(3000));
		made.items[call].stream = on;
		wait_in(call, made.last_work[on]);
	} else if (what == 7) {
		call = add_call(of, "cudaDeviceSynchronize", 500 + up_to(3000));
		for (int i = 0; i < STREAMS; i++)
			if (!made.two_processes || i == of)
				wait_in(call, made.last_work[i]);
	} else if (what == 8) {
		add_call(of, "cudaStreamWaitEvent", 500 + up_to(2000));
		made.awaited[on] = made.last_work[1 - on];
	} else {
		add_call(of, "cudaMalloc", 500 + up_to(40000));
	}
}

static void go_on(int of)
{
	if (made.last_call[of] >= 0)
		made.now_ns[of] = made.items[made.last_call[of]].end_ns;
	made.next_ns[of] = made.now_ns[of] + 3 + up_to(once_in(4) ? 90000 : 10000);
	begin_or_end_range(of);
}

/* Calls are made in the order of their entries, so that streams are given work in that order. */
static void make_program(uint64_t seed)
{
	const int most = 4 + (int)(seed % (MOST_ITEMS - 4));

	memset(&made, 0, sizeof(made));
	made.state = seed * 7919 + 1;
	made.two_processes = seed % 5 == 0;
	made.by_ranges = seed % 2 == 1;
	made.shift_ns = seed % 3 == 0 ? up_to(2 * BOUND_NS) - BOUND_NS : 0;
	for (int i = 0; i < THREADS; i++) {
		made.last_call[i] = -1;
		made.open[i] = -1;
		made.now_ns[i] = BOUND_NS + up_to(30000 * i + 1000);
		go_on(i);
	}
	for (int i = 0; i < STREAMS; i++)
		made.last_work[i] = made.awaited[i] = -1;
	while (made.item_count < most) {
		const int of = made.next_ns[0] <= made.next_ns[1] ? 0 : 1;

		do_something(of);
		go_on(of);
	}
	for (int i = 0; i < THREADS; i++)
		if (made.open[i] >= 0)
			made.ranges[made.open[i]].end_ns =
				made.next_ns[i] + made.next_ns[i] - made.now_ns[i];
	for (int i = 0; i < made.item_count; i++) {
		if (made.items[i].sort == CALL)
			continue;
		made.items[i].start_ns += made.shift_ns;
		made.items[i].end_ns += made.shift_ns;
	}
}

/* ---- as a trace ---- */

static gt_id threads[THREADS];
static gt_id streams[STREAMS];
static gt_id shapes[SHAPES];

static int by_start(const void *a, const void *b)
{
	const struct item *left = &made.items[*(const int *)a];
	const struct item *right = &made.items[*(const int *)b];

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static int by_begin(const void *a, const void *b)
{
	const struct open_range *left = &made.ranges[*(const int *)a];
	const struct open_range *right = &made.ranges[*(const int *)b];

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static void record_ranges(void)
{
	int order[MOST_RANGES];

	for (int i = 0; i < made.range_count; i++)
		order[i] = i;
	qsort(order, (size_t)made.range_count, sizeof(order[0]), by_begin);
	for (int i = 0; i < made.range_count; i++) {
		struct open_range *range = &made.ranges[order[i]];

		range->row = trace_range(&trace, threads[range->thread], GT_NONE,
		                         range->is_step ? "step" : "other", range->start_ns,
		                         range->end_ns);
		if (made.by_ranges && range->is_step)
			trace.ranges.rows[range->row].flags |= GT_CHOSEN;
	}
}

static void record_work(struct item *item)
{
	const gt_id on = streams[item->stream];

	if (item->sort == KERNEL) {
		trace_kernel(&trace, on, shapes[item->shape], item->start_ns, item->end_ns)
			->api_call = made.items[item->call].row;
		item->row = (gt_id)trace.kernels.count - 1;
	} else {
		trace_copy(&trace, on, 2, 4096, item->start_ns, item->end_ns)->api_call =
			made.items[item->call].row;
		item->row = (gt_id)trace.copies.count - 1;
	}
}

static void record_items(void)
{
	int order[MOST_ITEMS + 1];

	for (int i = 0; i < made.item_count; i++)
		order[i] = i;
	qsort(order, (size_t)made.item_count, sizeof(order[0]), by_start);
	for (int i = 0; i < made.item_count; i++) {
		struct item *item = &made.items[order[i]];

		if (item->sort != CALL)
			continue;
		item->row = trace_call(&trace, threads[item->thread], item->function,
		                       item->start_ns, item->end_ns);
		trace.api_calls.rows[item->row].range =
			item->range < 0 ? GT_NONE : made.ranges[item->range].row;
	}
	for (int i = 0; i < made.item_count; i++)
		if (made.items[order[i]].sort != CALL)
			record_work(&made.items[order[i]]);
}

/* Waits for a whole context have no edges: the path finds what they were for. */
static void record_wait(const struct item *call, int work)
{
	const bool is_whole = strcmp(call->function, "cudaDeviceSynchronize") == 0;

	if (trace.syncs.count == 0 || trace.syncs.rows[trace.syncs.count - 1].api_call != call->row)
		*gt_array_push(&trace.syncs) = (struct gt_sync){
			.start_ns = trace.api_calls.rows[call->row].start_ns,
			.end_ns = trace.api_calls.rows[call->row].end_ns,
			.thread = threads[call->thread],
			.context = trace.streams.rows[streams[call->thread]].context,
			.stream = is_whole ? GT_NONE : streams[call->stream],
			.event = GT_NONE,
			.record = GT_NONE,
			.api_call = call->row,
			.kind = is_whole ? GT_SYNC_CONTEXT_SYNCHRONIZE : GT_SYNC_STREAM_SYNCHRONIZE,
		};
	if (is_whole)
		return;
	*gt_array_push(&trace.edges) = (struct gt_edge){
		.from_table = made.items[work].sort == KERNEL ? GT_TABLE_kernels : GT_TABLE_copies,
		.from_row = made.items[work].row,
		.to_table = GT_TABLE_syncs,
		.to_row = (gt_id)trace.syncs.count - 1,
		.sync = (gt_id)trace.syncs.count - 1,
		.kind = GT_EDGE_HOST,
	};
}

static void record_edges(void)
{
	for (int i = 0; i < made.edge_count; i++) {
		const struct edge *edge = &made.edges[i];
		const struct item *from = &made.items[edge->from / 2];
		const struct item *to = &made.items[edge->to / 2];

		if (edge->kind == GT_PATH_WAIT)
			record_wait(to, edge->from / 2);
		if (edge->kind == GT_PATH_EVENT || edge->kind == GT_PATH_SHARED)
			*gt_array_push(&trace.edges) = (struct gt_edge){
				.from_table =
					from->sort == KERNEL ? GT_TABLE_kernels : GT_TABLE_copies,
				.from_row = from->row,
				.to_table = to->sort == KERNEL ? GT_TABLE_kernels : GT_TABLE_copies,
				.to_row = to->row,
				.sync = GT_NONE,
				.kind = GT_EDGE_EVENT,
			};
	}
}

static void record_program(void)
{
	scene_begin(LASTS_NS);
	threads[0] = thread;
	streams[0] = stream;
	trace.streams.rows[stream].flags = 2;
	if (made.two_processes) {
		const gt_id other = trace_process(&trace, "other", 200);

		threads[1] = trace_thread(&trace, other, 201);
		streams[1] = trace_stream(&trace, other, device);
		trace.streams.rows[streams[1]].flags = 2;
	} else {
		threads[1] = trace_thread(&trace, process, 8);
		streams[1] = (gt_id)trace.streams.count;
		*gt_array_push(&trace.streams) = (struct gt_stream){
			.context = trace.streams.rows[stream].context, .number = 9, .flags = 2};
	}
	shapes[0] = shape;
	for (int i = 1; i < SHAPES; i++)
		shapes[i] = trace_shape(&trace, shape_names[i], 1, 32);
	if (made.shift_ns != 0)
		*gt_array_push(&trace.clocks) = (struct gt_clock){.bound_ns = BOUND_NS};
	record_ranges();
	record_items();
	record_edges();
}

/* ---- the slow way ---- */

static gt_time time_of(int point)
{
	const struct item *item = &made.items[point / 2];

	return point % 2 ? item->end_ns : item->start_ns;
}

/* The thing that was there last, with what usually comes after it. */
static const struct edge *held_by(int point)
{
	const struct edge *last = NULL;
	gt_time last_ns = 0;

	for (int i = 0; i < made.edge_count; i++) {
		const struct edge *edge = &made.edges[i];
		const gt_time at_ns =
			time_of(edge->from) +
			(edge->kind == GT_PATH_WAIT ? 0 : made.typical_ns[edge->kind]);

		if (edge->to != point)
			continue;
		made.tied = made.tied || (last && at_ns == last_ns);
		if (last && at_ns <= last_ns)
			continue;
		last = edge;
		last_ns = at_ns;
	}
	return last;
}

struct span {
	gt_time begin_ns;
	gt_time ended_ns; /* of a range: on its thread */
	gt_time end_ns;
	int range; /* -1: it is a whole process */
	int process;
	int host; /* last point of a range on its thread; -1: none */
	int end;  /* that the path goes back from */
};

static bool is_in(const struct span *span, int number)
{
	const struct item *item = &made.items[number];

	if (span->range >= 0)
		return item->range == span->range;
	return process_of(item->thread) == span->process;
}

static void see_item(struct span *span, int number)
{
	const struct item *item = &made.items[number];

	if (!is_in(span, number))
		return;
	if (span->range >= 0 && item->sort == CALL) {
		span->host = 2 * number + 1;
		return;
	}
	if (span->range < 0 && (span->end < 0 || item->start_ns < span->begin_ns))
		span->begin_ns = item->start_ns;
	made.tied = made.tied || item->end_ns == span->end_ns;
	if (item->end_ns > span->end_ns) {
		span->end_ns = item->end_ns;
		span->end = 2 * number + 1;
	}
}

static int find_spans(struct span *spans)
{
	int count = 0;
	bool chosen = false;

	for (int i = 0; i < made.range_count; i++)
		chosen = chosen || (made.by_ranges && made.ranges[i].is_step);
	for (int i = 0; i < (chosen ? made.range_count : 1 + made.two_processes); i++) {
		struct span *span = &spans[count];

		if (chosen && !made.ranges[i].is_step)
			continue;
		*span = (struct span){.range = chosen ? i : -1,
		                      .process = chosen ? process_of(made.ranges[i].thread) : i,
		                      .host = -1,
		                      .end = -1};
		if (chosen) {
			span->begin_ns = made.ranges[i].start_ns;
			span->ended_ns = span->end_ns = made.ranges[i].end_ns;
		}
		for (int number = 0; number < made.item_count; number++)
			see_item(span, number);
		if (span->end < 0)
			span->end = span->host;
		count += span->end >= 0;
	}
	return count;
}

/* ---- the slow path ---- */

struct sums {
	bool on_path[MOST_ITEMS + 1];
	gt_time kernel_ns;
	gt_time copy_ns;
	gt_time host_ns;
	gt_time return_ns;
	gt_time all_ns;
};

static void add_stretch(struct sums *sums, enum gt_path_edge_kind kind, bool is_kernel,
                        gt_time lasts_ns)
{
	sums->all_ns += lasts_ns;
	if (kind == GT_PATH_WORK)
		*(is_kernel ? &sums->kernel_ns : &sums->copy_ns) += lasts_ns;
	else if (kind == GT_PATH_PROGRAM)
		sums->host_ns += lasts_ns;
	else if (kind == GT_PATH_WAIT)
		sums->return_ns += lasts_ns;
}

static void walk(const struct span *span, struct sums *sums)
{
	gt_time left_ns = span->end_ns;
	int point = span->end;
	const struct edge *edge = NULL;

	for (;;) {
		const gt_time at_ns =
			time_of(point) > span->begin_ns ? time_of(point) : span->begin_ns;

		if (at_ns < left_ns) {
			add_stretch(sums, edge ? edge->kind : GT_PATH_PROGRAM,
			            made.items[point / 2].sort == KERNEL, left_ns - at_ns);
			sums->on_path[edge ? edge->to / 2 : point / 2] = true;
			left_ns = at_ns;
		}
		edge = held_by(point);
		if (!edge || left_ns <= span->begin_ns)
			return;
		point = edge->from;
	}
}

/* ---- slow what-ifs ---- */

enum { NO_SHAPE = -1, ALL_SHAPES = -2 };

struct change {
	int shape;
	bool launches;
	bool copies;
	const char *wait_in;
};

static gt_time least(gt_time a, gt_time b)
{
	return a < b ? a : b;
}

static bool is_free(const struct edge *edge, const struct change *change)
{
	const struct item *to = &made.items[edge->to / 2];

	switch (edge->kind) {
	case GT_PATH_WORK:
		return (to->sort == COPY && change->copies) ||
		       (to->sort == KERNEL &&
		        (to->shape == change->shape || change->shape == ALL_SHAPES));
	case GT_PATH_CALL:
		return change->launches && strcmp(to->function, "cudaLaunchKernel") == 0;
	case GT_PATH_LAUNCH:
		return change->launches;
	default:
		return false;
	}
}

static gt_time takes(const struct edge *edge, const struct change *change)
{
	const gt_time took_ns = time_of(edge->to) - time_of(edge->from);
	const struct edge *held = held_by(edge->to);
	gt_time usual_ns = made.typical_ns[edge->kind];

	if (is_free(edge, change))
		return least(0, took_ns);
	if (held == edge)
		return took_ns;
	if (edge->kind == GT_PATH_CALL)
		usual_ns = time_of(edge->to) - time_of(held->from);
	return least(took_ns, usual_ns);
}

static bool is_gone(const struct edge *edge, const struct change *change)
{
	return edge->kind == GT_PATH_WAIT && change->wait_in &&
	       strcmp(made.items[edge->to / 2].function, change->wait_in) == 0;
}

/* From nothing, each point is put behind what it waits for, until nothing moves any more. */
static void run_again(const struct span *span, const struct change *change, gt_time *times_ns)
{
	bool moved = true;

	for (int point = 0; point < 2 * made.item_count; point++)
		times_ns[point] = time_of(point) <= span->begin_ns || !held_by(point)
		                          ? time_of(point)
		                          : span->begin_ns;
	while (moved) {
		moved = false;
		for (int i = 0; i < made.edge_count; i++) {
			const struct edge *edge = &made.edges[i];
			const gt_time at_ns = times_ns[edge->from] + takes(edge, change);

			if (time_of(edge->to) <= span->begin_ns || is_gone(edge, change) ||
			    at_ns <= times_ns[edge->to])
				continue;
			times_ns[edge->to] = at_ns;
			moved = true;
		}
	}
}

static gt_time lasts(const struct span *span, const struct change *change)
{
	gt_time times_ns[2 * (MOST_ITEMS + 1)];
	gt_time end_ns = span->begin_ns;

	run_again(span, change, times_ns);
	if (span->range >= 0)
		end_ns = span->ended_ns +
		         (span->host < 0 ? 0 : times_ns[span->host] - time_of(span->host));
	for (int i = 0; i < made.item_count; i++)
		if (is_in(span, i) && (span->range < 0 || made.items[i].sort != CALL) &&
		    times_ns[2 * i + 1] > end_ns)
			end_ns = times_ns[2 * i + 1];
	return end_ns > span->begin_ns ? end_ns - span->begin_ns : 0;
}

/* As late as each point may be, from the ends of the spans back. */
static void find_latest(const struct span *spans, int count, gt_time *latest_ns)
{
	const struct change none = {.shape = NO_SHAPE};
	bool moved = true;

	for (int point = 0; point < 2 * made.item_count; point++)
		latest_ns[point] = INT64_MAX;
	for (int i = 0; i < count; i++) {
		for (int item = 0; item < made.item_count; item++)
			if (is_in(&spans[i], item) &&
			    (spans[i].range < 0 || made.items[item].sort != CALL))
				latest_ns[2 * item + 1] = spans[i].end_ns;
		if (spans[i].host >= 0)
			latest_ns[spans[i].host] =
				spans[i].end_ns - (spans[i].ended_ns - time_of(spans[i].host));
	}
	while (moved) {
		moved = false;
		for (int i = 0; i < made.edge_count; i++) {
			const struct edge *edge = &made.edges[i];

			if (latest_ns[edge->to] == INT64_MAX ||
			    latest_ns[edge->to] - takes(edge, &none) >= latest_ns[edge->from])
				continue;
			latest_ns[edge->from] = latest_ns[edge->to] - takes(edge, &none);
			moved = true;
		}
	}
}

/* Which change a row is of. */
static struct change change_of(const char *name)
{
	static const char *const functions[] = {"cudaStreamSynchronize", "cudaDeviceSynchronize"};
	struct change change = {.shape = NO_SHAPE};

	change.launches = strstr(name, "launches cost nothing") != NULL;
	change.copies = strstr(name, "copies and fills") != NULL;
	for (int i = 0; i < SHAPES; i++)
		if (strncmp(name, shape_names[i], strlen(shape_names[i])) == 0)
			change.shape = i;
	for (size_t i = 0; i < 2; i++)
		if (strncmp(name, functions[i], strlen(functions[i])) == 0)
			change.wait_in = functions[i];
	return change;
}

/* ---- comparisons ---- */

static gt_time sum_of(const char *section, const char *heading)
{
	gt_time sum_ns = 0;

	for (size_t i = 0; i < row_count(&result, section); i++)
		sum_ns += cell(&result, section, i, heading)->count;
	return sum_ns;
}

static gt_time kind_ns(const char *kind)
{
	for (size_t i = 0; i < row_count(&result, "by_kind"); i++)
		if (strcmp(cell(&result, "by_kind", i, "kind")->text, kind) == 0)
			return cell(&result, "by_kind", i, "total_ns")->count;
	return 0;
}

#define expect_same(seed, what, actual, expected)                                                  \
	cr_assert(eq(i64, actual, expected), "seed %llu: %s", (unsigned long long)(seed), what)

static void run_with(uint64_t seed, bool assume)
{
	const struct gt_report *report = gt_report_find("critical-path");
	const struct gt_view view = gt_view_of(&trace);
	const char *const settings[] = {"kernels=9", "top=1000",
	                                assume ? "assume=yes" : "assume=no"};
	struct gt_arguments arguments;

	gt_arguments_init(&arguments, report->parameters);
	for (size_t i = 0; i < 3; i++)
		cr_assert(eq(int,
		             gt_arguments_set(&arguments, report->parameters, settings[i], NULL),
		             0));
	gt_result_init(&result);
	cr_assert(eq(int, gt_report_run(report, &view, &arguments, &result, NULL), 0), "seed %llu",
	          (unsigned long long)seed);
}

/* Whatever the path is: parts add up to the whole, and changes only take away. */
static void expect_sums(uint64_t seed)
{
	const gt_time length_ns = sum_of("paths", "length_ns");
	const gt_time path_ns = sum_of("paths", "path_ns");

	expect_same(seed, "by_kind", sum_of("by_kind", "total_ns"), path_ns);
	expect_same(seed, "by_name", sum_of("by_name", "total_ns"), path_ns);
	expect_same(seed, "members", sum_of("longest_members", "duration_ns"), path_ns);
	expect_same(seed, "kernels", sum_of("kernels", "on_path_ns"), kind_ns("kernels"));
	expect_same(seed, "returns", sum_of("waits", "return_ns"), kind_ns("return from a wait"));
	if (made.range_count > 0)
		expect_same(seed, "by_range", sum_of("by_range", "total_ns"), path_ns);
	if (row_count(&result, "by_process") > 0)
		expect_same(seed, "by_process", sum_of("by_process", "total_ns"), path_ns);
	if (row_count(&result, "each") > 0)
		expect_same(seed, "each", sum_of("each", "length_ns"), length_ns);
	cr_assert(le(i64, path_ns, length_ns), "seed %llu", (unsigned long long)seed);
	for (size_t i = 0; i < row_count(&result, "what_if"); i++) {
		const gt_time saved_ns = cell(&result, "what_if", i, "saved_ns")->count;

		cr_assert(ge(i64, saved_ns, 0), "seed %llu: %s", (unsigned long long)seed,
		          cell(&result, "what_if", i, "change")->text);
		cr_assert(le(i64, saved_ns, length_ns), "seed %llu", (unsigned long long)seed);
	}
}

/* Slack of each kernel: the least time by which its launches off the path could end later. */
static void expect_slack(uint64_t seed, const struct span *spans, int count,
                         const struct sums *sums)
{
	gt_time latest_ns[2 * (MOST_ITEMS + 1)];

	find_latest(spans, count, latest_ns);
	for (size_t row = 0; row < row_count(&result, "kernels"); row++) {
		const struct gt_cell *name = cell(&result, "kernels", row, "kernel");
		const struct gt_cell *slack = cell(&result, "kernels", row, "slack_ns");
		gt_time least_ns = INT64_MAX;

		for (int i = 0; i < made.item_count; i++) {
			const struct item *item = &made.items[i];
			bool is_asked = false;

			for (int span = 0; span < count; span++)
				is_asked = is_asked || is_in(&spans[span], i);
			if (item->sort == KERNEL && is_asked && !sums->on_path[i] &&
			    strcmp(shape_names[item->shape], name->text) == 0)
				least_ns = least(least_ns, latest_ns[2 * i + 1] - item->end_ns);
		}
		expect_same(seed, "slack", slack->unknown ? INT64_MAX : slack->count, least_ns);
		cr_assert(ge(i64, least_ns, 0), "seed %llu", (unsigned long long)seed);
	}
}

static void expect_path(uint64_t seed, const struct span *spans, int count)
{
	struct sums sums = {0};
	gt_time length_ns = 0;

	for (int i = 0; i < count; i++) {
		length_ns += spans[i].end_ns - spans[i].begin_ns;
		walk(&spans[i], &sums);
	}
	expect_same(seed, "length", sum_of("paths", "length_ns"), length_ns);
	for (int point = 0; point < 2 * made.item_count; point++)
		(void)held_by(point);
	if (made.tied)
		return;
	expect_same(seed, "path", sum_of("paths", "path_ns"), sums.all_ns);
	expect_same(seed, "kernels", kind_ns("kernels"), sums.kernel_ns);
	expect_same(seed, "copies", kind_ns("copies and fills"), sums.copy_ns);
	expect_same(seed, "host", kind_ns("program's own time"), sums.host_ns);
	expect_same(seed, "returns", kind_ns("return from a wait"), sums.return_ns);
	expect_slack(seed, spans, count, &sums);
}

static void expect_changes(uint64_t seed, const struct span *spans, int count)
{
	for (size_t row = 0; row < row_count(&result, "what_if") && !made.tied; row++) {
		const char *name = cell(&result, "what_if", row, "change")->text;
		const struct change change = change_of(name);
		gt_time length_ns = 0;

		for (int i = 0; i < count; i++)
			length_ns += lasts(&spans[i], &change);
		expect_same(seed, name, cell(&result, "what_if", row, "length_ns")->count,
		            length_ns);
	}
}

/* With all of it gone at once no span is longer than with any of it; without a change it is as it
 * is. */
static void expect_all_gone(uint64_t seed, const struct span *spans, int count)
{
	const struct change all = {ALL_SHAPES, true, true, "cudaStreamSynchronize"};
	const bool shapes_gone[SHAPES] = {true, true, true};
	struct gt_path_change changes[] = {
		{.shapes = shapes_gone, .launches = true, .copies = true},
		{.shapes = shapes_gone},
		{.launches = true},
		{.copies = true},
		{.shapes = NULL},
	};
	gt_time lasts_ns[GT_COUNT_OF(changes) * MOST_RANGES];
	gt_time left_ns = 0;
	gt_time expected_ns = 0;
	struct gt_path_changes runs;
	struct gt_path_spans found;
	struct gt_path path;

	gt_array_each(const struct gt_api_call, call, &trace.api_calls)
		if (strcmp(gt_trace_text(&trace, call->function), all.wait_in) == 0)
			changes[0].wait_in = call->function;
	gt_path_init(&path, &trace, false);
	gt_path_spans_init(&found, &path, NULL);
	gt_path_changes_init(&runs, &path);
	gt_path_changes_last(&runs, &found, changes, GT_COUNT_OF(changes), lasts_ns);
	cr_assert(eq(sz, found.list.count, (size_t)count));
	for (size_t i = 0; i < found.list.count; i++) {
		const struct gt_interval window = found.list.rows[i].window;

		left_ns += lasts_ns[i];
		expected_ns += lasts(&spans[i], &all);
		for (size_t change = 1; change < GT_COUNT_OF(changes); change++)
			cr_assert(le(i64, lasts_ns[i], lasts_ns[change * found.list.count + i]),
			          "seed %llu", (unsigned long long)seed);
		expect_same(seed, "no change",
		            lasts_ns[(GT_COUNT_OF(changes) - 1) * found.list.count + i],
		            window.end_ns - window.start_ns);
	}
	if (!made.tied)
		expect_same(seed, "all gone", left_ns, expected_ns);
	gt_path_changes_release(&runs);
	gt_path_spans_release(&found);
	gt_path_release(&path);
}

static void find_typical(void)
{
	struct gt_path path;

	gt_path_init(&path, &trace, false);
	memcpy(made.typical_ns, path.typical_ns, sizeof(made.typical_ns));
	gt_path_release(&path);
}

TestSuite(critical_path_seeds);

Test(critical_path_seeds, give_the_path_that_the_table_of_edges_gives)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct span spans[MOST_RANGES];
		int count;

		make_program(seed);
		record_program();
		find_typical();
		run_with(seed, false);
		count = find_spans(spans);
		expect_sums(seed);
		expect_path(seed, spans, count);
		expect_changes(seed, spans, count);
		expect_all_gone(seed, spans, count);
		scene_end();
	}
}

Test(critical_path_seeds, add_up_whatever_is_assumed)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		make_program(seed);
		record_program();
		run_with(seed, true);
		expect_sums(seed);
		scene_end();
	}
}
