/* SPDX-License-Identifier: Apache-2.0 */
#include "format/name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* The name as far as it is written; length goes on counting when it no longer fits. */
struct name {
	char *text;
	size_t size;
	size_t length;
};

static void add(struct name *name, const char *text, size_t length)
{
	if (name->length + length < name->size) {
		memcpy(name->text + name->length, text, length);
		name->text[name->length + length] = '\0';
	}
	name->length += length;
}

static void add_number(struct name *name, unsigned number)
{
	char text[16];

	add(name, text, (size_t)snprintf(text, sizeof(text), "%u", number));
}

/* The value of the variable with this name of length bytes; NULL: it is not set. */
static const char *find_variable(char *const *environment, const char *variable, size_t length)
{
	for (; length > 0 && *environment; environment++)
		if (strncmp(*environment, variable, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

/* at is behind "%q"; returns how long the rest of it is, or a negative errno value. */
static int add_variable(struct name *name, const char *at, const struct gt_name_facts *facts,
                        struct gt_error *err)
{
	const size_t length = strcspn(at, "}");
	const char *value;

	if (*at != '{' || !at[length])
		return gt_fail(err, EINVAL,
		               "%%q in the name of a recording is followed by a variable in "
		               "braces: %%q{VAR}");
	value = find_variable(facts->environment, at + 1, length - 1);
	if (!value)
		return gt_fail(err, EINVAL,
		               "%%q{%.*s} in the name of a recording: the environment has no %.*s",
		               (int)length - 1, at + 1, (int)length - 1, at + 1);
	add(name, value, strlen(value));
	return (int)length + 1;
}

/* at is behind the percent sign; returns how long what belongs to it is, or negative. */
static int add_fact(struct name *name, const char *at, const struct gt_name_facts *facts,
                    struct gt_error *err)
{
	int more = 0;

	switch (*at) {
	case 'p':
		add_number(name, (unsigned)facts->pid);
		break;
	case 'h':
		add(name, facts->host, strlen(facts->host));
		break;
	case 'n':
		add_number(name, facts->number);
		break;
	case '%':
		add(name, "%", 1);
		break;
	case 'q':
		more = add_variable(name, at + 1, facts, err);
		break;
	default:
		more = gt_fail(err, EINVAL,
		               "%%%.1s in the name of a recording means nothing; there are %%p, "
		               "%%h, %%q{VAR}, %%n, and %%%% for a percent sign",
		               at);
	}
	return more < 0 ? more : 1 + more;
}

bool gt_name_is_numbered(const char *pattern)
{
	while ((pattern = strchr(pattern, '%'))) {
		if (pattern[1] == 'n')
			return true;
		pattern += pattern[1] ? 2 : 1;
	}
	return false;
}

int gt_name_expand(const char *pattern, const struct gt_name_facts *facts, char *name, size_t size,
                   struct gt_error *err)
{
	struct name written = {name, size, 0};

	name[0] = '\0';
	while (*pattern) {
		const size_t plain = strcspn(pattern, "%");
		int length;

		add(&written, pattern, plain);
		pattern += plain;
		if (!*pattern)
			break;
		length = add_fact(&written, pattern + 1, facts, err);
		if (length < 0)
			return length;
		pattern += 1 + length;
	}
	if (written.length >= size)
		return gt_fail(err, ENAMETOOLONG, "the name of the recording is too long");
	return 0;
}
