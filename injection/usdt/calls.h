/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_USDT_CALLS_H
#define GT_INJECTION_USDT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

#include "injection/usdt/probe.h"

struct gt_memory_facts;

/*
 * An API call of the program that has returned, on its thread: fires launch where it launches
 * something, and error where it failed. To be called when gt_probe_hears_calls says so.
 */
void gt_probe_call(const CUpti_CallbackData *data, uint32_t result, bool driver);

/* Whether somebody is attached to a probe of memory. */
static inline bool gt_probe_hears_memory(void)
{
	return GT_PROBE_IS_ON(alloc) || GT_PROBE_IS_ON(free);
}

/* The same of a call about memory that succeeded: fires alloc or free. */
void gt_probe_memory(const CUpti_CallbackData *data, const struct gt_memory_facts *facts);

#endif
