/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CALLS_MEMORY_H
#define GT_INJECTION_CALLS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

/*
 * Facts of API calls about memory, read from the parameters that CUPTI's callbacks carry. Nothing
 * here keeps state, so that it may be used from any thread and at any time. A runtime call makes
 * driver calls inside: take the outermost of a thread alone, or all memory is there twice.
 */

enum gt_memory_call_kind {
#define MEMORY_KIND(name, number, does, space, words) GT_MEMORY_CALL_##name = (number),
#include "format/kinds/memory.def"
};

/* Addresses and handles are the program's own, as numbers; 0 where there is none, or none yet. */
struct gt_memory_facts {
	uint64_t address; /* of what is made: once the call has returned without an error */
	uint64_t handle;  /* likewise */
	uint64_t size_bytes;
	uint64_t value;
	uint64_t stream;         /* or one of GT_STREAM_... */
	uint32_t place_plus_one; /* ordinal of the device that the call names, 0: it names none */
	uint32_t options;
	uint32_t kind; /* enum gt_memory_call_kind; 0: it turned out to be about no memory */
};

struct gt_memory_call {
	enum gt_memory_call_kind kind;
	uint64_t default_stream; /* GT_STREAM_... */
	void (*read)(const CUpti_CallbackData *data, struct gt_memory_facts *facts);
};

/*
 * The call behind a callback id of the runtime's or the driver's domain; NULL if it is not about
 * memory, or if the headers of this build do not know the id.
 */
const struct gt_memory_call *gt_memory_call_find(bool driver, CUpti_CallbackId id);

/* Reads the parameters of a call, at its entry or at its return. */
void gt_memory_call_read(const struct gt_memory_call *call, const CUpti_CallbackData *data,
                         struct gt_memory_facts *facts);

/* Whether it is about no memory, or ends nothing: a call to free NULL. */
bool gt_memory_call_is_empty(const struct gt_memory_facts *facts);

#endif
