/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/show.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "base/path.h"
#include "cli/output/output.h"
#include "cli/output/say.h"
#include "cli/recording/recording.h"
#include "cli/render/pager.h"
#include "exporters/exporter.h"

const char *const gt_show_colours[] = {"auto", "always", "never", NULL};

/* Whether the name of the file to write ends so. */
static bool is_named(const struct gt_show_args *args, const char *ending)
{
	return args->output && gt_has_suffix(args->output, ending);
}

/*
 * Whether text may go into a file of that name: what ends like a file of another program's is not
 * filled with text.
 */
static int check_name(const char *output, struct gt_error *err)
{
	static const char *const texts[] = {"", ".txt", ".text", ".log", ".out"};
	const char *ending = gt_path_ending(output ? output : "");

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(ending, texts[i]) == 0)
			return 0;
	if (isdigit((unsigned char)ending[1]) || gt_path_is_folder(output) ||
	    strncmp(output, "/dev/", strlen("/dev/")) == 0)
		return 0;
	if (gt_exporter_for_file(output) || gt_recording_is_trace(output))
		return gt_fail(err, EINVAL,
		               "%s would be a trace, which gputrace export -o %s writes; reports "
		               "are written as .txt, .md, .html, .csv (for spreadsheets) or .json",
		               output, output);
	return gt_fail(err, EINVAL,
	               "cannot write %s: reports are written as .txt, .md, .html, .csv "
	               "(for spreadsheets) or .json",
	               output);
}

/* The style that the file's name asks for. */
static enum gt_style named_style(const struct gt_show_args *args)
{
	static const struct {
		const char *ending;
		enum gt_style style;
	} styles[] = {
		{".json", GT_STYLE_JSON}, {".csv", GT_STYLE_CSV},  {".md", GT_STYLE_MARKDOWN},
		{".html", GT_STYLE_HTML}, {".htm", GT_STYLE_HTML}, {".svg", GT_STYLE_SVG},
	};

	for (size_t i = 0; i < GT_COUNT_OF(styles); i++)
		if (is_named(args, styles[i].ending))
			return styles[i].style;
	return GT_STYLE_TEXT;
}

int gt_show_style(const struct gt_show_args *args, enum gt_style *style, struct gt_error *err)
{
	if (args->json + args->csv + args->markdown + args->html > 1)
		return gt_fail(err, EINVAL, "--json, --csv, --md and --html exclude each other");
	if (args->wide && args->width)
		return gt_fail(err, EINVAL, "--wide and --width exclude each other");
	*style = args->json       ? GT_STYLE_JSON
	         : args->csv      ? GT_STYLE_CSV
	         : args->markdown ? GT_STYLE_MARKDOWN
	         : args->html     ? GT_STYLE_HTML
	                          : named_style(args);
	return *style == GT_STYLE_TEXT ? check_name(args->output, err) : 0;
}

static struct gt_rendering fitted(const struct gt_show_args *args,
                                  const struct gt_rendering *rendering, FILE *out)
{
	struct gt_rendering fitted = *rendering;

	fitted.width = args->wide ? 0 : args->width ? (size_t)args->width : gt_render_width(out);
	fitted.details = args->wide;
	fitted.all_tables = args->all;
	fitted.colour = gt_render_in_colour(args->colour, out);
	return fitted;
}

/* On a terminal: through a pager where it is longer than that. */
static int show_on_terminal(const struct gt_rendering *rendering,
                            const struct gt_named_result *results, size_t count,
                            struct gt_error *err)
{
	struct gt_paged page;
	int result;

	gt_paged_open(&page);
	result = gt_render(rendering, results, count, page.out, err);
	gt_paged_close(&page);
	return result;
}

/* A table that gets a file of its own. */
struct part {
	const char *report;
	const struct gt_section *section;
	char *path;
	struct gt_output output;
};

struct parts {
	gt_array(struct part) list;
};

/* The tables that are shown, in the order in which they are. */
static void collect_parts(struct parts *parts, const struct gt_rendering *rendering,
                          const struct gt_named_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++)
		gt_array_each(const struct gt_section, section, &results[i].result->sections)
			if (gt_rendering_shows(rendering, section))
				*gt_array_push(&parts->list) = (struct part){
					.report = results[i].name, .section = section};
}

static void release_parts(struct parts *parts)
{
	gt_array_each(struct part, part, &parts->list) {
		gt_output_release(&part->output);
		free(part->path);
	}
	gt_array_release(&parts->list);
}

/* "x.kernels.csv" for "x.csv"; with several reports "x.gaps.devices.csv". */
static char *path_of(const struct gt_show_args *args, const struct part *part, bool several)
{
	const size_t stem = strlen(args->output) - strlen(".csv");
	const size_t size = strlen(args->output) + strlen(part->report) +
	                    strlen(part->section->title) + sizeof("..");
	char *path = gt_allocate(size);

	snprintf(path, size, "%.*s%s%s.%s.csv", (int)stem, args->output, several ? "." : "",
	         several ? part->report : "", part->section->title);
	return path;
}

/* Every file is opened before one is written, and all are written before one gets its name. */
static int write_parts(struct parts *parts, const struct gt_show_args *args,
                       const struct gt_rendering *rendering, bool several, struct gt_error *err)
{
	gt_array_each(struct part, part, &parts->list) {
		part->path = path_of(args, part, several);

		const int result = gt_output_open(&part->output, part->path, args->force, err);

		if (result < 0)
			return result;
	}
	gt_array_each(const struct part, part, &parts->list)
		gt_render_csv_section(rendering, part->section, part->output.file);
	gt_array_each(struct part, part, &parts->list) {
		const int result = gt_output_commit(&part->output, err);

		if (result < 0)
			return result;
		gt_output_say(&part->output, NULL);
	}
	return 0;
}

static int show_in_one(const struct gt_show_args *args, const struct gt_rendering *rendering,
                       const struct gt_named_result *results, size_t count, struct gt_error *err)
{
	struct gt_output output = GT_OUTPUT_INIT;
	int result = gt_output_open(&output, args->output, args->force, err);

	if (result == 0) {
		const struct gt_rendering page = fitted(args, rendering, output.file);

		result = output.file == stdout && page.style == GT_STYLE_TEXT && !args->no_pager
		                 ? show_on_terminal(&page, results, count, err)
		                 : gt_render(&page, results, count, output.file, err);
	}
	if (result == 0)
		result = gt_output_commit(&output, err);
	if (result == 0)
		gt_output_say(&output, NULL);
	gt_output_release(&output);
	return result;
}

/* Programs that read one table stumble over several; what was asked for one by one is wanted so. */
static void say_how_to_part(const struct gt_show_args *args, const struct parts *parts)
{
	if (args->sections.count > 0)
		return;
	gt_say("%zu tables, each behind a line '# REPORT TABLE': --section %s gives one alone, -o x.csv "
	       "a file for each",
	       parts->list.count, parts->list.rows[0].section->title);
}

int gt_show(const struct gt_show_args *args, const struct gt_rendering *rendering,
            const struct gt_named_result *results, size_t count, struct gt_error *err)
{
	struct gt_rendering chosen = *rendering;
	struct gt_sort sort;
	struct parts parts = {0};
	int result;

	if (rendering->sort) {
		sort = *rendering->sort;
		gt_render_translate(&sort, rendering, results, count);
		chosen.sort = &sort;
	}
	chosen.sections = &args->sections;
	chosen.limit = args->limit;
	result = gt_render_check(&chosen, results, count, err);
	if (result < 0)
		return result;
	collect_parts(&parts, &chosen, results, count);
	if (chosen.style == GT_STYLE_CSV && parts.list.count > 1 && is_named(args, ".csv"))
		result = write_parts(&parts, args, &chosen, count > 1, err);
	else
		result = show_in_one(args, &chosen, results, count, err);
	if (result == 0 && chosen.style == GT_STYLE_CSV && parts.list.count > 1 &&
	    !is_named(args, ".csv"))
		say_how_to_part(args, &parts);
	release_parts(&parts);
	return result;
}
