/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/traffic.h"

#include <math.h>
#include <string.h>

#include "analysis/figures.h"
#include "base/array.h"
#include "model/view/view.h"
#include "model/work/timed.h"

const char *gt_traffic_source_name(enum gt_traffic_source source)
{
	static const char *const names[] = {
		[GT_TRAFFIC_COUNTED] = "kernel counters",
		[GT_TRAFFIC_SAMPLED] = "PM samples",
		[GT_TRAFFIC_DECLARED] = "declared",
		[GT_TRAFFIC_UNKNOWN] = "not measured",
	};

	return names[source];
}

/* ---- what is known of single launches ---- */

/* Role of a counter of a launch in these figures. */
enum role { ROLE_TIME, ROLE_READ, ROLE_WRITE, ROLE_FLOPS, ROLE_TENSOR };

static const struct counter_role {
	const char *name;
	enum role role;
	enum gt_flops kind;
	double flops; /* that one of what is counted is */
} counter_roles[] = {
#define TIME(name)               {#name, ROLE_TIME, GT_FLOPS_UNSAID, 0},
#define READ(name)               {#name, ROLE_READ, GT_FLOPS_UNSAID, 0},
#define WRITE(name)              {#name, ROLE_WRITE, GT_FLOPS_UNSAID, 0},
#define FLOPS(name, kind, flops) {#name, ROLE_FLOPS, GT_FLOPS_##kind, flops},
#define TENSOR(name)             {#name, ROLE_TENSOR, GT_FLOPS_UNSAID, 0},
#define TENSOR_FLOPS             FLOPS
#include "analysis/traffic/counters.def"
};

/* Bits by enum gt_flops. */
static const unsigned tensor_kinds = 0
#define TIME(name)
#define READ(name)
#define WRITE(name)
#define FLOPS(name, kind, flops)
#define TENSOR(name)
#define TENSOR_FLOPS(name, kind, flops) | 1U << GT_FLOPS_##kind
#include "analysis/traffic/counters.def"
	;

static const struct counter_role *role_of(const char *name)
{
	for (size_t i = 0; i < GT_COUNT_OF(counter_roles); i++)
		if (strcmp(counter_roles[i].name, name) == 0)
			return &counter_roles[i];
	return NULL;
}

static struct gt_traffic_launch *launch_of(struct gt_traffic_facts *facts, gt_id kernel)
{
	const gt_id row = gt_known_find(&facts->launch_rows, kernel);

	return row == GT_NONE ? NULL : &facts->launches.rows[row];
}

static struct gt_traffic_launch *new_launch(struct gt_traffic_facts *facts, gt_id kernel)
{
	struct gt_traffic_launch *launch;

	gt_known_add(&facts->launch_rows, kernel, (gt_id)facts->launches.count);
	launch = gt_array_push(&facts->launches);
	*launch = (struct gt_traffic_launch){
		.time_ns = NAN,
		.read_bytes = NAN,
		.write_bytes = NAN,
		.tensor_percent = NAN,
	};
	return launch;
}

static void add_counter(struct gt_traffic_facts *facts, const struct gt_kernel_counter *counter)
{
	const struct counter_role *role = role_of(gt_trace_text(facts->trace, counter->name));
	struct gt_traffic_launch *launch;

	if (!role || counter->kernel >= facts->trace->kernels.count || !isfinite(counter->value))
		return;
	launch = launch_of(facts, counter->kernel);
	if (!launch)
		launch = new_launch(facts, counter->kernel);
	switch (role->role) {
	case ROLE_TIME:
		launch->time_ns = counter->value;
		break;
	case ROLE_READ:
		launch->read_bytes = counter->value;
		break;
	case ROLE_WRITE:
		launch->write_bytes = counter->value;
		break;
	case ROLE_FLOPS:
		gt_flops_add(&launch->flops, role->kind, counter->value * role->flops);
		break;
	case ROLE_TENSOR:
		launch->tensor_percent = counter->value;
		break;
	}
}

int gt_traffic_direction(const struct gt_trace *trace, const struct gt_counter *counter)
{
	const char *name = gt_trace_text(trace, counter->name);

	if (counter->kind != GT_COUNTER_SUM)
		return -1;
	if (strcmp(name, "dram_read_bytes") == 0)
		return 0;
	return strcmp(name, "dram_write_bytes") == 0 ? 1 : -1;
}

void gt_traffic_init(struct gt_traffic_facts *facts, const struct gt_view *view)
{
	*facts = (struct gt_traffic_facts){.trace = view->trace, .by_work = view->by_work};
	gt_array_each(const struct gt_kernel_counter, counter, &facts->trace->kernel_counters)
		add_counter(facts, counter);
	gt_sampled_list_init(&facts->sampled, facts->trace);
	gt_array_each(const struct gt_counter, counter, &facts->trace->counters)
		facts->has_samples |= gt_sampled_of(&facts->sampled, counter) &&
		                      gt_traffic_direction(facts->trace, counter) >= 0;
	gt_declarations_init(&facts->declarations, facts->trace);
}

void gt_traffic_release(struct gt_traffic_facts *facts)
{
	gt_array_release(&facts->launches);
	gt_known_release(&facts->launch_rows);
	gt_sampled_list_release(&facts->sampled);
	gt_declarations_release(&facts->declarations);
}

double gt_traffic_time(struct gt_traffic_facts *facts, gt_id kernel)
{
	const struct gt_kernel *row = &facts->trace->kernels.rows[kernel];
	const struct gt_traffic_launch *launch;

	if (!(row->flags & GT_PROFILED))
		return gt_timed(GT_TIMES_ANY, row->flags, row->start_ns, row->end_ns)
		               ? (double)(row->end_ns - row->start_ns)
		               : NAN;
	launch = launch_of(facts, kernel);
	return launch ? launch->time_ns : NAN;
}

const struct gt_declaration *gt_traffic_declared(const struct gt_traffic_facts *facts, gt_id kernel)
{
	const gt_id row = facts->declarations.of_kernel[kernel];
	const struct gt_declaration *declaration;

	if (row == GT_NONE)
		return NULL;
	declaration = &facts->declarations.list.rows[row];
	return declaration->kernels == 1 ? declaration : NULL;
}

static struct gt_traffic_bytes bytes_of(enum gt_traffic_source source, double read_bytes,
                                        double write_bytes, double time_ns)
{
	return (struct gt_traffic_bytes){
		.source = isnan(read_bytes + write_bytes) ? GT_TRAFFIC_UNKNOWN : source,
		.read_bytes = read_bytes,
		.write_bytes = write_bytes,
		.bytes = read_bytes + write_bytes,
		.bytes_per_second = gt_bytes_per_second(read_bytes + write_bytes, time_ns),
		.covered_percent = 100,
	};
}

struct gt_traffic_bytes gt_traffic_of_kernel(struct gt_traffic_facts *facts, gt_id kernel)
{
	const struct gt_traffic_launch *launch = launch_of(facts, kernel);
	const struct gt_declaration *declared = gt_traffic_declared(facts, kernel);
	const double time_ns = gt_traffic_time(facts, kernel);
	struct gt_traffic_bytes bytes = {.source = GT_TRAFFIC_UNKNOWN};

	if (launch)
		bytes = bytes_of(GT_TRAFFIC_COUNTED, launch->read_bytes, launch->write_bytes,
		                 time_ns);
	if (bytes.source == GT_TRAFFIC_UNKNOWN && declared)
		bytes = bytes_of(GT_TRAFFIC_DECLARED, declared->read_bytes, declared->write_bytes,
		                 time_ns);
	return bytes;
}

/* ---- groups ---- */

/* Adds known bytes; NAN where one of both is not known. */
static void add_bytes(struct gt_traffic_part *part, uint64_t calls, double time_ns, double work_ns,
                      double read_bytes, double write_bytes)
{
	if (isnan(read_bytes) && isnan(write_bytes))
		return;
	part->calls += calls;
	part->time_ns += time_ns;
	part->work_ns += work_ns;
	part->read_bytes += read_bytes;
	part->write_bytes += write_bytes;
}

static void add_flops(struct gt_traffic_part *part, uint64_t calls, double time_ns,
                      const struct gt_flops_sum *flops)
{
	if (!flops->known)
		return;
	part->flop_calls += calls;
	part->flop_ns += time_ns;
	gt_flops_add_all(&part->flops, flops);
}

/* Tensor cores did nothing in it, or all that they did was counted. */
static bool flops_are_all(const struct gt_traffic_launch *launch)
{
	return launch->tensor_percent == 0 || (launch->flops.known & tensor_kinds) == tensor_kinds;
}

static void add_launch(struct gt_traffic_facts *facts, struct gt_traffic *traffic, gt_id kernel)
{
	const struct gt_kernel *row = &facts->trace->kernels.rows[kernel];
	const struct gt_traffic_launch *launch = launch_of(facts, kernel);
	const double time_ns = gt_traffic_time(facts, kernel);

	if (!gt_timed(GT_TIMES_ANY, row->flags, row->start_ns, row->end_ns) && isnan(time_ns))
		return;
	traffic->calls++;
	traffic->profiled += (row->flags & GT_PROFILED) != 0;
	if (isnan(time_ns))
		return;
	traffic->timed++;
	traffic->time_ns += time_ns;
	if (!launch)
		return;
	add_bytes(&traffic->parts[GT_TRAFFIC_COUNTED], 1, time_ns, time_ns, launch->read_bytes,
	          launch->write_bytes);
	traffic->tensor_percent = fmax(traffic->tensor_percent, launch->tensor_percent);
	if (flops_are_all(launch))
		add_flops(&traffic->parts[GT_TRAFFIC_COUNTED], 1, time_ns, &launch->flops);
}

static void add_launches(struct gt_traffic_facts *facts, const struct gt_sampled_groups *groups,
                         struct gt_traffic *traffics)
{
	for (gt_id i = 0; i < facts->trace->kernels.count; i++)
		if (groups->of_kernel[i] != GT_NONE)
			add_launch(facts, &traffics[groups->of_kernel[i]], i);
}

/* The kernels of one declaration. */
struct declared {
	gt_id group;
	double time_ns; /* NAN: of one of them it is not known */
	bool begun;
};

static struct declared *gather_declared(struct gt_traffic_facts *facts,
                                        const struct gt_sampled_groups *groups)
{
	struct declared *all = gt_allocate_zeroed(facts->declarations.list.count, sizeof(*all));

	for (gt_id i = 0; i < facts->trace->kernels.count; i++) {
		const gt_id row = facts->declarations.of_kernel[i];

		if (row == GT_NONE)
			continue;
		all[row].group = all[row].begun ? gt_sampled_common(groups, all[row].group,
		                                                    groups->of_kernel[i])
		                                : groups->of_kernel[i];
		all[row].begun = true;
		all[row].time_ns += gt_traffic_time(facts, i);
	}
	return all;
}

static void add_declared(struct gt_traffic_facts *facts, const struct gt_sampled_groups *groups,
                         struct gt_traffic *traffics)
{
	struct declared *all = gather_declared(facts, groups);

	for (size_t i = 0; i < facts->declarations.list.count; i++) {
		const struct gt_declaration *said = &facts->declarations.list.rows[i];
		struct gt_traffic_part *part;

		if (all[i].group == GT_NONE || isnan(all[i].time_ns))
			continue;
		part = &traffics[all[i].group].parts[GT_TRAFFIC_DECLARED];
		add_bytes(part, said->kernels, all[i].time_ns, all[i].time_ns, said->read_bytes,
		          said->write_bytes);
		add_flops(part, said->kernels, all[i].time_ns, &said->flops);
	}
	gt_array_free(all);
}

/* The columns of bytes of one series; NULL: it has none of that direction. */
struct columns {
	const double *of[2];
};

static struct columns columns_of(const struct gt_traffic_facts *facts,
                                 const struct gt_sampled *sampled)
{
	struct columns columns = {{NULL, NULL}};

	gt_array_each(const struct gt_counter, counter, &facts->trace->counters) {
		const int direction = gt_traffic_direction(facts->trace, counter);

		if (direction >= 0 && gt_sampled_of(&facts->sampled, counter) == sampled)
			columns.of[direction] = sampled->series->columns[counter->place];
	}
	return columns;
}

static double value_of(const double *column, size_t sample)
{
	return column ? column[sample] : NAN;
}

/* Where there are both counters, samples that only one of them measured are left out. */
static void add_samples_of(struct gt_traffic_facts *facts, const struct gt_sampled *sampled,
                           const struct gt_sampled_groups *groups, struct gt_traffic *traffics)
{
	const struct columns columns = columns_of(facts, sampled);
	struct gt_sampled_owner *owners;

	if (!columns.of[0] && !columns.of[1])
		return;
	owners = gt_sampled_owners(sampled, facts->trace, groups);
	for (size_t i = 0; i < sampled->series->count; i++) {
		const double read_bytes = value_of(columns.of[0], i);
		const double write_bytes = value_of(columns.of[1], i);

		if (owners[i].group == GT_NONE || (columns.of[0] && !isfinite(read_bytes)) ||
		    (columns.of[1] && !isfinite(write_bytes)))
			continue;
		add_bytes(&traffics[owners[i].group].parts[GT_TRAFFIC_SAMPLED], 0,
		          owners[i].busy_ns, owners[i].work_ns, read_bytes, write_bytes);
	}
	gt_array_free(owners);
}

static void add_inside(struct gt_traffic *outer, const struct gt_traffic *inner)
{
	outer->calls += inner->calls;
	outer->timed += inner->timed;
	outer->time_ns += inner->time_ns;
	outer->profiled += inner->profiled;
	outer->tensor_percent = fmax(outer->tensor_percent, inner->tensor_percent);
	for (size_t i = 0; i < GT_TRAFFIC_UNKNOWN; i++) {
		const struct gt_traffic_part *part = &inner->parts[i];

		if (part->calls > 0 || part->time_ns > 0)
			add_bytes(&outer->parts[i], part->calls, part->time_ns, part->work_ns,
			          part->read_bytes, part->write_bytes);
		add_flops(&outer->parts[i], part->flop_calls, part->flop_ns, &part->flops);
	}
}

struct gt_traffic *gt_traffic_of(struct gt_traffic_facts *facts,
                                 const struct gt_sampled_groups *groups, size_t count)
{
	struct gt_traffic *traffics = gt_allocate(count * sizeof(*traffics));

	for (size_t i = 0; i < count; i++)
		traffics[i] = (struct gt_traffic){.tensor_percent = NAN};
	add_launches(facts, groups, traffics);
	add_declared(facts, groups, traffics);
	for (size_t i = 0; i < facts->sampled.count && !facts->by_work; i++)
		add_samples_of(facts, &facts->sampled.rows[i], groups, traffics);
	for (size_t i = count; groups->outer && i-- > 0;)
		if (groups->outer[i] != GT_NONE)
			add_inside(&traffics[groups->outer[i]], &traffics[i]);
	return traffics;
}

/* ---- figures ---- */

/* Executions that the sums of a part stand for. */
static double calls_of(const struct gt_traffic *traffic, enum gt_traffic_source source)
{
	const struct gt_traffic_part *part = &traffic->parts[source];

	if (source != GT_TRAFFIC_SAMPLED)
		return (double)part->calls;
	return traffic->time_ns > 0 ? part->work_ns / traffic->time_ns * (double)traffic->timed : 0;
}

static enum gt_traffic_source source_of(const struct gt_traffic *traffic)
{
	unsigned source = GT_TRAFFIC_COUNTED;

	while (source < GT_TRAFFIC_UNKNOWN &&
	       !(calls_of(traffic, (enum gt_traffic_source)source) > 0))
		source++;
	return (enum gt_traffic_source)source;
}

static double covered(const struct gt_traffic *traffic, enum gt_traffic_source source)
{
	const struct gt_traffic_part *part = &traffic->parts[source];

	if (source == GT_TRAFFIC_SAMPLED)
		return gt_percent(part->work_ns, traffic->time_ns);
	return gt_percent((double)part->calls, (double)traffic->calls);
}

struct gt_traffic_bytes gt_traffic_bytes(const struct gt_traffic *traffic)
{
	const enum gt_traffic_source source = source_of(traffic);
	const struct gt_traffic_part *part;
	double calls;

	if (source == GT_TRAFFIC_UNKNOWN)
		return (struct gt_traffic_bytes){source, NAN, NAN, NAN, NAN, NAN};
	part = &traffic->parts[source];
	calls = calls_of(traffic, source);
	return (struct gt_traffic_bytes){
		.source = source,
		.read_bytes = part->read_bytes / calls,
		.write_bytes = part->write_bytes / calls,
		.bytes = (part->read_bytes + part->write_bytes) / calls,
		.bytes_per_second =
			gt_bytes_per_second(part->read_bytes + part->write_bytes, part->time_ns),
		.covered_percent = covered(traffic, source),
	};
}

struct gt_traffic_work gt_traffic_work(const struct gt_traffic *traffic)
{
	struct gt_traffic_work work = {.source = GT_TRAFFIC_UNKNOWN};
	const struct gt_traffic_part *part;

	if (traffic->parts[GT_TRAFFIC_COUNTED].flop_calls > 0)
		work.source = GT_TRAFFIC_COUNTED;
	else if (traffic->parts[GT_TRAFFIC_DECLARED].flop_calls > 0)
		work.source = GT_TRAFFIC_DECLARED;
	else
		return work;
	part = &traffic->parts[work.source];
	for (size_t i = 0; i < GT_FLOPS_KINDS; i++) {
		if (!(part->flops.known & 1U << i))
			continue;
		gt_flops_add(&work.flops, (enum gt_flops)i,
		             part->flops.counts[i] / (double)part->flop_calls);
		work.flops_per_second[i] = part->flops.counts[i] * 1e9 / part->flop_ns;
	}
	return work;
}

double gt_traffic_over_declared(const struct gt_traffic *traffic)
{
	const struct gt_traffic_bytes measured = gt_traffic_bytes(traffic);
	const struct gt_traffic_part *part = &traffic->parts[GT_TRAFFIC_DECLARED];
	const double declared = (part->read_bytes + part->write_bytes) / (double)part->calls;

	if (measured.source >= GT_TRAFFIC_DECLARED || part->calls == 0 ||
	    part->calls != traffic->calls)
		return NAN;
	return measured.bytes / declared;
}

/* ---- what was not measured ---- */

/* The first note of a source of figures; NULL: it has none. */
static const char *note_of(const struct gt_trace *trace, const char *topic)
{
	gt_array_each(const struct gt_note, note, &trace->notes)
		if (strcmp(gt_trace_text(trace, note->topic), topic) == 0)
			return gt_trace_text(trace, note->text);
	return NULL;
}

static const char *why_not_sampled(const struct gt_traffic_facts *facts)
{
	if (facts->by_work)
		return "the options leave out what else ran at the time of the samples";
	if (!facts->has_samples)
		return "bytes were not among the counters: run --counters has them by default";
	return "something else ran in each of its samples: run --kernel-counters, or a shorter "
	       "--counter-interval";
}

static const char *why_not_counted(const struct gt_traffic_facts *facts,
                                   const struct gt_traffic *traffic)
{
	if (facts->trace->kernel_counters.count > 0 && traffic->profiled > 0)
		return "bytes were not among the counters of its launches: run "
		       "--kernel-counters=memory has them";
	return "no launch of it was profiled: run --kernel-counters, with --kernels or --launches";
}

const char *gt_traffic_why(const struct gt_traffic_facts *facts, const struct gt_traffic *traffic)
{
	const char *note;

	if (facts->trace->kernel_counters.count > 0)
		return why_not_counted(facts, traffic);
	if (facts->sampled.count > 0)
		return why_not_sampled(facts);
	note = note_of(facts->trace, "kernel_counters");
	if (!note)
		note = note_of(facts->trace, "counters");
	return note ? note : "run --counters or --kernel-counters measures it";
}

const char *gt_traffic_why_no_flops(const struct gt_traffic_facts *facts,
                                    const struct gt_traffic *traffic)
{
	if (traffic->tensor_percent > 0)
		return "those of tensor cores, which worked, were not counted: run "
		       "--kernel-counters=memory,flops where the GPU can, or a payload says them";
	if (facts->trace->kernel_counters.count > 0 && traffic->profiled > 0)
		return "its launches were profiled without: run "
		       "--kernel-counters=memory,flops,tensor_active_percent";
	return "run --kernel-counters=memory,flops,tensor_active_percent";
}
