/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CALLS_SYNC_H
#define GT_INJECTION_CALLS_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

/*
 * Facts of API calls about the order of work: who waits for what, and what is signalled. Read from
 * the parameters that CUPTI's callbacks carry; nothing here keeps state, so that it may be used
 * from any thread and at any time. A runtime call makes driver calls inside: take the outermost of
 * a thread alone, or every wait is there twice.
 */

enum gt_sync_kind {
#define SYNC_KIND(name, number, words, waits_host) GT_SYNC_##name = (number),
#include "format/kinds/sync.def"
};

/* Effects of a call: any number of these together. */
enum gt_sync_call_flag {
	GT_SYNC_CALL_BLOCKS = 1 << 0,   /* the host waits in it, or may */
	GT_SYNC_CALL_IMPLICIT = 1 << 1, /* only because of what else it does: copy, fill, free */
	GT_SYNC_CALL_ORDERS = 1 << 2,   /* what follows in its stream waits */
	GT_SYNC_CALL_SIGNALS = 1 << 3,  /* others can wait for it */
	GT_SYNC_CALL_QUERIES = 1 << 4,  /* only asks */
	GT_SYNC_CALL_AT_EXIT = 1 << 5,  /* its facts are there only when it returns */
};

enum gt_sync_waits {
	GT_SYNC_WAITS_NEVER,
	GT_SYNC_WAITS_SOMETIMES, /* the parameters do not tell */
	GT_SYNC_WAITS_ALWAYS,
};

/* Handles are the program's own, as numbers; 0 where the call names none. */
struct gt_sync_facts {
	enum gt_sync_kind kind;
	enum gt_sync_waits waits; /* whether the host waits */
	uint64_t stream;          /* or one of GT_STREAM_... */
	uint64_t event;           /* of EVENT_ELAPSED_TIME: the later one */
	uint64_t second_event;    /* of EVENT_ELAPSED_TIME: the earlier one */
	uint64_t context;         /* only if the call names one; else it is the current one */
	uint64_t address;         /* what is waited for, written or freed; the host's function */
	uint64_t value;           /* what is waited for or written; hash of a handle of an event */
	uint32_t count;           /* semaphores of the call, operations of the batch */
	uint32_t flags;           /* as the call takes them: CUstreamWaitValue_flags, ... */
};

struct gt_sync_call {
	enum gt_sync_kind kind; /* of a batch: WAIT_VALUE, whatever is in it */
	uint32_t flags;         /* enum gt_sync_call_flag */
	uint64_t default_stream;
	unsigned (*read)(const CUpti_CallbackData *data, struct gt_sync_facts *facts, unsigned max);
};

/*
 * The call behind a callback id of the runtime's or the driver's domain; NULL if it has nothing
 * to do with the order of work, or if the headers of this build do not know the id.
 */
const struct gt_sync_call *gt_sync_call_find(bool driver, CUpti_CallbackId id);

/*
 * Fills facts from the parameters of a call, at most max of them, and returns how many: one, or
 * as many as a batch has waits and writes. At the entry of a call with GT_SYNC_CALL_AT_EXIT, and
 * at its exit if it failed, the event that it creates is not known: 0.
 */
unsigned gt_sync_call_read(const struct gt_sync_call *call, const CUpti_CallbackData *data,
                           struct gt_sync_facts *facts, unsigned max);

#endif
