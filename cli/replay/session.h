/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_SESSION_H
#define GT_CLI_REPLAY_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/output/progress.h"
#include "cli/replay/forms.h"
#include "cli/replay/left.h"
#include "cli/replay/request.h"
#include "model/bundle/bundle.h"
#include "model/bundle/excerpt.h"
#include "model/gpu/calibration.h"
#include "replay/gpu/cuda.h"
#include "replay/gpu/state.h"
#include "replay/verify/rehearsal.h"

/*
 * Launches being run again on a GPU: what all parts of a session share. For cli/replay/session*.c
 * alone.
 */

struct gt_session {
	const struct gt_replay_request *request;
	const struct gt_bundle
		*bundle;            /* whose launches are timed: the excerpt's, if there is one */
	struct gt_excerpt *excerpt; /* NULL: all steps are run */
	struct gt_rehearsal rehearsal; /* of all steps, for the excerpt */
	struct gt_outcomes *outcomes;
	struct gt_cuda cuda;
	struct gt_replay_options options;
	gt_array(struct gt_element_choice) elements;
	struct gt_forms forms;
	struct gt_left left; /* by the process before, of which taken outcomes were used */
	size_t taken;
	bool spoiled; /* the GPU does nothing more in this process */
	struct gt_roles roles;
	struct gt_calibration gpu; /* what the driver says of it */
	struct gt_roof roof;
	struct gt_gpu_state state;
	int others; /* processes; negative: not known */
	struct {
		int64_t asked_ns; /* 0: never */
		bool throttled;
		double sm_mhz;
	} reading; /* of state */
	struct gt_progress progress;
	char variant[GT_OUTCOME_LABEL_BYTES]; /* being run */
	char what[96];                        /* being done, as it was told last */
};

int gt_session_choose_device(struct gt_session *session, struct gt_error *err);

/* The ceiling of its memory, by what reports take it from. */
void gt_session_find_roof(struct gt_session *session);

/* Other processes on the GPU; it is said what that means. */
void gt_session_look_for_others(struct gt_session *session);

/* Functions of the options; context: the session. */
bool gt_session_is_throttled(void *context);
double gt_session_sm_mhz(void *context);

/* What is known before it runs. */
void gt_session_begin_outcome(struct gt_outcome *outcome, const struct gt_session *session,
                              const struct gt_variant *variant);
void gt_session_add_times(struct gt_outcome *outcome, const struct gt_session *session,
                          const struct gt_replay_result *result);

/* In place of what is there. */
void gt_session_add_outputs(struct gt_outcome *outcome, const struct gt_session *session,
                            const struct gt_replay_result *result);

#endif
