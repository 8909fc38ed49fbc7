/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/router.h"
#include "injection/session/routes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "injection/process/thread.h"
#include "injection/recorder.h"
#include "injection/session/source.h"

/* A CUPTI that only notes what it is asked for. */

#define RUNTIME CUPTI_CB_DOMAIN_RUNTIME_API
#define DRIVER  CUPTI_CB_DOMAIN_DRIVER_API

static struct {
	CUpti_CallbackFunc callback;
	void *context;
	uint32_t enabled; /* callbacks that are */
	uint32_t asked;
	CUpti_CallbackId refused; /* no callback with this id is given */
	CUptiResult subscribe;
} cupti;

static CUptiResult subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                             void *context)
{
	*handle = NULL;
	cupti.callback = callback;
	cupti.context = context;
	return cupti.subscribe;
}

static CUptiResult enable(uint32_t yes, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                          CUpti_CallbackId id)
{
	(void)handle;
	(void)domain;
	cupti.asked++;
	if (id == cupti.refused)
		return CUPTI_ERROR_INVALID_PARAMETER;
	cupti.enabled += yes ? 1 : (uint32_t)-1;
	return CUPTI_SUCCESS;
}

static CUptiResult text_of(CUptiResult result, const char **text)
{
	(void)result;
	*text = "CUPTI_SAYS_NO";
	return CUPTI_SUCCESS;
}

extern const struct gt_source gt_source_api;

static struct recorder recorder;
static struct gt_router *router;

/* Calls that sources heard, as a text: E or L, its name, the id, the depth and what it had kept. */
static char heard[1024];

__attribute__((format(printf, 1, 2))) static void hear(const char *fmt, ...)
{
	const size_t used = strlen(heard);
	va_list args;

	va_start(args, fmt);
	vsnprintf(heard + used, sizeof(heard) - used, fmt, args);
	va_end(args);
}

static uint32_t last_name; /* of the call that was entered last */

static void expect_heard(const char *expected)
{
	expect_text(heard, expected);
	heard[0] = '\0';
}

static void *on_enter(struct gt_session *session, void *state, struct gt_call call)
{
	cr_expect(eq(ptr, session, recorder.session));
	hear("E%s%u.%u ", (const char *)state, call.id, call.depth);
	last_name = call.name;
	return (void *)(uintptr_t)(100 * call.depth +
	                           call.id); /* NOLINT(performance-no-int-to-ptr) */
}

static void on_leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	(void)session;
	hear("L%s%u.%u=%u ", (const char *)state, call.id, call.depth, (unsigned)(uintptr_t)kept);
}

static void on_event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                     CUpti_CallbackId id, const void *data, void *kept)
{
	(void)session;
	hear("V%s%d/%u:%s=%u ", (const char *)state, (int)domain, id, (const char *)data,
	     (unsigned)(uintptr_t)kept);
	errno = EDOM;
}

static const struct gt_handler handler = {on_enter, on_leave, on_event};

static void make(void)
{
	recorder_init(&recorder);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
	router = &recorder.session->router;
	recorder.session->cupti.cuptiSubscribe = subscribe;
	recorder.session->cupti.cuptiEnableCallback = enable;
	recorder.session->cupti.cuptiGetResultString = text_of;
	cr_assert(eq(int, gt_router_subscribe(router, &recorder.session->cupti, NULL), 0));
}

TestSuite(router, .init = make);

static struct gt_route *add(const char *name)
{
	return gt_router_add(router, &handler, (void *)(uintptr_t)name);
}

static void call(int domain, uint32_t id, CUpti_ApiCallbackSite site)
{
	const CUpti_CallbackData data = {.callbackSite = site};

	cupti.callback(cupti.context, (CUpti_CallbackDomain)domain, id, &data);
}

static void enter(int domain, uint32_t id)
{
	call(domain, id, CUPTI_API_ENTER);
}

static void leave(int domain, uint32_t id)
{
	call(domain, id, CUPTI_API_EXIT);
}

Test(router, asks_for_what_is_wanted_alone)
{
	struct gt_route *a = add("a");
	struct gt_route *b = add("b");

	gt_router_want(router, a, RUNTIME, 5);
	gt_router_want(router, a, RUNTIME, 5); /* twice is once */
	gt_router_want(router, a, DRIVER, 5);
	gt_router_want(router, b, DRIVER, 5);
	gt_router_want(router, b, DRIVER, 6);
	gt_router_want(router, b, DRIVER, GT_ROUTER_IDS);
	gt_router_want(router, b, CUPTI_CB_DOMAIN_SIZE, 1);
	gt_router_enable(router, &recorder.session->cupti, UINT32_MAX);
	cr_expect(eq(u32, cupti.asked, 3));
	cr_expect(eq(u32, cupti.enabled, 3));
	cr_expect(eq(u32, a->wanted, 2));
	cr_expect(eq(u32, a->enabled, 2));
	cr_expect(eq(u32, b->wanted, 2));
	cr_expect(eq(u32, b->enabled, 2));
	gt_router_enable(router, &recorder.session->cupti, 0);
	cr_expect(eq(u32, cupti.enabled, 0));
}

Test(router, knows_what_cupti_refused)
{
	struct gt_route *a = add("a");
	struct gt_route *b = add("b");

	cupti.refused = 6;
	gt_router_want(router, a, DRIVER, 5);
	gt_router_want(router, a, DRIVER, 6);
	gt_router_want(router, b, DRIVER, 6);
	gt_router_enable(router, &recorder.session->cupti, UINT32_MAX);
	cr_expect(eq(u32, a->enabled, 1));
	cr_expect(eq(u32, b->enabled, 0));
}

Test(router, tells_each_source_as_if_it_were_alone)
{
	struct gt_route *a = add("a");
	struct gt_route *b = add("b");

	gt_router_want(router, a, RUNTIME, 5);
	gt_router_want(router, b, RUNTIME, 5);
	gt_router_want(router, b, RUNTIME, 6);
	gt_router_want(router, a, DRIVER, 7);
	gt_router_want(router, b, DRIVER, 7);
	gt_router_activate(router, 3);
	/* The first is the nearest to what the call does. */
	enter(RUNTIME, 5);
	leave(RUNTIME, 5);
	expect_heard("Eb5.0 Ea5.0 La5.0=5 Lb5.0=5 ");
	/* 7 is the outermost that a wants; for b it is inside 6. */
	enter(RUNTIME, 6);
	enter(DRIVER, 7);
	leave(DRIVER, 7);
	leave(RUNTIME, 6);
	expect_heard("Eb6.0 Ea7.0 La7.0=7 Lb6.0=6 ");
	/* Nobody wants 5 of the other domain. */
	enter(DRIVER, 5);
	leave(DRIVER, 5);
	expect_heard("");
}

Test(router, tells_of_calls_inside_calls_where_that_is_wanted)
{
	struct gt_route *a = add("a");

	cr_assert(gt_router_nest(router, a));
	gt_router_want(router, a, DRIVER, 7);
	gt_router_activate(router, 1);
	for (int i = 0; i < GT_ROUTER_LEVELS + 2; i++)
		enter(DRIVER, 7);
	for (int i = 0; i < GT_ROUTER_LEVELS + 2; i++)
		leave(DRIVER, 7);
	expect_heard("Ea7.0 Ea7.1 Ea7.2 Ea7.3 La7.3=307 La7.2=207 La7.1=107 La7.0=7 ");
	enter(DRIVER, 7);
	expect_heard("Ea7.0 ");
}

Test(router, says_nothing_of_a_call_that_began_before)
{
	struct gt_route *a = add("a");

	gt_router_want(router, a, DRIVER, 7);
	gt_router_activate(router, 1);
	leave(DRIVER, 7);
	expect_heard("");
	enter(DRIVER, 7);
	leave(DRIVER, 7);
	expect_heard("Ea7.0 La7.0=7 ");
}

Test(router, tells_those_who_record_alone)
{
	struct gt_route *a = add("a");
	struct gt_route *b = add("b");

	gt_router_want(router, a, DRIVER, 7);
	gt_router_want(router, b, DRIVER, 7);
	enter(DRIVER, 7);
	expect_heard("");
	gt_router_activate(router, gt_route_bit(router, b));
	enter(DRIVER, 7);
	expect_heard("Eb7.0 ");
	gt_router_activate(router, 0);
	leave(DRIVER, 7);
	expect_heard("");
}

/* The call that was open when recording ended has returned since, unheard. */
Test(router, begins_anew_when_recording_does)
{
	struct gt_route *a = add("a");

	gt_router_want(router, a, DRIVER, 7);
	gt_router_activate(router, 1);
	enter(DRIVER, 7);
	gt_router_activate(router, 0);
	gt_router_activate(router, 1);
	heard[0] = '\0';
	enter(DRIVER, 7);
	leave(DRIVER, 7);
	expect_heard("Ea7.0 La7.0=7 ");
}

Test(router, does_not_hear_our_own_threads)
{
	struct gt_route *a = add("a");

	gt_router_want(router, a, DRIVER, 7);
	gt_router_activate(router, 1);
	gt_thread_enter(GT_THREAD_WRITER);
	enter(DRIVER, 7);
	gt_thread_enter(GT_THREAD_PROGRAM);
	expect_heard("");
}

/* A source that records calls as the real one does; its calls have names. */
static struct gt_roll *record_calls(void)
{
	struct gt_route *route = gt_router_add(router, &gt_source_api.hears, NULL);

	recorder.session->output.roll.roll = zeroed(GT_ROLL_BYTES);
	route->names = true;
	for (uint32_t id = 5; id <= 6; id++) {
		gt_router_want(router, route, DRIVER, id);
		gt_router_name(router, DRIVER, id, id);
	}
	gt_router_activate(router, gt_route_bit(router, route));
	return recorder.session->output.roll.roll;
}

static void call_function(uint32_t id, CUpti_ApiCallbackSite site, CUresult result)
{
	const CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = id == 5 ? "cuLaunchKernel" : "cuMemAlloc_v2",
		.functionReturnValue = site == CUPTI_API_EXIT ? &result : NULL,
		.correlationId = 40 + id,
	};

	cupti.callback(cupti.context, DRIVER, id, &data);
}

static void call_whole(uint32_t id, CUresult result)
{
	call_function(id, CUPTI_API_ENTER, CUDA_SUCCESS);
	call_function(id, CUPTI_API_EXIT, result);
}

static void end_recording(enum gt_session_phase phase)
{
	atomic_store(&recorder.session->phase, phase);
	gt_router_activate(router, 0);
}

Test(router, counts_calls_that_succeed_after_the_end)
{
	struct gt_roll *roll = record_calls();

	call_whole(5, CUDA_SUCCESS); /* is recorded */
	end_recording(GT_SESSION_STOPPING);
	errno = EDOM;
	for (int i = 0; i < 3; i++)
		call_whole(5, CUDA_SUCCESS);
	call_whole(5, CUDA_ERROR_INVALID_VALUE);
	call_function(6, CUPTI_API_ENTER, CUDA_SUCCESS); /* and one inside another is of that */
	call_whole(5, CUDA_SUCCESS);
	call_function(6, CUPTI_API_EXIT, CUDA_SUCCESS);
	cr_expect(eq(int, errno, EDOM));
	cr_expect(eq(int, (int)roll->entries[0].kind, GT_ROLL_LATE));
	cr_expect(eq(u64, roll->entries[0].launches, 3));
	cr_expect(eq(u64, roll->entries[0].calls, 1));
	cr_expect(eq(u32, roll->entries[1].kind, GT_ROLL_FREE));
}

Test(router, counts_nothing_while_it_only_pauses)
{
	struct gt_roll *roll = record_calls();

	end_recording(GT_SESSION_READY);
	call_whole(5, CUDA_SUCCESS);
	cr_expect(eq(u32, roll->entries[0].kind, GT_ROLL_FREE));
}

Test(router, counts_the_calls_of_a_fork_s_child)
{
	struct gt_roll *roll = record_calls();

	end_recording(GT_SESSION_FORGOTTEN);
	call_whole(5, CUDA_SUCCESS);
	cr_expect(eq(int, (int)roll->entries[0].kind, GT_ROLL_FORKED));
	cr_expect(eq(u64, roll->entries[0].launches, 1));
}

static struct gt_slot *own_slot(void)
{
	cr_assert(ne(ptr, gt_own.slot, NULL));
	return gt_own.slot;
}

/* As the writer does at the end; what is committed later lies behind. */
static void close_own_slot(void)
{
	struct gt_slot *slot = own_slot();

	atomic_store(&slot->state, GT_SLOT_DRAINING);
	atomic_store(&slot->scanned, GT_SLOT_CLOSED | atomic_load(&slot->used));
}

Test(router, counts_no_call_whose_entry_is_in_the_capture)
{
	struct gt_roll *roll = record_calls();
	size_t count;
	struct gt_record_api_call *calls;

	call_function(5, CUPTI_API_ENTER, CUDA_SUCCESS);
	end_recording(GT_SESSION_STOPPING);
	call_function(5, CUPTI_API_EXIT, CUDA_SUCCESS); /* its slot will be drained */
	cr_expect(eq(u32, roll->entries[0].kind, GT_ROLL_FREE));
	recorder_drain(&recorder);
	gt_drain_header(recorder.session->drain);
	calls = recorder_records(&recorder, GT_RECORD_api_call, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(ge(u64, calls[0].end_ns, calls[0].start_ns), "and it is whole");
	free(calls);
}

Test(router, counts_no_call_whose_slot_was_closed_behind_it)
{
	struct gt_roll *roll = record_calls();

	call_function(5, CUPTI_API_ENTER, CUDA_SUCCESS);
	close_own_slot();
	end_recording(GT_SESSION_STOPPING);
	call_function(5, CUPTI_API_EXIT, CUDA_SUCCESS);
	cr_expect(eq(u32, roll->entries[0].kind, GT_ROLL_FREE));
}

Test(router, counts_a_call_whose_entry_came_too_late_for_its_slot)
{
	struct gt_roll *roll = record_calls();

	call_whole(5, CUDA_SUCCESS);
	close_own_slot();
	call_function(5, CUPTI_API_ENTER, CUDA_SUCCESS);
	end_recording(GT_SESSION_STOPPING);
	call_function(5, CUPTI_API_EXIT, CUDA_SUCCESS);
	cr_expect(eq(u64, roll->entries[0].launches, 1));
}

Test(router, knows_the_calls_of_our_own_threads_by_their_ids)
{
	struct gt_record_own_call *calls;
	size_t count;

	(void)record_calls();
	gt_thread_enter(GT_THREAD_SOURCE);
	call_whole(5, CUDA_SUCCESS);
	call_whole(5, CUDA_ERROR_INVALID_VALUE);
	call_function(6, CUPTI_API_ENTER, CUDA_SUCCESS);
	call_whole(5, CUDA_SUCCESS); /* CUPTI gives it the outer call's id */
	call_function(6, CUPTI_API_EXIT, CUDA_SUCCESS);
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_own_launches), 1));
	recorder_drain(&recorder);
	gt_drain_header(recorder.session->drain);
	calls = recorder_records(&recorder, GT_RECORD_own_call, &count);
	cr_assert(eq(sz, count, 3));
	cr_expect(eq(u32, calls[0].correlation, 45));
	cr_expect(eq(u32, calls[2].correlation, 46));
	free(calls);
}

Test(router, tells_of_other_domains_as_events)
{
	struct gt_route *a = add("a");
	struct gt_route *b = add("b");

	gt_router_want(router, a, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED);
	gt_router_want(router, b, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED);
	gt_router_activate(router, 3);
	cupti.callback(cupti.context, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED,
	               "data");
	cupti.callback(cupti.context, CUPTI_CB_DOMAIN_RESOURCE, GT_ROUTER_IDS, "data");
	cupti.callback(cupti.context, CUPTI_CB_DOMAIN_SIZE, 1, "data");
	expect_heard("Va3/3:data=0 Vb3/3:data=0 ");
}

/* A resource that is made in a call belongs to the outermost call of each source. */
Test(router, says_in_which_call_an_event_happens)
{
	struct gt_route *a = add("a");
	struct gt_route *b = add("b");

	gt_router_want(router, a, CUPTI_CB_DOMAIN_RESOURCE, 3);
	gt_router_want(router, b, CUPTI_CB_DOMAIN_RESOURCE, 3);
	gt_router_want(router, a, RUNTIME, 8);
	gt_router_want(router, a, DRIVER, 7);
	gt_router_want(router, b, DRIVER, 7);
	cr_assert(gt_router_nest(router, a));
	gt_router_activate(router, 3);
	enter(RUNTIME, 8);
	enter(DRIVER, 7);
	expect_heard("Ea8.0 Eb7.0 Ea7.1 ");
	cupti.callback(cupti.context, CUPTI_CB_DOMAIN_RESOURCE, 3, "x");
	expect_heard("Va3/3:x=8 Vb3/3:x=7 ");
	leave(DRIVER, 7);
	leave(RUNTIME, 8);
	heard[0] = '\0';
	cupti.callback(cupti.context, CUPTI_CB_DOMAIN_RESOURCE, 3, "x");
	expect_heard("Va3/3:x=0 Vb3/3:x=0 ");
	enter(DRIVER, 7);
	gt_router_activate(router, 0);
	gt_router_activate(router, 3); /* the call has long returned */
	heard[0] = '\0';
	cupti.callback(cupti.context, CUPTI_CB_DOMAIN_RESOURCE, 3, "x");
	expect_heard("Va3/3:x=0 Vb3/3:x=0 ");
}

Test(router, knows_the_correlation_id_of_the_call_that_an_event_happens_in)
{
	const CUpti_CallbackData outer = {.correlationId = 41};
	const CUpti_CallbackData inner = {.correlationId = 42};
	struct gt_route *a = add("a");

	gt_router_want(router, a, RUNTIME, 8);
	gt_router_want(router, a, DRIVER, 7);
	cr_assert(gt_router_nest(router, a));
	gt_router_activate(router, 1);
	cr_expect(eq(u32, gt_call_correlation(), 0));
	cupti.callback(cupti.context, CUPTI_CB_DOMAIN_RUNTIME_API, 8, &outer);
	cr_expect(eq(u32, gt_call_correlation(), 41));
	cupti.callback(cupti.context, CUPTI_CB_DOMAIN_DRIVER_API, 7, &inner);
	cr_expect(eq(u32, gt_call_correlation(), 41));
	leave(DRIVER, 7);
	cr_expect(eq(u32, gt_call_correlation(), 41));
	leave(RUNTIME, 8);
	cr_expect(eq(u32, gt_call_correlation(), 0));
}

Test(router, keeps_errno)
{
	struct gt_route *a = add("a");

	gt_router_want(router, a, DRIVER, 7);
	gt_router_want(router, a, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED);
	gt_router_activate(router, 1);
	errno = ENOENT;
	enter(DRIVER, 7);
	leave(DRIVER, 7);
	cr_expect(eq(int, errno, ENOENT));
	cupti.callback(cupti.context, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED,
	               "data");
	cr_expect(eq(int, errno, ENOENT));
}

Test(router, tells_the_name_that_a_call_was_given)
{
	struct gt_route *a = add("a");

	gt_router_want(router, a, DRIVER, 7);
	gt_router_want(router, a, DRIVER, 8);
	gt_router_name(router, DRIVER, 7, 4711);
	gt_router_name(router, DRIVER, GT_ROUTER_IDS, 1); /* nobody's */
	gt_router_activate(router, 1);
	enter(DRIVER, 7);
	cr_expect(eq(u32, last_name, 4711));
	leave(DRIVER, 7);
	enter(DRIVER, 8);
	cr_expect(eq(u32, last_name, 0));
}

Test(router, measures_one_call_in_256)
{
	struct gt_route *a = add("a");

	gt_router_want(router, a, DRIVER, 7);
	gt_router_activate(router, 1);
	for (int i = 0; i < 255; i++) {
		heard[0] = '\0';
		enter(DRIVER, 7);
		leave(DRIVER, 7);
	}
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_callback_samples), 0));
	heard[0] = '\0';
	enter(DRIVER, 7);
	expect_heard("Ea7.0 ");
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_callback_samples), 1));
	cr_expect(gt(u64, recorder_count(&recorder, GT_LEDGER_callback_ns), 0));
}

Test(router, has_a_place_for_every_source_there_is)
{
	struct gt_route *last = NULL;
	uint32_t count;

	(void)gt_sources_all(&count);
	for (uint32_t i = 0; i < count; i++) {
		last = add("a");
		cr_assert(ne(ptr, last, NULL));
		gt_router_want(router, last, DRIVER, 7);
	}
	cr_expect(eq(ptr, add("a"), NULL));
	gt_router_activate(router, gt_route_bit(router, last));
	enter(DRIVER, 7);
	leave(DRIVER, 7);
	expect_heard("Ea7.0 La7.0=7 ");
}

/* A thread keeps data of calls inside calls for two sources. */
Test(router, tells_two_sources_alone_of_calls_inside_calls)
{
	struct gt_route *a = add("a");
	struct gt_route *b = add("b");
	struct gt_route *c = add("c");

	cr_expect(gt_router_nest(router, a));
	cr_expect(gt_router_nest(router, a), "it may ask twice");
	cr_expect(gt_router_nest(router, b));
	cr_expect(not(gt_router_nest(router, c)));
	cr_expect(eq(u32, c->levels, 1));
}

Test(router, keeps_apart_what_two_sources_keep_of_calls_inside_calls)
{
	struct gt_route *a = add("a");
	struct gt_route *b = add("b");

	for (uint32_t id = 7; id < 10; id++)
		gt_router_want(router, a, DRIVER, id);
	for (uint32_t id = 7; id < 9; id++)
		gt_router_want(router, b, DRIVER, id);
	cr_assert(gt_router_nest(router, a));
	cr_assert(gt_router_nest(router, b));
	gt_router_activate(router, 3);
	enter(DRIVER, 9);
	enter(DRIVER, 8);
	enter(DRIVER, 7);
	leave(DRIVER, 7);
	leave(DRIVER, 8);
	leave(DRIVER, 9);
	expect_heard(
		"Ea9.0 Eb8.0 Ea8.1 Eb7.1 Ea7.2 La7.2=207 Lb7.1=107 La8.1=108 Lb8.0=8 La9.0=9 ");
}

Test(router, says_why_it_cannot_subscribe)
{
	struct gt_error err = {0};

	cupti.subscribe = CUPTI_ERROR_NOT_INITIALIZED;
	cr_expect(lt(int, gt_router_subscribe(router, &recorder.session->cupti, &err), 0));
	expect_text(err.text, "cuptiSubscribe failed: CUPTI_SAYS_NO");
	cupti.subscribe = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	cr_expect(lt(int, gt_router_subscribe(router, &recorder.session->cupti, &err), 0));
	cr_expect(ne(ptr, strstr(err.text, "another tool uses CUPTI"), NULL));
}
