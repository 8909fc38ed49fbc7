/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct scale {
	double factor;
	const char *unit;
};

/* Copies a number, sign and fraction included, with commas in its whole part. */
static struct gt_figure group(const char *number)
{
	const size_t sign = number[0] == '-';
	const size_t whole = strspn(number + sign, "0123456789");
	struct gt_figure figure = {""};
	size_t length = 0;

	for (size_t i = 0; number[i] && length + 2 < sizeof(figure.text); i++) {
		const size_t left = sign + whole - i; /* digits of the whole part still to come */

		if (i > sign && i < sign + whole && left % 3 == 0)
			figure.text[length++] = ',';
		figure.text[length++] = number[i];
	}
	figure.text[length] = '\0';
	return figure;
}

static struct gt_figure group_real(double value, int decimals)
{
	char number[GT_FIGURE_SIZE];

	/* Beyond this no figure is meant, and %f would not fit. */
	if (fabs(value) >= 1e18)
		snprintf(number, sizeof(number), "%.3g", value);
	else
		snprintf(number, sizeof(number), "%.*f", decimals, value);
	return group(number);
}

static struct gt_figure with_unit(struct gt_figure figure, const char *unit)
{
	const size_t length = strlen(figure.text);

	snprintf(figure.text + length, sizeof(figure.text) - length, "%s", unit);
	return figure;
}

/* Three digits; values that would round up to the next unit's 1 are given in that unit. */
static struct gt_figure scaled(double value, const struct scale *scales)
{
	const double size = fabs(value);
	const struct scale *scale = scales;
	int decimals;

	while (scale[1].unit && size >= 0.9995 * scale[1].factor)
		scale++;
	if (scale == scales && size == floor(size))
		decimals = 0;
	else
		decimals = size < 9.995 * scale->factor ? 2 : size < 99.95 * scale->factor ? 1 : 0;
	return with_unit(group_real(value / scale->factor, decimals), scale->unit);
}

/* Each begins with what values are given in. */
static const struct scale in_time[] = {{1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}, {0}};
static const struct scale in_bytes[] = {{1, " B"},    {1e3, " KB"},  {1e6, " MB"},
                                        {1e9, " GB"}, {1e12, " TB"}, {0}};
/* No TB/s: rates are compared with data sheets and each other in GB/s. */
static const struct scale in_rates[] = {
	{1, " B/s"}, {1e3, " KB/s"}, {1e6, " MB/s"}, {1e9, " GB/s"}, {0}};
static const struct scale in_watts[] = {{1, " mW"}, {1e3, " W"}, {1e6, " kW"}, {0}};
static const struct scale in_hertz[] = {
	{1, " Hz"}, {1e3, " kHz"}, {1e6, " MHz"}, {1e9, " GHz"}, {0}};
static const struct scale in_counted_joules[] = {
	{1, " mJ"}, {1e3, " J"}, {1e6, " kJ"}, {1e9, " MJ"}, {0}};

struct gt_figure gt_figure_count(int64_t count)
{
	char number[GT_FIGURE_SIZE];

	snprintf(number, sizeof(number), "%" PRId64, count);
	return group(number);
}

struct gt_figure gt_figure_ns(int64_t ns)
{
	return scaled((double)ns, in_time);
}

struct gt_figure gt_figure_time(int64_t ns)
{
	return with_unit(group_real((double)ns / 1e9, 6), " s");
}

struct gt_figure gt_figure_bytes(int64_t bytes)
{
	return scaled((double)bytes, in_bytes);
}

struct gt_figure gt_figure_binary(int64_t bytes)
{
	static const struct scale scales[] = {{1, " B"},        {0x1p10, " KiB"}, {0x1p20, " MiB"},
	                                      {0x1p30, " GiB"}, {0x1p40, " TiB"}, {0}};
	const struct scale *scale = scales;

	while (scale[1].unit && fabs((double)bytes) >= scale[1].factor)
		scale++;
	/* Most are whole: 48 KiB, not 48.0 KiB. */
	if (fmod((double)bytes, scale->factor) == 0)
		return with_unit(group_real((double)bytes / scale->factor, 0), scale->unit);
	return scaled((double)bytes, scales);
}

struct gt_figure gt_figure_rate(double bytes_per_second)
{
	return scaled(bytes_per_second, in_rates);
}

struct gt_figure gt_figure_flops(double flop_per_second)
{
	static const struct scale scales[] = {{1, " FLOP/s"},     {1e3, " KFLOP/s"},
	                                      {1e6, " MFLOP/s"},  {1e9, " GFLOP/s"},
	                                      {1e12, " TFLOP/s"}, {0}};

	return scaled(flop_per_second, scales);
}

struct gt_figure gt_figure_joules(double joules)
{
	static const struct scale scales[] = {{1, " uJ"},   {1e3, " mJ"},  {1e6, " J"},
	                                      {1e9, " kJ"}, {1e12, " MJ"}, {0}};

	if (joules == 0)
		return (struct gt_figure){"0 J"};
	return scaled(joules * 1e6, scales);
}

struct gt_figure gt_figure_watts(double watts)
{
	if (watts == 0)
		return (struct gt_figure){"0 W"};
	return scaled(watts * 1e3, in_watts);
}

struct gt_figure gt_figure_percent(double percent)
{
	/* A little is not nothing. */
	if (percent > 0 && percent < 0.05)
		return (struct gt_figure){"<0.1%"};
	return with_unit(group_real(percent, 1), "%");
}

struct gt_figure gt_figure_real(double real)
{
	const double size = fabs(real);

	if (real > 0 && real < 0.005)
		return (struct gt_figure){"<0.01"};
	return group_real(real, size < 100 ? 2 : size < 1000 ? 1 : 0);
}

/* Units that have larger ones. */
static const struct {
	const char *unit;
	const struct scale *scales;
} measures[] = {
	{"ns", in_time},        {"bytes", in_bytes}, {"bytes/s", in_rates},     {"Hz", in_hertz},
	{"cycles/s", in_hertz}, {"mW", in_watts},    {"mJ", in_counted_joules}, {"mJ/s", in_watts},
};

/* Counts of hardware are whole: 1,234, not 1,234.00. */
static struct gt_figure figure_plain(double value)
{
	return value == floor(value) && fabs(value) < 1e18 ? group_real(value, 0)
	                                                   : gt_figure_real(value);
}

struct gt_figure gt_figure_in(double value, const char *unit)
{
	char behind[GT_FIGURE_SIZE / 2];

	if (!unit || !*unit)
		return figure_plain(value);
	if (strcmp(unit, "%") == 0)
		return gt_figure_percent(value);
	for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++)
		if (strcmp(measures[i].unit, unit) == 0)
			return scaled(value, measures[i].scales);
	snprintf(behind, sizeof(behind), " %s", unit);
	return with_unit(figure_plain(value), behind);
}
