/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analysis/chart.h"
#include "base/array.h"
#include "cli/render/svg.h"

enum {
	PLOT = 460, /* height that rows share, where they are many */
	MOST = 16,  /* of a row */
	BELOW = 60, /* the plot: its axis */
	LABEL = 11, /* that a label takes */
	TICKS = 6,  /* about */
	WHOLE = 15, /* height of what the rows are parts of */
};

static double row_height(const struct gt_strips *strips)
{
	const size_t rows = strips->rows.count > 0 ? strips->rows.count : 1;
	const double height = (double)PLOT / (double)rows;

	return height < MOST ? height : MOST;
}

static double bottom_of(const struct gt_strips *strips)
{
	return GT_SVG_TOP + row_height(strips) * (double)strips->rows.count;
}

/* A kind in the legend takes two lines. */
static double legend_bottom(const struct gt_strips *strips)
{
	return GT_SVG_TOP + (2.0 * GT_SVG_LEGEND_LINE + 4) * (double)strips->kinds.count;
}

size_t gt_svg_strips_height(const struct gt_strips *strips)
{
	return (size_t)ceil(fmax(bottom_of(strips), legend_bottom(strips))) + BELOW;
}

static double place(const struct gt_strips *strips, double x)
{
	return GT_SVG_LEFT + (GT_SVG_RIGHT - GT_SVG_LEFT) * x / strips->to_x;
}

/* 1, 2 or 5 times a power of ten, so that there are about TICKS of them. */
static double step_of(const struct gt_strips *strips)
{
	const double rough = strips->to_x / TICKS;
	const double power = pow(10, floor(log10(rough)));

	if (rough > 5 * power)
		return 10 * power;
	if (rough > 2 * power)
		return 5 * power;
	return rough > power ? 2 * power : power;
}

static void draw_axis(const struct gt_strips *strips, FILE *out)
{
	const double bottom = bottom_of(strips);
	const double step = step_of(strips);

	for (int i = 0; i * step <= strips->to_x; i++) {
		const double x = place(strips, i * step);

		fprintf(out, "<path class=\"grid\" d=\"M%.1f %dV%.1f\"/>", x, GT_SVG_TOP, bottom);
		fprintf(out,
		        "<text class=\"small\" text-anchor=\"middle\" x=\"%.1f\" "
		        "y=\"%.1f\">%.4g</text>\n",
		        x, bottom + 17, i * step);
	}
	fprintf(out, "<path class=\"frame\" d=\"M%d %dV%.1fH%d\"/>\n", GT_SVG_LEFT, GT_SVG_TOP,
	        bottom, GT_SVG_RIGHT);
	fprintf(out, "<text class=\"title\" x=\"%d\" y=\"30\">", GT_SVG_LEFT);
	gt_svg_text(strips->title, out);
	fprintf(out, "</text>\n<text text-anchor=\"middle\" x=\"%d\" y=\"%.1f\">",
	        (GT_SVG_LEFT + GT_SVG_RIGHT) / 2, bottom + 42);
	gt_svg_text(strips->x_label, out);
	fputs("</text>\n", out);
}

/* The whole that all rows are parts of, between the title and the first. */
static void draw_whole(const struct gt_strips *strips, FILE *out)
{
	if (!strips->whole)
		return;
	fprintf(out,
	        "<rect class=\"whole\" x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>"
	        "<text class=\"small\" x=\"%d\" y=\"%d\">",
	        GT_SVG_LEFT, GT_SVG_TOP - WHOLE - 2,
	        place(strips, strips->whole_to_x) - GT_SVG_LEFT, WHOLE, GT_SVG_LEFT + 6,
	        GT_SVG_TOP - 6);
	gt_svg_cut(strips->whole, out);
	fputs("</text>\n", out);
}

/* As many labels as there is room for. */
static void draw_labels(const struct gt_strips *strips, FILE *out)
{
	const double height = row_height(strips);
	const size_t every = (size_t)ceil(LABEL / height);

	for (size_t i = 0; i < strips->rows.count; i += every) {
		fprintf(out, "<text class=\"small\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">",
		        GT_SVG_LEFT - 8, GT_SVG_TOP + height * ((double)i + 0.5) + 4);
		gt_svg_text(strips->rows.rows[i], out);
		fputs("</text>\n", out);
	}
}

static void draw_part(const struct gt_strips *strips, const struct gt_strip_part *part, FILE *out)
{
	const double height = row_height(strips);
	const double from = place(strips, part->from_x);

	fprintf(out,
	        "<rect class=\"kind%zu\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
	        part->kind % GT_SVG_KINDS, from, GT_SVG_TOP + height * (double)part->row,
	        place(strips, part->to_x) - from, height > 4 ? height - 1 : height);
}

static void draw_legend(const struct gt_strips *strips, FILE *out)
{
	double y = GT_SVG_TOP + 8;

	for (size_t i = 0; i < strips->kinds.count; i++) {
		const struct gt_strip_kind *kind = &strips->kinds.rows[i];

		fprintf(out,
		        "<rect class=\"kind%zu\" x=\"%d\" y=\"%.0f\" width=\"12\" height=\"12\"/>",
		        i % GT_SVG_KINDS, GT_SVG_LEGEND, y - 10);
		fprintf(out, "<text x=\"%d\" y=\"%.0f\">", GT_SVG_LEGEND + 20, y);
		gt_svg_cut(kind->label, out);
		fprintf(out, "</text>\n<text class=\"small\" x=\"%d\" y=\"%.0f\">",
		        GT_SVG_LEGEND + 20, y + GT_SVG_LEGEND_LINE - 2);
		gt_svg_text(kind->figures, out);
		fputs("</text>\n", out);
		y += 2 * GT_SVG_LEGEND_LINE + 4;
	}
}

void gt_svg_strips(const struct gt_strips *strips, FILE *out)
{
	draw_axis(strips, out);
	draw_whole(strips, out);
	draw_labels(strips, out);
	gt_array_each(const struct gt_strip_part, part, &strips->parts)
		draw_part(strips, part, out);
	draw_legend(strips, out);
}
