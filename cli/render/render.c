/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/render.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/option.h"
#include "cli/output/terminal.h"
#include "cli/output/words.h"
#include "cli/render/rows.h"

/* A section of that column: one that is shown, else one that is not; NULL: there is none. */
static const struct gt_section *section_of(const struct gt_rendering *rendering,
                                           const struct gt_named_result *results, size_t count,
                                           const char *column)
{
	const struct gt_section *found = NULL;

	for (size_t i = 0; i < count; i++)
		gt_array_each(const struct gt_section, section, &results[i].result->sections) {
			if (gt_section_find_column(section, column) == section->heading_count)
				continue;
			if (gt_rendering_shows(rendering, section))
				return section;
			found = section;
		}
	return found;
}

/* Both spellings of every heading: "total_ns" and "total". */
static void add_headings(struct gt_words *words, const struct gt_section *section)
{
	for (size_t c = 0; c < section->heading_count; c++) {
		const char *name = section->headings[c].name;

		gt_words_add(words, name, strlen(name));
		gt_words_add(words, name, gt_heading_stem(name));
	}
}

/* The columns of the first table that is shown, as text names them; "" where there is none. */
static void name_columns(const struct gt_rendering *rendering,
                         const struct gt_named_result *results, size_t count, char *text,
                         size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < count; i++)
		gt_array_each(const struct gt_section, section, &results[i].result->sections) {
			if (section->plain || !gt_rendering_shows(rendering, section))
				continue;
			for (size_t c = 0; c < section->heading_count && used < size; c++) {
				char *label = gt_heading_label(section, c);

				used += (size_t)snprintf(text + used, size - used, "%s%s",
				                         c ? ", " : "", label);
				free(label);
			}
			return;
		}
}

void gt_render_translate(struct gt_sort *sort, const struct gt_rendering *rendering,
                         const struct gt_named_result *results, size_t count)
{
	for (size_t i = 0; i < sort->count; i++) {
		struct gt_sort_key *key = &sort->keys[i];
		const char *ours;

		if (section_of(rendering, results, count, key->column))
			continue;
		for (size_t n = 0; (ours = gt_column_alias(key->column, n)) != NULL; n++)
			if (section_of(rendering, results, count, ours)) {
				snprintf(key->column, sizeof(key->column), "%s", ours);
				break;
			}
	}
}

static int unknown_column(const struct gt_rendering *rendering,
                          const struct gt_named_result *results, size_t count, const char *name,
                          struct gt_error *err)
{
	struct gt_words names = {0};
	const char *nearest;
	char all[512];
	int result;

	for (size_t i = 0; i < count; i++)
		gt_array_each(const struct gt_section, section, &results[i].result->sections)
			add_headings(&names, section);
	nearest = gt_words_nearest(&names, name);
	name_columns(rendering, results, count, all, sizeof(all));
	if (nearest)
		result = gt_fail(err, EINVAL, "no column '%s'; did you mean %s?", name, nearest);
	else
		result = gt_fail(err, EINVAL, "no column '%s'; there is: %s", name, all);
	gt_words_release(&names);
	return result;
}

static bool has_section(const struct gt_named_result *results, size_t count, const char *title)
{
	for (size_t i = 0; i < count; i++)
		if (gt_result_find(results[i].result, title))
			return true;
	return false;
}

static int unknown_section(const struct gt_named_result *results, size_t count, const char *title,
                           struct gt_error *err)
{
	struct gt_words titles = {0};
	const char *nearest;
	char all[512] = "";
	size_t used = 0;
	int result;

	for (size_t i = 0; i < count; i++)
		gt_array_each(const struct gt_section, section, &results[i].result->sections) {
			gt_words_add(&titles, section->title, strlen(section->title));
			if (used < sizeof(all))
				used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
				                         used ? ", " : "", section->title);
		}
	nearest = gt_words_nearest(&titles, title);
	if (nearest)
		result = gt_fail(err, EINVAL, "no table '%s'; did you mean %s?", title, nearest);
	else
		result = gt_fail(err, EINVAL, "no table '%s'; there is: %s", title, all);
	gt_words_release(&titles);
	return result;
}

/* For people: not all there is. */
static bool is_page(const struct gt_rendering *rendering)
{
	return rendering->style == GT_STYLE_TEXT || rendering->style == GT_STYLE_MARKDOWN ||
	       rendering->style == GT_STYLE_HTML;
}

/* Rows of a table of a page, where no limit was asked for. */
static uint64_t usual_limit(enum gt_style style)
{
	if (style == GT_STYLE_HTML)
		return GT_ROWS_OF_PAGE;
	return style == GT_STYLE_TEXT ? GT_ROWS_SHOWN : GT_ROWS_TOP;
}

bool gt_rendering_shows(const struct gt_rendering *rendering, const struct gt_section *section)
{
	const struct gt_option_list *sections = rendering->sections;

	if (!sections || sections->count == 0)
		return !is_page(rendering) || rendering->details || rendering->all_tables ||
		       rendering->style == GT_STYLE_HTML /* folded */ ||
		       !(section->detail || section->further);
	for (size_t i = 0; i < sections->count; i++)
		if (strcmp(sections->texts[i], section->title) == 0)
			return true;
	return false;
}

uint64_t gt_rendering_limit(const struct gt_rendering *rendering, const struct gt_section *section)
{
	if (is_page(rendering) && rendering->limit == GT_LIMIT_NONE && !rendering->details &&
	    !section->whole)
		return usual_limit(rendering->style);
	return rendering->limit;
}

/* A column to sort by is in something that is shown. */
static int check_column(const struct gt_rendering *rendering, const struct gt_named_result *results,
                        size_t count, const char *column, struct gt_error *err)
{
	const struct gt_section *section = section_of(rendering, results, count, column);

	if (!section)
		return unknown_column(rendering, results, count, column, err);
	if (!gt_rendering_shows(rendering, section))
		return gt_fail(err, EINVAL,
		               "column '%s' is in table %s, which is not shown: --section %s "
		               "shows it",
		               column, section->title, section->title);
	return 0;
}

static int check_charts(const struct gt_named_result *results, size_t count, struct gt_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (results[i].result->charts.count + results[i].result->strips.count > 0)
			return 0;
	return gt_fail(err, EINVAL,
	               "there is no picture of this to write; gputrace report roofline -o x.svg "
	               "writes one of each GPU of a recording, gputrace report device-events "
	               "--kernel NAME -o x.svg one of a launch");
}

int gt_render_check(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, struct gt_error *err)
{
	const struct gt_sort *sort = rendering->sort;
	const struct gt_option_list *sections = rendering->sections;

	for (size_t i = 0; sort && i < sort->count; i++) {
		const int result =
			check_column(rendering, results, count, sort->keys[i].column, err);

		if (result < 0)
			return result;
	}
	for (size_t i = 0; sections && i < sections->count; i++)
		if (!has_section(results, count, sections->texts[i]))
			return unknown_section(results, count, sections->texts[i], err);
	return rendering->style == GT_STYLE_SVG ? check_charts(results, count, err) : 0;
}

int gt_render(const struct gt_rendering *rendering, const struct gt_named_result *results,
              size_t count, FILE *out, struct gt_error *err)
{
	const int result = gt_render_check(rendering, results, count, err);

	if (result < 0)
		return result;
	switch (rendering->style) {
	case GT_STYLE_TEXT:
		gt_render_text(rendering, results, count, out);
		break;
	case GT_STYLE_MARKDOWN:
		gt_render_markdown(rendering, results, count, out);
		break;
	case GT_STYLE_HTML:
		gt_render_html(rendering, results, count, out);
		break;
	case GT_STYLE_JSON:
		gt_render_json(rendering, results, count, out);
		break;
	case GT_STYLE_CSV:
		gt_render_csv(rendering, results, count, out);
		break;
	case GT_STYLE_SVG:
		gt_render_svg(results, count, out);
		break;
	}
	return 0;
}

size_t gt_render_width(FILE *out)
{
	return gt_page_width(fileno(out), GT_RENDER_WIDTH);
}

bool gt_render_in_colour(const char *when, FILE *out)
{
	if (when && strcmp(when, "auto") != 0)
		return strcmp(when, "always") == 0;
	return gt_terminal_is_colourful(fileno(out));
}
