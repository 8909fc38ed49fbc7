/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_CONTROL_CONTROL_H
#define GT_FORMAT_CONTROL_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/arena/counts.h"
#include "format/roll.h"

struct gt_error;

/*
 * How recording is paused and goes on while the program runs. A command leaves an order in the roll
 * of the recording (format/roll.h), which each traced process of the machine has mapped and looks
 * at; each says in the header of its arena which order it has followed. Nobody holds a connection:
 * a process that hangs or dies holds up no other, and one that starts later finds the last order.
 */

/* Who paused recording, or let it go on. The numbers stand in captures. */
enum gt_control_cause {
	GT_CAUSE_UNKNOWN = 0,
	GT_CAUSE_OPTIONS = 1, /* of gputrace run, from the begin */
	GT_CAUSE_COMMAND = 2, /* gputrace start, gputrace stop */
	GT_CAUSE_TIME = 3,    /* that was given */
	GT_CAUSE_PROGRAM = 4, /* cudaProfilerStart, cudaProfilerStop */
	GT_CAUSE_RANGE = 5,   /* of NVTX */
	GT_CAUSE_END = 6,     /* of the program */
	GT_CAUSE_KEPT = 7,    /* what is older was not to be kept */
};

/* 0: none was given. Bit 0: record; above it the number of orders, from 1. */
static inline uint64_t gt_order_of(const struct gt_roll *roll)
{
	return atomic_load_explicit(&roll->order, memory_order_acquire);
}

static inline bool gt_order_records(uint64_t order)
{
	return order & 1;
}

/* Gives an order; returns it. From any number of processes at once. */
uint64_t gt_order_give(struct gt_roll *roll, bool record);

/* Before the first process: orders of an earlier run are over. */
void gt_order_forget(struct gt_roll *roll);

/*
 * Calls see for each process whose recording goes on in the folder, on this machine. Returns how
 * many there are, or a negative errno value with a sentence.
 */
int gt_control_each(const char *folder,
                    void (*see)(void *context, const struct gt_arena_counts *process),
                    void *context, struct gt_error *err);

#endif
