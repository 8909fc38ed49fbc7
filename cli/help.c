/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/columns.h"
#include "cli/option.h"

enum { HELP_INDENT = 29, HELP_WIDTH = 80 };

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

static void print_option(const struct gt_option *option, FILE *out)
{
	char *text = gt_option_text(option);
	char left[64];

	snprintf(left, sizeof(left), "--%s%s%s", option->name, option->value ? " " : "",
	         option->value ? option->value : "");
	fprintf(out, option->letter ? "  -%c, " : "      ", option->letter);
	fprintf(out, "%-*s ", HELP_INDENT - 7, left);
	if (strlen(left) > HELP_INDENT - 7)
		fprintf(out, "\n%*s", HELP_INDENT, "");
	gt_print_wrapped(text, HELP_WIDTH, HELP_INDENT, out);
	putc('\n', out);
	free(text);
}

void gt_help_entry(const char *name, const char *text, FILE *out)
{
	fprintf(out, "  %-*s ", HELP_INDENT - 3, name);
	gt_print_wrapped(text, HELP_WIDTH, HELP_INDENT, out);
	putc('\n', out);
}

void gt_help_text(const char *text, FILE *out)
{
	while (*text) {
		const size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		gt_print_wrapped(line, *line == ' ' ? 0 : HELP_WIDTH, 0, out);
		putc('\n', out);
		free(line);
		text += length + (text[length] == '\n');
	}
}

void gt_options_help(const struct gt_option *options, FILE *out)
{
	for (; options->name; options++)
		print_option(options, out);
	print_option(&gt_help_option, out);
}
