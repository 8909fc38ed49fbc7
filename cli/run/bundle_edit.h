/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_BUNDLE_EDIT_H
#define GT_CLI_RUN_BUNDLE_EDIT_H

#include <stdbool.h>

#include <jansson.h>

struct gt_error;

/*
 * Adds to bundle.json when the program has ended: the file is read, changed and written whole,
 * or not at all. edit: false leaves the file as it is. A bundle that is not there any more, or that
 * is none, is left out. Fails in a sentence where it cannot be written.
 */
int gt_bundle_edit(const char *recording, const char *bundle,
                   bool (*edit)(json_t *root, void *context), void *context, struct gt_error *err);

#endif
