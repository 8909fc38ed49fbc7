/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_BASE_UNITS_H
#define GT_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Figures as people read them: three significant digits with the unit that suits them, decimal
 * multiples (1 MB = 1,000,000 bytes, as link and memory rates are given) but for what hardware
 * counts in powers of two, digits in groups of three. Machine-readable output never uses these.
 */

/* Large enough for every text made here. */
enum { GT_FIGURE_SIZE = 48 };

struct gt_figure {
	char text[GT_FIGURE_SIZE];
};

struct gt_figure gt_figure_count(int64_t count);          /* 1,234,567 */
struct gt_figure gt_figure_ns(int64_t ns);                /* 812 ns, 1.23 ms, 12.3 s */
struct gt_figure gt_figure_time(int64_t ns);              /* 0.012345 s: comparable line by line */
struct gt_figure gt_figure_bytes(int64_t bytes);          /* 1.05 MB */
struct gt_figure gt_figure_binary(int64_t bytes);         /* 48 KiB, 1.50 MiB */
struct gt_figure gt_figure_rate(double bytes_per_second); /* 3,350 GB/s */
struct gt_figure gt_figure_flops(double flop_per_second); /* 61.2 TFLOP/s */
struct gt_figure gt_figure_joules(double joules);         /* 12.3 J, 410 mJ */
struct gt_figure gt_figure_watts(double watts);           /* 356 W */
struct gt_figure gt_figure_percent(double percent);       /* 12.3%, <0.1% */
struct gt_figure gt_figure_real(double real);             /* 1.50, 131.9, 125,976 */

/*
 * A value in a unit by its name, as "ns", "bytes/s", "mW" or "sectors": 841 GB/s, 118 W, 1,234
 * sectors. unit NULL or "": the number alone.
 */
struct gt_figure gt_figure_in(double value, const char *unit);

#endif
