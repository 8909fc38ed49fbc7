/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_TRAFFIC_H
#define GT_ANALYSIS_TRAFFIC_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/traffic/declared_traffic.h"
#include "model/gpu/sampled.h"
#include "model/known.h"
#include "model/trace.h"

struct gt_view;

/*
 * Bytes that kernels read from and wrote to device memory and operations that they computed, with
 * the source of each figure. Nothing is made up: what no source tells is not known.
 */
enum gt_traffic_source {
	GT_TRAFFIC_COUNTED,  /* hardware counters of the launches themselves: kernel_counters */
	GT_TRAFFIC_SAMPLED,  /* PM samples in which nothing else ran */
	GT_TRAFFIC_DECLARED, /* the program says so: analysis/traffic/declared_traffic.h */
	GT_TRAFFIC_UNKNOWN,
};

/* "kernel counters", "PM samples", "declared", "not measured". Constant. */
const char *gt_traffic_source_name(enum gt_traffic_source source);

/* Figures of one source for the executions that it knows. */
struct gt_traffic_part {
	uint64_t calls;    /* executions whose bytes it knows; of samples 0 */
	double time_ns;    /* that these took, of samples in which some ran */
	double work_ns;    /* the same, what ran beside each other counting in full */
	double read_bytes; /* in that time; NAN: only the other one is known */
	double write_bytes;
	uint64_t flop_calls; /* the same of what was computed */
	double flop_ns;
	struct gt_flops_sum flops;
};

/* Traffic of a group of kernels. */
struct gt_traffic {
	uint64_t calls; /* executions */
	uint64_t timed; /* of them those whose duration is known, */
	double time_ns; /* all together: of profiled launches as their counters say */
	uint64_t profiled;
	double tensor_percent; /* the most that tensor cores worked in one; NAN: not counted */
	struct gt_traffic_part parts[GT_TRAFFIC_UNKNOWN];
};

/* The best that is known of a group's bytes. */
struct gt_traffic_bytes {
	enum gt_traffic_source source;
	double read_bytes; /* of one execution, a mean; NAN here and below: not known */
	double write_bytes;
	double bytes;            /* both together, of one execution */
	double bytes_per_second; /* of both, while it ran */
	double covered_percent;  /* executions, of samples time, that this was measured of */
};

struct gt_traffic_bytes gt_traffic_bytes(const struct gt_traffic *traffic);

/* The best that is known of what it computes. */
struct gt_traffic_work {
	enum gt_traffic_source source;           /* counted, declared or unknown */
	struct gt_flops_sum flops;               /* of one execution, means */
	double flops_per_second[GT_FLOPS_KINDS]; /* while it ran; 0 where flops has none */
};

struct gt_traffic_work gt_traffic_work(const struct gt_traffic *traffic);

/*
 * Bytes that were measured, of those that all executions must move at least as the program
 * declares; NAN: one of both is not known.
 */
double gt_traffic_over_declared(const struct gt_traffic *traffic);

/* Hardware counters of one launch that was profiled; NAN: not known. */
struct gt_traffic_launch {
	double time_ns;
	double read_bytes;
	double write_bytes;
	struct gt_flops_sum flops; /* those of tensor cores only where they are known, */
	double tensor_percent;     /* which worked so much of the time */
};

/* All that figures of a trace are made of. */
struct gt_traffic_facts {
	const struct gt_trace *trace;
	bool by_work; /* the view has not all that ran: samples are nobody's */
	gt_array(struct gt_traffic_launch) launches;
	struct gt_known launch_rows; /* of launches, by row of kernels */
	struct gt_sampled_list sampled;
	struct gt_declarations declarations;
	bool has_samples; /* of bytes, on any GPU */
};

/* The view must outlive the facts and not change. */
void gt_traffic_init(struct gt_traffic_facts *facts, const struct gt_view *view);
void gt_traffic_release(struct gt_traffic_facts *facts);

/*
 * Figures of so many groups, each with those inside it; the caller frees them with gt_array_free.
 */
struct gt_traffic *gt_traffic_of(struct gt_traffic_facts *facts,
                                 const struct gt_sampled_groups *groups, size_t count);

/* Nanoseconds that an execution took: of a profiled one as its counters say. NAN: not known. */
double gt_traffic_time(struct gt_traffic_facts *facts, gt_id kernel);

/*
 * Bytes of one execution by itself: its own counters, or the declaration of a range that it is
 * alone in. Those of samples are means of many, and are not known of one.
 */
struct gt_traffic_bytes gt_traffic_of_kernel(struct gt_traffic_facts *facts, gt_id kernel);

/* Declaration of one execution that is alone in its range; NULL: none. */
const struct gt_declaration *gt_traffic_declared(const struct gt_traffic_facts *facts,
                                                 gt_id kernel);

/* A counter of bytes of device memory: 0 read, 1 written; -1: it is none. */
int gt_traffic_direction(const struct gt_trace *trace, const struct gt_counter *counter);

/* Why the bytes of a group were not measured, and what would do that. The trace's, or constant. */
const char *gt_traffic_why(const struct gt_traffic_facts *facts, const struct gt_traffic *traffic);

/* The same of what it computes. */
const char *gt_traffic_why_no_flops(const struct gt_traffic_facts *facts,
                                    const struct gt_traffic *traffic);

#endif
