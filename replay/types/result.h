/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_TYPES_RESULT_H
#define GT_REPLAY_TYPES_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "replay/compare/compare.h"
#include "replay/types/role.h"
#include "replay/types/times.h"

/* Who says what type elements have. */
enum gt_element_source { GT_ELEMENT_GIVEN, GT_ELEMENT_GUESSED, GT_ELEMENT_OF_ARRAY };

/* Outcome for one buffer that the steps write, or should. */
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

/* Frees its arrays; it is then empty. */
void gt_replay_result_release(struct gt_replay_result *result);

#endif
