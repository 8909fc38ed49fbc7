/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Not argp or getopt_long: they print their own complaints (without a suggestion, on two lines),
 * accept any unambiguous beginning of a name, so that a new option can break an old script, and
 * lay out --help by an environment variable.
 */
#include "cli/option.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/parse.h"

enum { MAX_OPTIONS = 62, HELP_INDENT = 29, HELP_WIDTH = 80 };

static const struct gt_option help_option = {"help", 'h',  GT_OPTION_FLAG,
                                             0,      NULL, "Show this text and stop"};

static const struct gt_option *find_long(const struct gt_option *options, const char *name,
                                         size_t length)
{
	if (length == strlen("help") && memcmp(name, "help", length) == 0)
		return &help_option;
	for (; options->name; options++)
		if (strlen(options->name) == length && memcmp(options->name, name, length) == 0)
			return options;
	return NULL;
}

static const struct gt_option *find_letter(const struct gt_option *options, char letter)
{
	if (letter == help_option.letter)
		return &help_option;
	for (; options->name; options++)
		if (options->letter == letter)
			return options;
	return NULL;
}

/* length is that of the option's own part of the word: without "=VALUE". */
static int unknown(const struct gt_option *options, const char *word, size_t length,
                   struct gt_error *err)
{
	const char *names[MAX_OPTIONS + 2] = {help_option.name};
	char name[64] = "";
	const char *nearest;

	for (size_t i = 0; i < MAX_OPTIONS && options[i].name; i++)
		names[i + 1] = options[i].name;
	if (length > 2 && length - 2 < sizeof(name))
		memcpy(name, word + 2, length - 2);
	nearest = word[1] == '-' ? gt_nearest(name, names) : NULL;
	if (nearest)
		return gt_fail(err, EINVAL, "unknown option '%.*s'; did you mean --%s?",
		               (int)length, word, nearest);
	return gt_fail(err, EINVAL, "unknown option '%.*s'; see --help", (int)length, word);
}

/* What the text of a number should look like. */
static const char *describe(enum gt_option_kind kind)
{
	if (kind == GT_OPTION_SIZE)
		return "a size such as 64K or 2M";
	if (kind == GT_OPTION_DURATION)
		return "a duration such as 500us, 20ms or 1s";
	if (kind == GT_OPTION_INTERVAL)
		return "a duration such as 20ms or 1s, or off";
	return "a number";
}

struct scale {
	uint64_t factor;
	const char *unit;
};

/* A limit as one would type it: in the largest unit that leaves no rest. */
static void format_limit(char *text, size_t size, enum gt_option_kind kind, uint64_t value)
{
	static const struct scale sizes[] = {
		{1u << 30, "G"}, {1u << 20, "M"}, {1u << 10, "K"}, {1, ""}};
	static const struct scale durations[] = {{3600000000000, "h"}, {60000000000, "m"},
	                                         {1000000000, "s"},    {1000000, "ms"},
	                                         {1000, "us"},         {1, "ns"}};
	static const struct scale counts[] = {{1, ""}};
	const bool is_time = kind == GT_OPTION_DURATION || kind == GT_OPTION_INTERVAL;
	const struct scale *scale = kind == GT_OPTION_SIZE ? sizes : is_time ? durations : counts;

	while (scale->factor > 1 && (value < scale->factor || value % scale->factor != 0))
		scale++;
	snprintf(text, size, "%" PRIu64 "%s", value / scale->factor, scale->unit);
}

static int out_of_range(const struct gt_option *option, const char *text, const char *what,
                        struct gt_error *err)
{
	char least[32];
	char most[32];

	if (!option->most)
		return gt_fail(err, EINVAL, "--%s: %s is too %s", option->name, text, what);
	format_limit(least, sizeof(least), option->kind, option->least);
	format_limit(most, sizeof(most), option->kind, option->most);
	return gt_fail(err, EINVAL, "--%s: %s is too %s; it can be %s to %s", option->name, text,
	               what, least, most);
}

static int store_number(const struct gt_option *option, const char *text, uint64_t *field,
                        struct gt_error *err)
{
	uint64_t value = 0;
	int result;

	if (option->kind == GT_OPTION_SIZE)
		result = gt_parse_size(text, &value);
	else if (option->kind == GT_OPTION_DURATION || option->kind == GT_OPTION_INTERVAL)
		result = gt_parse_duration(text, &value);
	else
		result = gt_parse_count(text, &value);

	if (result == -EINVAL)
		return gt_fail(err, EINVAL, "--%s needs %s, not '%s'", option->name,
		               describe(option->kind), text);
	if (result == -ERANGE || (option->most && value > option->most))
		return out_of_range(option, text, "large", err);
	if (value < option->least)
		return out_of_range(option, text, "small", err);
	*field = value;
	return 0;
}

static int store_choice(const struct gt_option *option, const char *text, const char **field,
                        struct gt_error *err)
{
	const char *nearest;

	for (const char *const *choice = option->choices; *choice; choice++) {
		if (strcmp(*choice, text) == 0) {
			*field = *choice;
			return 0;
		}
	}
	nearest = gt_nearest(text, option->choices);
	if (nearest)
		return gt_fail(err, EINVAL, "--%s does not know '%s'; did you mean %s?",
		               option->name, text, nearest);
	return gt_fail(err, EINVAL, "--%s does not know '%s'; see --help", option->name, text);
}

/* Reads COLUMN[:asc|:desc], length bytes long. */
static int store_sort_key(const struct gt_option *option, const char *text, size_t length,
                          struct gt_sort_key *key, struct gt_error *err)
{
	const char *colon = memchr(text, ':', length);
	const size_t name_length = colon ? (size_t)(colon - text) : length;
	const size_t order_length = length - name_length;

	*key = (struct gt_sort_key){0};
	if (name_length == 0 || name_length >= sizeof(key->column))
		return gt_fail(err, EINVAL, "--%s needs names of columns, not '%.*s'", option->name,
		               (int)length, text);
	memcpy(key->column, text, name_length);
	if (order_length == 0)
		return 0;
	if (order_length == strlen(":asc") && memcmp(colon, ":asc", order_length) == 0)
		key->order = GT_SORT_ASCENDING;
	else if (order_length == strlen(":desc") && memcmp(colon, ":desc", order_length) == 0)
		key->order = GT_SORT_DESCENDING;
	else
		return gt_fail(err, EINVAL, "--%s knows :asc and :desc, not '%.*s'", option->name,
		               (int)order_length, colon);
	return 0;
}

static int store_sort(const struct gt_option *option, const char *text, struct gt_sort *field,
                      struct gt_error *err)
{
	struct gt_sort sort = {0};

	for (;;) {
		const size_t length = strcspn(text, ",");
		int result;

		if (sort.count == sizeof(sort.keys) / sizeof(sort.keys[0]))
			return gt_fail(err, EINVAL, "--%s takes at most %zu columns", option->name,
			               sort.count);
		result = store_sort_key(option, text, length, &sort.keys[sort.count], err);
		if (result < 0)
			return result;
		sort.count++;
		if (!text[length])
			break;
		text += length + 1;
	}
	*field = sort;
	return 0;
}

static int store_in_list(const struct gt_option *option, const char *text,
                         struct gt_option_list *field, struct gt_error *err)
{
	const size_t most = sizeof(field->texts) / sizeof(field->texts[0]);

	if (field->count == most)
		return gt_fail(err, EINVAL, "--%s can be given %zu times at most", option->name,
		               most);
	field->texts[field->count++] = text;
	return 0;
}

static int store(const struct gt_option *option, const char *text, void *args, struct gt_error *err)
{
	void *field = (char *)args + option->offset;

	switch (option->kind) {
	case GT_OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case GT_OPTION_TEXT:
		*(const char **)field = text;
		return 0;
	case GT_OPTION_COUNT:
	case GT_OPTION_SIZE:
	case GT_OPTION_DURATION:
		return store_number(option, text, field, err);
	case GT_OPTION_INTERVAL:
		if (strcmp(text, "off") != 0)
			return store_number(option, text, field, err);
		*(uint64_t *)field = GT_OPTION_OFF;
		return 0;
	case GT_OPTION_CHOICE:
		return store_choice(option, text, field, err);
	case GT_OPTION_SORT:
		return store_sort(option, text, field, err);
	case GT_OPTION_LIST:
		return store_in_list(option, text, field, err);
	}
	return -EINVAL;
}

/* Handles the option at argv[0]. Returns how many words it took: 1 or 2. */
static int parse_one(const struct gt_option *options, void *args, int argc, char **argv,
                     struct gt_error *err)
{
	const char *word = argv[0];
	const bool is_long = word[1] == '-';
	const size_t length = is_long ? strcspn(word, "=") : 2;
	const struct gt_option *option =
		is_long ? find_long(options, word + 2, length - 2) : find_letter(options, word[1]);
	const char *value = word[length] ? word + length + is_long : NULL;
	int taken = 1;

	if (!option)
		return unknown(options, word, length, err);
	if (option->kind == GT_OPTION_FLAG && value)
		return gt_fail(err, EINVAL, "--%s takes no value", option->name);
	if (option == &help_option)
		return gt_fail(err, ECANCELED, "help was asked for");
	if (option->kind != GT_OPTION_FLAG && !value) {
		if (argc < 2)
			return gt_fail(err, EINVAL, "--%s needs a value", option->name);
		value = argv[1];
		taken = 2;
	}

	const int result = store(option, value, args, err);

	return result < 0 ? result : taken;
}

static int parse(const struct gt_option *options, void *args, int argc, char **argv, bool leading,
                 struct gt_error *err)
{
	int left = 0;
	bool operands_only = false;

	for (int i = 0; i < argc;) {
		const bool is_operand = operands_only || argv[i][0] != '-' || !argv[i][1];

		if (is_operand) {
			operands_only = operands_only || leading;
			argv[left++] = argv[i++];
		} else if (strcmp(argv[i], "--") == 0) {
			operands_only = true;
			i++;
		} else {
			const int taken = parse_one(options, args, argc - i, argv + i, err);

			if (taken < 0)
				return taken;
			i += taken;
		}
	}
	return left;
}

int gt_options_parse(const struct gt_option *options, void *args, int argc, char **argv,
                     struct gt_error *err)
{
	return parse(options, args, argc, argv, false, err);
}

int gt_options_parse_leading(const struct gt_option *options, void *args, int argc, char **argv,
                             struct gt_error *err)
{
	return parse(options, args, argc, argv, true, err);
}

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
	print_option(&help_option, out);
}
