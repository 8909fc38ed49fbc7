/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/time/path_account.h"

#include <stdlib.h>
#include <string.h>

#include "model/index.h"
#include "model/ranges/owners.h"

bool gt_path_account_shows(const struct gt_path_account *account, gt_id item)
{
	return item < account->trace->api_calls.count || !account->shown ||
	       account->shown->is(account->shown->context, gt_path_step(&account->path, item));
}

bool gt_path_account_has(const struct gt_path_account *account, gt_id item)
{
	return account->on_path[item / 8] >> (item % 8) & 1;
}

static gt_id range_of_item(const struct gt_path_account *account, gt_id item)
{
	const struct gt_step step = gt_path_step(&account->path, item);

	switch (step.table) {
	case GT_TABLE_kernels:
		return gt_owner_of(account->trace, GT_ACTIVITY_KERNEL, step.row).range;
	case GT_TABLE_copies:
		return gt_owner_of(account->trace, GT_ACTIVITY_COPY, step.row).range;
	case GT_TABLE_fills:
		return gt_owner_of(account->trace, GT_ACTIVITY_FILL, step.row).range;
	case GT_TABLE_graph_traces:
		return gt_owner_of(account->trace, GT_ACTIVITY_GRAPH, step.row).range;
	default:
		return gt_owner_of_call(account->trace, step.row).range;
	}
}

static gt_id range_at(const struct gt_path_account *account, gt_id thread, gt_time at_ns)
{
	size_t low = account->first_range[thread];
	size_t high = account->first_range[thread + 1];
	gt_id range;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (account->trace->ranges.rows[account->ranges_of_threads[middle]].start_ns <=
		    at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == account->first_range[thread])
		return GT_NONE;
	range = account->ranges_of_threads[low - 1];
	return gt_range_end(&account->trace->ranges.rows[range]) > at_ns
	               ? range
	               : gt_ranges_around(&account->ranges, range, at_ns);
}

gt_id gt_path_range_of(const struct gt_path_account *account, const struct gt_path_member *member)
{
	const struct gt_trace *trace = account->trace;
	gt_id thread = GT_NONE;

	if (member->kind == GT_PATH_OF_HOST && member->item < trace->api_calls.count)
		thread = trace->api_calls.rows[member->item].thread;
	if (thread >= trace->threads.count)
		return range_of_item(account, member->item);
	if (trace->api_calls.rows[member->item].range == GT_NONE &&
	    trace->api_calls.rows[member->item].for_range != GT_NONE)
		return range_of_item(account, member->item);
	return range_at(account, thread,
	                member->start_ns + (member->end_ns - member->start_ns) / 2);
}

/* Ranges are in order of their begin. */
static void find_ranges_of_threads(struct gt_path_account *account)
{
	const struct gt_trace *trace = account->trace;
	const size_t threads = trace->threads.count;
	size_t sum = 0;

	account->ranges_of_threads =
		gt_allocate((trace->ranges.count + 1) * sizeof(*account->ranges_of_threads));
	account->first_range = gt_allocate_zeroed(threads + 1, sizeof(*account->first_range));
	gt_array_each(const struct gt_range, range, &trace->ranges)
		if (range->thread < threads)
			account->first_range[range->thread]++;
	for (size_t i = 0; i <= threads; i++) {
		const size_t own = account->first_range[i];

		account->first_range[i] = sum;
		sum += own;
	}
	for (gt_id i = 0; i < trace->ranges.count; i++)
		if (trace->ranges.rows[i].thread < threads)
			account->ranges_of_threads
				[account->first_range[trace->ranges.rows[i].thread]++] = i;
	for (size_t i = threads; i > 0; i--)
		account->first_range[i] = account->first_range[i - 1];
	account->first_range[0] = 0;
}

struct gt_path_key gt_path_key_of(const struct gt_path_account *account,
                                  const struct gt_path_member *member)
{
	const struct gt_trace *trace = account->trace;
	const struct gt_step step = gt_path_step(&account->path, member->item);
	struct gt_path_key key = {.kind = member->kind};

	if (!gt_path_account_shows(account, member->item)) {
		key.what = GT_PATH_WHAT_OTHER;
		return key;
	}
	switch (step.table) {
	case GT_TABLE_kernels:
		key.what = GT_PATH_WHAT_KERNEL;
		key.name = (uint32_t)gt_kernel_group_of(&account->kernels,
		                                        &trace->kernels.rows[step.row]);
		break;
	case GT_TABLE_copies:
		key.what = GT_PATH_WHAT_COPY;
		key.name = trace->copies.rows[step.row].kind;
		break;
	case GT_TABLE_fills:
		key.what = GT_PATH_WHAT_FILL;
		break;
	case GT_TABLE_graph_traces:
		key.what = GT_PATH_WHAT_GRAPH;
		break;
	default:
		key.what = member->is_after ? GT_PATH_WHAT_END : GT_PATH_WHAT_CALL;
		key.name = member->is_after ? 0 : trace->api_calls.rows[step.row].function;
		break;
	}
	return key;
}

/* Data that the walk of one span fills in. */
struct seeing {
	struct gt_path_account *account;
	struct gt_path_span_total *span;
	uint64_t longest;
	gt_id process;              /* whose path it is */
	struct gt_index *functions; /* rows of waits */
	struct gt_index *processes; /* rows of by_process */
};

static int by_length(const void *a, const void *b)
{
	const struct gt_path_member *left = a;
	const struct gt_path_member *right = b;
	const gt_time left_ns = left->end_ns - left->start_ns;
	const gt_time right_ns = right->end_ns - right->start_ns;

	if (left_ns != right_ns)
		return left_ns < right_ns ? 1 : -1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->item > right->item) - (left->item < right->item);
}

/* The longest are sorted out whenever there are twice as many. */
static void trim(struct gt_path_account *account, uint64_t longest)
{
	if (account->longest.count > 1)
		qsort(account->longest.rows, account->longest.count, sizeof(*account->longest.rows),
		      by_length);
	if (account->longest.count > longest)
		account->longest.count = (size_t)longest;
}

static void note_longest(struct seeing *seeing, const struct gt_path_member *member)
{
	enum { SOME = 64 };
	struct gt_path_account *account = seeing->account;

	*gt_array_push(&account->longest) = *member;
	if (seeing->longest < SIZE_MAX / 2 && account->longest.count > 2 * seeing->longest + SOME)
		trim(account, seeing->longest);
}

static void note_name(struct gt_path_account *account, const struct gt_path_member *member)
{
	const struct gt_path_key key = gt_path_key_of(account, member);
	const size_t number = gt_index_add(account->names, &key);

	if (number == account->by_name.count)
		*gt_array_push(&account->by_name) = (struct gt_path_total){.key = key};
	account->by_name.rows[number].stretches++;
	account->by_name.rows[number].total_ns += member->end_ns - member->start_ns;
}

static void note_wait(struct seeing *seeing, const struct gt_path_member *member)
{
	struct gt_path_account *account = seeing->account;
	const struct gt_api_call *call = &account->trace->api_calls.rows[member->item];
	const size_t number = gt_index_add(seeing->functions, &call->function);

	if (number == account->waits.count)
		*gt_array_push(&account->waits) = (struct gt_path_wait){.function = call->function};
	account->waits.rows[number].calls++;
	account->waits.rows[number].call_ns +=
		gt_path_time(&account->path, 2 * member->item + 1) - call->start_ns;
	account->waits.rows[number].return_ns += member->end_ns - member->start_ns;
}

static bool is_on_gpu(enum gt_path_kind kind)
{
	return kind == GT_PATH_OF_KERNEL || kind == GT_PATH_OF_GRAPH || kind == GT_PATH_OF_COPY;
}

static void note_range(struct gt_path_account *account, const struct gt_path_member *member)
{
	const gt_id path = gt_ranges_path(&account->ranges, gt_path_range_of(account, member));
	const size_t number = path == GT_NONE ? account->ranges.paths.count : path;

	account->by_range_ns[number] += member->end_ns - member->start_ns;
	if (is_on_gpu(member->kind))
		account->gpu_by_range_ns[number] += member->end_ns - member->start_ns;
}

static void note_process(struct seeing *seeing, const struct gt_path_member *member)
{
	struct gt_path_account *account = seeing->account;
	const struct gt_path_processes of = {seeing->process,
	                                     gt_path_process(&account->path, member->item)};
	const size_t number = gt_index_add(seeing->processes, &of);
	const gt_time lasts_ns = member->end_ns - member->start_ns;

	if (number == account->by_process.count)
		*gt_array_push(&account->by_process) = (struct gt_path_process_total){.of = of};
	account->by_process.rows[number].stretches++;
	account->by_process.rows[number].total_ns += lasts_ns;
	account->by_process.rows[number].gpu_ns += is_on_gpu(member->kind) ? lasts_ns : 0;
}

static void see(void *context, const struct gt_path_member *member)
{
	struct seeing *seeing = context;
	struct gt_path_account *account = seeing->account;
	const gt_time lasts_ns = member->end_ns - member->start_ns;
	struct gt_path_kind_total *kind = &account->by_kind[member->kind];

	kind->stretches++;
	kind->total_ns += lasts_ns;
	kind->assumed_ns += member->assumed ? lasts_ns : 0;
	seeing->span->by_kind_ns[member->kind] += lasts_ns;
	seeing->span->told_ns += lasts_ns;
	seeing->span->assumed += member->assumed;
	seeing->span->stretches++;
	if (seeing->span->assumed == 0)
		seeing->span->certain_ns += lasts_ns;
	account->members++;
	account->on_path[member->item / 8] |= (uint8_t)(1 << (member->item % 8));
	note_longest(seeing, member);
	note_name(account, member);
	note_range(account, member);
	note_process(seeing, member);
	if (member->kind == GT_PATH_OF_RETURN)
		note_wait(seeing, member);
}

static int by_total(const void *a, const void *b)
{
	const struct gt_path_total *left = a;
	const struct gt_path_total *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return memcmp(&left->key, &right->key, sizeof(left->key));
}

static int by_wait(const void *a, const void *b)
{
	const struct gt_path_wait *left = a;
	const struct gt_path_wait *right = b;

	if (left->call_ns != right->call_ns)
		return left->call_ns < right->call_ns ? 1 : -1;
	return (left->function > right->function) - (left->function < right->function);
}

static int by_process(const void *a, const void *b)
{
	const struct gt_path_process_total *left = a;
	const struct gt_path_process_total *right = b;

	if (left->of.path != right->of.path)
		return left->of.path < right->of.path ? -1 : 1;
	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	return (left->of.time > right->of.time) - (left->of.time < right->of.time);
}

static void walk(struct gt_path_account *account, uint64_t longest)
{
	struct seeing seeing = {
		.account = account,
		.longest = longest,
		.functions = gt_index_new(sizeof(gt_string)),
		.processes = gt_index_new(sizeof(struct gt_path_processes)),
	};

	for (size_t i = 0; i < account->spans.list.count; i++) {
		const struct gt_path_span *span = &account->spans.list.rows[i];

		seeing.span = &account->of_span[i];
		seeing.process = span->process;
		*seeing.span = (struct gt_path_span_total){.told_ns = 0};
		gt_path_walk(&account->path, span->end, gt_path_span_is_handed(span), span->window,
		             see, &seeing);
		account->lasts_ns += span->window.end_ns - span->window.start_ns;
		account->told_ns += seeing.span->told_ns;
	}
	trim(account, longest);
	if (account->by_name.count > 1)
		qsort(account->by_name.rows, account->by_name.count, sizeof(*account->by_name.rows),
		      by_total);
	if (account->waits.count > 1)
		qsort(account->waits.rows, account->waits.count, sizeof(*account->waits.rows),
		      by_wait);
	if (account->by_process.count > 1)
		qsort(account->by_process.rows, account->by_process.count,
		      sizeof(*account->by_process.rows), by_process);
	gt_index_free(seeing.functions);
	gt_index_free(seeing.processes);
}

void gt_path_account_init(struct gt_path_account *account, const struct gt_trace *trace,
                          const struct gt_path_shown *shown, bool assume, uint64_t longest)
{
	*account = (struct gt_path_account){
		.trace = trace,
		.shown = shown,
		.names = gt_index_new(sizeof(struct gt_path_key)),
	};
	gt_path_init(&account->path, trace, assume);
	gt_path_spans_init(&account->spans, &account->path, shown);
	gt_kernel_groups_init(&account->kernels, trace, GT_BY_NAME);
	gt_ranges_init(&account->ranges, trace);
	find_ranges_of_threads(account);
	account->by_range_ns =
		gt_allocate_zeroed(account->ranges.paths.count + 1, sizeof(*account->by_range_ns));
	account->gpu_by_range_ns = gt_allocate_zeroed(account->ranges.paths.count + 1,
	                                              sizeof(*account->gpu_by_range_ns));
	account->of_span =
		gt_allocate_zeroed(account->spans.list.count + 1, sizeof(*account->of_span));
	account->on_path = gt_allocate_zeroed(gt_path_points(&account->path) / 16 + 1, 1);
	walk(account, longest);
}

void gt_path_account_release(struct gt_path_account *account)
{
	gt_path_spans_release(&account->spans);
	gt_path_release(&account->path);
	gt_kernel_groups_release(&account->kernels);
	gt_ranges_release(&account->ranges);
	gt_array_free(account->ranges_of_threads);
	gt_array_free(account->first_range);
	gt_index_free(account->names);
	gt_array_release(&account->by_name);
	gt_array_release(&account->by_process);
	gt_array_release(&account->waits);
	gt_array_release(&account->longest);
	gt_array_free(account->by_range_ns);
	gt_array_free(account->gpu_by_range_ns);
	gt_array_free(account->of_span);
	gt_array_free(account->on_path);
}
