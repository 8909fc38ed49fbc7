/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/declared_traffic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/traffic/payload_text.h"
#include "model/known.h"
#include "model/ranges/owners.h"
#include "model/ranges/ranges.h"

#define TEXT_OF_memory(name)
#define TEXT_OF_links(name)
#define TEXT_OF_host(name)
#define TEXT_OF_compute(name) #name,
static const char *const names[GT_FLOPS_KINDS] = {
#define CEILING(name, unit, group, help) TEXT_OF_##group(name)
#include "model/gpu/ceilings.def"
	""};

const char *gt_flops_name(enum gt_flops kind)
{
	return names[kind];
}

void gt_flops_add(struct gt_flops_sum *sum, enum gt_flops kind, double count)
{
	sum->known |= 1U << kind;
	sum->counts[kind] += count;
}

void gt_flops_add_all(struct gt_flops_sum *sum, const struct gt_flops_sum *other)
{
	sum->known |= other->known;
	for (size_t i = 0; i < GT_FLOPS_KINDS; i++)
		sum->counts[i] += other->counts[i];
}

double gt_flops_total(const struct gt_flops_sum *sum)
{
	double total = 0;

	for (size_t i = 0; i < GT_FLOPS_KINDS; i++)
		total += sum->counts[i];
	return sum->known ? total : NAN;
}

/* GT_FLOPS_KINDS: the member says nothing of that. */
static enum gt_flops flops_of(const struct gt_payload_text *text)
{
	char key[64];

	if (gt_payload_is(text, "gputrace.flops"))
		return GT_FLOPS_UNSAID;
	for (unsigned kind = 0; kind < GT_FLOPS_UNSAID; kind++) {
		snprintf(key, sizeof(key), "gputrace.flops.%s", names[kind]);
		if (gt_payload_is(text, key))
			return (enum gt_flops)kind;
	}
	return GT_FLOPS_KINDS;
}

static void add_bytes(double *sum, double bytes)
{
	*sum = isnan(*sum) ? bytes : *sum + bytes;
}

static void read_member(struct gt_declaration *declaration, const struct gt_payload_text *text)
{
	double value;

	if (!gt_payload_real(text, &value))
		return;
	if (gt_payload_is(text, "gputrace.read_bytes"))
		add_bytes(&declaration->read_bytes, value);
	else if (gt_payload_is(text, "gputrace.write_bytes"))
		add_bytes(&declaration->write_bytes, value);
	else if (flops_of(text) != GT_FLOPS_KINDS)
		gt_flops_add(&declaration->flops, flops_of(text), value);
}

bool gt_declaration_read(const char *text, struct gt_declaration *declaration)
{
	struct gt_payload_text payload = {text};
	enum gt_payload_part part;

	*declaration = (struct gt_declaration){.read_bytes = NAN, .write_bytes = NAN};
	while ((part = gt_payload_next(&payload)) != GT_PAYLOAD_END)
		if (part == GT_PAYLOAD_MEMBER)
			read_member(declaration, &payload);
	return !isnan(declaration->read_bytes) || !isnan(declaration->write_bytes) ||
	       declaration->flops.known;
}

/* While kernels are given what was said of them. */
struct finder {
	const struct gt_trace *trace;
	struct gt_declarations *declarations;
	gt_array(struct gt_declaration) said; /* by texts that say something */
	gt_id *of_range;                      /* row of said, GT_NONE: it says nothing */
	struct gt_ranges ranges;
	struct gt_known times_through; /* rows of list by range and launch of a graph */
};

/* Many ranges have the same text: one that says something is read once. */
static bool read_ranges(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	struct gt_known texts = {0};
	bool any = false;

	finder->of_range = gt_allocate(trace->ranges.count * sizeof(*finder->of_range));
	for (size_t i = 0; i < trace->ranges.count; i++) {
		const gt_string data = trace->ranges.rows[i].data;
		struct gt_declaration said;

		finder->of_range[i] = gt_known_find(&texts, data);
		if (finder->of_range[i] != GT_NONE || data == 0 ||
		    !gt_declaration_read(gt_trace_text(trace, data), &said))
			continue;
		finder->of_range[i] = (gt_id)finder->said.count;
		*gt_array_push(&finder->said) = said;
		gt_known_add(&texts, data, finder->of_range[i]);
		any = true;
	}
	gt_known_release(&texts);
	return any;
}

/* The innermost range that says something of the kernel; GT_NONE: none does. */
static gt_id range_of(const struct finder *finder, struct gt_owner owner)
{
	gt_id range = gt_owner_sure(owner).range;

	while (range < finder->trace->ranges.count && finder->of_range[range] == GT_NONE)
		range = gt_ranges_around_sure(&finder->ranges, range, owner.at_ns);
	return range;
}

/* A range is gone through once, what was captured in it with each launch of its graph. */
static gt_id time_through(struct finder *finder, gt_id range, gt_id launch)
{
	const uint64_t key = (uint64_t)range << 32 | launch;
	gt_id row;

	if (gt_known_is_new(&finder->times_through, key, finder->declarations->list.count, &row))
		*gt_array_push(&finder->declarations->list) =
			finder->said.rows[finder->of_range[range]];
	return row;
}

static void find_kernels(struct finder *finder)
{
	const struct gt_trace *trace = finder->trace;
	struct gt_declarations *declarations = finder->declarations;

	for (gt_id i = 0; i < trace->kernels.count; i++) {
		const struct gt_owners owners = gt_owners_of(trace, GT_ACTIVITY_KERNEL, i);
		const bool captured = owners.captured.range != GT_NONE;
		const gt_id range = range_of(finder, captured ? owners.captured : owners.launched);
		const gt_id launch = captured ? trace->kernels.rows[i].api_call : GT_NONE;

		if (range >= trace->ranges.count)
			continue;
		declarations->of_kernel[i] = time_through(finder, range, launch);
		declarations->list.rows[declarations->of_kernel[i]].kernels++;
	}
}

void gt_declarations_init(struct gt_declarations *declarations, const struct gt_trace *trace)
{
	const size_t size = trace->kernels.count * sizeof(gt_id);
	struct finder finder = {.trace = trace, .declarations = declarations};

	*declarations = (struct gt_declarations){.of_kernel = gt_allocate(size)};
	memset(declarations->of_kernel, 0xff, size);
	if (read_ranges(&finder)) {
		gt_ranges_init(&finder.ranges, trace);
		find_kernels(&finder);
		gt_ranges_release(&finder.ranges);
	}
	gt_known_release(&finder.times_through);
	gt_array_release(&finder.said);
	gt_array_free(finder.of_range);
}

void gt_declarations_release(struct gt_declarations *declarations)
{
	gt_array_release(&declarations->list);
	gt_array_free(declarations->of_kernel);
	*declarations = (struct gt_declarations){0};
}
