/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/timeline/memory_shown.h"

#include "exporters/timeline/memory_parts.h"
#include "exporters/timeline/memory_picked.h"
#include "model/allocations.h"
#include "model/index.h"
#include "model/memory/use.h"
#include "model/view/view.h"

static void forget_use(struct gt_memory_maker *maker)
{
	for (size_t i = 0; i < maker->shown->groups.count; i++)
		maker->in_use[i] = (struct gt_memory_in_use){0};
	for (size_t i = 0; i < maker->shown->lines.count; i++)
		maker->line_bytes[i] = 0;
}

static void change(uint64_t *bytes, const struct gt_memory_step *step)
{
	*bytes += step->ends ? 0 - step->size_bytes : step->size_bytes;
}

/* Memory of the group and the line after a step. */
static void follow(struct gt_memory_maker *maker, const struct gt_memory_step *step)
{
	const struct gt_memory_part *part = &maker->parts[step->holder];
	struct gt_memory_in_use *in_use = &maker->in_use[part->group];

	if (part->line != GT_NONE)
		change(&maker->line_bytes[part->line], step);
	if (part->total == GT_NONE)
		return;
	in_use->time_ns = step->time_ns;
	change(&in_use->bytes, step);
	in_use->count += step->ends ? UINT64_MAX : 1;
}

/* How often each line changes, and when most was in use. */
static void look(struct gt_memory_maker *maker)
{
	struct gt_memory_shown *shown = maker->shown;
	struct gt_memory_step step;

	forget_use(maker);
	while (gt_memory_use_next(&maker->use, &step)) {
		const struct gt_memory_part *part = &maker->parts[step.holder];
		const struct gt_memory_in_use *in_use = &maker->in_use[part->group];

		follow(maker, &step);
		if (part->total != GT_NONE)
			shown->lines.rows[part->total].changes++;
		if (part->line != GT_NONE)
			shown->lines.rows[part->line].changes++;
		if (in_use->bytes > shown->peaks[part->group].bytes)
			shown->peaks[part->group] = *in_use;
	}
}

static bool is_in_view(const struct gt_view *view, gt_time time_ns)
{
	return time_ns >= view->start_ns && time_ns <= view->end_ns;
}

static struct gt_memory_span finish_span(const struct gt_memory_maker *maker, uint32_t holder,
                                         struct gt_memory_span span)
{
	const struct gt_view *view = maker->view;

	span.peak_ns = maker->shown->peaks[maker->parts[holder].group].time_ns;
	span.in_view = is_in_view(view, span.begin_ns) ||
	               (span.end_ns != INT64_MAX && is_in_view(view, span.end_ns));
	return span;
}

static struct gt_memory_span span_of_allocation(const void *context, gt_id row)
{
	const struct gt_memory_maker *maker = context;
	const struct gt_allocation *allocation = &maker->trace->allocations.rows[row];
	const bool ended = !(allocation->flags & GT_UNFINISHED);

	return finish_span(maker, maker->use.holder_of_allocation[row],
	                   (struct gt_memory_span){
				   .begin_ns = gt_memory_begin(maker->trace, allocation),
				   .end_ns = ended ? allocation->end_ns : INT64_MAX,
				   .size_bytes = allocation->size_bytes,
			   });
}

static struct gt_memory_span span_of_block(const void *context, gt_id row)
{
	const struct gt_memory_maker *maker = context;
	const struct gt_pool_block *block = &maker->trace->pool_blocks.rows[row];
	const bool ended = !(block->flags & GT_UNFINISHED);

	if (block->pool >= maker->trace->pools.count)
		return (struct gt_memory_span){0};
	return finish_span(maker, maker->use.holder_of_block[row],
	                   (struct gt_memory_span){
				   .begin_ns = block->start_ns,
				   .end_ns = ended ? block->end_ns : INT64_MAX,
				   .size_bytes = block->size_bytes,
			   });
}

static struct gt_memory_mark *add_mark(struct gt_memory_maker *maker, enum gt_memory_mark_kind is,
                                       gt_time time_ns, uint32_t group, gt_id row)
{
	struct gt_memory_mark *mark = gt_array_push(&maker->shown->marks);

	*mark = (struct gt_memory_mark){
		.time_ns = time_ns,
		.is = is,
		.group = group,
		.row = row,
		.in_use_bytes = maker->in_use[group].bytes,
	};
	return mark;
}

static void mark_failures(struct gt_memory_maker *maker, gt_time before_ns)
{
	const struct gt_trace *trace = maker->trace;

	for (; maker->next_call < trace->memory_calls.count; maker->next_call++) {
		const struct gt_memory_call *call = &trace->memory_calls.rows[maker->next_call];

		if (call->start_ns >= before_ns)
			break;
		if (gt_memory_has_failed(trace, call) && is_in_view(maker->view, call->start_ns))
			(void)add_mark(maker, GT_MEMORY_MARK_FAILED, call->start_ns,
			               gt_memory_group_of_call(maker, call),
			               (gt_id)maker->next_call);
	}
}

/* Memory that was there before the window begins with it, and has no mark there. */
static void mark_row(struct gt_memory_maker *maker, const struct gt_memory_step *step,
                     bool is_block)
{
	const struct gt_memory_span span =
		(is_block ? span_of_block : span_of_allocation)(maker, step->row);
	struct gt_memory_mark *mark;

	if (!step->ends && span.begin_ns < maker->view->start_ns)
		return;
	mark = add_mark(maker, step->ends ? GT_MEMORY_MARK_END : GT_MEMORY_MARK_BEGIN,
	                step->time_ns, maker->parts[step->holder].group, step->row);
	mark->at_peak = gt_memory_span_has_peak(&span);
	mark->lived_ns = span.end_ns == INT64_MAX      ? INT64_MAX
	                 : span.end_ns > span.begin_ns ? span.end_ns - span.begin_ns
	                                               : 0;
}

static void add_marks(struct gt_memory_maker *maker, const struct gt_memory_step *step)
{
	const uint32_t group = maker->parts[step->holder].group;
	const bool is_block = maker->use.holders.rows[step->holder].pool != GT_NONE;
	const struct gt_memory_in_use *peak = &maker->shown->peaks[group];

	if ((is_block ? maker->blocks : maker->allocations)[step->row])
		mark_row(maker, step, is_block);
	if (maker->peak_marked[group] || peak->bytes == 0 ||
	    maker->in_use[group].bytes != peak->bytes || step->time_ns != peak->time_ns)
		return;
	maker->peak_marked[group] = true;
	(void)add_mark(maker, GT_MEMORY_MARK_PEAK, step->time_ns, group, GT_NONE);
}

static void put(struct gt_memory_maker *maker, uint32_t number, gt_time time_ns, double value)
{
	struct gt_memory_line *line = &maker->shown->lines.rows[number];

	if (value > line->highest)
		line->highest = value;
	gt_thinned_add(&line->values, time_ns, value);
}

static void put_lines(struct gt_memory_maker *maker, const struct gt_memory_step *step)
{
	const struct gt_memory_part *part = &maker->parts[step->holder];

	if (part->total != GT_NONE)
		put(maker, part->total, step->time_ns, (double)maker->in_use[part->group].bytes);
	if (part->line != GT_NONE)
		put(maker, part->line, step->time_ns, (double)maker->line_bytes[part->line]);
}

/* Nothing was in use before the first step. */
static void begin_lines(struct gt_memory_maker *maker)
{
	const struct gt_view *view = maker->view;

	gt_array_each(struct gt_memory_line, line, &maker->shown->lines) {
		gt_thinned_init(&line->values, (struct gt_interval){view->start_ns, view->end_ns},
		                line->changes, GT_MEMORY_STRETCHES);
		gt_thinned_add(&line->values, view->start_ns, 0);
	}
}

/* The memory of a process is gone with it. */
static void end_lines(struct gt_memory_maker *maker)
{
	const struct gt_trace *trace = maker->trace;

	gt_array_each(struct gt_memory_line, line, &maker->shown->lines) {
		const gt_id row = maker->shown->groups.rows[line->group].process;
		const struct gt_process *process =
			row < trace->processes.count ? &trace->processes.rows[row] : NULL;

		if (process && process->end_ns < maker->view->end_ns &&
		    line->values.last_ns <= process->end_ns &&
		    (process->ended == GT_END_CLEAN || process->ended == GT_END_DIED))
			gt_thinned_add(&line->values, process->end_ns, 0);
		gt_thinned_finish(&line->values);
	}
}

static void draw(struct gt_memory_maker *maker)
{
	struct gt_memory_step step;

	begin_lines(maker);
	forget_use(maker);
	gt_memory_use_rewind(&maker->use);
	while (gt_memory_use_next(&maker->use, &step)) {
		mark_failures(maker, step.time_ns);
		follow(maker, &step);
		put_lines(maker, &step);
		add_marks(maker, &step);
	}
	mark_failures(maker, INT64_MAX);
	end_lines(maker);
}

/* Peak of a pool whose blocks are not known; there are few, and marks stay in order. */
static void mark_sampled_peak(struct gt_memory_maker *maker, uint32_t group)
{
	struct gt_memory_shown *shown = maker->shown;
	const struct gt_memory_in_use *peak = &shown->peaks[group];
	size_t at;

	if (peak->bytes == 0)
		return;
	maker->in_use[group] = *peak;
	(void)add_mark(maker, GT_MEMORY_MARK_PEAK, peak->time_ns, group, GT_NONE);
	for (at = shown->marks.count - 1;
	     at > 0 && shown->marks.rows[at - 1].time_ns > peak->time_ns; at--) {
		const struct gt_memory_mark later = shown->marks.rows[at - 1];

		shown->marks.rows[at - 1] = shown->marks.rows[at];
		shown->marks.rows[at] = later;
	}
}

static void add_counter(struct gt_memory_maker *maker, gt_id row, const struct gt_series *series)
{
	const struct gt_trace *trace = maker->trace;
	const struct gt_counter *counter = &trace->counters.rows[row];
	const double *values = series->columns[counter->place];
	const uint32_t group =
		gt_memory_maker_group(maker, gt_memory_group_of_pool(trace, counter->pool));
	const bool has_peak = maker->shown->peaks[group].bytes > 0 ||
	                      !gt_memory_counter_is_in_use(gt_trace_text(trace, counter->name));
	const uint32_t number = gt_memory_add_line(
		maker->shown, &(struct gt_memory_line){.is = GT_MEMORY_LINE_COUNTER,
	                                               .group = group,
	                                               .counter = row,
	                                               .changes = series->count});

	gt_thinned_init(&maker->shown->lines.rows[number].values,
	                (struct gt_interval){maker->view->start_ns, maker->view->end_ns},
	                series->count, GT_MEMORY_STRETCHES);
	for (size_t i = 0; i < series->count; i++) {
		if (!(values[i] >= 0 && values[i] < 0x1p64) ||
		    !is_in_view(maker->view, series->times_ns[i]))
			continue;
		put(maker, number, series->times_ns[i], values[i]);
		if (!has_peak && (uint64_t)values[i] > maker->shown->peaks[group].bytes)
			maker->shown->peaks[group] = (struct gt_memory_in_use){
				.time_ns = series->times_ns[i], .bytes = (uint64_t)values[i]};
	}
	gt_thinned_finish(&maker->shown->lines.rows[number].values);
	if (!has_peak)
		mark_sampled_peak(maker, group);
}

static void add_counters(struct gt_memory_maker *maker)
{
	const struct gt_trace *trace = maker->trace;

	for (gt_id i = 0; i < trace->counters.count; i++) {
		const struct gt_series *series =
			gt_memory_series_of(trace, &trace->counters.rows[i]);

		if (series &&
		    gt_memory_counter_has_line(gt_trace_text(trace, trace->counters.rows[i].name)))
			add_counter(maker, i, series);
	}
}

/* Two pools with the same looks would be one for whoever reads their names. */
struct looks {
	gt_id process;
	gt_id device;
	gt_string name;
};

/* Readers of a trace put tracks together that have one name. */
static void find_twins(struct gt_memory_shown *shown)
{
	struct gt_index *known = gt_index_new(sizeof(struct looks));
	const size_t count = shown->groups.count;
	uint32_t *first = gt_allocate((count + 1) * sizeof(*first));

	shown->has_twin = gt_allocate((count + 1) * sizeof(*shown->has_twin));
	for (uint32_t i = 0; i < count; i++) {
		const struct gt_memory_group *group = &shown->groups.rows[i];
		struct looks looks = {.process = group->process, .device = group->device};
		const size_t before = gt_index_count(known);
		size_t number;

		shown->has_twin[i] = false;
		if (group->pool == GT_NONE)
			continue;
		looks.name = shown->trace->pools.rows[group->pool].name;
		number = gt_index_add(known, &looks);
		if (number < before)
			shown->has_twin[i] = shown->has_twin[first[number]] = true;
		else
			first[number] = i;
	}
	gt_array_free(first);
	gt_index_free(known);
}

static void allocate(struct gt_memory_maker *maker)
{
	const size_t count = maker->shown->groups.count + 1;

	maker->in_use = gt_allocate(count * sizeof(*maker->in_use));
	maker->line_bytes =
		gt_allocate((maker->shown->lines.count + 1) * sizeof(*maker->line_bytes));
	maker->peak_marked = gt_allocate_zeroed(count, sizeof(*maker->peak_marked));
	maker->shown->peaks = gt_allocate_zeroed(count, sizeof(*maker->shown->peaks));
}

bool gt_memory_is_known(const struct gt_trace *trace)
{
	return trace->memory_calls.count + trace->allocations.count + trace->pools.count > 0;
}

void gt_memory_shown_init(struct gt_memory_shown *shown, const struct gt_view *view)
{
	struct gt_memory_maker maker = {.shown = shown, .view = view, .trace = view->trace};

	*shown = (struct gt_memory_shown){.trace = view->trace};
	maker.groups = gt_index_new(sizeof(struct gt_memory_group));
	gt_memory_use_init(&maker.use, view);
	gt_memory_find_parts(&maker);
	gt_memory_find_other_groups(&maker);
	allocate(&maker);
	find_twins(shown);
	look(&maker);
	maker.allocations =
		gt_memory_pick(view->trace->allocations.count, span_of_allocation, &maker);
	maker.blocks = gt_memory_pick(view->trace->pool_blocks.count, span_of_block, &maker);
	draw(&maker);
	add_counters(&maker);
	gt_memory_use_release(&maker.use);
	gt_index_free(maker.groups);
	gt_array_free(maker.parts);
	gt_array_free(maker.in_use);
	gt_array_free(maker.line_bytes);
	gt_array_free(maker.peak_marked);
	gt_array_free(maker.allocations);
	gt_array_free(maker.blocks);
}

void gt_memory_shown_release(struct gt_memory_shown *shown)
{
	gt_array_each(struct gt_memory_line, line, &shown->lines)
		gt_thinned_release(&line->values);
	gt_array_release(&shown->groups);
	gt_array_release(&shown->lines);
	gt_array_release(&shown->marks);
	gt_array_free(shown->peaks);
	gt_array_free(shown->has_twin);
	shown->peaks = NULL;
	shown->has_twin = NULL;
}
