/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_LINES_H
#define GT_EXPORTERS_PERFETTO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "exporters/perfetto/wire/sequence.h"

struct gt_perfetto;

/*
 * Values of a GPU over time, for any part: it adds its lines, has them described, and puts values.
 * A value holds from its time to the next one.
 *
 * Readers before Perfetto v56 do not know that and let a value hold from the one before up to its
 * own time. Each value is therefore written once more 1 ns before it changes, and at the end:
 * both kinds of readers then show the same.
 */

/* Perfetto's GpuCounterDescriptor.MeasureUnit. */
enum gt_measure {
	GT_MEASURE_NONE = 0,
	GT_MEASURE_BYTE = 7,
	GT_MEASURE_MEGABYTE = 9,
	GT_MEASURE_GIGABYTE = 10,
	GT_MEASURE_HERTZ = 13,
	GT_MEASURE_MEGAHERTZ = 15,
	GT_MEASURE_NANOSECOND = 19,
	GT_MEASURE_SECOND = 22,
	GT_MEASURE_WATT = 29,
	GT_MEASURE_JOULE = 31,
	GT_MEASURE_CELSIUS = 34,
	GT_MEASURE_PERCENT = 37,
};

/*
 * The group of counters of single kernels, which Perfetto has itself and whose page GPU Compute
 * adds up what is in a kernel's time: a value stands at the kernel's start and 0 at its end, and
 * nothing is written once more.
 */
#define GT_GROUP_KERNELS NULL

/* Description of a line. Texts are borrowed until gt_lines_describe. */
struct gt_line {
	gt_id device;      /* row of devices */
	const char *group; /* a constant: the folder that viewers show it in, or GT_GROUP_KERNELS */
	const char *name;  /* no other line of the GPU may have it, whatever its group */
	const char *help;
	enum gt_measure unit;
	enum gt_measure per; /* what the unit is divided by, GT_MEASURE_NONE: nothing */
};

struct gt_line_state {
	struct gt_line line;
	uint32_t next_line; /* of the same GPU; GT_NONE: it is the last */
	double value;       /* the last one that was written; NAN: none */
	double next;        /* what is to be written at gt_lines.now_ns */
	gt_time written_ns; /* when the last one was */
	bool changed;       /* next is not written yet */
};

/* The lines of one GPU, by number; GT_NONE: it has none. */
struct gt_line_list {
	uint32_t first;
	uint32_t last;
};

/* The lines of one part. */
struct gt_lines {
	struct gt_perfetto *perfetto;
	struct gt_sequence sequence;
	gt_array(struct gt_line_state) rows;
	struct gt_line_list *gpus;  /* by row of devices */
	gt_array(uint32_t) changed; /* rows */
	gt_time now_ns;             /* of the changes that are not written yet */
	uint32_t event_tag;
};

void gt_lines_init(struct gt_lines *lines, struct gt_perfetto *perfetto);

/* Returns the number of the line; one of that name on that GPU that is there already. */
uint32_t gt_lines_add(struct gt_lines *lines, const struct gt_line *line);

/* After the last gt_lines_add and before the first gt_lines_put. */
void gt_lines_describe(struct gt_lines *lines);

/*
 * number: of the line. Values come in order of time over all lines; of several at one time the last
 * one counts. A value that is no number is left out.
 */
void gt_lines_put(struct gt_lines *lines, uint32_t number, gt_time time_ns, double value);

/* Everything holds until end_ns, the end of the recording. */
void gt_lines_finish(struct gt_lines *lines, gt_time end_ns);

#endif
