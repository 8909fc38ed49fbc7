/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_ENVIRONMENT_H
#define GT_CLI_RUN_ENVIRONMENT_H

#include <stddef.h>

#include "base/array.h"

/* The environment a program is started with: a copy of our own, then changed. */
struct gt_environment {
	gt_array(char *) list; /* NAME=VALUE, owned; the last is NULL */
};

void gt_environment_init(struct gt_environment *environment);
void gt_environment_release(struct gt_environment *environment);

/* Copies both; replaces a value the name has. */
void gt_environment_set(struct gt_environment *environment, const char *name, const char *value);

/* Fine when it is not set. */
void gt_environment_unset(struct gt_environment *environment, const char *name);

/* NULL when it is not set; valid until it is set again. */
const char *gt_environment_find(const struct gt_environment *environment, const char *name);

#endif
