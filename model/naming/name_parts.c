/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/name_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool ends_word(const struct gt_name *name, size_t at, const char *word)
{
	const size_t length = strlen(word);

	return at >= length && at <= name->length &&
	       memcmp(name->text + at - length, word, length) == 0;
}

/* A "<" or ">" that is an operator, or part of one: "->", "operator<", "(a)<(b)". */
static bool is_operator(const struct gt_name *name, size_t at)
{
	const char before = (char)(at ? name->text[at - 1] : '\0');

	if (name->text[at] == '<')
		return before == ')' || ends_word(name, at, "operator") ||
		       ends_word(name, at, "operator<");
	return before == '-' || ends_word(name, at, "operator") || ends_word(name, at, "operator>");
}

/* Brackets that are open. */
struct opened {
	uint32_t at[GT_NAME_DEPTH];
	size_t depth;
};

static bool open_bracket(struct opened *opened, size_t at)
{
	if (opened->depth == GT_NAME_DEPTH)
		return false;
	opened->at[opened->depth++] = (uint32_t)at;
	return true;
}

/* opening: what it closes. A > that closes nothing is one of (a)>(b), whose brackets are round. */
static bool close_bracket(struct gt_name *name, struct opened *opened, size_t at, char opening)
{
	if (opened->depth == 0 || name->text[opened->at[opened->depth - 1]] != opening)
		return opening == '<';
	name->partner[opened->at[--opened->depth]] = (uint32_t)at;
	return true;
}

static bool match(struct gt_name *name)
{
	static const char opening[] = "<([{";
	static const char closing[] = ">)]}";
	struct opened opened = {.depth = 0};
	bool sound = true;

	for (size_t at = 0; sound && at < name->length; at++) {
		const char letter = name->text[at];
		const char *closed = strchr(closing, letter);

		if ((letter == '<' || letter == '>') && is_operator(name, at))
			continue;
		if (strchr(opening, letter))
			sound = open_bracket(&opened, at);
		else if (closed)
			sound = close_bracket(name, &opened, at, opening[closed - closing]);
	}
	return sound && opened.depth == 0;
}

bool gt_name_init(struct gt_name *name, const char *text)
{
	*name = (struct gt_name){.text = text, .length = strnlen(text, GT_NAME_MOST)};
	if (name->length == 0 || name->length == GT_NAME_MOST)
		return false;
	name->partner = gt_allocate_zeroed(name->length, sizeof(*name->partner));
	if (match(name))
		return true;
	gt_name_release(name);
	return false;
}

void gt_name_release(struct gt_name *name)
{
	free(name->partner);
	name->partner = NULL;
}

struct gt_name_part gt_name_trim(const struct gt_name *name, struct gt_name_part part)
{
	while (part.first < part.end && name->text[part.first] == ' ')
		part.first++;
	while (part.first < part.end && name->text[part.end - 1] == ' ')
		part.end--;
	return part;
}

bool gt_name_is(const struct gt_name *name, struct gt_name_part part, const char *text)
{
	const size_t length = part.end - part.first;

	return strlen(text) == length && memcmp(name->text + part.first, text, length) == 0;
}

/* Where the bracket at a place ends, or the place itself. */
static size_t skip(const struct gt_name *name, size_t at)
{
	return name->partner[at] ? name->partner[at] : at;
}

struct gt_name_part gt_name_argument(const struct gt_name *name, struct gt_name_part *rest)
{
	struct gt_name_part part = *rest;

	for (size_t at = rest->first; at < rest->end; at++) {
		if (name->text[at] == ',') {
			part.end = at;
			rest->first = at + 1;
			return gt_name_trim(name, part);
		}
		at = skip(name, at);
	}
	rest->first = rest->end;
	return gt_name_trim(name, part);
}

/* (anonymous namespace) and the () of operator() are names, not parameters. */
static bool is_parameters(const struct gt_name *name, size_t at)
{
	static const char anonymous[] = "(anonymous namespace)";

	if (name->text[at] != '(' || ends_word(name, at, "operator"))
		return false;
	return strncmp(name->text + at, anonymous, sizeof(anonymous) - 1) != 0;
}

static void read_scope(const struct gt_name *name, struct gt_name_scope *scope)
{
	const struct gt_name_part whole = scope->whole;

	scope->base = whole;
	for (size_t at = whole.first; at < whole.end; at++) {
		const size_t closing = name->partner[at];

		if (!closing || closing >= whole.end)
			continue;
		if (name->text[at] == '<' && !scope->is_function) {
			scope->is_template = true;
			scope->arguments = (struct gt_name_part){at + 1, closing};
			if (scope->base.end > at)
				scope->base.end = at;
		} else if (is_parameters(name, at) && at > whole.first) {
			scope->is_function = true;
			scope->parameters = (struct gt_name_part){at + 1, closing};
			if (scope->base.end > at)
				scope->base.end = at;
		}
		at = closing;
	}
	scope->base = gt_name_trim(name, scope->base);
}

bool gt_name_last_scope(const struct gt_name *name, struct gt_name_part *rest,
                        struct gt_name_scope *scope)
{
	size_t before = rest->first; /* where the scopes before the last end */
	size_t last = before;

	if (rest->first >= rest->end)
		return false;
	for (size_t at = rest->first; at < rest->end; at++) {
		if (name->text[at] == ':' && at + 1 < rest->end && name->text[at + 1] == ':') {
			before = at;
			last = at + 2;
			at++;
			continue;
		}
		at = skip(name, at);
	}
	*scope = (struct gt_name_scope){.whole = {last, rest->end}};
	rest->end = before;
	read_scope(name, scope);
	return true;
}

/* The parameters are the last round brackets; what follows them belongs to the type, too. */
struct gt_name_part gt_name_function(const struct gt_name *name)
{
	struct gt_name_part part = {0, name->length};
	bool in_operator = false;

	for (size_t at = 0; at < name->length; at++) {
		if (is_parameters(name, at) && name->partner[at] && at > 0 &&
		    strncmp(name->text + name->partner[at] + 1, "::", 2) != 0 &&
		    !ends_word(name, at, " ") &&
		    strncmp(name->text + name->partner[at] + 1, " const::", 8) != 0)
			part.end = at;
		at = skip(name, at);
	}
	for (size_t at = 0; at < part.end; at++) {
		in_operator = in_operator || ends_word(name, at, "operator");
		if (name->text[at] == ' ' && !in_operator && !ends_word(name, at + 6, " const"))
			part.first = at + 1;
		if (name->text[at] == ':')
			in_operator = false;
		at = skip(name, at);
	}
	return gt_name_trim(name, part);
}
