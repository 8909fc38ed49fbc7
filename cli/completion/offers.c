/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/offers.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/path.h"
#include "cli/command_line/command.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/option.h"
#include "cli/command_line/report_help.h"
#include "cli/completion/completion.h"
#include "cli/completion/line.h"
#include "cli/output/variable.h"
#include "cli/recording/recording.h"
#include "exporters/exporter.h"
#include "format/recording.h"
#include "replay/compare/compare.h"

/* Offers that are being collected for a line. */
struct search {
	const struct gt_line *line;
	const char *last; /* what of the word is matched: behind commas, or of a path */
	struct gt_offers *offers;
};

/* Names may hold anything; a word of several lines, or with a tab, could not be told. */
static bool is_printable(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			return false;
	return true;
}

/* The first clause: "Overwrite an existing recording" of what says more behind a comma. */
static char *first_clause(const char *text)
{
	size_t length = 0;

	while (text[length] && !(strchr(";:.", text[length]) && text[length + 1] == ' '))
		length++;
	return strndup(text, length);
}

/* A word that begins as the last one does, with the ending behind it; text may be NULL. */
static void offer(const struct search *search, const char *word, const char *ending,
                  const char *text)
{
	const char *typed = search->line->word;
	const int kept = (int)(search->last - typed);
	char *whole = NULL;

	if (strncmp(word, search->last, strlen(search->last)) != 0 || !is_printable(word))
		return;
	if (asprintf(&whole, "%.*s%s%s", kept, typed, word, ending) < 0)
		return;
	*gt_array_push(&search->offers->words) =
		(struct gt_offer){whole, text ? first_clause(text) : NULL};
}

/* The same, of what several tables may have. */
static void offer_once(const struct search *search, const char *word, const char *ending,
                       const char *text)
{
	const size_t kept = (size_t)(search->last - search->line->word);

	gt_array_each(const struct gt_offer, offered, &search->offers->words)
		if (strncmp(offered->word + kept, word, strlen(word)) == 0 &&
		    strcmp(offered->word + kept + strlen(word), ending) == 0)
			return;
	offer(search, word, ending, text);
}

static void offer_commands(const struct search *search)
{
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden)
			offer(search, gt_commands[i]->name, "", gt_commands[i]->summary);
}

static void offer_reports(const struct search *search)
{
	for (size_t i = 0; i < gt_report_count; i++)
		offer(search, gt_reports[i]->name, "", gt_reports[i]->summary);
}

static void offer_options(const struct search *search)
{
	for (const struct gt_option *option = search->line->command->options; option->name;
	     option++) {
		char name[64];

		snprintf(name, sizeof(name), "--%s", option->name);
		offer(search, name, "", option->help);
		snprintf(name, sizeof(name), "-%c", option->letter);
		if (option->letter && strcmp(search->last, name) == 0)
			offer(search, name, "", option->help);
	}
	offer(search, "--help", "", gt_help_option.help);
}

static void offer_choices(const struct search *search, const char *const *choices)
{
	for (; choices && *choices; choices++)
		offer(search, *choices, "", NULL);
}

/* A part of a folder that is looked for. */
enum entry { ENTRY_RECORDING, ENTRY_TRACE, ENTRY_FOLDER, ENTRY_OTHER };

static enum entry kind_of(const char *folder, const struct dirent *entry)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
	if (!gt_path_is_folder(path))
		return gt_recording_is_trace(entry->d_name) ? ENTRY_TRACE : ENTRY_OTHER;
	return gt_has_suffix(entry->d_name, GT_RECORDING_SUFFIX) ? ENTRY_RECORDING : ENTRY_FOLDER;
}

/* Entries of a kind in the folder that the last word is in; hidden ones once a dot is typed. */
static void offer_entries(const struct search *search, enum entry kind, const char *ending)
{
	const char *slash = strrchr(search->last, '/');
	const char *home = gt_variable("HOME");
	const size_t length = slash ? (size_t)(slash - search->last) : 0;
	const bool in_home = home && strncmp(search->last, "~/", 2) == 0;
	static const char *const texts[] = {
		[ENTRY_RECORDING] = "recording", [ENTRY_TRACE] = "trace", [ENTRY_OTHER] = NULL};
	struct search inside = *search;
	struct dirent **entries = NULL;
	char folder[PATH_MAX];
	int count;

	inside.last = slash ? slash + 1 : search->last;
	snprintf(folder, sizeof(folder), "%s%.*s%s", in_home ? home : "", (int)length - in_home,
	         search->last + in_home,
	         slash == search->last ? "/"
	         : slash               ? ""
	                               : ".");
	count = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if ((*name != '.' || *inside.last == '.') && strcmp(name, ".") != 0 &&
		    strcmp(name, "..") != 0 && kind_of(folder, entries[i]) == kind)
			offer(&inside, name, ending, texts[kind]);
		free(entries[i]);
	}
	free(entries);
}

static void offer_recordings(const struct search *search)
{
	offer_entries(search, ENTRY_RECORDING, "");
}

/* The reports that are named among the operands; without one the usual one. */
static size_t find_reports(const struct gt_line *line, const struct gt_report **reports,
                           size_t most)
{
	size_t count = 0;

	gt_array_each(const char *const, word, &line->operands) {
		const struct gt_report *report = gt_habit_report(*word);

		for (size_t i = 0; strcmp(*word, "all") == 0 && i < gt_report_count; i++)
			if (count < most && !gt_reports[i]->apart)
				reports[count++] = gt_reports[i];
		if (report && count < most)
			reports[count++] = report;
	}
	if (count == 0)
		reports[count++] = gt_report_find(line->asks_by ? "kernels" : "summary");
	return count;
}

/* The part of a result's tables that is offered. */
enum part { PART_TITLES, PART_COLUMNS };

static void offer_parts(const struct search *search, const struct gt_result *result, enum part part)
{
	gt_array_each(const struct gt_section, section, &result->sections) {
		if (part == PART_TITLES)
			offer_once(search, section->title, "", NULL);
		for (size_t i = 0; part == PART_COLUMNS && i < section->heading_count; i++)
			offer_once(search, section->headings[i].name, "",
			           section->headings[i].help);
	}
}

static void offer_tables(const struct search *search, enum part part)
{
	const struct gt_report *reports[32];
	const size_t count = find_reports(search->line, reports, 32);

	for (size_t i = 0; !search->line->command->tables && i < count; i++) {
		struct gt_report_tables tables;

		gt_report_tables_init(&tables, reports[i]);
		offer_parts(search, &tables.result, part);
		gt_report_tables_release(&tables);
	}
	if (search->line->command->tables) {
		struct gt_result result;

		gt_result_init(&result);
		search->line->command->tables(&result);
		offer_parts(search, &result, part);
		gt_result_release(&result);
	}
}

/* NAME= of each parameter, or the values of the one that is named. */
static void offer_settings(const struct search *search)
{
	const struct gt_report *reports[32];
	const size_t count = find_reports(search->line, reports, 32);
	const char *equals = strchr(search->last, '=');
	struct search values = *search;

	values.last = equals ? equals + 1 : search->last;
	for (size_t i = 0; i < count; i++) {
		const struct gt_parameter *parameter = reports[i]->parameters;

		for (; parameter && parameter->name; parameter++)
			if (!equals)
				offer_once(search, parameter->name, "=", parameter->help);
			else if (strncmp(parameter->name, search->last,
			                 (size_t)(equals - search->last)) == 0)
				offer_choices(&values, parameter->choices);
	}
}

static void offer_formats(const struct search *search)
{
	for (size_t i = 0; i < gt_exporter_count; i++)
		offer(search, gt_exporters[i]->name, "", gt_exporters[i]->summary);
}

/* Behind the last comma. */
static struct search behind_commas(const struct search *search)
{
	const char *comma = strrchr(search->last, ',');
	struct search behind = *search;

	behind.last = comma ? comma + 1 : search->last;
	return behind;
}

static void offer_ceilings(const struct search *search)
{
#define CEILING(name, unit, group, help) offer(search, #name, "", help);
#include "model/gpu/ceilings.def"
}

static void offer_elements(const struct search *search)
{
#define ELEMENT(name, size) offer(search, #name, "", NULL);
	GT_ELEMENTS(ELEMENT)
#undef ELEMENT
}

/* By what the option's value is called; of numbers, times and their like there is nothing. */
static void offer_values(const struct search *search, const struct gt_option *option)
{
	const struct search behind = behind_commas(search);
	const char *value = option->value ? option->value : "";

	if (option->choices)
		offer_choices(search, option->choices);
	else if (strcmp(value, "FORMAT") == 0)
		offer_formats(search);
	else if (strcmp(value, "COLUMN") == 0)
		offer_tables(&behind, PART_COLUMNS);
	else if (strcmp(value, "TABLE") == 0)
		offer_tables(search, PART_TITLES);
	else if (strcmp(value, "CEILING") == 0)
		offer_ceilings(search);
	else if (strcmp(value, "[MEMORY=]TYPE") == 0)
		offer_elements(search);
	else if (strcmp(value, "NAME=VALUE") == 0)
		offer_settings(search);
	else if (strcmp(value, "FILE") == 0 || strcmp(value, "NAME") == 0 ||
	         strcmp(value, "ADDRESS") == 0)
		search->offers->more = GT_OFFERS_FILES;
}

/* Commands read one recording. */
static bool has_recording(const struct gt_line *line)
{
	gt_array_each(const char *const, word, &line->operands) {
		char *path = gt_recording_find(*word);

		free(path);
		if (path)
			return true;
	}
	return false;
}

static void offer_what_is_read(const struct search *search, bool traces)
{
	offer_recordings(search);
	if (traces)
		offer_entries(search, ENTRY_TRACE, "");
	offer_entries(search, ENTRY_FOLDER, "/");
}

static void offer_operands(const struct search *search)
{
	const char *operands = search->line->command->operands;
	const struct search behind = behind_commas(search);

	if (gt_line_runs_program(search->line)) {
		search->offers->program = search->line->program;
		search->offers->more =
			search->line->operands.count > 0 ? GT_OFFERS_PROGRAM : GT_OFFERS_COMMANDS;
		return;
	}
	if (strstr(operands, "SHELL"))
		offer_choices(search, gt_completion_shells);
	if (strstr(operands, "RECORDING") && !has_recording(search->line))
		offer_what_is_read(search, strstr(operands, "TRACE"));
	if (strstr(operands, "[REPORT"))
		offer_reports(&behind);
	if (strcmp(operands, "[PROGRAM]") == 0 && search->line->operands.count == 0)
		search->offers->more = GT_OFFERS_COMMANDS;
	if (strcmp(operands, "FILE") == 0 && search->line->operands.count == 0)
		search->offers->more = GT_OFFERS_FILES;
}

/* The first word: a command, or what goes without one. */
static void offer_first(const struct search *search)
{
	if (strchr(search->last, '/')) {
		search->offers->more = GT_OFFERS_FILES; /* a program or a recording */
		return;
	}
	offer_commands(search);
	offer(search, "help", "", "Explain a command or a report");
	offer_recordings(search);
	offer_reports(search);
}

/* Behind "help": a command or a report; behind "help report" a report. */
static void offer_help(const struct search *search)
{
	if (search->line->operands.count == 0)
		offer_commands(search);
	offer_reports(search);
}

void gt_offers_init(struct gt_offers *offers, size_t count, char **words)
{
	struct gt_line line;
	struct search search = {&line, NULL, offers};

	*offers = (struct gt_offers){0};
	gt_line_init(&line, count, words);
	search.last = line.last;
	if (line.help)
		offer_help(&search);
	else if (count == 1)
		offer_first(&search);
	else if (!line.command)
		offers->more = GT_OFFERS_FILES;
	else if (line.option)
		offer_values(&search, line.option);
	else if (line.is_option)
		offer_options(&search);
	else
		offer_operands(&search);
	gt_line_release(&line);
}

void gt_offers_release(struct gt_offers *offers)
{
	gt_array_each(const struct gt_offer, row, &offers->words) {
		free(row->word);
		free(row->text);
	}
	gt_array_release(&offers->words);
}

void gt_offers_print(const struct gt_offers *offers, FILE *out)
{
	static const char *const more[] = {"words", "files", "commands", "program"};

	if (offers->more == GT_OFFERS_PROGRAM)
		fprintf(out, "program %zu\n", offers->program + 1);
	else
		fprintf(out, "%s\n", more[offers->more]);
	gt_array_each(const struct gt_offer, row, &offers->words)
		fprintf(out, "%s%s%s\n", row->word, row->text ? "\t" : "",
		        row->text ? row->text : "");
}
