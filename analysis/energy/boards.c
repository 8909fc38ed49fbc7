/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/energy/boards.h"

#include <math.h>

#include "analysis/time/measured.h"
#include "base/array.h"
#include "model/whole.h"
#include "model/work/activity.h"

void gt_boards_init(struct gt_boards *boards, const struct gt_view *view)
{
	const struct gt_trace *whole = gt_whole_of(view->trace);

	*boards = (struct gt_boards){
		.trace = view->trace,
		.whole = whole,
		.covered = gt_covered_devices(whole),
		.powers = gt_allocate((whole->devices.count + 1) * sizeof(*boards->powers)),
	};
	for (gt_id i = 0; i < whole->devices.count; i++)
		gt_power_init(&boards->powers[i], whole, i, &boards->covered[i].all);
}

void gt_boards_release(struct gt_boards *boards)
{
	for (size_t i = 0; i < boards->whole->devices.count; i++)
		gt_power_release(&boards->powers[i]);
	gt_array_free(boards->powers);
	gt_covered_devices_release(boards->covered, boards->whole);
	*boards = (struct gt_boards){0};
}

struct gt_energy gt_boards_energy(const struct gt_boards *boards, gt_id device,
                                  struct gt_interval when)
{
	const struct gt_covered_device *covered = &boards->covered[device];
	struct gt_energy energy = {0};
	struct gt_interval left = when;
	struct gt_interval part;

	while (gt_covered_next_gap(&covered->unmeasured, &left, &part))
		gt_energy_add(&energy, &boards->powers[device], &covered->all, part);
	return energy;
}

/* When several pieces of work ran at once on each GPU: what begins before what began has ended. */
static struct gt_covered *find_shared(const struct gt_trace *whole)
{
	struct gt_covered *shared = gt_allocate_zeroed(whole->devices.count + 1, sizeof(*shared));
	struct gt_cover *seen = gt_allocate_zeroed(whole->devices.count + 1, sizeof(*seen));
	struct gt_activity_walk walk;
	struct gt_activity work;

	gt_activity_walk_init(&walk, whole, GT_WORK_BUSY);
	while (gt_activity_next(&walk, &work)) {
		struct gt_interval both = {work.start_ns, work.end_ns};
		struct gt_cover *cover;

		if (work.device >= whole->devices.count)
			continue;
		cover = &seen[work.device];
		if (cover->begun && cover->end_ns < both.end_ns)
			both.end_ns = cover->end_ns;
		if (cover->begun)
			gt_covered_add(&shared[work.device], both, GT_NOT_ASKED);
		gt_cover_add(cover, (struct gt_interval){work.start_ns, work.end_ns});
	}
	gt_array_free(seen);
	return shared;
}

/* The window as parts; whole: room for one. */
static struct gt_inside window_of(const struct gt_view *view, struct gt_interval *whole)
{
	*whole = (struct gt_interval){view->start_ns, view->end_ns};
	return view->trace->parts.count
	               ? (struct gt_inside){view->trace->parts.rows, view->trace->parts.count}
	               : (struct gt_inside){whole, 1};
}

static double shared_in(const struct gt_boards *boards, gt_id device,
                        const struct gt_covered *shared, const struct gt_inside *window)
{
	struct gt_energy energy = {0};

	gt_array_each(const struct gt_covered_stretch, stretch, &shared->stretches) {
		struct gt_pieces pieces = gt_pieces_of(
			window, (struct gt_interval){stretch->start_ns, stretch->end_ns});
		struct gt_interval piece;

		while (gt_pieces_next(&pieces, &piece))
			gt_energy_add(&energy, &boards->powers[device],
			              &boards->covered[device].all, piece);
	}
	return energy.active_joules;
}

static double peak_in(const struct gt_boards *boards, gt_id device, const struct gt_inside *window)
{
	struct gt_measured drawn = gt_measured_on(boards->whole, device, "power_mw");
	double peak = NAN;
	size_t part = 0;

	for (size_t i = 0; i < drawn.count; i++) {
		while (part < window->count && window->parts[part].end_ns < drawn.times_ns[i])
			part++;
		if (part < window->count && window->parts[part].start_ns <= drawn.times_ns[i])
			peak = fmax(peak, drawn.values[i] / 1e3);
	}
	gt_measured_release(&drawn);
	return peak;
}

struct gt_board_figures *gt_boards_figures(const struct gt_boards *boards,
                                           const struct gt_view *view)
{
	const size_t count = boards->whole->devices.count;
	struct gt_board_figures *figures = gt_allocate_zeroed(count + 1, sizeof(*figures));
	struct gt_covered *shared = find_shared(boards->whole);
	struct gt_interval all;
	const struct gt_inside window = window_of(view, &all);

	for (gt_id i = 0; i < count; i++) {
		for (size_t part = 0; part < window.count; part++)
			gt_energy_add(&figures[i].energy, &boards->powers[i],
			              &boards->covered[i].all, window.parts[part]);
		figures[i].shared_joules = shared_in(boards, i, &shared[i], &window);
		figures[i].peak_watts = peak_in(boards, i, &window);
		figures[i].window_ns = gt_view_lasts_ns(view);
		gt_covered_release(&shared[i]);
	}
	gt_array_free(shared);
	return figures;
}

gt_time gt_boards_interval(const struct gt_boards *boards)
{
	gt_time interval_ns = 0;

	for (size_t i = 0; i < boards->whole->devices.count; i++)
		if (boards->powers[i].usual_ns > interval_ns)
			interval_ns = boards->powers[i].usual_ns;
	return interval_ns;
}
