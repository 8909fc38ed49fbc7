/* SPDX-License-Identifier: Apache-2.0 */
#include "golden/script.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/cubin.h"

enum { MOST_LINES = 2000, MOST_DEFINED = 64, MOST_NAMES = 12, LINE_BYTES = 2048 };

/* What names stand for, inside of what is around. */
struct scope {
	const struct scope *outer;
	size_t count;
	const char *names[MOST_NAMES];
	const char *values[MOST_NAMES];
};

struct script {
	const char *path;
	char *lines[MOST_LINES];
	size_t count;
	size_t defined[MOST_DEFINED]; /* lines at which words are */
	size_t defined_count;
	size_t at;
	script_act *act;
	void *context;
};

static void must(bool fact, const struct script *script, const char *what)
{
	if (fact)
		return;
	fprintf(stderr, "%s: %s: %s\n", script->path, what,
	        script->at < script->count ? script->lines[script->at] : "");
	exit(1);
}

static const char *value_of(const struct scope *scope, const char *name, size_t length)
{
	for (; scope; scope = scope->outer)
		for (size_t i = 0; i < scope->count; i++)
			if (strlen(scope->names[i]) == length &&
			    strncmp(scope->names[i], name, length) == 0)
				return scope->values[i];
	return NULL;
}

static size_t name_length(const char *name)
{
	return strspn(name, "abcdefghijklmnopqrstuvwxyz_");
}

/* The line with what its names stand for, in quotes where that is several words. */
static void put_in(const struct script *script, const struct scope *scope, const char *line,
                   char *out)
{
	size_t left = LINE_BYTES;
	bool quoted = false, escaped = false;

	*out = '\0';
	while (*line) {
		const size_t length = *line == '$' ? name_length(line + 1) : 0;
		const char *value = length ? value_of(scope, line + 1, length) : NULL;
		const char *quote = value && !quoted && strpbrk(value, " #") ? "\"" : "";
		int used;

		must(!length || value, script, "no such name");
		quoted ^= *line == '"' && !escaped;
		escaped = *line == '\\';
		if (value)
			used = snprintf(out, left, "%s%s%s", quote, value, quote);
		else
			used = snprintf(out, left, "%c", *line);
		must(used >= 0 && (size_t)used < left, script, "too long");
		line += length + 1;
		out += used;
		left -= (size_t)used;
	}
}

/* Words end at blanks that are not in quotes, which are taken off but behind a backslash. */
static void split(const struct script *script, const char *line, struct script_words *words)
{
	char *out = words->bytes;
	bool quoted = false;

	words->count = 0;
	for (line += strspn(line, " \t"); *line && *line != '#'; line += strspn(line, " \t")) {
		must(words->count < SCRIPT_WORDS, script, "too many words");
		words->words[words->count++] = out;
		for (; *line && (quoted || !strchr(" \t", *line)); line++) {
			if (*line == '"')
				quoted = !quoted;
			else if (*line == '\\' && line[1])
				*out++ = *++line;
			else
				*out++ = *line;
		}
		*out++ = '\0';
	}
	must(!quoted, script, "an open quote");
}

static bool begins_block(const char *line)
{
	line += strspn(line, " \t");
	return strncmp(line, "define ", 7) == 0 || strncmp(line, "for ", 4) == 0;
}

static bool is_end(const char *line)
{
	return strcmp(line + strspn(line, " \t"), "end") == 0;
}

/* The end of the block that begins at a line. */
static size_t end_of(const struct script *script, size_t at)
{
	size_t depth = 0;

	for (; at < script->count; at++) {
		depth += begins_block(script->lines[at]);
		depth -= is_end(script->lines[at]);
		if (depth == 0)
			return at;
	}
	must(false, script, "no end");
	return at;
}

static void run(struct script *script, const struct scope *scope, size_t from, size_t to);

static void run_for(struct script *script, const struct scope *scope,
                    const struct script_words *words, size_t from, size_t to)
{
	struct scope inner = {.outer = scope, .count = 1};
	const char *dots = words->count == 3 ? strstr(words->words[2], "..") : NULL;
	char digits[24];

	must(words->count > 2, script, "for what?");
	inner.names[0] = words->words[1];
	for (size_t i = 2; !dots && i < words->count; i++) {
		inner.values[0] = words->words[i];
		run(script, &inner, from, to);
	}
	for (uint64_t i = dots ? strtoull(words->words[2], NULL, 10) : 1;
	     dots && i <= script_number(dots + 2); i++) {
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)i);
		inner.values[0] = digits;
		run(script, &inner, from, to);
	}
}

/* Runs what a word was defined to be; false: it was not. */
static bool run_defined(struct script *script, const struct script_words *words)
{
	struct script_words head;
	struct scope inner = {0};

	for (size_t i = script->defined_count; i > 0; i--) {
		const size_t at = script->defined[i - 1];

		split(script, script->lines[at], &head);
		if (strcmp(head.words[1], words->words[0]) != 0)
			continue;
		must(head.count == words->count + 1 && words->count <= MOST_NAMES, script,
		     "other words are wanted");
		for (size_t word = 1; word < words->count; word++) {
			inner.names[inner.count] = head.words[word + 1];
			inner.values[inner.count++] = words->words[word];
		}
		run(script, &inner, at + 1, end_of(script, at));
		return true;
	}
	return false;
}

static void run_line(struct script *script, const struct scope *scope)
{
	const size_t at = script->at;
	struct script_words words;
	char line[LINE_BYTES];

	if (strncmp(script->lines[at] + strspn(script->lines[at], " \t"), "define ", 7) == 0) {
		must(script->defined_count < MOST_DEFINED, script, "too many");
		script->defined[script->defined_count++] = at;
		script->at = end_of(script, at);
		return;
	}
	put_in(script, scope, script->lines[at], line);
	split(script, line, &words);
	if (words.count == 0)
		return;
	if (strcmp(words.words[0], "for") == 0) {
		run_for(script, scope, &words, at + 1, end_of(script, at));
		script->at = end_of(script, at);
	} else {
		if (!run_defined(script, &words))
			script->act(script->context, &words);
		script->at = at;
	}
}

static void run(struct script *script, const struct scope *scope, size_t from, size_t to)
{
	for (script->at = from; script->at < to; script->at++)
		run_line(script, scope);
}

static void add_lines(struct script *script, char *text)
{
	char *left = text;
	char *line;

	while ((line = strsep(&left, "\n"))) {
		must(script->count < MOST_LINES, script, "too many lines");
		script->lines[script->count++] = line;
	}
}

void script_run(const char *path, const char *before, const char *text, script_act *act,
                void *context)
{
	static struct script script;
	char *first = strdup(before);
	char *second = strdup(text);

	if (!first || !second)
		abort();
	script = (struct script){.path = path, .act = act, .context = context};
	add_lines(&script, first);
	add_lines(&script, second);
	run(&script, NULL, 0, script.count);
	free(first);
	free(second);
}

static uint64_t unit_of(const char **at)
{
	static const struct {
		const char *name;
		uint64_t size;
	} units[] = {
		{"ns", 1},           {"us", 1000},        {"ms", 1000000},     {"s", 1000000000},
		{"KiB", 1ULL << 10}, {"MiB", 1ULL << 20}, {"GiB", 1ULL << 30},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strncmp(*at, units[i].name, strlen(units[i].name)) == 0) {
			*at += strlen(units[i].name);
			return units[i].size;
		}
	}
	return 1;
}

static uint64_t sum(const char **at);

static uint64_t factor(const char **at)
{
	char *end;
	uint64_t value;

	if (**at == '(') {
		(*at)++;
		value = sum(at);
		*at += **at == ')';
		return value;
	}
	value = strtoull(*at, &end, 0);
	if (end == *at) {
		fprintf(stderr, "%s is no number\n", *at);
		exit(1);
	}
	*at = end;
	return value * unit_of(at);
}

static uint64_t product(const char **at)
{
	uint64_t value = factor(at);

	while (**at == '*') {
		(*at)++;
		value *= factor(at);
	}
	return value;
}

static uint64_t sum(const char **at)
{
	uint64_t value = 0;
	bool less = **at == '-';

	*at += less;
	for (;;) {
		value += less ? -product(at) : product(at);
		if (**at != '+' && **at != '-')
			return value;
		less = **at == '-';
		(*at)++;
	}
}

uint64_t script_number(const char *word)
{
	if (strcmp(word, "none") == 0)
		return UINT64_MAX;
	if (*word == '@')
		return gt_content_hash(word + 1, strlen(word + 1));
	return sum(&word);
}
