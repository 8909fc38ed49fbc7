/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_TYPES_ROLE_H
#define GT_REPLAY_TYPES_ROLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/*
 * Role of memory that holds the same bytes after the steps as before them. Bytes say nothing of
 * that, runs over other ones do: what is not these any more was written, and where something else
 * comes out they were read. First all such memory has other bytes, then what was written alone,
 * then halves of what tells nothing together with the rest.
 */
#define GT_ROLES(ROLE)                                                                             \
	ROLE(unknown, "not determined")                                                            \
	ROLE(output, "written with what was there")                                                \
	ROLE(both, "written and read")                                                             \
	ROLE(input, "read")                                                                        \
	ROLE(none, "neither read nor written")

enum gt_role {
#define ROLE(name, help) GT_ROLE_##name,
	GT_ROLES(ROLE)
#undef ROLE
		GT_ROLE_COUNT,
};

enum {
	GT_ROLES_MOST_RUNS = 16, /* over other bytes, of all that look for roles */
	GT_ROLES_MOST_FAULTS = 4 /* of these, until no more are made; each costs a process */
};

/* Role of one memory. */
struct gt_role_of {
	uint8_t role;   /* enum gt_role */
	bool asked;     /* it is one whose role is looked for */
	bool written;   /* in a run in which memory beside it had other bytes as well */
	uint32_t set;   /* with which it has other bytes the next time */
	uint64_t bytes; /* of an output, that were written; 0: not counted */
	uint64_t first; /* the first and behind the last one */
	uint64_t end;
};

/*
 * Facts known of a bundle's memory: for all variants, and for the process that goes on where one
 * of these runs made the GPU fail. Plain numbers. Zeros: nothing.
 */
struct gt_roles {
	gt_array(struct gt_role_of) list; /* by memory */
	uint32_t sets;
	uint32_t runs;
	uint32_t faults;
	bool done;           /* nothing more is looked for */
	bool unfinished;     /* another process would find more */
	bool unproven;       /* runs over other bytes before the timed ones made the GPU fail */
	char no_poison[160]; /* why the variant cannot run over other bytes in what it changes; "" */
};

#endif
