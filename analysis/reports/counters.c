/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/kernels/groups.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "analysis/statistics/spread.h"
#include "analysis/time/profiled.h"
#include "base/array.h"
#include "model/gpu/sampled.h"
#include "model/trace.h"
#include "model/view/view.h"

static const struct gt_heading counter_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_KEY},
	{"counter", GT_UNIT_TEXT, "Name of the counter", GT_WORTH_NAME},
	{"unit", GT_UNIT_TEXT, "Unit of the figures in this row", GT_WORTH_KEY},
	{"samples", GT_UNIT_COUNT, "Samples in which it was measured; 0: not measured",
         GT_WORTH_LITTLE},
	{"mean", GT_UNIT_REAL, "Over the time of all samples", GT_WORTH_KEY,
         .row_unit = GT_ROW_UNIT},
	{"median", GT_UNIT_REAL, "Half of the samples have no more", GT_WORTH_KEY,
         .row_unit = GT_ROW_UNIT},
	{"p95", GT_UNIT_REAL, "95 percent of the samples have no more", GT_WORTH_ORDINARY,
         .row_unit = GT_ROW_UNIT},
	{"p99", GT_UNIT_REAL, "99 percent of the samples have no more", GT_WORTH_LITTLE,
         .row_unit = GT_ROW_UNIT},
	{"max", GT_UNIT_REAL, "Most in any sample", GT_WORTH_KEY, .row_unit = GT_ROW_UNIT},
	{"above_ns", GT_UNIT_NS,
         "Time of samples with above percent or more: of 100 percent where the unit is %, else of "
         "max",
         GT_WORTH_ORDINARY},
	{"above_percent", GT_UNIT_PERCENT, "above_ns of the time of all samples", GT_WORTH_LITTLE},
	{"total", GT_UNIT_REAL, "In all samples together, without the \"/s\" of the unit",
         GT_WORTH_LITTLE, .row_unit = GT_ROW_UNIT_TOTAL},
};

static const struct gt_heading kernel_headings[] = {
	{"kernel", GT_UNIT_TEXT, "Name", GT_WORTH_NAME},
	{"samples", GT_UNIT_COUNT, "Samples in which nothing else ran", GT_WORTH_KEY},
	{"sampled_ns", GT_UNIT_NS, "Time of these samples", GT_WORTH_KEY},
	{"busy_share_percent", GT_UNIT_PERCENT, "sampled_ns of the time that the kernel ran",
         GT_WORTH_LITTLE},
	{"dram_read_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "Read from device memory",
         GT_WORTH_KEY},
	{"dram_write_bytes_per_second", GT_UNIT_BYTES_PER_SECOND, "Written to device memory",
         GT_WORTH_KEY},
	{"dram_throughput_percent", GT_UNIT_PERCENT,
         "Use of device memory, of the most that it could do", GT_WORTH_KEY},
	{"sm_active_percent", GT_UNIT_PERCENT, "Cycles in which multiprocessors had a warp",
         GT_WORTH_ORDINARY},
	{"warps_active_percent", GT_UNIT_PERCENT,
         "Warps on multiprocessors, of those there is room for: achieved occupancy",
         GT_WORTH_ORDINARY},
	{"tensor_active_percent", GT_UNIT_PERCENT, "Cycles in which tensor cores worked",
         GT_WORTH_ORDINARY},
	{"fma_active_percent", GT_UNIT_PERCENT,
         "Cycles in which the pipe for FP32 multiplications and additions worked", GT_WORTH_LITTLE},
	{"l2_hit_percent", GT_UNIT_PERCENT, "Sectors that were in the L2 cache, mean over time",
         GT_WORTH_LITTLE},
};

/* The counters behind these columns, in their order; the first two are sums. */
static const char *const roles[] = {
	"dram_read_bytes",    "dram_write_bytes",     "dram_throughput_percent",
	"sm_active_percent",  "warps_active_percent", "tensor_active_percent",
	"fma_active_percent", "l2_hit_percent",
};

enum { ROLES = sizeof(roles) / sizeof(roles[0]) };

static const struct gt_heading coverage_headings[] = {
	{"device", GT_UNIT_TEXT, "GPU", GT_WORTH_NAME},
	{"samples", GT_UNIT_COUNT, "In which anything was measured", GT_WORTH_KEY},
	{"interval_ns", GT_UNIT_NS, "Half of the samples are no longer", GT_WORTH_KEY},
	{"sampled_ns", GT_UNIT_NS, "Time of all samples", GT_WORTH_KEY},
	{"kernel_ns", GT_UNIT_NS,
         "Part of it in samples that lie in one execution of a kernel, with nothing beside it",
         GT_WORTH_KEY},
	{"shared_ns", GT_UNIT_NS,
         "Part of it in samples in which several things ran, or one for a part of it",
         GT_WORTH_KEY},
	{"idle_ns", GT_UNIT_NS, "Part of it in samples in which nothing ran", GT_WORTH_KEY},
	{"gaps", GT_UNIT_COUNT, "Times for which the samples were lost", GT_WORTH_LITTLE},
	{"gap_ns", GT_UNIT_NS, "How long these were together", GT_WORTH_LITTLE},
};

static const struct gt_parameter parameters[] = {
	{"above", GT_PARAMETER_COUNT, "80", "Percent from which on time counts as above"},
	{"kernels", GT_PARAMETER_ROWS, "20", "Kernels that are listed, most sampled first"},
	{0},
};

enum { ABOVE, KERNELS }; /* arguments, as above */

/* A mean over time, as it is gathered. */
struct sum {
	double value;   /* of a sum how much, of a mean times nanoseconds */
	double time_ns; /* in which it was measured */
};

/* Samples of the kernels of one name. */
struct group {
	size_t number;
	uint64_t samples;
	double time_ns;
	struct sum sums[ROLES];
};

struct tally {
	const struct gt_trace *trace;
	double above_percent;
	struct gt_sampled_list sampled;
	struct gt_kernel_groups groups;
	struct group *kernels; /* by number of the group */
	uint64_t *busy_ns;     /* likewise: how long they ran */
	bool measured[ROLES];  /* on any GPU */
};

static void tally_init(struct tally *tally, const struct gt_trace *trace, uint64_t above)
{
	*tally = (struct tally){
		.trace = trace,
		.above_percent = (double)above,
	};
	gt_kernel_groups_init(&tally->groups, trace, GT_BY_NAME);
	tally->kernels = gt_allocate(tally->groups.count * sizeof(*tally->kernels));
	tally->busy_ns = gt_allocate(tally->groups.count * sizeof(*tally->busy_ns));
	for (size_t i = 0; i < tally->groups.count; i++) {
		tally->kernels[i] = (struct group){.number = i};
		tally->busy_ns[i] = 0;
	}
	gt_sampled_list_init(&tally->sampled, trace);
}

static void tally_release(struct tally *tally)
{
	gt_sampled_list_release(&tally->sampled);
	gt_array_free(tally->kernels);
	gt_array_free(tally->busy_ns);
	gt_kernel_groups_release(&tally->groups);
}

/* The values of a counter by sample: rates of sums, all others as they are. */
struct values {
	double *all; /* sorted once they are all there */
	size_t count;
	double total;   /* of sums */
	double area;    /* values times nanoseconds */
	double time_ns; /* of these samples */
};

static void values_init(struct values *values, const struct gt_sampled *sampled,
                        const struct gt_counter *counter)
{
	const double *column = sampled->series->columns[counter->place];
	const bool sums = counter->kind == GT_COUNTER_SUM;

	*values = (struct values){
		.all = gt_allocate(sampled->series->count * sizeof(*values->all)),
	};
	for (size_t i = 0; i < sampled->series->count; i++) {
		const double length_ns = gt_sampled_length(sampled, i);

		if (!isfinite(column[i]) || length_ns <= 0)
			continue;
		values->total += column[i];
		values->area += sums ? column[i] * 1e9 : column[i] * length_ns;
		values->time_ns += length_ns;
		values->all[values->count++] = sums ? column[i] * 1e9 / length_ns : column[i];
	}
	gt_sort_reals(values->all, values->count);
}

/* The time of samples in which it was so much or more. */
static double time_above(const struct gt_sampled *sampled, const struct gt_counter *counter,
                         double least)
{
	const double *column = sampled->series->columns[counter->place];
	double time_ns = 0;

	for (size_t i = 0; i < sampled->series->count; i++) {
		const double length_ns = gt_sampled_length(sampled, i);
		const double value =
			counter->kind == GT_COUNTER_SUM ? column[i] * 1e9 / length_ns : column[i];

		if (length_ns > 0 && isfinite(value) && value >= least)
			time_ns += length_ns;
	}
	return time_ns;
}

static void add_figures(struct gt_result *result, const struct tally *tally,
                        const struct gt_sampled *sampled, const struct gt_counter *counter,
                        const struct values *values)
{
	const double most = values->all[values->count - 1];
	const bool is_share = strcmp(gt_trace_text(tally->trace, counter->unit), "%") == 0;
	const double above_ns =
		time_above(sampled, counter, tally->above_percent / 100 * (is_share ? 100 : most));

	gt_result_add_real(result, values->area / values->time_ns);
	gt_result_add_real(result, gt_rank_of(values->all, values->count, 50));
	gt_result_add_real(result, gt_rank_of(values->all, values->count, 95));
	gt_result_add_real(result, gt_rank_of(values->all, values->count, 99));
	gt_result_add_real(result, most);
	gt_add_rounded(result, above_ns);
	gt_result_add_real(result, gt_percent(above_ns, values->time_ns));
	gt_result_add_real(result, counter->kind == GT_COUNTER_SUM ? values->total : NAN);
}

static void add_counter(struct gt_result *result, const struct tally *tally,
                        const struct gt_sampled *sampled, const struct gt_counter *counter)
{
	const char *unit = gt_trace_text(tally->trace, counter->unit);
	struct values values;

	values_init(&values, sampled, counter);
	gt_add_device(result, tally->trace, counter->device);
	gt_add_string(result, tally->trace, counter->name);
	if (counter->kind == GT_COUNTER_SUM)
		gt_result_add_format(result, "%s/s", unit);
	else
		gt_result_add_text(result, unit);
	gt_result_add_count(result, (int64_t)values.count);
	if (values.count > 0)
		add_figures(result, tally, sampled, counter, &values);
	else
		gt_result_add_unknowns(result, 8);
	gt_array_free(values.all);
}

static void add_counters(struct gt_result *result, const struct tally *tally)
{
	gt_result_begin(result, "counters", counter_headings, GT_COUNT_OF(counter_headings));
	gt_array_each(const struct gt_counter, counter, &tally->trace->counters) {
		const struct gt_sampled *sampled = gt_sampled_of(&tally->sampled, counter);

		if (sampled)
			add_counter(result, tally, sampled, counter);
	}
}

/* Which of the roles a counter has; ROLES: none. */
static size_t role_of(const struct gt_trace *trace, const struct gt_counter *counter)
{
	size_t role = 0;

	while (role < ROLES && strcmp(gt_trace_text(trace, counter->name), roles[role]) != 0)
		role++;
	return role;
}

static struct group *group_of(const struct tally *tally, gt_id kernel)
{
	const struct gt_kernel *row = &tally->trace->kernels.rows[kernel];

	return &tally->kernels[gt_kernel_group_of(&tally->groups, row)];
}

/* Values of a counter in the samples that are one kernel's. */
static void gather_role(struct tally *tally, const struct gt_sampled *sampled,
                        const struct gt_counter *counter, size_t role)
{
	tally->measured[role] = true;
	for (size_t i = 0; i < sampled->series->count; i++) {
		const double value = sampled->series->columns[counter->place][i];
		const double length_ns = gt_sampled_length(sampled, i);
		struct sum *sum;

		if (sampled->kernels[i] == GT_NONE || !isfinite(value))
			continue;
		sum = &group_of(tally, sampled->kernels[i])->sums[role];
		sum->value += counter->kind == GT_COUNTER_SUM ? value : value * length_ns;
		sum->time_ns += length_ns;
	}
}

static void gather_times(struct tally *tally, const struct gt_sampled *sampled)
{
	for (size_t i = 0; i < sampled->series->count; i++) {
		struct group *group;

		if (sampled->kernels[i] == GT_NONE)
			continue;
		group = group_of(tally, sampled->kernels[i]);
		group->samples++;
		group->time_ns += gt_sampled_length(sampled, i);
	}
}

static void gather(struct tally *tally)
{
	for (size_t i = 0; i < tally->sampled.count; i++)
		gather_times(tally, &tally->sampled.rows[i]);
	gt_array_each(const struct gt_counter, counter, &tally->trace->counters) {
		const struct gt_sampled *sampled = gt_sampled_of(&tally->sampled, counter);
		const size_t role = role_of(tally->trace, counter);

		if (sampled && role < ROLES)
			gather_role(tally, sampled, counter, role);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct group *left = a;
	const struct group *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns > right->time_ns ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

static void add_role(struct gt_result *result, const struct group *group, size_t role)
{
	const struct sum *sum = &group->sums[role];
	const bool is_rate = role < 2;

	gt_result_add_real(
		result, sum->time_ns > 0 ? sum->value / sum->time_ns * (is_rate ? 1e9 : 1) : NAN);
}

static void add_kernel(struct gt_result *result, const struct tally *tally,
                       const struct group *group)
{
	gt_result_add_format(result, "%s", tally->groups.labels[group->number]);
	gt_result_add_count(result, (int64_t)group->samples);
	gt_add_rounded(result, group->time_ns);
	gt_result_add_real(result,
	                   gt_percent(group->time_ns, (double)tally->busy_ns[group->number]));
	for (size_t role = 0; role < ROLES; role++)
		add_role(result, group, role);
}

static void add_kernels(struct gt_result *result, struct tally *tally, uint64_t most)
{
	size_t count = 0;

	gt_array_each(const struct gt_kernel, kernel, &tally->trace->kernels)
		if (kernel->end_ns > kernel->start_ns)
			tally->busy_ns[gt_kernel_group_of(&tally->groups, kernel)] +=
				(uint64_t)(kernel->end_ns - kernel->start_ns);
	qsort(tally->kernels, tally->groups.count, sizeof(*tally->kernels), by_time);
	gt_result_order(result, "sampled_ns");
	for (size_t i = 0; i < tally->groups.count && tally->kernels[i].samples > 0; i++) {
		if (count++ < most)
			add_kernel(result, tally, &tally->kernels[i]);
	}
	gt_result_top(result, count, most);
}

static void add_coverage_of(struct gt_result *result, const struct gt_trace *trace,
                            const struct gt_sampled *sampled)
{
	double times_ns[GT_SAMPLED_SHARED + 1] = {0};
	size_t counts[GT_SAMPLED_SHARED + 1] = {0};
	int64_t *lengths = gt_allocate(sampled->series->count * sizeof(*lengths));
	size_t samples = 0;

	for (size_t i = 0; i < sampled->series->count; i++) {
		const double length_ns = gt_sampled_length(sampled, i);

		times_ns[sampled->places[i]] += length_ns;
		counts[sampled->places[i]]++;
		if (sampled->places[i] != GT_SAMPLED_GAP)
			lengths[samples++] = llround(length_ns);
	}
	gt_add_device(result, trace, sampled->span->device);
	gt_result_add_count(result, (int64_t)samples);
	gt_result_add_count_if(result, samples > 0,
	                       samples ? gt_percentile(lengths, samples, 50) : 0);
	gt_add_rounded(result, times_ns[GT_SAMPLED_KERNEL] + times_ns[GT_SAMPLED_SHARED] +
	                               times_ns[GT_SAMPLED_IDLE]);
	gt_add_rounded(result, times_ns[GT_SAMPLED_KERNEL]);
	gt_add_rounded(result, times_ns[GT_SAMPLED_SHARED]);
	gt_add_rounded(result, times_ns[GT_SAMPLED_IDLE]);
	gt_result_add_count(result, (int64_t)counts[GT_SAMPLED_GAP]);
	gt_add_rounded(result, times_ns[GT_SAMPLED_GAP]);
	gt_array_free(lengths);
}

static void add_coverage(struct gt_result *result, const struct tally *tally)
{
	for (size_t i = 0; i < tally->sampled.count; i++)
		add_coverage_of(result, tally->trace, &tally->sampled.rows[i]);
}

/* Notes of the source of counters: what stood in its way. */
static void remark_notes(struct gt_result *result, const struct gt_trace *trace, bool empty)
{
	gt_array_each(const struct gt_note, note, &trace->notes) {
		if (strcmp(gt_trace_text(trace, note->topic), "counters") != 0)
			continue;
		if (empty)
			gt_result_remark_empty(result, "Not measured: %s.",
			                       gt_trace_text(trace, note->text));
		else
			gt_result_remark(result, "Noted: %s.", gt_trace_text(trace, note->text));
	}
}

static void add_remarks(struct gt_result *result, const struct tally *tally, bool cut)
{
	static const char columns[] =
		"dram_read_bytes_per_second dram_write_bytes_per_second dram_throughput_percent "
		"sm_active_percent warps_active_percent tensor_active_percent fma_active_percent "
		"l2_hit_percent";
	bool all = true;

	remark_notes(result, tally->trace,
	             tally->sampled.count + tally->trace->profiled_launches.count == 0);
	if (tally->sampled.count == 0 && tally->trace->profiled_launches.count > 0)
		return;
	if (tally->sampled.count == 0) {
		if (!gt_result_says_why_empty(result))
			gt_result_remark_empty(result, "No hardware counters were recorded: "
			                               "gputrace run --counters samples them, "
			                               "run --kernel-counters reads them of "
			                               "single launches.");
		return;
	}
	for (size_t role = 0; role < ROLES; role++)
		all = all && tally->measured[role];
	if (!all)
		gt_result_remark_on(result, columns,
		                    "Columns of kernels without figures were not measured: run "
		                    "--counters samples all that the GPU has room for.");
	if (cut)
		gt_result_remark(result, "No sample is given to a kernel: of what else ran a part "
		                         "was left out by the options.");
	gt_result_remark(result,
	                 "A sample belongs to a kernel when it lies wholly in one execution "
	                 "of it and nothing else ran; kernels shorter than two samples "
	                 "have hardly any. Counters are the GPU's, whoever used it.");
}

static int run(const struct gt_view *view, const struct gt_arguments *arguments,
               struct gt_result *result, struct gt_error *err)
{
	struct tally tally;

	(void)err;
	tally_init(&tally, view->trace, arguments->values[ABOVE].number);
	add_counters(result, &tally);
	gather(&tally);
	gt_result_begin(result, "kernels", kernel_headings, GT_COUNT_OF(kernel_headings));
	if (!view->by_work)
		add_kernels(result, &tally, arguments->values[KERNELS].number);
	gt_result_begin(result, "coverage", coverage_headings, GT_COUNT_OF(coverage_headings));
	if (!view->by_work)
		add_coverage(result, &tally);
	gt_add_profiled(result, view->trace, &tally.groups);
	add_remarks(result, &tally, view->by_work && tally.sampled.count > 0);
	gt_remark_profiled(result, view->trace);
	tally_release(&tally);
	return 0;
}

const struct gt_report gt_report_counters = {
	.name = "counters",
	.summary = "Hardware counters of GPUs over time and by kernel",
	.parameters = parameters,
	.run = run,
};
