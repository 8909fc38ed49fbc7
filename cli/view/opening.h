/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_OPENING_H
#define GT_CLI_VIEW_OPENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporters/perfetto/opening.h"
#include "model/trace.h"

struct gt_steps;
struct gt_view;

/*
 * How Perfetto's UI opens a trace: the stretch of time that it shows first, and the tracks that it
 * keeps in view above all others. Zero-initialised, nothing is known of the trace.
 */
/* What stays in view leaves room for the rest. */
enum { GT_OPENING_STREAMS = 2, GT_OPENING_GPUS = 4 };

struct gt_opening {
	bool known;
	gt_time start_ns; /* in the trace's own time; both 0: all of it is shown */
	gt_time end_ns;
	uint32_t streams[GT_OPENING_STREAMS]; /* numbers of those with most work */
	size_t stream_count; /* 0: there is no work, or too many streams have one number */
	bool busy;           /* lines of how busy GPUs are, and why not: there are few */
	bool path;           /* the critical path, and steps: there is one process */
	bool shared;         /* several processes use one GPU: tracks by process tell them apart */
};

/*
 * Steps are found as report steps finds them (analysis/ranges/steps): a steady one is shown. Where
 * there are none it is the time in which GPUs had work, or the middle of it, with some hundred
 * kernels.
 */
void gt_opening_init(struct gt_opening *opening, const struct gt_view *view,
                     const struct gt_steps *steps);

/* As a text, and back; false, and nothing known, for another text. */
void gt_opening_write(const struct gt_opening *opening, char text[GT_OPENING_BYTES]);
bool gt_opening_read(struct gt_opening *opening, const char *text);

#endif
