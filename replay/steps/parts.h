/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_STEPS_PARTS_H
#define GT_REPLAY_STEPS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/steps/steps.h"
#include "replay/tune/variant.h"

/* Functions that the files of this folder offer each other. All fail in a sentence. */

struct gt_step_ready {
	struct gt_variant_launch launch;
	uint8_t *bytes; /* parameters, or what a copy has from the host or gives to it */
	uint64_t to;
	uint64_t from;
	bool unrecorded; /* a wait for an event that no step before recorded: it holds nothing back */
};

/* A launch of a CUDA graph: steps that are put on the GPU by one call. */
struct gt_step_graph {
	size_t first;
	size_t end;
	struct gt_commands commands;
};

/* Loads the modules and finds the functions of all launches, as the variant changes them. */
int gt_steps_find_functions(struct gt_steps *steps, struct gt_error *err);

/* Puts a step's launch, copy or fill into a stream; nothing where it is none of these. */
int gt_steps_work(const struct gt_steps *steps, size_t number, CUstream stream,
                  struct gt_error *err);

/* Runs a step that is no work: an event is recorded or waited for, the host waits. */
int gt_steps_order(struct gt_steps *steps, const struct gt_bundle_step *step, struct gt_error *err);

/* All steps, in their streams: these begin after the GPU's own, which goes on after all of them. */
int gt_steps_run_all(struct gt_steps *steps, struct gt_error *err);

/* The graphs that steps launch as such. */
int gt_steps_make_graphs(struct gt_steps *steps, struct gt_error *err);

/* One graph of all steps. */
int gt_steps_make_graph(struct gt_steps *steps, struct gt_error *err);

#endif
