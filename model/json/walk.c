/* SPDX-License-Identifier: Apache-2.0 */
#include "model/json/walk.h"

#include <string.h>

#include <jansson.h>

#include "model/json/fields.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct gt_json_walk *walk)
{
	for (; walk->at < walk->end && is_space(*walk->at); walk->at++)
		walk->line += *walk->at == '\n';
}

/* Behind a text that begins at the walk; false: it does not end. */
static bool skip_text(struct gt_json_walk *walk)
{
	for (walk->at++; walk->at < walk->end; walk->at++) {
		if (*walk->at == '"') {
			walk->at++;
			return true;
		}
		walk->at += *walk->at == '\\';
	}
	walk->at = walk->end;
	return false;
}

/* Behind a list or an object, whatever is in it; false: it does not end. */
static bool skip_nest(struct gt_json_walk *walk)
{
	size_t depth = 0;

	while (walk->at < walk->end) {
		const char c = *walk->at;

		if (c == '"') {
			if (!skip_text(walk))
				return false;
			continue;
		}
		walk->at++;
		walk->line += c == '\n';
		if (c == '[' || c == '{')
			depth++;
		else if ((c == ']' || c == '}') && --depth == 0)
			return true;
	}
	return false;
}

static bool skip_word(struct gt_json_walk *walk)
{
	const char *from = walk->at;

	while (walk->at < walk->end && !is_space(*walk->at) && !strchr(",:]}[{\"", *walk->at))
		walk->at++;
	return walk->at > from;
}

static bool refuse_here(struct gt_json_walk *walk, struct gt_json_reading *reading,
                        const char *expected)
{
	if (walk->at >= walk->end)
		(void)gt_json_refuse(reading, "line %u, %s expected near end of file", walk->line,
		                     expected);
	else
		(void)gt_json_refuse(reading, "line %u, %s expected near '%c'", walk->line,
		                     expected,
		                     *walk->at >= ' ' && *walk->at <= '~' ? *walk->at : '?');
	return false;
}

static bool take(struct gt_json_walk *walk, struct gt_json_reading *reading,
                 struct gt_json_slice *value)
{
	const int c = walk->at < walk->end ? *walk->at : 0;
	bool whole;

	*value = (struct gt_json_slice){.text = walk->at, .line = walk->line};
	if (c == '[' || c == '{')
		whole = skip_nest(walk);
	else
		whole = c == '"' ? skip_text(walk) : skip_word(walk);
	value->size = (size_t)(walk->at - value->text);
	if (whole)
		return true;
	if (c == '[' || c == '{')
		return refuse_here(walk, reading, c == '[' ? "']'" : "string or '}'");
	return refuse_here(walk, reading, c == '"' ? "'\"'" : "a value");
}

bool gt_json_walk_begin(struct gt_json_walk *walk, const struct gt_json_slice *value)
{
	*walk = (struct gt_json_walk){
		.at = value->text, .end = value->text + value->size, .line = value->line};
	skip_space(walk);
	if (walk->at == walk->end || (*walk->at != '[' && *walk->at != '{'))
		return false;
	walk->closing = *walk->at == '[' ? ']' : '}';
	walk->at++;
	return true;
}

/* After the last entry there is nothing but the end of what is walked. */
static bool end(struct gt_json_walk *walk, struct gt_json_reading *reading)
{
	walk->at++;
	skip_space(walk);
	return walk->at == walk->end ? false : refuse_here(walk, reading, "end of file");
}

bool gt_json_walk_next(struct gt_json_walk *walk, struct gt_json_reading *reading,
                       struct gt_json_slice *key, struct gt_json_slice *value)
{
	const char *closing = walk->closing == ']' ? "']'" : "string or '}'";

	if (reading->result < 0)
		return false;
	skip_space(walk);
	if (walk->at < walk->end && *walk->at == walk->closing)
		return end(walk, reading);
	if (walk->begun) {
		if (walk->at == walk->end || *walk->at != ',')
			return refuse_here(walk, reading, closing);
		walk->at++;
		skip_space(walk);
	}
	walk->begun = true;
	if (!key)
		return take(walk, reading, value);
	if (walk->at == walk->end || *walk->at != '"')
		return refuse_here(walk, reading, closing);
	if (!take(walk, reading, key))
		return false;
	skip_space(walk);
	if (walk->at == walk->end || *walk->at != ':')
		return refuse_here(walk, reading, "':'");
	walk->at++;
	skip_space(walk);
	return take(walk, reading, value);
}

json_t *gt_json_parse(struct gt_json_reading *reading, const struct gt_json_slice *value)
{
	json_error_t problem;
	json_t *parsed = json_loadb(value->text, value->size,
	                            JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);

	if (!parsed)
		(void)gt_json_refuse(reading, "line %u, %s",
		                     value->line + (unsigned)problem.line - 1, problem.text);
	return parsed;
}
