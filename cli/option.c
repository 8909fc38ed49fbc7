/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/option.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct gt_option *find_long(const struct gt_option *options, const char *name,
                                         size_t length)
{
	for (; options->name; options++)
		if (strlen(options->name) == length && memcmp(options->name, name, length) == 0)
			return options;
	return NULL;
}

static const struct gt_option *find_letter(const struct gt_option *options, char letter)
{
	for (; options->name; options++)
		if (options->letter == letter)
			return options;
	return NULL;
}

static int store_count(const struct gt_option *option, const char *text, uint64_t *field,
                       struct gt_error *err)
{
	char *end;

	errno = 0;
	*field = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-')
		return gt_fail(err, EINVAL, "--%s needs a number, not '%s'", option->name, text);
	return 0;
}

static int store_choice(const struct gt_option *option, const char *text, const char **field,
                        struct gt_error *err)
{
	for (const char *const *choice = option->choices; *choice; choice++) {
		if (strcmp(*choice, text) == 0) {
			*field = *choice;
			return 0;
		}
	}
	return gt_fail(err, EINVAL, "--%s does not know '%s'; see --help", option->name, text);
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
		return store_count(option, text, field, err);
	case GT_OPTION_CHOICE:
		return store_choice(option, text, field, err);
	}
	return -EINVAL;
}

/* Finds the option a word names, and the value inside the word if it has one. */
static const struct gt_option *find(const struct gt_option *options, const char *word,
                                    const char **value)
{
	*value = NULL;
	if (word[1] != '-') {
		*value = word[2] ? word + 2 : NULL;
		return find_letter(options, word[1]);
	}

	const size_t length = strcspn(word + 2, "=");

	if (word[2 + length] == '=')
		*value = word + 2 + length + 1;
	return find_long(options, word + 2, length);
}

/* Handles the option at argv[0]. Returns how many words it took: 1 or 2. */
static int parse_one(const struct gt_option *options, void *args, int argc, char **argv,
                     struct gt_error *err)
{
	const char *value;
	const struct gt_option *option = find(options, argv[0], &value);
	int taken = 1;

	if (!option)
		return gt_fail(err, EINVAL, "unknown option '%s'; see --help", argv[0]);
	if (option->kind == GT_OPTION_FLAG && value)
		return gt_fail(err, EINVAL, "--%s takes no value", option->name);
	if (option->kind != GT_OPTION_FLAG && !value) {
		if (argc < 2)
			return gt_fail(err, EINVAL, "--%s needs a value", option->name);
		value = argv[1];
		taken = 2;
	}

	const int result = store(option, value, args, err);

	return result < 0 ? result : taken;
}

int gt_options_parse(const struct gt_option *options, void *args, int argc, char **argv,
                     struct gt_error *err)
{
	int left = 0;

	for (int i = 0; i < argc;) {
		if (strcmp(argv[i], "--") == 0) {
			while (++i < argc)
				argv[left++] = argv[i];
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			argv[left++] = argv[i++];
			continue;
		}

		const int taken = parse_one(options, args, argc - i, argv + i, err);

		if (taken < 0)
			return taken;
		i += taken;
	}
	return left;
}

void gt_options_help(const struct gt_option *options, FILE *out)
{
	for (; options->name; options++) {
		char left[40];

		snprintf(left, sizeof(left), "--%s%s%s", options->name, options->value ? " " : "",
		         options->value ? options->value : "");
		fprintf(out, options->letter ? "  -%c, " : "      ", options->letter);
		fprintf(out, "%-22s %s", left, options->help);
		for (const char *const *choice = options->choices; choice && *choice; choice++)
			fprintf(out, "%s%s", choice == options->choices ? ": " : ", ", *choice);
		putc('\n', out);
	}
}
