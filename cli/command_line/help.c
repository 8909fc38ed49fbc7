/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/help.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command_line/option.h"
#include "cli/output/columns.h"
#include "cli/output/terminal.h"

enum {
	HELP_WIDTH = 80,   /* where nothing says how wide a page is */
	HELP_INDENT = 29,  /* of what explains an option or a column; */
	LIST_INDENT = 13,  /* a report, a format or a command; */
	NARROW_INDENT = 8, /* anything, on a page that is narrower than */
	NARROW = 60,
};

static bool has_word(const char *text, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[length]))
			return true;
	return false;
}

/* Whether the help explains each of the words itself. */
static bool names_choices(const struct gt_option *option)
{
	for (const char *const *choice = option->choices; choice && *choice; choice++)
		if (!has_word(option->help, *choice))
			return false;
	return true;
}

char *gt_option_text(const struct gt_option *option)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return strdup(option->help);
	fputs(option->help, out);
	for (const char *const *choice = option->choices; !names_choices(option) && *choice;
	     choice++)
		fprintf(out, "%s%s%s", choice == option->choices ? " (" : "", *choice,
		        choice[1] ? ", " : ")");
	(void)fclose(out);
	return text;
}

/* Columns of the page: help goes to standard output, by a pager or not. */
static size_t page_width(void)
{
	return gt_page_width(STDOUT_FILENO, HELP_WIDTH);
}

/* The name on the left is explained behind it; on a narrow page, below it. */
static void print_entry(const char *left, size_t indent, const char *text, FILE *out)
{
	const size_t width = page_width();
	const size_t begin = width < NARROW ? NARROW_INDENT : indent;

	fprintf(out, "%-*s", (int)begin, left);
	if (strlen(left) >= begin)
		fprintf(out, "\n%*s", (int)begin, "");
	gt_print_wrapped(text, width, begin, out);
	putc('\n', out);
}

/* "  -o, --output FILE" */
static void name_option(const struct gt_option *option, char *text, size_t size)
{
	char letter[] = "-x, ";

	letter[1] = option->letter;
	snprintf(text, size, "  %-4s--%s%s%s%s", option->letter ? letter : "", option->name,
	         option->value ? gt_option_before_value(option) : "",
	         option->value ? option->value : "",
	         option->value ? gt_option_behind_value(option) : "");
}

static void print_option(const struct gt_option *option, size_t indent, FILE *out)
{
	char *text = gt_option_text(option);
	char left[64];

	name_option(option, left, sizeof(left));
	print_entry(left, indent, text, out);
	free(text);
}

/* Where the explanations of options begin: behind the longest name that leaves room for them. */
static size_t indent_of(const struct gt_option *options)
{
	size_t indent = 0;

	for (; options->name; options++) {
		char left[64];
		size_t length;

		name_option(options, left, sizeof(left));
		length = strlen(left) + strlen("  ");
		if (length > indent && length <= HELP_INDENT)
			indent = length;
	}
	return indent > LIST_INDENT ? indent : LIST_INDENT;
}

void gt_help_entry(const char *name, const char *text, FILE *out)
{
	char left[64];

	snprintf(left, sizeof(left), "  %s", name);
	print_entry(left, HELP_INDENT, text, out);
}

void gt_help_short_entry(const char *name, const char *text, FILE *out)
{
	char left[64];

	snprintf(left, sizeof(left), "  %s", name);
	print_entry(left, LIST_INDENT, text, out);
}

void gt_help_text(const char *text, FILE *out)
{
	while (*text) {
		const size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		gt_print_wrapped(line, *line == ' ' ? 0 : page_width(), 0, out);
		putc('\n', out);
		free(line);
		text += length + (text[length] == '\n');
	}
}

void gt_options_help(const struct gt_option *options, FILE *out)
{
	const size_t indent = indent_of(options);

	if (!options->group)
		fputs("Options:\n", out);
	for (const struct gt_option *option = options; option->name; option++) {
		if (option->group)
			fprintf(out, "%s%s:\n", option == options ? "" : "\n", option->group);
		print_option(option, indent, out);
	}
	print_option(&gt_help_option, indent, out);
}
