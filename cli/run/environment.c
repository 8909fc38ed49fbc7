/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *join(const char *name, const char *equals, const char *value)
{
	const size_t size = strlen(name) + strlen(equals) + strlen(value) + 1;
	char *text = gt_allocate(size);

	snprintf(text, size, "%s%s%s", name, equals, value);
	return text;
}

void gt_environment_init(struct gt_environment *environment)
{
	*environment = (struct gt_environment){0};
	for (char **entry = environ; *entry; entry++)
		*gt_array_push(&environment->list) = join(*entry, "", "");
	*gt_array_push(&environment->list) = NULL;
}

void gt_environment_release(struct gt_environment *environment)
{
	for (size_t i = 0; i < environment->list.count; i++)
		free(environment->list.rows[i]);
	gt_array_release(&environment->list);
}

/* The number of the entry, that of the NULL at the end when there is none. */
static size_t find(const struct gt_environment *environment, const char *name)
{
	const size_t length = strlen(name);
	size_t i = 0;

	for (; environment->list.rows[i]; i++) {
		const char *entry = environment->list.rows[i];

		if (strncmp(entry, name, length) == 0 && entry[length] == '=')
			break;
	}
	return i;
}

void gt_environment_set(struct gt_environment *environment, const char *name, const char *value)
{
	const size_t at = find(environment, name);
	char *entry = join(name, "=", value);

	free(environment->list.rows[at]);
	environment->list.rows[at] = entry;
	if (at + 1 == environment->list.count)
		*gt_array_push(&environment->list) = NULL;
}

void gt_environment_unset(struct gt_environment *environment, const char *name)
{
	const size_t at = find(environment, name);
	char **entry = &environment->list.rows[at];

	if (!*entry)
		return;
	free(*entry);
	environment->list.count--;
	memmove(entry, entry + 1, (environment->list.count - at) * sizeof(*entry));
}

const char *gt_environment_find(const struct gt_environment *environment, const char *name)
{
	const char *entry = environment->list.rows[find(environment, name)];

	return entry ? entry + strlen(name) + 1 : NULL;
}
