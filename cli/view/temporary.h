/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_TEMPORARY_H
#define GT_CLI_VIEW_TEMPORARY_H

struct gt_error;

/*
 * A file without a name, in the folder that TMPDIR names or /tmp: it is gone with its last
 * descriptor, however the program ends. Returns a descriptor, or a negative errno value.
 */
int gt_temporary_open(struct gt_error *err);

#endif
