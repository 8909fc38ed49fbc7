/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "injection/api_calls.h"
#include "injection/services.h"
#include "injection/source.h"

/*
 * CUPTI loses the records of a context that ends, unless they are fetched before: calls that end
 * one wait until that is done. It records nothing itself.
 */

#define FETCH_LIMIT_NS 500000000u

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	(void)state;
	(void)call;
	gt_fetch(session, FETCH_LIMIT_NS);
	return NULL;
}

static void want(struct gt_session *session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                 const char *name)
{
	if (gt_api_call_ends_context(name))
		gt_want(session, domain, id);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)state;
	(void)err;
	gt_each_call(session, want);
	return 0;
}

const struct gt_source gt_source_context_end = {
	.name = "context_end",
	.start = start,
	.hears = {.enter = enter},
};
