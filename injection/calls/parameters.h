/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CALLS_PARAMETERS_H
#define GT_INJECTION_CALLS_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cupti.h>

/*
 * Shared by all lists of API calls (sync_calls.def, graph_calls.def): reading the parameters that
 * CUPTI's callbacks carry. Nothing here keeps state: from any thread and at any time.
 */

#define GT_STREAM_LEGACY     UINT64_C(0) /* the default stream of the context */
#define GT_STREAM_PER_THREAD UINT64_C(2) /* the default stream of the calling thread */
#define GT_STREAM_NONE       UINT64_MAX  /* the call names no stream */

/* NULL is the default stream that the call was compiled for; two handles name one or the other. */
static inline uint64_t gt_stream_of(CUstream stream, uint64_t default_stream)
{
	if (!stream)
		return default_stream;
	return stream == CU_STREAM_LEGACY ? GT_STREAM_LEGACY : (uintptr_t)stream;
}

/* Whether a callback is that of a return, without an error. */
static inline bool gt_has_returned_well(const CUpti_CallbackData *data)
{
	const int *result = data->functionReturnValue;

	return data->callbackSite == CUPTI_API_EXIT && result && *result == 0;
}

/*
 * The handle or address that the call put where the program asked for it. The program's variable
 * holds it only once the call has returned without an error; NULL before, and when it failed.
 */
static inline void *gt_made_at(const CUpti_CallbackData *data, const void *where)
{
	void *made = NULL;

	if (where && gt_has_returned_well(data))
		memcpy(&made, where, sizeof(made));
	return made;
}

#endif
