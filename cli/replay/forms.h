/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_FORMS_H
#define GT_CLI_REPLAY_FORMS_H

#include "base/array.h"
#include "replay/replay.h"

struct gt_bundle;
struct gt_error;
struct gt_replay_request;

/* A way of running a bundle's steps, as --form and --priority ask for it. */
struct gt_form {
	enum gt_sequence_form form;
	gt_array(struct gt_stream_priority) priorities; /* of the form priorities */
};

struct gt_forms {
	gt_array(struct gt_form) list; /* the first is what others are compared with */
};

enum { GT_FORMS_MOST_STREAMS = 8 }; /* that are tried before the others */

/*
 * All that are to be run. The form priorities comes once with the priorities that were given, or
 * else once for each of the first streams with work, which goes before all others. -EINVAL where
 * priorities mean nothing: there is one stream, or none of that number.
 */
int gt_forms_choose(struct gt_forms *forms, const struct gt_replay_request *request,
                    const struct gt_bundle *bundle, struct gt_error *err);
void gt_forms_release(struct gt_forms *forms);

#endif
