/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_REQUEST_H
#define GT_CLI_REPLAY_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command_line/option.h"
#include "cli/replay/outcome.h"
#include "replay/tune/tune.h"

struct gt_bundle;
struct gt_error;
struct gt_excerpt;

/* The options of gputrace replay that say how launches are run again, as they were typed. */
struct gt_replay_args {
	const char *device; /* NULL: the one that fits best */
	const char *l2;
	const char *inputs;
	struct gt_option_list forms; /* none: as recorded */
	struct gt_option_list priorities;
	const char *within;
	uint64_t time_ns;
	uint64_t runs; /* 0: until it is stable */
	uint64_t warm_ups;
	bool verify; /* --verify and --no-verify */
	bool no_verify;
	const char *rtol;
	const char *atol;
	struct gt_option_list elements;
	uint64_t zone_bytes;
	bool relocate;
	struct gt_option_list variants[GT_TUNE_WORD_COUNT];
	const char *tune;
};

#define GT_REPLAY_ARGS_INIT                                                                        \
	{                                                                                          \
		.time_ns = 2000000000, .warm_ups = 3, .zone_bytes = 4096                           \
	}

/* Words for --l2, --inputs and --form, in the order of the enums of replay/replay.h. */
#define GT_L2_WORDS     "cold", "warm", "as-is"
#define GT_INPUTS_WORDS "recorded", "zero", "random"
#define GT_FORM_WORDS   "recorded", "back-to-back", "one-stream", "graph", "priorities", "nodes"
#define GT_FORM_ALL     "all" /* another word for --form: each of them */

enum {
	GT_REPLAY_MOST_VARIANTS = 256, /* beside launches as recorded, of either kind */
	GT_REPLAY_FORMS = 6,           /* words */
	GT_REPLAY_MOST_PRIORITIES = 8, /* that are given */
};

/* Meaning of the words. */
struct gt_replay_request {
	const struct gt_replay_args *args;
	struct gt_replay_options options; /* of launches as recorded; without device and elements */
	enum gt_sequence_form forms[GT_REPLAY_FORMS]; /* to be run, the first one first */
	size_t form_count;
	bool all_forms; /* any of them, but for the first, may fail */
	struct gt_stream_priority priorities[GT_REPLAY_MOST_PRIORITIES];
	size_t priority_count;
	struct gt_tune_space asked; /* variants that options name; each must run */
	struct gt_tune_space tuned; /* of --tune */
};

/* The form by its word, with the priorities that it gives: "priorities(13=first,7=last)". */
void gt_replay_form(const struct gt_replay_options *options, char text[GT_REPLAY_FORM_BYTES]);

/*
 * Conditions of the times beside the variant: "l2=cold inputs=recorded form=recorded"; of one step
 * its number as well, of all steps that is UINT32_MAX.
 */
void gt_replay_conditions(const struct gt_replay_options *options, uint32_t step,
                          char text[GT_REPLAY_CONDITIONS_BYTES]);

/*
 * Typed words must outlive the request. -EINVAL: they make no sense; -ENOTSUP: this build cannot
 * run launches again.
 */
int gt_replay_request_read(struct gt_replay_request *request, const struct gt_replay_args *args,
                           struct gt_error *err);
void gt_replay_request_release(struct gt_replay_request *request);

/*
 * Runs the launches again in each variant: of the bundle, or the one of an excerpt of it, whose
 * memory is found out first; excerpt NULL: all of them. Fails where they cannot be run as recorded,
 * as gt_replay_run does; a variant that cannot be run has that as its outcome. Where addresses are
 * taken in this process, it begins again as another one: then this does not return.
 */
int gt_replay_session(const struct gt_replay_request *request, const struct gt_bundle *bundle,
                      struct gt_excerpt *excerpt, struct gt_outcomes *outcomes,
                      struct gt_error *err);

#endif
