/* SPDX-License-Identifier: Apache-2.0 */
#include "model/gpu/ceilings.h"

#include <math.h>
#include <string.h>

#include "base/strings.h"
#include "model/gpu/calibration.h"
#include "model/gpu/data_sheet.h"

/*
 * Links to the host and to other GPUs, and launches, depend on more than the GPU's model: of these,
 * only what was measured here counts.
 */

static const char *const units[GT_CEILINGS] = {
#define CEILING(name, unit, group, help) unit,
#include "model/gpu/ceilings.def"
};

/* Whether it is the same for all GPUs of a model, whatever machine they are in. */
static bool is_of_model(enum gt_ceiling_name name)
{
	enum { memory, links, compute, host };
	static const int groups[GT_CEILINGS] = {
#define CEILING(name, unit, group, help) group,
#include "model/gpu/ceilings.def"
	};

	return groups[name] == memory || groups[name] == compute;
}

static void add(struct gt_trace *trace, struct gt_ceiling row, enum gt_ceiling_name name,
                const char *measured)
{
	row.name = gt_strings_add(trace->strings, gt_ceiling_names[name]);
	row.unit = gt_strings_add(trace->strings, units[name]);
	row.measured = gt_strings_add(trace->strings, measured);
	*gt_array_push(&trace->ceilings) = row;
}

static gt_id find_device(const struct gt_trace *trace, const char *uuid)
{
	for (gt_id row = 0; row < trace->devices.count; row++)
		if (strcmp(gt_trace_text(trace, trace->devices.rows[row].uuid), uuid) == 0)
			return row;
	return GT_NONE;
}

static void add_measured(struct gt_trace *trace, gt_id device,
                         const struct gt_calibration *calibration, enum gt_ceiling_source source)
{
	gt_array_each(const struct gt_calibrated, ceiling, &calibration->list) {
		const bool linked = *ceiling->peer;
		const gt_id peer = linked ? find_device(trace, ceiling->peer) : GT_NONE;
		char text[GT_MEASURED_BYTES];

		if (!isfinite(ceiling->value) || (linked && peer == GT_NONE) ||
		    (source == GT_CEILING_SAME_MODEL && !is_of_model(ceiling->name)))
			continue;
		gt_calibrated_describe(calibration, ceiling, text);
		add(trace,
		    (struct gt_ceiling){.device = device,
		                        .peer = peer,
		                        .value = ceiling->value,
		                        .spread = ceiling->spread,
		                        .source = source},
		    ceiling->name, text);
	}
}

/* Parts of a GPU (MIG) have another name, and other counts. */
static bool is_same_model(const struct gt_trace *trace, const struct gt_device *device,
                          const struct gt_calibration *calibration)
{
	return strcmp(gt_trace_text(trace, device->name), calibration->device) == 0 &&
	       device->sm_count == calibration->sm_count;
}

static void add_data_sheet(struct gt_trace *trace, gt_id device)
{
	for (unsigned name = 0; name < GT_CEILINGS; name++) {
		const double value = gt_data_sheet(&trace->devices.rows[device], name);

		if (isfinite(value))
			add(trace,
			    (struct gt_ceiling){.device = device,
			                        .peer = GT_NONE,
			                        .value = value,
			                        .spread = NAN,
			                        .source = GT_CEILING_DATA_SHEET},
			    name, "");
	}
}

void gt_ceilings_add(struct gt_trace *trace, gt_id device, const struct gt_calibrations *here,
                     const struct gt_calibrations *shipped)
{
	const struct gt_device *row = &trace->devices.rows[device];
	const struct gt_calibration *own =
		gt_calibrations_find(here, gt_trace_text(trace, row->uuid));

	if (own)
		add_measured(trace, device, own, GT_CEILING_HERE);
	gt_array_each(const struct gt_calibration, calibration, &shipped->list)
		if (is_same_model(trace, row, calibration))
			add_measured(trace, device, calibration, GT_CEILING_SAME_MODEL);
	add_data_sheet(trace, device);
}
