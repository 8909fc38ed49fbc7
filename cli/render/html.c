/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/render/html.h"

#include <string.h>

#include "analysis/report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "cli/render/render.h"
#include "cli/render/report_html.h"
#include "cli/render/report_script.h"
#include "cli/render/report_script_hash.h"
#include "cli/render/report_style.h"

/* All that a page is made of. */
struct page {
	const struct gt_rendering *rendering;
	const struct gt_named_result *results;
	size_t count;
	const struct gt_page_head *head; /* NULL: none */
	FILE *out;
};

static bool is_shown(const struct page *page, const struct gt_section *section)
{
	return gt_rendering_shows(page->rendering, section) && gt_section_row_count(section) > 0;
}

static bool has_pictures(const struct gt_result *result)
{
	return result->charts.count + result->strips.count > 0;
}

static bool has_rows(const struct page *page, const struct gt_result *result)
{
	gt_array_each(const struct gt_section, section, &result->sections)
		if (is_shown(page, section))
			return true;
	return has_pictures(result);
}

static const struct gt_timeline *timeline_of(const struct page *page)
{
	return page->head ? page->head->timeline : NULL;
}

static void write_title(const struct page *page)
{
	if (page->head) {
		gt_html_text(page->head->title, page->out);
		return;
	}
	for (size_t i = 0; i < page->count; i++) {
		fputs(i ? ", " : "", page->out);
		gt_html_text(page->results[i].name, page->out);
	}
}

static void write_style(const struct page *page)
{
	fputs(gt_report_style, page->out);
}

static void write_script(const struct page *page)
{
	fputs(gt_report_script, page->out);
}

static void write_hash(const struct page *page)
{
	fputs(gt_report_script_hash, page->out);
}

static void write_version(const struct page *page)
{
	gt_html_text(GPUTRACE_VERSION, page->out);
}

static void write_facts(const struct page *page)
{
	const struct gt_page_head *head = page->head;

	for (size_t i = 0; head && i < head->fact_count; i++) {
		const char *text = head->facts[i].text;

		fputs("<div><dt>", page->out);
		gt_html_text(head->facts[i].name, page->out);
		fputs("</dt><dd>", page->out);
		gt_html_text(text && *text ? text : "-", page->out);
		fputs("</dd></div>\n", page->out);
	}
}

static void write_ledger(const struct page *page)
{
	if (!page->head || !page->head->ledger)
		return;
	fprintf(page->out, "<p class=\"ledger %s\">", page->head->clean ? "good" : "bad");
	gt_html_text(page->head->ledger, page->out);
	fputs("</p>", page->out);
}

static void write_links(const struct page *page)
{
	if (timeline_of(page))
		fputs("<a href=\"#timeline\">timeline</a>\n", page->out);
	for (size_t i = 0; i < page->count; i++)
		if (has_rows(page, page->results[i].result))
			fprintf(page->out, "<a href=\"#%s\">%s</a>\n", page->results[i].name,
			        page->results[i].name);
}

/* The tables that say more, which are folded, stand last. */
static void write_tables(const struct page *page, const struct gt_result *result, bool folded)
{
	gt_array_each(const struct gt_section, section, &result->sections)
		if (is_shown(page, section) && section->detail == folded)
			gt_html_table(page->rendering, section, page->out);
}

static void write_remarks(const struct page *page, const struct gt_result *result)
{
	if (result->remarks.count == 0)
		return;
	fputs("<ul class=\"remarks\">\n", page->out);
	gt_array_each(const struct gt_remark, remark, &result->remarks) {
		fputs("<li>", page->out);
		gt_html_text(remark->text, page->out);
		fputs("</li>\n", page->out);
	}
	fputs("</ul>\n", page->out);
}

static void write_report(const struct page *page, const struct gt_named_result *named)
{
	const struct gt_report *report = gt_report_find(named->name);

	fprintf(page->out, "<section id=\"%s\"><h2>%s</h2>\n", named->name, named->name);
	if (report) {
		fputs("<p class=\"lead\">", page->out);
		gt_html_text(report->summary, page->out);
		fputs("</p>\n", page->out);
	}
	if (timeline_of(page) && strcmp(named->name, "memory") == 0)
		fputs("<div id=\"memory-curves\"></div>\n", page->out);
	if (has_pictures(named->result)) {
		fputs("<div class=\"scroll\">", page->out);
		gt_render_svg(named, 1, page->out);
		fputs("</div>", page->out);
	}
	write_tables(page, named->result, false);
	write_tables(page, named->result, true);
	write_remarks(page, named->result);
	fputs("</section>\n", page->out);
}

/* Reports without a row take little room, and say why. */
static void write_empty(const struct page *page)
{
	bool begun = false;

	for (size_t i = 0; i < page->count; i++) {
		if (has_rows(page, page->results[i].result))
			continue;
		fputs(begun ? "" : "<section id=\"without-rows\"><h2>without rows</h2>\n",
		      page->out);
		begun = true;
		fprintf(page->out, "<h3>%s</h3>\n", page->results[i].name);
		write_remarks(page, page->results[i].result);
	}
	fputs(begun ? "</section>\n" : "", page->out);
}

static void write_reports(const struct page *page)
{
	for (size_t i = 0; i < page->count; i++)
		if (has_rows(page, page->results[i].result))
			write_report(page, &page->results[i]);
	write_empty(page);
}

/* The element of the picture; report.js draws it. */
static void write_timeline(const struct page *page)
{
	if (timeline_of(page))
		fputs("<section id=\"timeline\"><h2>timeline</h2>\n"
		      "<noscript><p class=\"lead\">The timeline is drawn by the script of this "
		      "page, which is switched off.</p></noscript></section>\n",
		      page->out);
}

static void write_data(const struct page *page)
{
	if (timeline_of(page))
		gt_html_timeline(timeline_of(page), page->out);
	else
		fputs("null", page->out);
}

/* Words of the template, and what stands for them in a page. */
static const struct {
	const char *word;
	void (*write)(const struct page *page);
} places[] = {
	{"@TITLE@", write_title},     {"@STYLE@", write_style},     {"@FACTS@", write_facts},
	{"@LEDGER@", write_ledger},   {"@LINKS@", write_links},     {"@TIMELINE@", write_timeline},
	{"@REPORTS@", write_reports}, {"@DATA@", write_data},       {"@SCRIPT@", write_script},
	{"@HASH@", write_hash},       {"@VERSION@", write_version},
};

/* How long the word at this place of the template is, once written; 0: it is none. */
static size_t write_place(const struct page *page, const char *at)
{
	for (size_t i = 0; i < GT_COUNT_OF(places); i++) {
		const size_t length = strlen(places[i].word);

		if (strncmp(at, places[i].word, length) != 0)
			continue;
		places[i].write(page);
		return length;
	}
	return 0;
}

void gt_render_html(const struct gt_rendering *rendering, const struct gt_named_result *results,
                    size_t count, FILE *out)
{
	const struct page page = {rendering, results, count, rendering->head, out};

	for (const char *at = gt_report_template; *at;) {
		const size_t length = *at == '@' ? write_place(&page, at) : 0;

		if (length == 0)
			putc(*at, out);
		at += length ? length : 1;
	}
}
