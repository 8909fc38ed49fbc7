/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "injection/calls/api.h"
#include "injection/calls/sync.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Fetches what CUPTI has before it is lost, and records nothing itself.
 *
 * CUPTI loses the records of a context that ends: calls that end one wait for a fetch first.
 *
 * A process that was forked and runs no program of its own is a worker as a rule (Python's
 * multiprocessing, servers that fork ahead). It ends with _exit, which no exit handler hears of,
 * and CUPTI writes times of kernels only when it is asked to: so each call that waited for the GPU
 * also waits for a fetch there, as it may be the last one: the first ones always, on a slow machine
 * too. A worker that goes on to wait for the GPU all the time spends a hundredth of its time so;
 * later work is fetched soon, as in every process that waits (sync.c).
 */

#define FETCH_LIMIT_NS 500000000u
#define WAIT_LIMIT_NS  100000000u
#define SHARE          100u      /* one part in so many may be spent on fetches */
#define SAVED_NS       20000000u /* and as much at once, after a while without */
#define FIRST_FETCHES  16u       /* whatever they take */

struct context_end {
	_Atomic bool gave_up;
	_Atomic uint32_t fetches;
	_Atomic uint64_t
		paid_until_ns; /* gt_now: fetches so far have used up the share until then */
};

static bool is_wait(bool driver, CUpti_CallbackId id)
{
	const struct gt_sync_call *what = gt_sync_call_find(driver, id);

	return what &&
	       (what->kind == GT_SYNC_EVENT_SYNCHRONIZE ||
	        what->kind == GT_SYNC_STREAM_SYNCHRONIZE ||
	        what->kind == GT_SYNC_CONTEXT_SYNCHRONIZE || what->kind == GT_SYNC_BLOCKING_COPY);
}

/* Whether work that was launched before has finished. */
static bool has_waited(struct gt_call call)
{
	const struct gt_sync_call *what = gt_sync_call_find(call.driver, call.id);
	struct gt_sync_facts facts;

	return gt_call_result(call) == 0 && gt_sync_call_read(what, call.data, &facts, 1) == 1 &&
	       facts.waits == GT_SYNC_WAITS_ALWAYS;
}

static void fetch_in_share(struct gt_session *session, struct context_end *ends)
{
	const uint64_t began_ns = gt_now();
	const uint64_t earliest_ns = began_ns - (uint64_t)SAVED_NS * SHARE;
	uint64_t paid_ns = atomic_load_explicit(&ends->paid_until_ns, memory_order_relaxed);
	uint64_t took_ns;

	if (atomic_load_explicit(&ends->gave_up, memory_order_relaxed) ||
	    (paid_ns > began_ns &&
	     atomic_load_explicit(&ends->fetches, memory_order_relaxed) >= FIRST_FETCHES))
		return;
	atomic_fetch_add_explicit(&ends->fetches, 1, memory_order_relaxed);
	gt_fetch(session, WAIT_LIMIT_NS);
	took_ns = gt_now() - began_ns;
	if (took_ns >= WAIT_LIMIT_NS)
		atomic_store_explicit(&ends->gave_up, true, memory_order_relaxed);
	if (paid_ns < earliest_ns)
		paid_ns = earliest_ns;
	atomic_store_explicit(&ends->paid_until_ns, paid_ns + took_ns * SHARE,
	                      memory_order_relaxed);
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	if (is_wait(call.driver, call.id))
		return state;
	gt_fetch(session, FETCH_LIMIT_NS);
	return NULL;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	(void)state; /* what was kept */
	if (kept && has_waited(call))
		fetch_in_share(session, kept);
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
	if (gt_is_worker(session))
		gt_want_known(session, is_wait);
	return 0;
}

const struct gt_source gt_source_context_end = {
	.name = "context_end",
	.goes_on = true,
	.state_size = sizeof(struct context_end),
	.start = start,
	.hears = {.enter = enter, .leave = leave},
};
