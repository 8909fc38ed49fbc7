/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_FILE_SERIES_H
#define GT_FORMAT_FILE_SERIES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Series: values of several counters over time. In a thread's slot of the arena each sample
 * stands for itself; in a capture samples are chunks of kind GT_RECORD_SERIES, the times once
 * and then a column for each counter (docs/capture-format.md).
 */

#define GT_SERIES_MAX_COLUMNS 255

/* Which clock the times are of. In files: never change or reuse one. */
enum gt_series_clock { GT_SERIES_HOST = 0, GT_SERIES_CUPTI = 1 };

/* How a column is stored. In files: never change or reuse one. */
enum gt_series_coding {
	GT_SERIES_ABSENT = 0, /* nothing was measured */
	GT_SERIES_WHOLE = 1,  /* all values are whole numbers */
	GT_SERIES_REAL = 2,
};

/* One sample: an entry of kind GT_RECORD_SERIES. */
struct gt_sample {
	uint64_t time_ns;
	uint16_t series; /* number of the series in this capture, as counter records give it */
	uint8_t clock;   /* enum gt_series_clock */
	uint8_t columns;
	uint32_t padding;
	double values[]; /* NAN: not measured */
};

/* Samples of one series that a chunk holds; values lie row after row. */
struct gt_samples {
	uint16_t series;
	uint8_t clock;
	uint8_t columns;
	uint32_t count;
	uint64_t *times_ns;
	double *values; /* count x columns */
};

/* Bytes that so many samples take at most. */
#define GT_SERIES_BOUND(columns, count) (8 + ((size_t)(columns) + 1) * (5 + (size_t)(count)*10))

/* The output must hold GT_SERIES_BOUND. Returns the bytes written. */
size_t gt_series_encode(const struct gt_samples *samples, uint8_t *out);

/*
 * The first bytes of a payload: series, clock and columns; count is the chunk header's. 0, or
 * -EBADMSG when they cannot be right.
 */
int gt_series_peek(const uint8_t *bytes, size_t size, struct gt_samples *samples);

/* The same and all samples; times_ns and values must have room. 0 or -EBADMSG. */
int gt_series_decode(const uint8_t *bytes, size_t size, struct gt_samples *samples);

#endif
