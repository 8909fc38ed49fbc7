/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analysis/kernels/family_shares.h"
#include "analysis/ranges/steps/steps.h"
#include "base/array.h"
#include "exporters/exporter.h"
#include "exporters/prometheus/prometheus.h"
#include "model/view/view.h"
#include "model/work/unmeasured.h"

void gt_prometheus_rank(const struct gt_prometheus *prometheus, struct gt_job_rank rank)
{
	char number[24];

	if (rank.rank < 0)
		return;
	snprintf(number, sizeof(number), "%lld", (long long)rank.rank);
	gt_exposition_label(prometheus->exposition, "rank", number);
}

const char *gt_prometheus_job(const struct gt_prometheus *prometheus, const struct gt_told_run *run)
{
	return run && run->job ? run->job : prometheus->job;
}

void gt_prometheus_series(const struct gt_prometheus *prometheus)
{
	struct gt_exposition *out = prometheus->exposition;
	const struct gt_told *told = prometheus->told;

	gt_exposition_series(out);
	gt_exposition_label(out, "recording", told->recording);
	gt_exposition_label(out, "Hostname", prometheus->host);
	gt_exposition_label(out, "hpc_job",
	                    gt_prometheus_job(prometheus, told->run_count ? &told->runs[0] : NULL));
}

/* ---- time ---- */

/* Time in the window of a view, of a list of times that lie apart. */
static uint64_t inside(const struct gt_view *view, const struct gt_unmeasured *unmeasured)
{
	const struct gt_interval window = {view->start_ns, view->end_ns};
	const struct gt_inside inside_it = {&window, 1};
	struct gt_cover cover = {0};

	gt_array_each(const struct gt_interval, interval, &unmeasured->list)
		gt_cover_add_inside(&cover, &inside_it, *interval);
	return cover.covered_ns;
}

void gt_prometheus_write_window(const struct gt_prometheus *prometheus)
{
	struct gt_unmeasured unmeasured;

	gt_exposition_metric(prometheus->exposition, GT_METRIC_measured_seconds_total);
	gt_prometheus_series(prometheus);
	gt_exposition_seconds(prometheus->exposition, gt_view_lasts_ns(prometheus->view));
	gt_unmeasured_init(&unmeasured, prometheus->view->trace);
	gt_exposition_metric(prometheus->exposition, GT_METRIC_not_measured_seconds_total);
	gt_prometheus_series(prometheus);
	gt_exposition_seconds(prometheus->exposition, inside(prometheus->view, &unmeasured));
	gt_unmeasured_release(&unmeasured);
}

/* ---- kernels ---- */

static void write_families(const struct gt_prometheus *prometheus)
{
	struct gt_exposition *out = prometheus->exposition;
	struct gt_family_share shares[GT_FAMILY_COUNT];
	const size_t ran = gt_family_shares(prometheus->view->trace, shares);

	gt_exposition_metric(out, GT_METRIC_kernels_total);
	for (size_t i = 0; i < ran; i++) {
		gt_prometheus_series(prometheus);
		gt_exposition_label(out, "family", gt_family_name(shares[i].family));
		gt_exposition_count(out, shares[i].calls);
	}
	gt_exposition_metric(out, GT_METRIC_kernel_seconds_total);
	for (size_t i = 0; i < ran; i++) {
		gt_prometheus_series(prometheus);
		gt_exposition_label(out, "family", gt_family_name(shares[i].family));
		gt_exposition_seconds(out, shares[i].total_ns);
	}
}

/* ---- steps ---- */

/* Whether the series of two groups would have the same labels: pids are numbered anew, and twice. */
static bool are_alike(const struct gt_trace *trace, const struct gt_step *a,
                      const struct gt_step *b)
{
	if (a->process >= trace->processes.count || b->process >= trace->processes.count)
		return a->process >= trace->processes.count && b->process >= trace->processes.count;
	return trace->processes.rows[a->process].pid == trace->processes.rows[b->process].pid &&
	       trace->processes.rows[a->process].host == trace->processes.rows[b->process].host;
}

static void begin_steps(const struct gt_prometheus *prometheus, const struct gt_steps *steps,
                        gt_id id)
{
	const struct gt_trace *trace = prometheus->view->trace;
	struct gt_exposition *out = prometheus->exposition;
	char name[GT_RANGE_PATH_BYTES];
	char pid[16];

	gt_steps_name(steps, name);
	gt_exposition_series(out);
	gt_exposition_label(out, "recording", prometheus->told->recording);
	gt_exposition_label(out, "hpc_job", prometheus->job);
	gt_exposition_label(out, "path", name);
	if (id >= trace->processes.count)
		return;
	snprintf(pid, sizeof(pid), "%u", trace->processes.rows[id].pid);
	gt_exposition_label(out, "Hostname", gt_trace_text(trace, trace->processes.rows[id].host));
	gt_exposition_label(out, "pid", pid);
	gt_exposition_label(out, "process", gt_trace_text(trace, trace->processes.rows[id].name));
	gt_prometheus_rank(prometheus, gt_job_rank_of(trace, &trace->processes.rows[id]));
}

/* Adds up the groups that are like this one; -1: an earlier one was. */
static int64_t sum_steps(const struct gt_trace *trace, const struct gt_steps *steps, size_t group,
                         bool wall)
{
	const struct gt_step *rows = steps->rows.rows;
	const struct gt_step_group *groups = steps->groups.rows;
	int64_t sum = 0;

	for (size_t i = 0; i < steps->groups.count; i++) {
		if (!are_alike(trace, &rows[groups[i].first], &rows[groups[group].first]))
			continue;
		if (i < group)
			return -1;
		sum += wall ? groups[i].wall.spread.total : (int64_t)groups[i].count;
	}
	return sum;
}

static void write_steps(const struct gt_prometheus *prometheus)
{
	struct gt_exposition *out = prometheus->exposition;
	const struct gt_trace *trace = prometheus->view->trace;
	struct gt_steps steps;

	gt_steps_init(&steps, prometheus->view);
	for (unsigned wall = 0; wall < 2; wall++) {
		gt_exposition_metric(out,
		                     wall ? GT_METRIC_step_seconds_total : GT_METRIC_steps_total);
		for (size_t i = 0; i < steps.groups.count; i++) {
			const int64_t sum = sum_steps(trace, &steps, i, wall);

			if (sum < 0)
				continue;
			begin_steps(prometheus, &steps,
			            steps.rows.rows[steps.groups.rows[i].first].process);
			if (wall)
				gt_exposition_seconds(out, (uint64_t)sum);
			else
				gt_exposition_count(out, (uint64_t)sum);
		}
	}
	gt_steps_release(&steps);
}

static void write_errors(const struct gt_prometheus *prometheus)
{
	if (!gt_trace_has_calls(prometheus->view->trace))
		return;
	gt_exposition_metric(prometheus->exposition, GT_METRIC_cuda_errors_total);
	gt_prometheus_series(prometheus);
	gt_exposition_count(prometheus->exposition, prometheus->facts.failed);
}

void gt_prometheus_write_recording(const struct gt_prometheus *prometheus)
{
	write_families(prometheus);
	write_steps(prometheus);
	write_errors(prometheus);
}
