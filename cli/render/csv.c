/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "analysis/result.h"
#include "base/utf8.h"
#include "cli/render/render.h"
#include "cli/render/rows.h"

/* Spreadsheets take a text that begins like this for a formula, whatever its quotes. */
static bool looks_like_formula(const char *text)
{
	static const char *const begins[] = {
		"=",
		"+",
		"-",
		"@",
		"\t",
		"\r",
		"\n",
		"\xef\xbc\x9d",
		"\xef\xbc\x8b", /* the same in full width */
		"\xef\xbc\x8d",
		"\xef\xbc\xa0",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(text, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* Tabs and ends of lines are what a text is made of; what else misleads is shown byte by byte. */
static bool is_shown(const char *text)
{
	return !gt_utf8_misleads(text) || *text == '\t' || *text == '\n' ||
	       (text[0] == '\r' && text[1] == '\n');
}

/* Returns what follows the character. */
static const char *write_character(const char *text, FILE *out)
{
	const size_t known = gt_utf8_size(text);
	const size_t size = known ? known : 1;

	if (*text == '"')
		putc('"', out);
	for (size_t i = 0; i < size; i++)
		if (is_shown(text))
			putc(text[i], out);
		else
			fprintf(out, "\\x%02x", (unsigned)(unsigned char)text[i]);
	return text + size;
}

/* RFC 4180, section 2, rules 5 to 7. Quotes also keep a row from looking like a separator. */
static void write_field(const char *text, FILE *out)
{
	const bool quoted = *text == '#' || text[strcspn(text, ",\"\r\n")];

	fputs(quoted ? "\"" : "", out);
	fputs(looks_like_formula(text) ? "'" : "", out);
	while (*text)
		text = write_character(text, out);
	fputs(quoted ? "\"" : "", out);
}

static void write_cell(const struct gt_cell *cell, FILE *out)
{
	if (!cell->unknown && cell->unit == GT_UNIT_TEXT)
		write_field(cell->text ? cell->text : "", out);
	else
		gt_cell_write_figure(cell, out);
}

void gt_render_csv_section(const struct gt_rendering *rendering, const struct gt_section *section,
                           FILE *out)
{
	struct gt_rows rows;

	for (size_t c = 0; c < section->heading_count; c++) {
		fputs(c ? "," : "", out);
		write_field(section->headings[c].name, out);
	}
	fputs("\r\n", out);
	gt_rows_init(&rows, section, rendering->sort, gt_rendering_limit(rendering, section));
	for (size_t r = 0; r < rows.count; r++) {
		const struct gt_cell *cells = gt_rows_get(&rows, r);

		for (size_t c = 0; c < section->heading_count; c++) {
			fputs(c ? "," : "", out);
			write_cell(&cells[c], out);
		}
		fputs("\r\n", out);
	}
	gt_rows_release(&rows);
}

static size_t shown(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count)
{
	size_t sections = 0;

	for (size_t i = 0; i < count; i++)
		gt_array_each(const struct gt_section, section, &results[i].result->sections)
			sections += gt_rendering_shows(rendering, section);
	return sections;
}

void gt_render_csv(const struct gt_rendering *rendering, const struct gt_named_result *results,
                   size_t count, FILE *out)
{
	const bool several = shown(rendering, results, count) > 1;

	for (size_t i = 0; i < count; i++) {
		gt_array_each(const struct gt_section, section, &results[i].result->sections) {
			if (!gt_rendering_shows(rendering, section))
				continue;
			if (several)
				fprintf(out, "# %s %s\r\n", results[i].name, section->title);
			gt_render_csv_section(rendering, section, out);
		}
	}
}
