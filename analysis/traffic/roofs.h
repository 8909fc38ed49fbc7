/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_ROOFS_H
#define GT_ANALYSIS_TRAFFIC_ROOFS_H

#include "analysis/traffic/declared_traffic.h"
#include "model/gpu/ceilings.h"

struct gt_result;

/* Bound of a kernel: a ceiling of its GPU with both of its values. */
struct gt_roof {
	enum gt_ceiling_name name; /* GT_CEILINGS: there is none */
	double theoretical;        /* NAN: not known */
	double measured;           /* NAN: not measured */
	unsigned source;           /* of measured: enum gt_ceiling_source */
};

/*
 * Roof of device memory for work that reads and writes so many bytes: that of reading or of writing
 * where seven in eight bytes are that, else that of copying; where that one is not known, another.
 * NAN: as copying.
 */
struct gt_roof gt_roof_of_memory(const struct gt_trace *trace, gt_id device, double read_bytes,
                                 double write_bytes);

/* Roof of operations of a kind; GT_FLOPS_UNSAID has none. */
struct gt_roof gt_roof_of_flops(const struct gt_trace *trace, gt_id device, enum gt_flops kind);

/* The measured value, else the theoretical one; NAN: neither is known. */
double gt_roof_height(const struct gt_roof *roof);

/* A cell: "dram_copy, measured here", or what would measure it. */
void gt_roof_add_source(struct gt_result *result, const struct gt_roof *roof);

#endif
