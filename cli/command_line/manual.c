/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/manual.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/error.h"
#include "base/parse.h"
#include "cli/command_line/command.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/help.h"
#include "cli/command_line/option.h"
#include "cli/command_line/report_help.h"
#include "cli/output/variable.h"

#define MAIN_PAGE    "gputrace.1"
#define REPORTS_PAGE "gputrace-report.5"

/* Text of a line: nothing in it is a request, and dashes stay those that one types. */
static void put(const char *text, FILE *out)
{
	bool begins = true;

	for (; *text; text++) {
		if (begins && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			putc(*text, out);
		begins = *text == '\n';
	}
}

static void put_line(const char *text, FILE *out)
{
	put(text, out);
	putc('\n', out);
}

static void put_sentence(const char *text, FILE *out)
{
	put(text, out);
	fputs(".\n", out);
}

static void put_capitals(const char *text, FILE *out)
{
	for (; *text; text++)
		putc(toupper((unsigned char)*text), out);
}

/*
 * When the pages were last changed: as who builds says (SOURCE_DATE_EPOCH, seconds since 1970),
 * else when this version was released; "" for one that was not.
 */
static const char *date(char *text, size_t size)
{
	const char *said = gt_variable("SOURCE_DATE_EPOCH");
	uint64_t seconds = 0;
	struct tm day;
	time_t time;

	snprintf(text, size, "%s", GPUTRACE_DATE);
	if (!said || gt_parse_count(said, &seconds) < 0 || seconds > UINT32_MAX)
		return text;
	time = (time_t)seconds;
	if (gmtime_r(&time, &day))
		(void)strftime(text, size, "%Y-%m-%d", &day);
	return text;
}

static void begin(const char *name, int section, const char *summary, FILE *out)
{
	char text[16];

	fprintf(out, ".\\\" Made by gputrace manual from the tables of --help.\n"
	             ".TH ");
	put_capitals(name, out);
	fprintf(out, " %d \"%s\" \"gputrace " GPUTRACE_VERSION "\"\n", section,
	        date(text, sizeof(text)));
	/* Nothing is hyphenated, as names of options would be, nor spread to the right margin. */
	fputs(".nh\n.ad l\n.SH NAME\n", out);
	put(name, out);
	fputs(" \\- ", out);
	put_line(summary, out);
}

static void section(const char *title, FILE *out)
{
	fprintf(out, ".SH %s\n", title);
}

/* An entry of a list: a bold term, and what it means; one that begins with blanks is of the last. */
static void entry(const char *term, const char *text, FILE *out)
{
	const size_t blanks = strspn(term, " ");

	fputs(blanks ? ".RS\n.TP\n.B " : ".TP\n.B ", out);
	put_line(term + blanks, out);
	put_line(text, out);
	if (blanks)
		fputs(".RE\n", out);
}

/* Lines that stay as they are. */
static void put_lines(const char *text, FILE *out)
{
	fputs(".nf\n", out);
	put_line(text, out);
	fputs(".fi\n", out);
}

/* Prose as gt_help_text has it. */
static void put_text(const char *text, FILE *out)
{
	bool begins = true;

	while (*text) {
		const size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		if (!*line || *line == ' ')
			fputs(".PP\n", out);
		else if (!begins)
			fputs(".br\n", out);
		begins = !*line;
		if (*line == ' ')
			put_lines(line, out);
		else if (*line)
			put_line(line, out);
		free(line);
		text += length + (text[length] == '\n');
	}
}

static void put_option(const struct gt_option *option, FILE *out)
{
	char *text;

	fputs(".TP\n", out);
	if (option->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", out);
	put(option->name, out);
	fputs("\\fR", out);
	if (option->value) {
		fputs(gt_option_before_value(option), out);
		fputs("\\fI", out);
		put(option->value, out);
		fputs("\\fR", out);
		fputs(gt_option_behind_value(option), out);
	}
	putc('\n', out);
	text = gt_option_text(option);
	put_sentence(text, out);
	free(text);
}

static void put_options(const struct gt_command *command, FILE *out)
{
	section("OPTIONS", out);
	for (const struct gt_option *option = command->options; option->name; option++)
		put_option(option, out);
	put_option(&gt_help_option, out);
}

/* The list in the command's help. */
static void put_list(const struct gt_command *command, FILE *out)
{
	if (!command->list)
		return;
	fputs(".SH ", out);
	put_capitals(command->list_title, out);
	putc('\n', out);
	command->list(entry, out);
}

/* The tables of a result and what their columns are made of. */
static void put_tables(const struct gt_result *result, FILE *out)
{
	gt_array_each(const struct gt_section, table, &result->sections) {
		fputs(".SS ", out);
		put_line(table->title, out);
		for (size_t i = 0; i < table->heading_count; i++)
			entry(table->headings[i].name, table->headings[i].help, out);
	}
}

static void put_own_tables(const struct gt_command *command, FILE *out)
{
	struct gt_result result;

	if (!command->tables)
		return;
	gt_result_init(&result);
	command->tables(&result);
	section("TABLES", out);
	put_tables(&result, out);
	gt_result_release(&result);
}

static void see_also(const char *page, FILE *out)
{
	bool first = true;

	section("SEE ALSO", out);
	for (size_t i = 0; i <= gt_command_count; i++) {
		char name[64] = "gputrace";

		if (i > 0 && gt_commands[i - 1]->hidden)
			continue;
		if (i > 0)
			snprintf(name, sizeof(name), "gputrace-%s", gt_commands[i - 1]->name);
		if (strcmp(name, page) == 0)
			continue;
		fputs(first ? "" : ",\n", out);
		fputs(".BR ", out);
		put(name, out);
		fputs(" (1)", out);
		first = false;
	}
	fputs(",\n.BR gputrace\\-report (5)\n", out);
}

static void put_command(const struct gt_command *command, FILE *out)
{
	char name[64];

	snprintf(name, sizeof(name), "gputrace-%s", command->name);
	begin(name, 1, command->summary, out);
	section("SYNOPSIS", out);
	fputs(".B gputrace ", out);
	put(command->name, out);
	fputs("\n[\\fIOPTION\\fR...] ", out);
	put_line(command->operands, out);
	section("DESCRIPTION", out);
	put_sentence(command->summary, out);
	if (command->details) {
		fputs(".PP\n", out);
		put_text(command->details, out);
	}
	put_options(command, out);
	put_list(command, out);
	put_own_tables(command, out);
	see_also(name, out);
}

static void put_settings(FILE *out)
{
	section("ENVIRONMENT", out);
#define SETTING(name, field, type, default, help) entry("GPUTRACE_" #name, help ".", out);
#include "format/settings.def"
}

static void put_main(FILE *out)
{
	begin("gputrace", 1, "show what a program does on NVIDIA GPUs", out);
	section("SYNOPSIS", out);
	fputs(".B gputrace\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIOPERAND\\fR...]\n.br\n"
	      ".B gputrace\n\\fIPROGRAM\\fR [\\fIARGUMENT\\fR...]\n",
	      out);
	section("DESCRIPTION", out);
	put_line(
		"gputrace runs an unchanged program and records every kernel, copy and fill on the\n"
		"GPU, the API calls that asked for them and who waited for what. A recording is a\n"
		"folder NAME.gputrace. It becomes a trace for https://ui.perfetto.dev, and tables.",
		out);
	section("COMMANDS", out);
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden)
			entry(gt_commands[i]->name, gt_commands[i]->summary, out);
	put_settings(out);
	section("FILES", out);
	entry("NAME.gputrace/", "A recording: a capture of each process, and a manifest.", out);
	entry("NAME.perfetto", "A trace made of it, to be opened at https://ui.perfetto.dev.", out);
	section("EXIT STATUS", out);
	put_line(
		"0 done, 1 could not do it, 2 did not understand the command line. That of\n"
		"gputrace run is the program's own; 125 gputrace could not start recording, 126 the\n"
		"program cannot be run, 127 there is no such program, 128+N signal N killed it.",
		out);
	section("EXAMPLES", out);
	put_lines("gputrace run ./app --its-own --options\n"
	          "gputrace run -o warm -- python3 train.py\n"
	          "gputrace report warm kernels copies --limit 20\n"
	          "gputrace report warm kernels --json | jq '.kernels[0]'\n"
	          "gputrace export warm -o warm.perfetto",
	          out);
	see_also("gputrace", out);
}

/* Other names that a report is found by, wildcards left out. */
static void put_aliases(const struct gt_report *report, FILE *out)
{
	bool first = true;

	for (const struct gt_alias *alias = gt_aliases; alias->words; alias++) {
		for (const char *at = alias->words;
		     strcmp(alias->report, report->name) == 0 && *at;) {
			const size_t length = strcspn(at, "|");
			char word[64];

			snprintf(word, sizeof(word), "%.*s", (int)length, at);
			fputs(first ? ".PP\nAlso found as " : ",\n", out);
			put(word, out);
			first = false;
			at += length + (at[length] == '|');
		}
	}
	fputs(first ? "" : ".\n", out);
}

static void put_report(const struct gt_report *report, FILE *out)
{
	const struct gt_parameter *parameter = report->parameters;
	struct gt_report_tables tables;

	fputs(".SH ", out);
	put_line(report->name, out);
	put_sentence(report->summary, out);
	put_aliases(report, out);
	for (; parameter && parameter->name; parameter++) {
		char setting[96];

		snprintf(setting, sizeof(setting), "--set %s=%s", parameter->name,
		         parameter->initial);
		entry(setting, parameter->help, out);
	}
	gt_report_tables_init(&tables, report);
	put_tables(&tables.result, out);
	gt_report_tables_release(&tables);
}

static void put_reports(FILE *out)
{
	begin("gputrace-report", 5, "the reports of gputrace and their columns", out);
	section("DESCRIPTION", out);
	put_line(
		"The question that each report of gputrace report answers, and its columns.\n"
		"Names are those of JSON and CSV, where values are raw: _ns is nanoseconds, _percent\n"
		"0 to 100. Text has the unit in each cell and leaves it out of the heading. What was\n"
		"not measured is - in text, null in JSON and empty in CSV, never 0.",
		out);
	for (size_t i = 0; i < gt_report_count; i++)
		put_report(gt_reports[i], out);
	section("SEE ALSO", out);
	fputs(".BR gputrace\\-report (1)\n", out);
}

static void list_pages(FILE *out)
{
	fputs(MAIN_PAGE "\n", out);
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden)
			fprintf(out, "gputrace-%s.1\n", gt_commands[i]->name);
	fputs(REPORTS_PAGE "\n", out);
}

/* Whether a word names a page: "gputrace-run.1", without its section, or as people call it. */
static bool is_page(const char *word, const char *page, const char *short_name)
{
	const size_t length = strlen(page) - strlen(".1");

	return strcmp(word, page) == 0 || strcmp(word, short_name) == 0 ||
	       (strlen(word) == length && memcmp(word, page, length) == 0);
}

static const struct gt_command *command_of_page(const char *word)
{
	for (size_t i = 0; i < gt_command_count; i++) {
		char page[64];

		snprintf(page, sizeof(page), "gputrace-%s.1", gt_commands[i]->name);
		if (!gt_commands[i]->hidden && is_page(word, page, gt_commands[i]->name))
			return gt_commands[i];
	}
	return NULL;
}

int gt_manual_print(const char *page, FILE *out, struct gt_error *err)
{
	const struct gt_command *command = page ? command_of_page(page) : NULL;

	if (!page)
		list_pages(out);
	else if (command)
		put_command(command, out);
	else if (is_page(page, MAIN_PAGE, "gputrace"))
		put_main(out);
	else if (strcmp(page, REPORTS_PAGE) == 0 || gt_habit_report(page))
		put_reports(out);
	else
		return gt_fail(err, EINVAL, "no page '%s'; gputrace manual names them", page);
	return 0;
}
