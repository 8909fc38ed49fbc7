/* SPDX-License-Identifier: Apache-2.0 */
#include "model/naming/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/naming/name_parts.h"
#include "model/naming/name_stems.h"
#include "model/naming/short_gemm.h"

/*
 * Short names of C++ functions: the rules of short_names.def, from the outside in. A name that is
 * too wide with all its arguments gets fewer: first those inside of others go, then the last ones.
 */

static const struct rule {
	const char *name;
	const char *form;
} rules[] = {
#define RULE(name, form) {name, form},
#include "model/naming/short_names.def"
};

enum {
	MOST_DEPTH = 16,     /* of parts that are looked into */
	MOST_STEPS = 1 << 14 /* parts of a name that are looked at, in all */
};

struct writer {
	const struct gt_name *name;
	char *text;
	size_t size;
	size_t length;
	unsigned depth;      /* of what is being written */
	unsigned most_depth; /* of arguments that are shown */
	size_t steps;
	bool bare; /* names are written without their arguments */
};

static void put_bytes(struct writer *writer, const char *bytes, size_t count)
{
	const size_t room = writer->size - 1 - writer->length;

	if (count > room)
		count = room;
	memcpy(writer->text + writer->length, bytes, count);
	writer->length += count;
	writer->text[writer->length] = '\0';
}

static void put(struct writer *writer, const char *text)
{
	put_bytes(writer, text, strlen(text));
}

static void put_part(struct writer *writer, struct gt_name_part part)
{
	put_bytes(writer, writer->name->text + part.first, part.end - part.first);
}

static void take_back(struct writer *writer, size_t length)
{
	writer->length = length;
	writer->text[length] = '\0';
}

static void write_type(struct writer *writer, struct gt_name_part part);

/*
 * Whether what was just written stands in the list already, not inside of another argument: a type
 * is said once.
 */
static bool is_repeated(const struct writer *writer, size_t start, size_t at)
{
	const char *item = writer->text + at;
	const size_t length = writer->length - at;
	size_t depth = 0;

	if (length == 0 || isdigit((unsigned char)*item) || *item == '-' ||
	    strcmp(item, "true") == 0 || strcmp(item, "false") == 0)
		return false;
	for (size_t i = start; i + length + 2 <= at; i++) {
		if (depth == 0 && memcmp(writer->text + i, item, length) == 0 &&
		    (i == start || writer->text[i - 1] == ' ') && writer->text[i + length] == ',')
			return true;
		depth += writer->text[i] == '<';
		depth -= writer->text[i] == '>';
	}
	return false;
}

/* Up to so many arguments, with commas between them. Returns whether any was left out. */
static bool write_list(struct writer *writer, struct gt_name_part list, size_t most)
{
	const size_t start = writer->length;
	size_t count = 0;

	while (list.first < list.end && writer->length < writer->size - 1) {
		const struct gt_name_part argument = gt_name_argument(writer->name, &list);
		const size_t before = writer->length;

		if (count)
			put(writer, ", ");

		const size_t at = writer->length;

		write_type(writer, argument);
		if (writer->length == at || is_repeated(writer, start, at)) {
			take_back(writer, before);
		} else if (count == most) {
			take_back(writer, before);
			return true;
		} else {
			count++;
		}
	}
	return false;
}

static bool is_bare(const struct writer *writer)
{
	return writer->bare || writer->depth > writer->most_depth;
}

static void write_arguments(struct writer *writer, struct gt_name_part list, size_t most)
{
	const size_t before = writer->length;
	size_t inside;
	bool more;

	if (is_bare(writer) || most == 0)
		return;
	put(writer, "<");
	inside = writer->length;
	more = write_list(writer, list, most);
	if (writer->length == inside) {
		take_back(writer, before);
		return;
	}
	put(writer, more ? ", ...>" : ">");
}

/* ---- names of functors, and of functions that hold lambdas ---- */

/* MaxNan as max_nan. */
static void put_lower(struct writer *writer, struct gt_name_part part)
{
	const char *text = writer->name->text;

	for (size_t at = part.first; at < part.end; at++) {
		const char lower = (char)tolower((unsigned char)text[at]);

		if (isupper((unsigned char)text[at]) && at > part.first &&
		    islower((unsigned char)text[at - 1]))
			put(writer, "_");
		put_bytes(writer, &lower, 1);
	}
}

static void put_functor(struct writer *writer, struct gt_name_part base)
{
	const struct gt_name_part stem = gt_name_stem(writer->name, base);

	if (stem.first == base.first && stem.end == base.end)
		put_part(writer, base);
	else
		put_lower(writer, stem);
}

/* ---- rules ---- */

/* The argument that a path as "0.6" leads to, from the arguments of a template. */
static bool find_argument(struct writer *writer, struct gt_name_part list, const char *path,
                          struct gt_name_part *found)
{
	for (;;) {
		unsigned long number = strtoul(path, NULL, 10);
		struct gt_name_part rest;
		struct gt_name_scope scope;

		for (;; number--) {
			if (list.first >= list.end || ++writer->steps > MOST_STEPS)
				return false;
			*found = gt_name_argument(writer->name, &list);
			if (number == 0)
				break;
		}
		path += strspn(path, "0123456789");
		if (*path++ != '.')
			return true;
		rest = *found;
		if (!gt_name_last_scope(writer->name, &rest, &scope))
			return false;
		list = scope.arguments;
	}
}

/* Writes one {...} of a form; *form is then behind it. False: there is no such argument. */
static bool write_place(struct writer *writer, const char **form, struct gt_name_part list)
{
	const size_t length = strcspn(*form, "}");
	const size_t at = writer->length;
	const bool bare = writer->bare;
	struct gt_name_part argument;

	if (!find_argument(writer, list, *form + 1, &argument))
		return false;
	writer->bare = bare || (*form)[length - 1] == '=';
	write_type(writer, argument);
	writer->bare = bare;
	*form += length + 1;
	/* An argument that leaves no text needs no comma. */
	if (writer->length == at && strncmp(*form, ", ", 2) == 0)
		*form += 2;
	else if (writer->length == at && at >= 2 && strncmp(writer->text + at - 2, ", ", 2) == 0)
		take_back(writer, at - 2);
	return true;
}

/* Writes what a rule makes of a template. False: it asks for an argument that is not there. */
static bool write_form(struct writer *writer, const char *form, struct gt_name_part list)
{
	const bool bare = writer->depth > 0 && is_bare(writer);
	const size_t start = writer->length;

	while (*form) {
		const size_t plain = strcspn(form, bare ? "{<" : "{");

		put_bytes(writer, form, plain);
		form += plain;
		if (*form == '<') {
			form += strcspn(form, ">");
			form += *form == '>';
		} else if (*form && !write_place(writer, &form, list)) {
			take_back(writer, start);
			return false;
		}
	}
	if (writer->length >= start + 2 && strncmp(writer->text + writer->length - 2, "<>", 2) == 0)
		take_back(writer, writer->length - 2);
	return true;
}

/* Writes what the first rule that fits makes of a name. False: there is none. */
static bool write_by_rule(struct writer *writer, struct gt_name_part base,
                          struct gt_name_part arguments)
{
	for (size_t i = 0; i < GT_COUNT_OF(rules); i++)
		if (gt_name_is(writer->name, base, rules[i].name) &&
		    write_form(writer, rules[i].form, arguments))
			return true;
	return false;
}

/* ---- types ---- */

static bool begins(const struct writer *writer, struct gt_name_part part, const char *text)
{
	const size_t length = strlen(text);

	return part.end - part.first >= length &&
	       memcmp(writer->name->text + part.first, text, length) == 0;
}

/* Whether a scope has no name of its own. */
static bool is_nameless(const struct writer *writer, const struct gt_name_scope *scope)
{
	return begins(writer, scope->whole, "{") || begins(writer, scope->whole, "operator()");
}

/*
 * A lambda is called as what holds it: tanh_kernel_cuda(...)::{lambda()#1}::operator()()
 * const::{lambda(float)#1} is tanh<float>.
 */
static void write_lambda(struct writer *writer, struct gt_name_part part,
                         const struct gt_name_scope *lambda)
{
	struct gt_name_part parameters = {0, 0};
	struct gt_name_scope scope = *lambda;

	for (size_t at = lambda->whole.first; at < lambda->whole.end; at++)
		if (writer->name->text[at] == '(' && writer->name->partner[at]) {
			parameters = (struct gt_name_part){at + 1, writer->name->partner[at]};
			break;
		}
	while (is_nameless(writer, &scope)) {
		if (scope.is_template && parameters.first == parameters.end)
			parameters = scope.arguments;
		if (++writer->steps > MOST_STEPS ||
		    !gt_name_last_scope(writer->name, &part, &scope)) {
			put(writer, "lambda");
			return;
		}
	}
	if (write_by_rule(writer, scope.base, scope.arguments))
		return;
	put_functor(writer, scope.base);
	write_arguments(writer, scope.is_template ? scope.arguments : parameters, 2);
}

/* 128, 4u, true, -1, (at::native::SortOrder)0 */
static bool write_number(struct writer *writer, struct gt_name_part part)
{
	const char *text = writer->name->text;
	size_t end;

	if (text[part.first] == '(' && writer->name->partner[part.first] &&
	    writer->name->partner[part.first] + 1 < part.end)
		part.first = writer->name->partner[part.first] + 1;
	end = part.first + (text[part.first] == '-');
	while (end < part.end && isdigit((unsigned char)text[end]))
		end++;
	if (end == part.first || !isdigit((unsigned char)text[end - 1]))
		return false;
	for (size_t at = end; at < part.end; at++)
		if (!strchr("ul", text[at]))
			return false;
	put_bytes(writer, text + part.first, end - part.first);
	return true;
}

/* const and references say nothing about a kernel; pointers do. */
static struct gt_name_part plain_type(const struct writer *writer, struct gt_name_part part,
                                      bool *is_pointer)
{
	static const char constant[] = " const";
	const char *text = writer->name->text;

	for (;;) {
		part = gt_name_trim(writer->name, part);
		if (part.first < part.end &&
		    (text[part.end - 1] == '&' || text[part.end - 1] == '*')) {
			*is_pointer = *is_pointer || text[part.end - 1] == '*';
			part.end--;
		} else if (part.end - part.first > sizeof(constant) - 1 &&
		           memcmp(text + part.end - (sizeof(constant) - 1), constant,
		                  sizeof(constant) - 1) == 0) {
			part.end -= sizeof(constant) - 1;
		} else if (part.first < part.end && text[part.first] == '&') {
			part.first++;
		} else if (part.first < part.end && text[part.first] == '(' &&
		           writer->name->partner[part.first] + 1 == part.end) {
			part.first++;
			part.end--;
		} else {
			return part;
		}
	}
}

static void write_named(struct writer *writer, struct gt_name_part part)
{
	struct gt_name_part rest = part;
	struct gt_name_scope scope;

	/* "unsigned int" is one name, "unsigned int f<...>(...)" is not. */
	if (write_by_rule(writer, part, (struct gt_name_part){0, 0}))
		return;
	if (!gt_name_last_scope(writer->name, &rest, &scope))
		return;
	if (is_nameless(writer, &scope)) {
		write_lambda(writer, rest, &scope);
		return;
	}
	if (write_by_rule(writer, scope.base, scope.arguments))
		return;
	put_functor(writer, scope.base);
	if (scope.is_template)
		write_arguments(writer, scope.arguments, SIZE_MAX);
}

static void write_type(struct writer *writer, struct gt_name_part part)
{
	bool is_pointer = false;
	size_t before;

	if (part.first >= part.end || writer->depth >= MOST_DEPTH || ++writer->steps > MOST_STEPS)
		return;
	if (write_number(writer, part))
		return;
	part = plain_type(writer, part, &is_pointer);
	if (part.first >= part.end)
		return;
	before = writer->length;
	writer->depth++;
	write_named(writer, part);
	writer->depth--;
	if (is_pointer && writer->length > before)
		put(writer, "*");
}

/* ---- kernels ---- */

struct limits {
	unsigned depth;
	size_t arguments;
};

static size_t write_kernel(struct writer *writer, struct gt_name_part function,
                           const struct limits *limits)
{
	struct gt_name_part rest = function;
	struct gt_name_scope scope;

	take_back(writer, 0);
	writer->depth = 0;
	writer->most_depth = limits->depth;
	writer->bare = false;
	if (!gt_name_last_scope(writer->name, &rest, &scope))
		return 0;
	/* A kernel that is a lambda, or a class's operator(). */
	if (is_nameless(writer, &scope)) {
		write_lambda(writer, rest, &scope);
		return writer->length;
	}
	if (limits->arguments && write_by_rule(writer, scope.base, scope.arguments))
		return writer->length;
	put_part(writer, scope.base);
	if (scope.is_template)
		write_arguments(writer, scope.arguments, limits->arguments);
	return writer->length;
}

static size_t fit(struct writer *writer)
{
	static const struct limits limits[] = {{8, SIZE_MAX}, {3, SIZE_MAX}, {2, SIZE_MAX},
	                                       {1, SIZE_MAX}, {0, SIZE_MAX}, {0, 5},
	                                       {0, 4},        {0, 3},        {0, 2},
	                                       {0, 1},        {0, 0}};
	const struct gt_name_part function = gt_name_function(writer->name);

	for (size_t i = 0; i < GT_COUNT_OF(limits); i++) {
		const size_t length = write_kernel(writer, function, &limits[i]);

		if (length > 0 && length <= GT_SHORT_NAME_WIDTH)
			return length;
	}
	return writer->length;
}

static size_t copy(const char *full, char *text, size_t size)
{
	const size_t length = strnlen(full, size - 1);

	memcpy(text, full, length);
	text[length] = '\0';
	return length;
}

size_t gt_short_name(const char *full, char *text, size_t size)
{
	struct gt_name name;
	struct writer writer = {.name = &name, .text = text, .size = size};
	size_t length = gt_short_gemm(full, text, size);

	if (length)
		return length;
	/* Triton's, XLA's and others that are no C++ are what they are. */
	if (!strpbrk(full, "<(:") || !gt_name_init(&name, full))
		return copy(full, text, size);
	length = fit(&writer);
	gt_name_release(&name);
	return length ? length : copy(full, text, size);
}

void gt_short_base(const char *short_name, char *text, size_t size)
{
	size_t length = 0;

	while (short_name[length] && short_name[length] != '<' &&
	       !(short_name[length] == ' ' && strchr("[0123456789(", short_name[length + 1])))
		length++;
	/* A number behind an underscore counts kernels of a name, as Triton and XLA do. */
	if (!short_name[length]) {
		size_t digits = length;

		while (digits > 0 && isdigit((unsigned char)short_name[digits - 1]))
			digits--;
		if (digits < length && digits > 1 && short_name[digits - 1] == '_')
			length = digits - 1;
	}
	if (length >= size)
		length = size - 1;
	memcpy(text, short_name, length);
	text[length] = '\0';
}
