/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_DECLARED_TRAFFIC_H
#define GT_ANALYSIS_TRAFFIC_DECLARED_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * A program's account of what its kernels must move and compute, by extended payloads of NVTX on a
 * range around their launches: numbers called gputrace.read_bytes, gputrace.write_bytes,
 * gputrace.flops and, where it is known of what precision these are, gputrace.flops.NAME with a
 * name of group compute in model/gpu/ceilings.def. It is said of all kernels together that are
 * launched in the range, without those in a range inside it that says something itself.
 */

/* Kinds of floating-point operations: the ceilings of group compute, or not said. */
#define GT_FLOPS_OF_memory(name)
#define GT_FLOPS_OF_links(name)
#define GT_FLOPS_OF_host(name)
#define GT_FLOPS_OF_compute(name) GT_FLOPS_##name,
enum gt_flops {
#define CEILING(name, unit, group, help) GT_FLOPS_OF_##group(name)
#include "model/gpu/ceilings.def"
	GT_FLOPS_UNSAID,
	GT_FLOPS_KINDS
};

/* The name of such a ceiling; "" for GT_FLOPS_UNSAID. Constant. */
const char *gt_flops_name(enum gt_flops kind);

/* Which are known, with their sums. Zeroed: none. */
struct gt_flops_sum {
	unsigned known; /* bits by enum gt_flops */
	double counts[GT_FLOPS_KINDS];
};

void gt_flops_add(struct gt_flops_sum *sum, enum gt_flops kind, double count);
void gt_flops_add_all(struct gt_flops_sum *sum, const struct gt_flops_sum *other);

/* All together; NAN where none are known. */
double gt_flops_total(const struct gt_flops_sum *sum);

/* Declaration of some kernels, executed once each. */
struct gt_declaration {
	double read_bytes; /* NAN: not said */
	double write_bytes;
	struct gt_flops_sum flops;
	uint64_t kernels; /* executions that it is said of */
};

/* Reads a text, JSON as collector/nvtx/payloads.h makes it. False: it has none. kernels is 0. */
bool gt_declaration_read(const char *text, struct gt_declaration *declaration);

/* Those of all kernels: launches of a graph repeat what was said where it was captured. */
struct gt_declarations {
	gt_array(struct gt_declaration) list;
	gt_id *of_kernel; /* by row of kernels: row of list, GT_NONE: nothing is said of it */
};

void gt_declarations_init(struct gt_declarations *declarations, const struct gt_trace *trace);
void gt_declarations_release(struct gt_declarations *declarations);

#endif
