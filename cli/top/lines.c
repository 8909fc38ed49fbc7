/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top/lines.h"

#include "analysis/result.h"
#include "cli/render/grid.h"
#include "cli/render/render.h"

/* Lines that are written at different times stand below each other where their texts are no longer.
 */
enum { COLUMN_WIDTH = 12 };

static void print_line(const struct gt_grid *grid, size_t line, FILE *out)
{
	for (size_t c = 0; c < grid->count; c++) {
		const char *text = grid->columns[c].texts[line];

		if (c + 1 < grid->count)
			fprintf(out, "%*s  ", COLUMN_WIDTH, text);
		else
			fprintf(out, "%s\n", text);
	}
}

void gt_print_lines(const struct gt_section *section, bool headings, FILE *out)
{
	const struct gt_rendering rendering = {.style = GT_STYLE_TEXT, .limit = UINT64_MAX - 1};
	struct gt_grid grid;

	gt_grid_init(&grid, &rendering, section);
	for (size_t line = headings ? 0 : 1; line <= grid.rows.count; line++)
		print_line(&grid, line, out);
	gt_grid_release(&grid);
}
