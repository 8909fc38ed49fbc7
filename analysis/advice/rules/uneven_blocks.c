/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/advice/advice.h"
#include "analysis/advice/facts.h"
#include "analysis/device_events/phases.h"
#include "model/trace.h"
#include "model/view/view.h"

enum {
	LEAST_WINDOW_PERCENT = 5, /* that the launches of a function take */
	LEAST_IDLE_PERCENT =
		15,         /* of their time on all multiprocessors, that is waited for the last */
	LEAST_UNEVEN = 125, /* slowest block / mean one of a range, in percent: that is why */
};

/* Loss of the launches of one function, by their device events. */
struct loss {
	gt_array(struct gt_interval) launches;
	gt_array(struct gt_interval) tails; /* of them: so long until the last multiprocessor */
	uint64_t total_ns;                  /* sums over launches */
	double waited_ns; /* time of a multiprocessor until the last one was done, a mean of each */
};

static void add_launch(struct loss *loss, const struct gt_kernel *kernel,
                       const struct gt_device_launch_facts *facts)
{
	const double kernel_ns = (double)(kernel->end_ns - kernel->start_ns);
	const double waited_ns = fmin((double)facts->idle_ns / (double)facts->sms, kernel_ns);

	*gt_array_push(&loss->launches) = (struct gt_interval){kernel->start_ns, kernel->end_ns};
	*gt_array_push(&loss->tails) =
		(struct gt_interval){kernel->end_ns - (gt_time)waited_ns, kernel->end_ns};
	loss->total_ns += (uint64_t)kernel_ns;
	loss->waited_ns += waited_ns;
}

static struct loss loss_of(const struct gt_device_phases *phases, size_t function)
{
	struct loss loss = {0};

	for (size_t i = 0; i < phases->writers.launches.count; i++) {
		const struct gt_device_launch *launch = &phases->writers.launches.rows[i];

		if (gt_device_kernel_ns(phases->trace, launch) > 0 &&
		    gt_device_function(phases, launch) == function)
			add_launch(&loss, &phases->trace->kernels.rows[launch->kernel],
			           &phases->facts[i]);
	}
	return loss;
}

static double uneven(const struct gt_device_name *name)
{
	return name->blocks.mean_ns > 0 ? name->blocks.slowest_ns / name->blocks.mean_ns : 0;
}

/* The range that takes most longer on the slowest block than on the mean one; NULL: none. */
static const struct gt_device_name *find_reason(const struct gt_device_phases *phases,
                                                size_t function)
{
	const struct gt_device_name *reason = NULL;
	double most_ns = 0;

	gt_array_each(const struct gt_device_name, name, &phases->names) {
		const double more_ns = name->blocks.slowest_ns - name->blocks.mean_ns;

		if (name->function != function || more_ns <= most_ns ||
		    100 * uneven(name) < LEAST_UNEVEN)
			continue;
		most_ns = more_ns;
		reason = name;
	}
	return reason;
}

static void say(struct gt_advice *advice, const struct gt_device_phases *phases, size_t function,
                const struct gt_device_name *reason, double percent, struct gt_share waited)
{
	const char *kernel = phases->functions.names[function];
	struct gt_advice_row *row = gt_advise(
		advice, GT_ADVICE_CHANGE,
		"The multiprocessors of %s are done %s of its time before the last one is: "
		"%s takes %s times as long on the slowest block as on the mean one. Smaller "
		"pieces of work, the longest first, or blocks that take one piece after the "
		"other even that out.",
		kernel, gt_figure_percent(percent).text, gt_trace_text(phases->trace, reason->name),
		gt_figure_real(uneven(reason)).text);

	gt_advice_cite(row, "device-events", "kernels", "idle_percent", percent, "%s: %s", kernel,
	               gt_figure_percent(percent).text);
	gt_advice_cite(row, "device-events", "ranges", "block_imbalance", uneven(reason), "%s",
	               gt_figure_real(uneven(reason)).text);
	gt_advice_gain(
		row, GT_GAIN_AT_MOST, waited,
		"time from the end of each multiprocessor to that of the last one, a mean of "
		"all that told events");
}

static void look_at(const struct gt_facts *facts, struct gt_advice *advice,
                    const struct gt_device_phases *phases, size_t function)
{
	struct loss loss = loss_of(phases, function);
	const struct gt_device_name *reason = find_reason(phases, function);
	const double percent = 100 * loss.waited_ns / (double)loss.total_ns;
	const struct gt_share took = gt_share_of_intervals(
		&facts->wall, loss.launches.rows, loss.launches.count, GT_OF_RECORDING, GT_NONE);

	if (loss.total_ns > 0 && percent >= LEAST_IDLE_PERCENT && reason &&
	    gt_share_reaches(&took, LEAST_WINDOW_PERCENT))
		say(advice, phases, function, reason, percent,
		    gt_share_of_intervals(&facts->wall, loss.tails.rows, loss.tails.count,
		                          GT_OF_RECORDING, GT_NONE));
	gt_array_release(&loss.launches);
	gt_array_release(&loss.tails);
}

/* Where no kernel told events there is nothing to say: they are rarely there. */
static void look(const struct gt_facts *facts, struct gt_advice *advice)
{
	struct gt_device_phases phases;

	if (facts->view->trace->device_events.count == 0)
		return;
	gt_device_phases_init(&phases, facts->view->trace);
	/* The last function stands for kernels that are not known. */
	for (size_t i = 0; i + 1 < phases.functions.count; i++)
		look_at(facts, advice, &phases, i);
	gt_device_phases_release(&phases);
}

const struct gt_advice_rule gt_advice_uneven_blocks = {
	.name = "uneven_blocks",
	.summary = "Kernels that told events, whose multiprocessors wait for the slowest block",
	.report = "device-events",
	.undisturbed = true,
	.of_recording = look,
};
