/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/result.h"
#include "base/units.h"
#include "cli/render/grid.h"
#include "cli/render/render.h"

/*
 * Tables of GitHub's Markdown, for a pull request: what text shows of a table with fewer rows. A
 * cell is a line; what Markdown would take for its own is written so that it does not.
 */

static void write_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("\\`*_<>|[]#~", *text))
			putc('\\', out);
		putc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
	}
}

static void write_line(const struct gt_grid *grid, size_t line, FILE *out)
{
	for (size_t c = 0; c < grid->count; c++) {
		fputs(c ? " | " : "| ", out);
		write_text(grid->columns[c].texts[line], out);
	}
	fputs(" |\n", out);
}

/* Figures stand at the right. */
static void write_rule(const struct gt_grid *grid, FILE *out)
{
	for (size_t c = 0; c < grid->count; c++)
		fputs(grid->section->headings[grid->columns[c].heading].unit == GT_UNIT_TEXT
		              ? "| --- "
		              : "| ---: ",
		      out);
	fputs("|\n", out);
}

static void write_section(const struct gt_rendering *rendering, const struct gt_section *section,
                          FILE *out)
{
	struct gt_grid grid;
	uint64_t more;

	gt_grid_init(&grid, rendering, section);
	if (rendering->width)
		gt_grid_fit(&grid, rendering->width);
	fputs("**", out);
	gt_print_title(section->title, out);
	fputs("**\n\n", out);
	write_line(&grid, 0, out);
	write_rule(&grid, out);
	for (size_t r = 1; r <= grid.rows.count; r++)
		write_line(&grid, r, out);
	if (grid.same) {
		fprintf(out, "%sIn all these rows: ", "\n");
		write_text(grid.same, out);
		putc('\n', out);
	}
	more = grid.rows.left_out + section->more;
	if (more > 0)
		fprintf(out, "\n%s more rows\n", gt_figure_count((int64_t)more).text);
	putc('\n', out);
	gt_grid_release(&grid);
}

void gt_render_markdown(const struct gt_rendering *rendering, const struct gt_named_result *results,
                        size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct gt_result *result = results[i].result;

		fprintf(out, "### %s\n\n", results[i].name);
		gt_array_each(const struct gt_section, section, &result->sections)
			if (gt_rendering_shows(rendering, section) &&
			    gt_section_row_count(section) > 0)
				write_section(rendering, section, out);
		/* Remarks about single columns are left to the whole page. */
		gt_array_each(const struct gt_remark, remark, &result->remarks) {
			if (remark->columns)
				continue;
			fputs("- ", out);
			write_text(remark->text, out);
			putc('\n', out);
		}
		fputs(i + 1 < count ? "\n" : "", out);
	}
}
