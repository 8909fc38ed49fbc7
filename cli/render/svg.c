/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "analysis/chart.h"
#include "analysis/result.h"
#include "cli/render/render.h"
#include "cli/render/svg.h"

/* Sizes of one chart, in CSS pixels. The plot's own edges; the legend stands to its right. */
enum {
	WIDTH = GT_SVG_WIDTH,
	HEIGHT = 560,
	LEFT = GT_SVG_LEFT,
	RIGHT = GT_SVG_RIGHT,
	TOP = GT_SVG_TOP,
	BOTTOM = 490,
	LEGEND = GT_SVG_LEGEND,
	LEGEND_LINE = GT_SVG_LEGEND_LINE,
	LEGEND_LETTERS = 46, /* that fit into a line of it */
	LEAST_RADIUS = 5,
	MORE_RADIUS = 11, /* that a point of all the weight has more */
};

/*
 * Colours that read on white and on black; what is of one of them follows the reader's choice. All
 * of it is below one class, so that a page may hold pictures.
 */
static const char style[] =
	".picture{color-scheme:light dark;background:#fff}"
	".picture text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;"
	"fill:#1f2328}"
	".picture .title{font-size:16px;font-weight:600}"
	".picture .small{font-size:11px;fill:#59636e}"
	".picture .grid{stroke:#d1d9e0}.picture .frame{stroke:#8b949e;fill:none}"
	".picture .whole{fill:#8b949e;fill-opacity:.3}"
	".picture .roof{stroke:#3b6fd4;stroke-width:2;fill:none}"
	".picture .dashed{stroke-dasharray:6 4}"
	".picture .point{fill:#d9662b;fill-opacity:.75;stroke:#fff}"
	".picture .number{font-size:11px;text-anchor:middle;paint-order:stroke;stroke:#fff;"
	"stroke-width:3px}"
	".kind0{fill:#3b6fd4}.kind1{fill:#d9662b}.kind2{fill:#2e9e6b}.kind3{fill:#b5489b}"
	".kind4{fill:#c9a227}.kind5{fill:#3aa6b9}.kind6{fill:#8a6d5a}.kind7{fill:#7a5cc7}"
	".kind8{fill:#d1495b}.kind9{fill:#7f8c8d}"
	"@media(prefers-color-scheme:dark){.picture{background:#0d1117}"
	".picture text{fill:#e6edf3}.picture .small{fill:#9198a1}.picture .grid{stroke:#2a313c}"
	".picture .roof{stroke:#6f9bf0}.picture .point{fill:#f0883e;stroke:#0d1117}"
	".picture .number{stroke:#0d1117}}";

bool gt_svg_escape(char character, FILE *out)
{
	switch (character) {
	case '&':
		fputs("&amp;", out);
		return true;
	case '<':
		fputs("&lt;", out);
		return true;
	case '>':
		fputs("&gt;", out);
		return true;
	case '"':
		fputs("&quot;", out);
		return true;
	default:
		return false;
	}
}

void gt_svg_text(const char *text, FILE *out)
{
	/* Control characters cannot stand in XML at all. */
	for (; *text; text++)
		if (!gt_svg_escape(*text, out) && (unsigned char)*text >= 0x20 && *text != 0x7f)
			putc(*text, out);
}

/* Where a value stands between two edges. */
static double place(double value, double from, double to, double first, double last)
{
	return first + (last - first) * (log10(value) - log10(from)) / (log10(to) - log10(from));
}

static double place_x(const struct gt_chart *chart, double value)
{
	return place(value, chart->from_x, chart->to_x, LEFT, RIGHT);
}

static double place_y(const struct gt_chart *chart, double value)
{
	return place(value, chart->from_y, chart->to_y, BOTTOM, TOP);
}

/* "1 T", "100 G": a power of ten. */
static void write_power(int exponent, FILE *out)
{
	static const char prefixes[] = " KMGTPE";
	const int thousands = exponent / 3;

	if (exponent < 3 || thousands >= (int)sizeof(prefixes) - 1)
		fprintf(out, "%.4g", pow(10, exponent));
	else
		fprintf(out, "%.0f %c", pow(10, exponent % 3), prefixes[thousands]);
}

static void draw_column(const struct gt_chart *chart, int exponent, FILE *out)
{
	const double x = place_x(chart, pow(10, exponent));

	fprintf(out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>", x, TOP, BOTTOM);
	fprintf(out, "<text class=\"small\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">", x,
	        BOTTOM + 17);
	write_power(exponent, out);
	fputs("</text>\n", out);
}

static void draw_row(const struct gt_chart *chart, int exponent, FILE *out)
{
	const double y = place_y(chart, pow(10, exponent));

	fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, y, RIGHT);
	fprintf(out, "<text class=\"small\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">", LEFT - 8,
	        y + 4);
	write_power(exponent, out);
	fputs("</text>\n", out);
}

static int first_power(double value)
{
	return (int)ceil(log10(value) - 1e-9);
}

static int last_power(double value)
{
	return (int)floor(log10(value) + 1e-9);
}

static void draw_grid(const struct gt_chart *chart, FILE *out)
{
	for (int i = first_power(chart->from_x); i <= last_power(chart->to_x); i++)
		draw_column(chart, i, out);
	for (int i = first_power(chart->from_y); i <= last_power(chart->to_y); i++)
		draw_row(chart, i, out);
	fprintf(out, "<path class=\"frame\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
}

static void draw_axes(const struct gt_chart *chart, FILE *out)
{
	fprintf(out, "<text class=\"title\" x=\"%d\" y=\"30\">", LEFT);
	gt_svg_text(chart->title, out);
	fprintf(out, "</text>\n<text text-anchor=\"middle\" x=\"%d\" y=\"%d\">", (LEFT + RIGHT) / 2,
	        BOTTOM + 42);
	gt_svg_text(chart->x_label, out);
	fprintf(out,
	        "</text>\n<text text-anchor=\"middle\" transform=\"translate(24 %d) rotate(-90)\">",
	        (TOP + BOTTOM) / 2);
	gt_svg_text(chart->y_label, out);
	fputs("</text>\n", out);
}

/* The text of a slope stands along it, that of a level at its right end. */
static void draw_line(const struct gt_chart *chart, const struct gt_chart_line *line, FILE *out)
{
	const double from_x = place_x(chart, line->from_x);
	const double from_y = place_y(chart, line->from_y);
	const double to_x = place_x(chart, line->to_x);
	const double to_y = place_y(chart, line->to_y);
	const bool level = fabs(from_y - to_y) < 0.5;
	const double angle = level ? 0 : atan2(to_y - from_y, to_x - from_x) * 180 / acos(-1);

	fprintf(out, "<path class=\"roof%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
	        line->dashed ? " dashed" : "", from_x, from_y, to_x, to_y);
	fprintf(out,
	        "<text class=\"small\" text-anchor=\"%s\" "
	        "transform=\"translate(%.1f %.1f) rotate(%.1f)\" dy=\"%d\">",
	        level ? "end" : "middle", level ? to_x : (from_x + to_x) / 2,
	        level ? to_y : (from_y + to_y) / 2, angle, line->dashed ? -6 : 14);
	gt_svg_text(line->label, out);
	fputs("</text>\n", out);
}

static void draw_point(const struct gt_chart *chart, size_t number, FILE *out)
{
	const struct gt_chart_point *point = &chart->points.rows[number];
	const double weight = point->weight > 0 && point->weight < 1 ? point->weight : 1;
	const double x = place_x(chart, point->x);
	const double y = place_y(chart, point->y);
	const double radius = LEAST_RADIUS + MORE_RADIUS * sqrt(weight);

	fprintf(out, "<g><title>");
	gt_svg_text(point->label, out);
	fputs(": ", out);
	gt_svg_text(point->figures, out);
	fprintf(out, "</title><circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", x, y,
	        radius);
	fprintf(out, "<text class=\"number\" x=\"%.1f\" y=\"%.1f\">%zu</text></g>\n", x,
	        y - radius - 4, number + 1);
}

/* Names can be long: what tells them apart stands at their beginning. */
void gt_svg_cut(const char *text, FILE *out)
{
	char cut[LEGEND_LETTERS + 1];
	size_t length = strlen(text);

	if (length <= LEGEND_LETTERS) {
		gt_svg_text(text, out);
		return;
	}
	/* A letter of several bytes goes as a whole. */
	for (length = LEGEND_LETTERS; length > 0 && (text[length] & 0xc0) == 0x80;)
		length--;
	memcpy(cut, text, length);
	cut[length] = '\0';
	gt_svg_text(cut, out);
	fputs("...", out);
}

static void draw_legend(const struct gt_chart *chart, FILE *out)
{
	double y = TOP + 8;

	if (chart->points.count == 0)
		fprintf(out,
		        "<text class=\"small\" x=\"%d\" y=\"%.0f\">no kernel is known well enough</text>\n",
		        LEGEND, y);
	for (size_t i = 0; i < chart->points.count && y + LEGEND_LINE < HEIGHT; i++) {
		const struct gt_chart_point *point = &chart->points.rows[i];

		fprintf(out, "<text x=\"%d\" y=\"%.0f\">%zu  ", LEGEND, y, i + 1);
		gt_svg_cut(point->label, out);
		fprintf(out, "</text>\n<text class=\"small\" x=\"%d\" y=\"%.0f\">", LEGEND + 22,
		        y + LEGEND_LINE - 2);
		gt_svg_text(point->figures, out);
		fputs("</text>\n", out);
		y += 2 * LEGEND_LINE + 4;
	}
}

static void draw_chart(const struct gt_chart *chart, FILE *out)
{
	draw_axes(chart, out);
	draw_grid(chart, out);
	gt_array_each(const struct gt_chart_line, line, &chart->lines)
		draw_line(chart, line, out);
	for (size_t i = chart->points.count; i-- > 0;)
		draw_point(chart, i, out);
	draw_legend(chart, out);
}

static size_t height_of(const struct gt_result *result)
{
	size_t height = result->charts.count * HEIGHT;

	gt_array_each(const struct gt_strips, strips, &result->strips)
		height += gt_svg_strips_height(strips);
	return height;
}

/* Draws the pictures of a result from y on, and returns where they end. */
static size_t draw_result(const struct gt_result *result, size_t y, FILE *out)
{
	gt_array_each(const struct gt_chart, chart, &result->charts) {
		fprintf(out, "<g transform=\"translate(0 %zu)\">\n", y);
		draw_chart(chart, out);
		fputs("</g>\n", out);
		y += HEIGHT;
	}
	gt_array_each(const struct gt_strips, strips, &result->strips) {
		fprintf(out, "<g transform=\"translate(0 %zu)\">\n", y);
		gt_svg_strips(strips, out);
		fputs("</g>\n", out);
		y += gt_svg_strips_height(strips);
	}
	return y;
}

void gt_render_svg(const struct gt_named_result *results, size_t count, FILE *out)
{
	size_t height = 0;
	size_t y = 0;

	for (size_t i = 0; i < count; i++)
		height += height_of(results[i].result);
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
	        "viewBox=\"0 0 %d %zu\" role=\"img\" class=\"picture\"><style>%s</style>\n",
	        WIDTH, height, WIDTH, height, style);
	for (size_t i = 0; i < count; i++)
		y = draw_result(results[i].result, y, out);
	fputs("</svg>\n", out);
}
