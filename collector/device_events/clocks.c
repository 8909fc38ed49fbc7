/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/device_events/builder.h"

#include <math.h>
#include <stdbool.h>

/* By so much a clock may be off its peak, which is all that is known of it. */
#define GUESSED_DOUBT 0.3

/* By so much a GPU's clock changes with its load. */
#define USUAL_DOUBT 0.1

/* So many steps of %globaltimer tell a rate. */
#define STEPS_ENOUGH 64

/* Within so much time the half clock cannot have gone round: of one that makes 8 GHz. */
#define UNTURNED_NS 500000000

/*
 * Cycles between two pairs of a writer's that its multiprocessor's clock is told by. Nearer ones
 * say nothing more, as %globaltimer goes on in steps.
 */
#define PAIRS_APART 2000

gt_id gt_event_context(const struct gt_event_builder *builder, uint32_t context)
{
	return gt_known_find(&builder->capture->contexts, context);
}

gt_id gt_event_device(const struct gt_event_builder *builder, uint32_t context)
{
	const gt_id row = gt_event_context(builder, context);

	return row == GT_NONE ? GT_NONE : builder->trace->contexts.rows[row].device;
}

/* Rows of device_clocks come in the order of captures, and so do processes. */
static void find_clocks(struct gt_event_builder *builder)
{
	const struct gt_trace *trace = builder->trace;
	size_t at = builder->clocks_at;

	while (at < trace->device_clocks.count &&
	       trace->device_clocks.rows[at].process < builder->capture->process)
		at++;
	for (; at < trace->device_clocks.count; at++) {
		const struct gt_device_clock *row = &trace->device_clocks.rows[at];
		struct gt_built_gpu *gpu;

		if (row->process != builder->capture->process)
			break;
		gpu = &builder->gpus[row->device];
		if (gpu->clocks.count++ == 0)
			gpu->clocks.rows = row;
		if (row->step_ns > gpu->step_ns)
			gpu->step_ns = row->step_ns;
	}
	builder->clocks_at = at;
}

static bool tells_rate(const struct gt_built_gpu *gpu, uint64_t baseline_ns)
{
	return baseline_ns >= (uint64_t)STEPS_ENOUGH * gpu->step_ns && baseline_ns <= UNTURNED_NS;
}

/* The rate of a clock that is told from the longest time that one chunk covers. */
static void look_at_rate(struct gt_built_gpu *gpu, const struct gt_written_chunk *chunk,
                         const struct gt_written_step *step)
{
	const uint64_t baseline_ns = step->globaltimer - chunk->globaltimer;
	const double cycles = (double)(step->clock - chunk->clock);

	if (step->globaltimer <= chunk->globaltimer || !tells_rate(gpu, baseline_ns) ||
	    baseline_ns <= gpu->usual.baseline_ns || !(cycles > 0))
		return;
	gpu->usual = (struct gt_rate){(double)baseline_ns / cycles, USUAL_DOUBT, baseline_ns};
}

static void find_rates(struct gt_event_builder *builder)
{
	gt_array_each(const struct gt_written_chunk, chunk, &builder->written.chunks) {
		const gt_id device = gt_event_device(builder, chunk->context);
		struct gt_written_reader reader = gt_written_read(&builder->written, chunk, 0);
		struct gt_written_step step;

		while (device != GT_NONE && gt_written_next(&reader, &step))
			if (step.globaltimer)
				look_at_rate(&builder->gpus[device], chunk, &step);
	}
}

/* From one chunk of a multiprocessor to the next: its clock may have stood still in between, so
 * that the quickest holds. */
static void look_between(struct gt_built_gpu *gpu, const struct gt_written_chunk *before,
                         const struct gt_written_chunk *chunk)
{
	const uint64_t baseline_ns = chunk->globaltimer - before->globaltimer;
	double ns_per_cycle;

	if (chunk->globaltimer <= before->globaltimer || chunk->clock <= before->clock ||
	    !tells_rate(gpu, baseline_ns))
		return;
	ns_per_cycle = (double)baseline_ns / (double)(chunk->clock - before->clock);
	if (gpu->usual.baseline_ns == 0 || ns_per_cycle < gpu->usual.ns_per_cycle)
		gpu->usual = (struct gt_rate){ns_per_cycle, USUAL_DOUBT, baseline_ns};
}

/* Where kernels are so short that no chunk tells how fast its clock is. */
static void find_rates_between(struct gt_event_builder *builder)
{
	struct gt_known last = {0}; /* by GPU and multiprocessor: its last chunk */
	bool *wanted = gt_allocate(builder->trace->devices.count * sizeof(*wanted));

	for (size_t i = 0; i < builder->trace->devices.count; i++)
		wanted[i] = builder->gpus[i].usual.baseline_ns == 0;
	for (size_t i = 0; i < builder->written.chunks.count; i++) {
		const struct gt_written_chunk *chunk = &builder->written.chunks.rows[i];
		const gt_id device = gt_event_device(builder, chunk->context);
		const uint64_t key = (uint64_t)device << 32 | chunk->sm;
		const gt_id before = gt_known_find(&last, key);

		if (device == GT_NONE || !wanted[device])
			continue;
		if (before != GT_NONE)
			look_between(&builder->gpus[device], &builder->written.chunks.rows[before],
			             chunk);
		gt_known_set(&last, key, (gt_id)i);
	}
	gt_known_release(&last);
	gt_array_free(wanted);
}

void gt_event_find_gpus(struct gt_event_builder *builder)
{
	const struct gt_trace *trace = builder->trace;

	builder->gpus = gt_allocate(trace->devices.count * sizeof(*builder->gpus));
	for (size_t i = 0; i < trace->devices.count; i++) {
		const uint32_t khz = trace->devices.rows[i].sm_clock_khz;

		builder->gpus[i] = (struct gt_built_gpu){
			.usual = {khz ? 1e6 / khz : 1, khz ? GUESSED_DOUBT : 1,
		                  0} /* 1 GHz: nobody knows */,
		};
	}
	find_clocks(builder);
	for (size_t i = 0; i < trace->devices.count; i++)
		if (builder->gpus[i].step_ns == 0)
			builder->gpus[i].step_ns = GT_COARSEST_STEP_NS;
	find_rates(builder);
	find_rates_between(builder);
}

double gt_event_cycles(const struct gt_built_gpu *gpu)
{
	return 1 / fmin(fmax(gpu->usual.ns_per_cycle, 0.01), 100);
}

void gt_event_fit_ticks(struct gt_event_builder *builder, const struct gt_written_launch *launch)
{
	struct gt_ticks *ticks = &builder->ticks;

	gt_ticks_clear(ticks);
	for (uint32_t i = launch->first; i < launch->first + launch->count; i++) {
		const struct gt_written_chunk *chunk = &builder->written.chunks.rows[i];
		struct gt_written_reader reader =
			gt_written_read(&builder->written, chunk, gt_event_cycles(builder->gpu));
		struct gt_written_step step;
		uint64_t last_clock = chunk->clock;

		gt_ticks_add(ticks, chunk->sm, chunk->clock, chunk->globaltimer);
		while (gt_written_next(&reader, &step)) {
			if (!step.globaltimer || step.clock - last_clock < PAIRS_APART)
				continue;
			gt_ticks_add(ticks, chunk->sm, step.clock, step.globaltimer);
			last_clock = step.clock;
		}
	}
	gt_ticks_fit(ticks, &builder->gpu->usual, builder->gpu->step_ns);
}

/* The doubt of the way from the multiprocessor's clock adds to the bound of that time. */
static void note_doubt(const struct gt_event_builder *builder, gt_time time_ns, double doubt_ns)
{
	const struct gt_device_clock *row = gt_device_clock_at(&builder->gpu->clocks, time_ns);
	double *known_ns = &builder->doubts_ns[row - builder->trace->device_clocks.rows];

	*known_ns = fmax(*known_ns, doubt_ns);
}

gt_time gt_event_time(struct gt_event_builder *builder, uint64_t clock)
{
	const struct gt_device_clocks *clocks = &builder->gpu->clocks;
	double doubt_ns;
	const uint64_t timer =
		gt_ticks_timer(&builder->ticks, builder->thread.chunk->sm, clock, &doubt_ns);
	const gt_time time_ns = gt_device_time(clocks, timer);

	if (time_ns <= 0 || time_ns < clocks->rows[0].start_ns - GT_FAR_EVENT_NS ||
	    time_ns > clocks->rows[clocks->count - 1].end_ns + GT_FAR_EVENT_NS) {
		builder->impossible++;
		return 0;
	}
	if (doubt_ns >= 0.5)
		note_doubt(builder, time_ns, doubt_ns);
	return time_ns;
}
