/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_TYPES_OPTIONS_H
#define GT_REPLAY_TYPES_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/compare/compare.h"

struct gt_roles;

/* Contents of the level-2 cache that a timed run finds. */
#define GT_L2_STATES(STATE)                                                                        \
	STATE(cold, "nothing: it is overwritten before each run")                                  \
	STATE(warm, "what the run before it left")                                                 \
	STATE(as_is, "the inputs, which were restored just before")

enum gt_l2_state {
#define STATE(name, help) GT_L2_##name,
	GT_L2_STATES(STATE)
#undef STATE
};

enum gt_inputs { GT_INPUTS_recorded, GT_INPUTS_zero, GT_INPUTS_random };

/* How the steps of a sequence are run. */
#define GT_SEQUENCE_FORMS(FORM)                                                                    \
	FORM(recorded, "with the gaps of the program, on its streams")                             \
	FORM(back_to_back, "without the gaps")                                                     \
	FORM(one_stream, "one after the other in one stream")                                      \
	FORM(graph, "as one CUDA graph")                                                           \
	FORM(priorities, "as recorded, but for the priorities of its streams")                     \
	FORM(nodes, "as recorded, but for launches of graphs, whose nodes are launched one by one")

enum gt_sequence_form {
#define FORM(name, help) GT_SEQUENCE_##name,
	GT_SEQUENCE_FORMS(FORM)
#undef FORM
};

/* Priority of a stream of the bundle, by its number in the program: for the form priorities. */
struct gt_stream_priority {
	uint32_t stream;
	int32_t priority; /* lower ones go first; the driver takes the nearest that there is */
};

/* The first and the last that any GPU has, and beyond. */
enum { GT_PRIORITY_FIRST = -1000, GT_PRIORITY_LAST = 1000 };

/* Changes of the launches of a function; 0, or negative where 0 means something: as
 * recorded. */
struct gt_variant {
	uint32_t block[3]; /* the grid follows: as many threads, rounded up */
	uint32_t cluster[3];
	int64_t shared_bytes;   /* dynamic; -1 */
	int32_t carveout;       /* percent; -2: as recorded, -1: the driver's choice */
	uint32_t max_registers; /* PTX is compiled again */
	const char *module;     /* file with a cubin or PTX that has the function; NULL */
};

struct gt_element_choice {
	uint32_t memory; /* number in the bundle; UINT32_MAX: all of them */
	enum gt_element element;
};

struct gt_replay_options {
	int device; /* ordinal */
	enum gt_l2_state l2;
	enum gt_inputs inputs;
	enum gt_sequence_form form;
	const struct gt_stream_priority *priorities; /* of streams that have others than recorded */
	size_t priority_count;
	struct gt_variant variant;
	double within;       /* relative error of the median that ends measuring */
	int64_t most_ns;     /* time for measuring, in all, once there are least_runs */
	int64_t most_run_ns; /* that the first run may take, which else never ends; 0: any time */
	uint32_t warm_ups;   /* at least */
	uint32_t least_runs; /* timed */
	uint32_t most_runs;
	bool compare_states; /* a few runs in each other state of the cache as well */
	bool untimed;        /* only verify: the process before has timed it */
	double seen_most_ns; /* the longest run that it saw; 0: none */
	bool verify;
	struct gt_roles *roles; /* what is known of memory, and becomes so; may be NULL */
	struct gt_tolerance tolerance;
	const struct gt_element_choice *elements;
	size_t element_count;
	uint64_t zone_bytes; /* red zones before and behind each buffer; 0: none */
	bool relocate;       /* at other addresses, where every pointer is known */
	/* Whether clocks were held down since it was last asked, and what the SM clock is in MHz,
	 * NAN: not known. Both are asked after each timed run; may be NULL. */
	bool (*throttled)(void *context);
	double (*sm_mhz)(void *context);
	/* For long work: share that is done (0 to 1) and what is being done; may be NULL. */
	void (*progress)(void *context, double share, const char *what);
	void *context;
};

#endif
