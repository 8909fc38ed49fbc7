/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RENDER_SVG_H
#define GT_CLI_RENDER_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct gt_strips;

/* Parts of the pictures of reports, in SVG; cli/render/svg.c puts them together. */

/* In CSS pixels: of all pictures, with the edges of the plot and the legend to its right. */
enum {
	GT_SVG_WIDTH = 1100,
	GT_SVG_LEFT = 90,
	GT_SVG_RIGHT = 720,
	GT_SVG_TOP = 60,
	GT_SVG_LEGEND = 745,
	GT_SVG_LEGEND_LINE = 17,
};

/* A character that XML and HTML have another spelling for, so spelt; false: it has none. */
bool gt_svg_escape(char character, FILE *out);

/* A text between tags, or in an attribute. */
void gt_svg_text(const char *text, FILE *out);

/* The same, cut to what fits into a line of the legend. */
void gt_svg_cut(const char *text, FILE *out);

/* Kinds that have a colour of their own: classes kind0, kind1, ...; further ones take them again. */
enum { GT_SVG_KINDS = 10 };

size_t gt_svg_strips_height(const struct gt_strips *strips);
void gt_svg_strips(const struct gt_strips *strips, FILE *out);

#endif
