/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_REPLAY_H
#define GT_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "replay/compare.h"
#include "replay/roles.h"

struct gt_bundle;
struct gt_cuda;
struct gt_error;

/*
 * Runs the launches of a bundle again, in this process: times and verifies them. One bundle at a
 * time, on one thread.
 */

/* What of the level-2 cache a timed run finds. */
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

/* Of a stream of the bundle, by its number in the program: of the form priorities. */
struct gt_stream_priority {
	uint32_t stream;
	int32_t priority; /* lower ones go first; the driver takes the nearest that there is */
};

/* The first and the last that any GPU has, and beyond. */
enum { GT_PRIORITY_FIRST = -1000, GT_PRIORITY_LAST = 1000 };

/* What is changed of the launches of a function; 0, or negative where 0 means something: as
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
	/* Of long work: share that is done (0 to 1) and what is being done; may be NULL. */
	void (*progress)(void *context, double share, const char *what);
	void *context;
};

/* Times of runs, of those that count. Nanoseconds. */
struct gt_replay_times {
	gt_array(double) ns; /* by when they were run */
	double median;
	double least;
	double most;
	double p05;
	double p95;
	double error;        /* standard error of the median, relative */
	uint32_t thrown_out; /* runs with throttled clocks */
	uint32_t other_mode; /* runs of less than half of the median, or more than twice that */
	bool stable;
	double events_median; /* by a pair of events, as a cross-check; NAN: not measured */
	double sm_mhz;        /* median while it ran; NAN: not measured */
	const char *clock;    /* what timed it: "CUPTI", "events" */
	char no_cupti[256];   /* why it was not CUPTI; "" */
	/* With a warm cache: bytes that change and are restored right before a run, or are not. */
	uint64_t restored_bytes;
	uint64_t left_bytes;
	char doubt[200];    /* why it is not known that all runs did the same work; "" */
	double by_state[3]; /* medians by enum gt_l2_state; NAN: not measured */
};

/* Who says what type elements have. */
enum gt_element_source { GT_ELEMENT_GIVEN, GT_ELEMENT_GUESSED, GT_ELEMENT_OF_ARRAY };

/* What became of one buffer that the steps write, or should. */
struct gt_replay_buffer {
	uint32_t memory;
	enum gt_role role; /* of one that holds the same afterwards; unknown: it does not */
	bool array;        /* it has no address, and nothing around it */
	enum gt_element_source source; /* of the type of its elements */
	bool wanted_known;
	bool held; /* it held the same before: that it is right does not say that it was written */
	struct gt_comparison comparison;
	/*
	 * Whether it is known what was written: a run with other contents before it gave the same
	 * ones. Where the kernel reads what it changes it is not.
	 */
	bool written_known;
	uint64_t written;   /* bytes, of an output that holds the same afterwards; 0: not counted */
	uint64_t unwritten; /* bytes that were written in the program and not here */
	uint64_t first_unwritten;
	uint64_t untouched; /* bytes beside written ones that were written neither there nor here */
	uint64_t first_untouched;
	uint64_t zone_bytes;   /* of its red zones; 0: it has none, and nothing was looked at */
	uint64_t outside;      /* bytes of them that were changed */
	int64_t first_outside; /* offset from the buffer's begin */
	bool varies;           /* two runs with the same inputs gave different bytes */
	uint64_t varying;      /* elements of these */
};

struct gt_replay_result {
	struct gt_replay_times times;
	double job_ns; /* in the program; NAN: not known */
	double bytes;  /* least that it moves: buffers read once, written once; NAN */
	gt_array(struct gt_replay_buffer) buffers;
	uint32_t first_bad_step; /* of a sequence: wrote the first NaN or Inf; UINT32_MAX: none */
	/*
	 * Buffers that are known to be written, with what was recorded of them: not those that held
	 * the same before, and may as well be left alone.
	 */
	uint32_t proven;
	bool wrong;          /* something differs, was not written, or was written outside */
	bool verified;       /* some are proven, and nothing is wrong */
	bool at_addresses;   /* of the program, but for variables, which modules bring */
	uint32_t layouts;    /* that were tried until the addresses were free */
	char guessed[256];   /* what is not sure of memory that was moved; "" */
	char handles[256];   /* the same of handles that are other numbers here; "" */
	char no_poison[160]; /* why it is not known what was written; "" */
	uint32_t roles[GT_ROLE_COUNT]; /* of memory that is afterwards as before, how many have it */
	char no_roles[160];            /* why those that are not known are not; "" */
	char fault[256];               /* the GPU's error, where the kernel could not run; "" */
	/*
	 * The GPU does nothing more in this process: a kernel made it fail or does not end, be it
	 * over poison alone. Another process has another context.
	 */
	bool spoiled;
};

/*
 * Fails in a sentence: -ENOTSUP the GPU is of another architecture, -ENOMEM too little memory,
 * -EADDRINUSE addresses are taken here: another process has others; -EIO the launch failed and
 * -ETIMEDOUT it did not end, with fault set; and as the bundle's blobs do. The result is then empty
 * but for fault and spoiled.
 */
int gt_replay_run(const struct gt_bundle *bundle, const struct gt_cuda *cuda,
                  const struct gt_replay_options *options, struct gt_replay_result *result,
                  struct gt_error *err);
void gt_replay_result_release(struct gt_replay_result *result);

#endif
