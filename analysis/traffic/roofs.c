/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/traffic/roofs.h"

#include <math.h>
#include <stddef.h>

#include "analysis/result.h"
#include "base/array.h"

static struct gt_roof roof_of(const struct gt_trace *trace, gt_id device, enum gt_ceiling_name name)
{
	const struct gt_ceiling_pair pair = gt_ceilings_of(trace, device, name);
	struct gt_roof roof = {GT_CEILINGS, NAN, NAN, 0};

	if (pair.theoretical && pair.theoretical->value > 0)
		roof.theoretical = pair.theoretical->value;
	if (pair.measured && pair.measured->value > 0) {
		roof.measured = pair.measured->value;
		roof.source = pair.measured->source;
	}
	if (!isnan(roof.theoretical) || !isnan(roof.measured))
		roof.name = name;
	return roof;
}

static enum gt_ceiling_name memory_of(double read_bytes, double write_bytes)
{
	if (write_bytes * 7 < read_bytes)
		return GT_CEILING_dram_read;
	if (read_bytes * 7 < write_bytes)
		return GT_CEILING_dram_write;
	return GT_CEILING_dram_copy;
}

struct gt_roof gt_roof_of_memory(const struct gt_trace *trace, gt_id device, double read_bytes,
                                 double write_bytes)
{
	static const enum gt_ceiling_name names[] = {GT_CEILING_dram_copy, GT_CEILING_dram_read,
	                                             GT_CEILING_dram_write};
	struct gt_roof roof = roof_of(trace, device, memory_of(read_bytes, write_bytes));

	for (size_t i = 0; i < GT_COUNT_OF(names) && isnan(roof.measured); i++) {
		const struct gt_roof other = roof_of(trace, device, names[i]);

		if (roof.name == GT_CEILINGS || !isnan(other.measured))
			roof = other;
	}
	return roof;
}

struct gt_roof gt_roof_of_flops(const struct gt_trace *trace, gt_id device, enum gt_flops kind)
{
	static const enum gt_ceiling_name names[GT_FLOPS_UNSAID] = {
#define NAME_OF_memory(name)
#define NAME_OF_links(name)
#define NAME_OF_host(name)
#define NAME_OF_compute(name)            [GT_FLOPS_##name] = GT_CEILING_##name,
#define CEILING(name, unit, group, help) NAME_OF_##group(name)
#include "model/gpu/ceilings.def"
	};

	if (kind >= GT_FLOPS_UNSAID)
		return (struct gt_roof){GT_CEILINGS, NAN, NAN, 0};
	return roof_of(trace, device, names[kind]);
}

double gt_roof_height(const struct gt_roof *roof)
{
	return isnan(roof->measured) ? roof->theoretical : roof->measured;
}

void gt_roof_add_source(struct gt_result *result, const struct gt_roof *roof)
{
	if (roof->name == GT_CEILINGS)
		gt_result_add_text(result, "not measured: gputrace calibrate measures it");
	else if (isnan(roof->measured))
		gt_result_add_format(result, "%s, data sheet; gputrace calibrate measures it",
		                     gt_ceiling_names[roof->name]);
	else
		gt_result_add_format(result, "%s, %s", gt_ceiling_names[roof->name],
		                     gt_ceiling_source_name(roof->source));
}
