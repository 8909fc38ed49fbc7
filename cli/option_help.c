/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/option.h"

enum { HELP_INDENT = 29, HELP_WIDTH = 80 };

/* Prints one word at column *column, on a new line when it does not fit. */
static void print_word(const char *word, size_t length, size_t *column, FILE *out)
{
	const bool first = *column == HELP_INDENT;

	if (!first && *column + 1 + length > HELP_WIDTH) {
		fprintf(out, "\n%*s", HELP_INDENT, "");
		*column = HELP_INDENT;
	} else if (!first) {
		putc(' ', out);
		++*column;
	}
	fprintf(out, "%.*s", (int)length, word);
	*column += length;
}

static void print_words(const char *text, size_t *column, FILE *out)
{
	while (*text) {
		const size_t length = strcspn(text, " ");

		print_word(text, length, column, out);
		text += length + (text[length] == ' ');
	}
}

static void print_option(const struct gt_option *option, FILE *out)
{
	size_t column = HELP_INDENT;
	char left[64];

	snprintf(left, sizeof(left), "--%s%s%s", option->name, option->value ? " " : "",
	         option->value ? option->value : "");
	fprintf(out, option->letter ? "  -%c, " : "      ", option->letter);
	fprintf(out, "%-*s ", HELP_INDENT - 7, left);
	if (strlen(left) > HELP_INDENT - 7)
		fprintf(out, "\n%*s", HELP_INDENT, "");
	print_words(option->help, &column, out);
	for (const char *const *choice = option->choices; choice && *choice; choice++) {
		char word[64];

		snprintf(word, sizeof(word), "%s%s%s", choice == option->choices ? "(" : "",
		         *choice, choice[1] ? "," : ")");
		print_words(word, &column, out);
	}
	putc('\n', out);
}

void gt_help_entry(const char *name, const char *text, FILE *out)
{
	size_t column = HELP_INDENT;

	fprintf(out, "  %-*s ", HELP_INDENT - 3, name);
	print_words(text, &column, out);
	putc('\n', out);
}

void gt_options_help(const struct gt_option *options, FILE *out)
{
	for (; options->name; options++)
		print_option(options, out);
	print_option(&gt_help_option, out);
}
