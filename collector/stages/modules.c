/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "collector/stage.h"

/*
 * How long modules took to load, and in which calls. CUPTI tells when a module has been loaded, on
 * the thread that did it. Its loading began with the call that the thread was in, or after the last
 * one, or with the driver's own record of loading (an overhead), or when CUPTI had made what it
 * needs in a new context, or when gputrace was done with the module before it there: whichever was
 * last. The driver's lazy loading of functions comes after a module is there.
 */

/* Times of the driver and of the host are related to within less. */
#define SLACK_NS 20000

/*
 * Between a call and the loading after it, in a call that is not recorded (cuBLAS asks for its
 * kernels' attributes): 14 MB take 21 ms. After a longer time nobody can tell what it was for.
 */
#define MOST_BETWEEN_NS 100000000

/* CUpti_ActivityOverheadKind: what loads modules, and what comes before eager loading. */
enum { DRIVER_COMPILER = 1, RESOURCE = 3 << 16, MODULE_LOADING = 4 << 16 };

_Static_assert((int)GT_RECORD_MODULE_KEPT == (int)GT_MODULE_KEPT &&
                       (int)GT_RECORD_MODULE_NOT_KEPT == (int)GT_MODULE_NOT_KEPT &&
                       (int)GT_RECORD_MODULE_JIT == (int)GT_MODULE_JIT &&
                       (int)GT_RECORD_MODULE_READ == (int)GT_MODULE_READ &&
                       (int)GT_RECORD_MODULE_CUT == (int)GT_MODULE_CUT &&
                       (int)GT_RECORD_MODULE_ONE_ARCH == (int)GT_MODULE_ONE_ARCH,
               "traits of records are traits of rows");

/* One loading, while it is looked for when it began. */
struct loading {
	gt_id thread;
	gt_time at;    /* when it had been loaded */
	gt_time after; /* when the one before it on the thread was done with; 0: there is none */
	gt_time began; /* 0: not known */
	gt_id call;    /* that it was loaded in */
	gt_time jit_ns;
	gt_id module;
};

struct join {
	struct gt_trace *trace;
	struct loading *loadings; /* sorted by thread and time */
	size_t count;
	gt_id *first;            /* loadings by thread; GT_NONE: none there */
	struct gt_known threads; /* that loaded something, by process << 32 | tid */
};

static int by_thread_and_time(const void *a, const void *b)
{
	const struct loading *left = a;
	const struct loading *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return (left->module > right->module) - (left->module < right->module);
}

static uint64_t key_of(gt_id process, gt_count tid)
{
	return (uint64_t)process << 32 | tid;
}

static void index_threads(struct join *join)
{
	const struct gt_trace *trace = join->trace;

	join->first = gt_allocate((trace->threads.count + 1) * sizeof(*join->first));
	memset(join->first, 0xff, trace->threads.count * sizeof(*join->first));
	for (size_t i = 0; i < join->count; i++) {
		struct loading *loading = &join->loadings[i];
		const struct gt_thread *thread = &trace->threads.rows[loading->thread];
		const uint64_t key = key_of(thread->process, thread->tid);

		if (i > 0 && join->loadings[i - 1].thread == loading->thread) {
			loading->after = trace->modules.rows[join->loadings[i - 1].module].noted_ns;
			continue;
		}
		join->first[loading->thread] = (gt_id)i;
		if (gt_known_find(&join->threads, key) == GT_NONE)
			gt_known_add(&join->threads, key, loading->thread);
	}
}

static void init(struct join *join, struct gt_trace *trace)
{
	*join = (struct join){.trace = trace};
	join->loadings = gt_allocate((trace->modules.count + 1) * sizeof(*join->loadings));
	for (size_t i = 0; i < trace->modules.count; i++) {
		const struct gt_module *module = &trace->modules.rows[i];

		if (module->thread < trace->threads.count && module->loaded_ns)
			join->loadings[join->count++] = (struct loading){
				.thread = module->thread,
				.at = module->loaded_ns,
				.call = GT_NONE,
				.module = (gt_id)i,
			};
	}
	qsort(join->loadings, join->count, sizeof(*join->loadings), by_thread_and_time);
	index_threads(join);
}

/* The first loading of a thread that was done at that time or later; NULL: none was. */
static struct loading *first_from(const struct join *join, gt_id thread, gt_time time_ns)
{
	const struct loading wanted = {.thread = thread, .at = time_ns};
	size_t row;

	if (thread >= join->trace->threads.count || join->first[thread] == GT_NONE)
		return NULL;
	row = gt_search(join->loadings, join->count, sizeof(*join->loadings), &wanted,
	                by_thread_and_time, 0);
	return row < join->count && join->loadings[row].thread == thread ? &join->loadings[row]
	                                                                 : NULL;
}

/*
 * The last span of each kind that a thread was in. Spans of one kind do not overlap on a thread,
 * but for calls inside calls: the outermost and the last of the others are kept.
 */
enum { OUTER_CALL, INNER_CALL, COMPILER, MODULES, CONTEXT, SPAN_KINDS };

struct span {
	gt_time start_ns; /* 0: there is none */
	gt_time end_ns;
	gt_id row;
};

struct sweep {
	const struct join *join;
	size_t *next;                    /* by thread its first loading that is not decided */
	struct span (*last)[SPAN_KINDS]; /* by thread */
};

static void sweep_begin(struct sweep *sweep, const struct join *join)
{
	const size_t count = join->trace->threads.count;

	*sweep = (struct sweep){
		.join = join,
		.next = gt_allocate((count + 1) * sizeof(*sweep->next)),
		.last = gt_allocate((count + 1) * sizeof(*sweep->last)),
	};
	memset(sweep->last, 0, count * sizeof(*sweep->last));
	for (size_t i = 0; i < count; i++)
		sweep->next[i] = join->first[i] == GT_NONE ? join->count : join->first[i];
}

static bool is_after(const struct span *span, const struct loading *loading)
{
	return span->start_ns && span->end_ns >= 0 && span->end_ns <= loading->at;
}

static void decide(const struct sweep *sweep, struct loading *loading)
{
	const struct span *last = sweep->last[loading->thread];

	if (is_after(&last[OUTER_CALL], loading) &&
	    loading->at - last[OUTER_CALL].end_ns <= MOST_BETWEEN_NS)
		loading->began = last[OUTER_CALL].end_ns;
	if (loading->began && is_after(&last[CONTEXT], loading) &&
	    last[CONTEXT].end_ns > loading->began)
		loading->began = last[CONTEXT].end_ns;
	for (int kind = 0; kind < CONTEXT; kind++) {
		const gt_time slack_ns = kind >= COMPILER ? SLACK_NS : 0;

		if (!last[kind].start_ns || last[kind].end_ns + slack_ns < loading->at)
			continue;
		if (last[kind].start_ns > loading->began)
			loading->began = last[kind].start_ns;
		if (kind < COMPILER && loading->call == GT_NONE)
			loading->call = last[kind].row;
	}
}

/* Modules that a thread loaded before that time were loaded in its spans until then. */
static void sweep_to(struct sweep *sweep, gt_id thread, gt_time time_ns)
{
	const struct join *join = sweep->join;
	size_t *next = &sweep->next[thread];

	for (; *next < join->count && join->loadings[*next].thread == thread &&
	       join->loadings[*next].at < time_ns;
	     (*next)++)
		decide(sweep, &join->loadings[*next]);
}

static void sweep_end(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->join->trace->threads.count; i++)
		sweep_to(sweep, (gt_id)i, INT64_MAX);
	gt_array_free(sweep->next);
	gt_array_free(sweep->last);
}

static void join_calls(const struct join *join)
{
	const struct gt_trace *trace = join->trace;
	struct sweep sweep;

	sweep_begin(&sweep, join);
	for (size_t i = 0; i < trace->api_calls.count; i++) {
		const struct gt_api_call *call = &trace->api_calls.rows[i];
		const bool is_inner = call->flags & GT_NESTED;

		if (call->thread >= trace->threads.count || call->start_ns == 0)
			continue;
		sweep_to(&sweep, call->thread, call->start_ns);
		sweep.last[call->thread][is_inner ? INNER_CALL : OUTER_CALL] = (struct span){
			call->start_ns,
			call->flags & GT_UNFINISHED ? INT64_MAX - SLACK_NS : call->end_ns,
			(gt_id)i,
		};
	}
	sweep_end(&sweep);
}

static gt_id thread_of(struct join *join, gt_id process, gt_count tid)
{
	return gt_known_find(&join->threads, key_of(process, tid));
}

static int span_kind(gt_count overhead)
{
	switch (overhead) {
	case DRIVER_COMPILER:
		return COMPILER;
	case MODULE_LOADING:
		return MODULES;
	case RESOURCE:
		return CONTEXT;
	default:
		return SPAN_KINDS;
	}
}

/*
 * CUPTI names threads by numbers of its own, but tells the id of the call that they were in, or of
 * the last one.
 */
static gt_id thread_of_either(struct join *join, gt_id api_call, gt_id process, gt_count tid)
{
	return api_call < join->trace->api_calls.count
	               ? join->trace->api_calls.rows[api_call].thread
	               : thread_of(join, process, tid);
}

/* These records say better than the call around it when loading began. */
static void join_overheads(struct join *join)
{
	struct sweep sweep;

	sweep_begin(&sweep, join);
	gt_array_each(const struct gt_overhead, overhead, &join->trace->overheads) {
		const gt_id thread = thread_of_either(join, overhead->api_call, overhead->process,
		                                      overhead->tid);
		const int kind = span_kind(overhead->kind);

		if (kind == SPAN_KINDS || thread >= join->trace->threads.count)
			continue;
		sweep_to(&sweep, thread, overhead->start_ns);
		sweep.last[thread][kind] =
			(struct span){overhead->start_ns, overhead->end_ns, GT_NONE};
	}
	sweep_end(&sweep);
}

/* Compiled code is loaded next, by the same thread. */
static void join_jit(struct join *join, const struct gt_jit *jit)
{
	const gt_id thread = thread_of_either(join, jit->api_call, jit->process, jit->tid);
	struct loading *loading;

	if (jit->start_ns == 0 || jit->end_ns < jit->start_ns)
		return;
	loading = first_from(join, thread, jit->end_ns - SLACK_NS);
	if (!loading || jit->start_ns + SLACK_NS < loading->after)
		return;
	if (loading->call != GT_NONE && jit->start_ns + SLACK_NS < loading->began)
		return;
	loading->jit_ns += jit->end_ns - jit->start_ns;
}

static void take(const struct join *join, const struct loading *loading)
{
	struct gt_module *module = &join->trace->modules.rows[loading->module];
	const gt_time began =
		loading->began && loading->after > loading->began ? loading->after : loading->began;

	module->api_call = loading->call;
	if (began && began <= loading->at)
		module->load_ns = (double)(loading->at - began);
	if (module->traits & GT_MODULE_JIT)
		module->jit_ns = (double)loading->jit_ns;
}

static void join_times(struct gt_trace *trace)
{
	struct join join;

	init(&join, trace);
	join_calls(&join);
	gt_array_each(const struct gt_jit, jit, &trace->jits)
		join_jit(&join, jit);
	join_overheads(&join);
	for (size_t i = 0; i < join.count; i++)
		take(&join, &join.loadings[i]);
	gt_array_free(join.loadings);
	gt_array_free(join.first);
	gt_known_release(&join.threads);
}

/* ---- ends ---- */

/* A module as unloads name it. */
struct named {
	gt_id process;
	gt_count cupti_id;
	gt_count context; /* CUPTI's id; UINT32_MAX: not known */
	gt_time loaded_ns;
	gt_id module;
};

static int by_name_and_time(const void *a, const void *b)
{
	const struct named *left = a;
	const struct named *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->cupti_id != right->cupti_id)
		return left->cupti_id < right->cupti_id ? -1 : 1;
	if (left->context != right->context)
		return left->context < right->context ? -1 : 1;
	return (left->loaded_ns > right->loaded_ns) - (left->loaded_ns < right->loaded_ns);
}

/* The last that was loaded before; NULL: none with that name was. */
static const struct named *find_loaded(const struct named *all, size_t count,
                                       const struct named *wanted)
{
	const size_t loaded = gt_search(all, count, sizeof(*all), wanted, by_name_and_time, 1);
	const struct named *last = loaded ? &all[loaded - 1] : NULL;

	return last && last->process == wanted->process && last->cupti_id == wanted->cupti_id &&
	                       last->context == wanted->context
	               ? last
	               : NULL;
}

static void end_modules(struct gt_collection *collection)
{
	struct gt_trace *trace = collection->trace;
	struct named *all = gt_allocate((trace->modules.count + 1) * sizeof(*all));

	for (size_t i = 0; i < trace->modules.count; i++) {
		const struct gt_module *module = &trace->modules.rows[i];

		all[i] = (struct named){
			.process = module->process,
			.cupti_id = module->cupti_id,
			.context = module->context < trace->contexts.count
		                           ? trace->contexts.rows[module->context].number
		                           : UINT32_MAX,
			.loaded_ns = module->loaded_ns,
			.module = (gt_id)i,
		};
	}
	qsort(all, trace->modules.count, sizeof(*all), by_name_and_time);
	gt_array_each(const struct gt_capture, capture, &collection->captures) {
		gt_array_each(const struct gt_record_module_unload, unload, &capture->raw_unloads) {
			const struct named wanted = {capture->process, unload->cupti_id,
			                             unload->context, (gt_time)unload->time_ns, 0};
			const struct named *found = find_loaded(all, trace->modules.count, &wanted);

			if (found)
				trace->modules.rows[found->module].unloaded_ns = wanted.loaded_ns;
		}
	}
	gt_array_free(all);
}

static int run(struct gt_collection *collection, struct gt_error *err)
{
	struct gt_trace *trace = collection->trace;

	(void)err;
	if (trace->modules.count == 0)
		return 0;
	gt_array_each(struct gt_module, module, &trace->modules)
		module->load_ns = module->jit_ns = (double)NAN;
	join_times(trace);
	end_modules(collection);
	return 0;
}

const struct gt_stage gt_stage_modules = {.name = "modules", .run = run};
