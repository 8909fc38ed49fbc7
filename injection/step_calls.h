/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_STEP_CALLS_H
#define GT_INJECTION_STEP_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

#include "format/bundle.h"

/*
 * What an API call is in a sequence that is captured: a step, the end of memory, or something that
 * no sequence can have. Read from the parameters that CUPTI's callbacks carry; nothing here keeps
 * state. A runtime call makes driver calls inside: take the outermost of a thread alone, but of
 * launches, of which the driver's calls are known here and no others.
 */

enum gt_step_call_kind {
	GT_STEP_CALL_NONE,    /* nothing that a sequence has to know of */
	GT_STEP_CALL_STEP,    /* of the kind step */
	GT_STEP_CALL_END,     /* of memory, at address */
	GT_STEP_CALL_REFUSED, /* reason says why */
};

struct gt_step_call {
	enum gt_step_call_kind kind;
	enum gt_bundle_step_kind step;
	bool has_stream; /* false: of a wait of the host's for an event, or for all */
	CUstream stream; /* NULL: the default stream of the context */
	CUevent event;   /* NULL: none */
	bool blocks;     /* a copy that the host waits for */
	uint64_t to;
	uint64_t from;
	uint64_t bytes; /* of a row */
	uint64_t rows;
	uint64_t to_pitch;
	uint32_t value; /* of a fill */
	uint32_t value_bytes;
	uint64_t address;
	const char *reason; /* a sentence without its end */
};

/* Whether gt_step_call_read may say anything else than NONE: gt_knows_call. */
bool gt_step_call_is_known(bool driver, CUpti_CallbackId id);

/* At the entry of the call. Of a launch only that it is one, and its stream. */
void gt_step_call_read(bool driver, CUpti_CallbackId id, const CUpti_CallbackData *data,
                       struct gt_step_call *call);

#endif
