/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_NAME_H
#define GT_FORMAT_NAME_H

#include <stdbool.h>
#include <stddef.h>

struct gt_error;

/*
 * The name of a recording as people give it: %p stands for a process id, %h for the host, %q{VAR}
 * for an environment variable, %n for a number and %% for a percent sign. Allocates nothing.
 */
struct gt_name_facts {
	int pid;
	const char *host;
	char *const *environment; /* as environ */
	unsigned number;
};

/* Whether there is a %n, so that numbers can be tried until one gives a free name. */
bool gt_name_is_numbered(const char *pattern);

/*
 * Writes the name that a pattern stands for. -EINVAL: it has another letter behind a percent
 * sign, or a variable that is not set; -ENAMETOOLONG: size bytes do not hold the name.
 */
int gt_name_expand(const char *pattern, const struct gt_name_facts *facts, char *name, size_t size,
                   struct gt_error *err);

#endif
