/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_STEPS_STEPS_H
#define GT_REPLAY_STEPS_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/gpu/commands.h"
#include "replay/gpu/gpu.h"
#include "replay/types/options.h"

struct gt_bundle;
struct gt_restored;
struct gt_step_graph;
struct gt_step_ready;

/* The steps of a bundle, ready to be run on a GPU in the order and streams that are wanted. */
struct gt_steps {
	const struct gt_bundle *bundle;
	struct gt_gpu *gpu;
	const struct gt_replay_options *options;
	CUmodule *modules;     /* by number */
	CUfunction *functions; /* by number; NULL: no step launches it */
	uint32_t varied;   /* function that the variant changes; UINT32_MAX: there is no launch */
	CUstream *streams; /* by number; one_stream: the GPU's own */
	CUevent *events;   /* by number */
	size_t event_count;
	struct gt_step_ready *ready;  /* by step */
	struct gt_commands graph;     /* of the form graph */
	struct gt_step_graph *graphs; /* that the steps launch as such, by their first step */
	size_t graph_count;
	bool *inside; /* streams by number: all steps of it are in such graphs */
	size_t work;  /* steps that are work of the GPU's */
	bool bounded; /* a run may never end: what the host waits for, streams wait for instead */
};

/* Loads the modules, of which none may be for another architecture: -ENOTSUP, and finds functions. */
int gt_steps_load(struct gt_steps *steps, const struct gt_bundle *bundle, struct gt_gpu *gpu,
                  const struct gt_replay_options *options, struct gt_error *err);

/* Makes parameters, streams and events, and the graphs that are wanted. */
int gt_steps_prepare(struct gt_steps *steps, const struct gt_restored *restored,
                     struct gt_error *err);

/*
 * Puts all steps on the GPU, between what is in its stream now and what is put there later. The
 * forms recorded and priorities take as long as the program took.
 */
int gt_steps_run(struct gt_steps *steps, struct gt_error *err);

/* One step in the GPU's stream, alone, be it of a graph. */
int gt_steps_run_one(struct gt_steps *steps, size_t number, struct gt_error *err);

/* Modules, streams and events go when the GPU is closed. */
void gt_steps_close(struct gt_steps *steps);

#endif
