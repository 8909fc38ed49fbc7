/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/energy/shares.h"

#include <math.h>

#include "base/array.h"
#include "model/whole.h"
#include "model/work/unmeasured.h"

/* A piece of work that runs, or a stretch that is not measured. */
struct running {
	gt_time end_ns;
	gt_id *groups; /* owned */
	size_t group_count;
};

/* A group on one GPU. */
struct member {
	uint32_t running; /* how many pieces of its work run */
	gt_time since_ns; /* the first of these began */
	size_t last_step; /* 1 + the step of power that it ran in last, 0: none yet */
};

/* One GPU up to a moment. */
struct gpu {
	const struct gt_power *power;
	gt_array(struct running) running; /* a heap: what ends first is on top */
	gt_time until_ns;
	struct member *members; /* by group */
};

struct sweep {
	const struct gt_boards *boards;
	const struct gt_energy_groups *groups;
	struct gt_energy_share *shares; /* until it ends, shared_joules are with joules */
	struct gpu *gpus;
	struct gt_unmeasured unmeasured;
	size_t next_unmeasured;
};

/* The joules up to that moment are of the groups that all that runs is in. */
static void share_out(struct sweep *sweep, const struct gpu *gpu, gt_time time_ns)
{
	const struct running *first = gpu->running.rows;
	const struct gt_power_sums from = gt_power_sums(gpu->power, gpu->until_ns);
	const struct gt_power_sums to = gt_power_sums(gpu->power, time_ns);

	for (size_t i = 0; i < first->group_count; i++) {
		struct gt_energy_share *share = &sweep->shares[first->groups[i]];

		if (gpu->members[first->groups[i]].running != gpu->running.count)
			continue;
		share->alone_ns += to.told_ns - from.told_ns;
		share->joules += to.active_joules - from.active_joules;
	}
}

/* The same work runs up to that moment. */
static void go_to(struct sweep *sweep, struct gpu *gpu, gt_time time_ns)
{
	if (time_ns > gpu->until_ns && gpu->running.count > 0 &&
	    gpu->running.rows[0].group_count > 0)
		share_out(sweep, gpu, time_ns);
	gpu->until_ns = time_ns;
}

/* A group ran on a GPU for a while. */
static void add_time(struct gt_energy_share *share, const struct gpu *gpu, struct member *member,
                     gt_time end_ns)
{
	const struct gt_power_sums from = gt_power_sums(gpu->power, member->since_ns);
	const struct gt_power_sums to = gt_power_sums(gpu->power, end_ns);
	const size_t first = gt_power_ended(gpu->power, member->since_ns);
	const size_t behind = gt_power_ended(gpu->power, end_ns - 1);

	share->ran_ns += (uint64_t)(end_ns - member->since_ns);
	if (to.told_ns == from.told_ns)
		return;
	share->told_ns += to.told_ns - from.told_ns;
	share->shared_joules += to.active_joules - from.active_joules;
	share->most_joules += to.least_joules - from.least_joules;
	share->most_joules += to.rest_joules - gpu->power->steps.rows[first].before.rest_joules;
	if (member->last_step == first + 1)
		share->most_joules -=
			from.rest_joules - gpu->power->steps.rows[first].before.rest_joules;
	member->last_step =
		behind < gpu->power->steps.count && gpu->power->steps.rows[behind].start_ns < end_ns
			? behind + 1
			: 0;
}

static void swap(struct running *a, struct running *b)
{
	const struct running kept = *a;

	*a = *b;
	*b = kept;
}

static void push(struct gpu *gpu, struct running running)
{
	struct running *rows;
	size_t at = gpu->running.count;

	*gt_array_push(&gpu->running) = running;
	rows = gpu->running.rows;
	for (; at > 0 && rows[at].end_ns < rows[(at - 1) / 2].end_ns; at = (at - 1) / 2)
		swap(&rows[at], &rows[(at - 1) / 2]);
}

static struct running pop(struct gpu *gpu)
{
	struct running *rows = gpu->running.rows;
	const struct running first = rows[0];
	const size_t count = --gpu->running.count;
	size_t at = 0;

	rows[0] = rows[count];
	for (size_t next = 1; next < count; next = 2 * at + 1) {
		next += next + 1 < count && rows[next + 1].end_ns < rows[next].end_ns;
		if (rows[at].end_ns <= rows[next].end_ns)
			break;
		swap(&rows[at], &rows[next]);
		at = next;
	}
	return first;
}

/* All that ends by then ends. */
static void end_until(struct sweep *sweep, struct gpu *gpu, gt_time time_ns)
{
	while (gpu->running.count > 0 && gpu->running.rows[0].end_ns <= time_ns) {
		struct running ended;

		go_to(sweep, gpu, gpu->running.rows[0].end_ns);
		ended = pop(gpu);
		for (size_t i = 0; i < ended.group_count; i++) {
			struct member *member = &gpu->members[ended.groups[i]];

			if (--member->running == 0)
				add_time(&sweep->shares[ended.groups[i]], gpu, member,
				         ended.end_ns);
		}
		gt_array_free(ended.groups);
	}
}

static void begin(struct sweep *sweep, struct gpu *gpu, struct gt_interval when,
                  const struct gt_activity *shown)
{
	struct running running = {.end_ns = when.end_ns};
	const gt_id *groups = NULL;

	end_until(sweep, gpu, when.start_ns);
	go_to(sweep, gpu, when.start_ns);
	if (when.end_ns <= when.start_ns)
		return;
	if (shown)
		running.group_count = sweep->groups->of(sweep->groups->context, shown, &groups);
	running.groups = gt_allocate(running.group_count * sizeof(*groups));
	for (size_t i = 0; i < running.group_count; i++) {
		struct member *member = &gpu->members[groups[i]];

		running.groups[i] = groups[i];
		if (member->running++ == 0)
			member->since_ns = when.start_ns;
	}
	push(gpu, running);
}

static void begin_unmeasured(struct sweep *sweep, gt_time until_ns)
{
	const struct gt_interval *held;

	while ((held = gt_unmeasured_next(&sweep->unmeasured, &sweep->next_unmeasured, until_ns)))
		for (gt_id i = 0; i < sweep->boards->whole->devices.count; i++)
			begin(sweep, &sweep->gpus[i], *held, NULL);
}

static void see(struct sweep *sweep, const struct gt_activity *work)
{
	const struct gt_trace *trace = sweep->boards->trace;
	struct gt_activity shown = *work;

	begin_unmeasured(sweep, work->start_ns);
	if (work->device >= sweep->boards->whole->devices.count)
		return;
	shown.row = gt_whole_shown(trace, gt_activity_tables[work->type], work->row);
	begin(sweep, &sweep->gpus[work->device], (struct gt_interval){work->start_ns, work->end_ns},
	      shown.row == GT_NONE ? NULL : &shown);
}

static void sweep_init(struct sweep *sweep)
{
	const size_t devices = sweep->boards->whole->devices.count;
	const size_t groups = sweep->groups->count;

	sweep->shares = gt_allocate_zeroed(groups + 1, sizeof(*sweep->shares));
	sweep->gpus = gt_allocate_zeroed(devices + 1, sizeof(*sweep->gpus));
	for (size_t i = 0; i < devices; i++)
		sweep->gpus[i] = (struct gpu){
			.power = &sweep->boards->powers[i],
			.members = gt_allocate_zeroed(groups + 1, sizeof(struct member)),
		};
	gt_unmeasured_init(&sweep->unmeasured, sweep->boards->whole);
}

static void sweep_release(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->boards->whole->devices.count; i++) {
		gt_array_release(&sweep->gpus[i].running);
		gt_array_free(sweep->gpus[i].members);
	}
	gt_array_free(sweep->gpus);
	gt_unmeasured_release(&sweep->unmeasured);
}

/* Times are exact, unlike joules: none are shared where it ran alone all the time. */
static void take_alone(struct gt_energy_share *share)
{
	share->shared_joules = share->alone_ns < share->told_ns
	                               ? fmax(share->shared_joules - share->joules, 0)
	                               : 0;
}

int gt_energy_compare(const struct gt_energy_share *a, const struct gt_energy_share *b)
{
	if (a->joules != b->joules)
		return a->joules < b->joules ? 1 : -1;
	return (a->shared_joules < b->shared_joules) - (a->shared_joules > b->shared_joules);
}

struct gt_energy_share *gt_energy_shares(const struct gt_boards *boards,
                                         const struct gt_energy_groups *groups)
{
	struct sweep sweep = {.boards = boards, .groups = groups};
	struct gt_activity_walk walk;
	struct gt_activity work;

	sweep_init(&sweep);
	gt_activity_walk_init(&walk, boards->whole, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &work))
		see(&sweep, &work);
	begin_unmeasured(&sweep, INT64_MAX);
	for (gt_id i = 0; i < boards->whole->devices.count; i++)
		end_until(&sweep, &sweep.gpus[i], INT64_MAX);
	for (size_t i = 0; i < groups->count; i++)
		take_alone(&sweep.shares[i]);
	sweep_release(&sweep);
	return sweep.shares;
}
