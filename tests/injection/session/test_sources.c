/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/sources.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "injection/process/thread.h"
#include "injection/recorder.h"

/* Sources that say what is done with them, and do what the test tells them. */

static struct recorder recorder;
static struct gt_sources *sources;
static char said[1024];

struct own {
	const char *name; /* set at the start */
	uint32_t ticks;
	uint32_t turns; /* of its thread */
	bool quick;     /* the next tick is due at once */
};

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	const size_t used = strlen(said);
	va_list args;

	va_start(args, fmt);
	vsnprintf(said + used, sizeof(said) - used, fmt, args);
	va_end(args);
}

static void expect_said(const char *expected)
{
	expect_text(said, expected);
	said[0] = '\0';
}

static int begin(void *state, const char *name)
{
	struct own *own = state;

	cr_expect(eq(ptr, (char *)own->name, NULL)); /* its own, and zero */
	own->name = name;
	say("start %s, ", name);
	return 0;
}

static int start_a(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)session;
	(void)err;
	return begin(state, "a");
}

static int start_b(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)err;
	gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, 7);
	return begin(state, "b");
}

static int cannot_start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)session;
	(void)state;
	return gt_fail(err, ENOTSUP, "this GPU has no such thing");
}

static int arm(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)session;
	(void)err;
	say("arm %s, ", ((struct own *)state)->name);
	return 0;
}

static int cannot_arm(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)session;
	(void)state;
	return gt_fail(err, EBUSY, "somebody else has it");
}

static void disarm(struct gt_session *session, void *state)
{
	(void)session;
	say("disarm %s, ", ((struct own *)state)->name);
}

static void cuda_up(struct gt_session *session, void *state)
{
	(void)session;
	say("cuda %s, ", ((struct own *)state)->name);
}

static uint64_t tick(struct gt_session *session, void *state)
{
	struct own *own = state;

	(void)session;
	own->ticks++;
	return own->quick ? 1 : 3600000000000;
}

static uint64_t tick_once(struct gt_session *session, void *state)
{
	(void)session;
	((struct own *)state)->ticks++;
	return 0;
}

static void stop(struct gt_session *session, void *state)
{
	(void)session;
	say("stop %s, ", ((struct own *)state)->name);
}

static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	struct own *own = state;

	cr_expect(gt_thread_is_ours());
	while (gt_wait_next(waiter, 1000000))
		__atomic_add_fetch(&own->turns, 1, __ATOMIC_SEQ_CST);
	gt_note(session, "a", "its thread ends");
}

static void hang(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	(void)session;
	(void)state;
	(void)waiter;
	for (;;)
		(void)pause();
}

static void end_thread(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	(void)session;
	(void)state;
	(void)waiter;
	pthread_exit(NULL);
}

static CUptiResult enable(uint32_t yes, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                          CUpti_CallbackId id)
{
	(void)handle;
	(void)domain;
	(void)id;
	say("%s, ", yes ? "enable" : "disable");
	return CUPTI_SUCCESS;
}

static CUptiResult refuse(uint32_t yes, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                          CUpti_CallbackId id)
{
	(void)yes;
	(void)handle;
	(void)domain;
	(void)id;
	return CUPTI_ERROR_INVALID_PARAMETER;
}

static const struct gt_source a = {
	.name = "a",
	.state_size = sizeof(struct own),
	.start = start_a,
	.arm = arm,
	.disarm = disarm,
	.cuda_up = cuda_up,
	.tick = tick,
	.stop = stop,
};
static const struct gt_source b = {
	.name = "b",
	.state_size = sizeof(struct own),
	.start = start_b,
	.arm = arm,
	.disarm = disarm,
	.tick = tick_once,
	.stop = stop,
};
static const struct gt_source never_starts = {
	.name = "never", .start = cannot_start, .arm = arm, .tick = tick, .stop = stop};
static const struct gt_source never_arms = {.name = "later", .arm = cannot_arm, .tick = tick};
static const struct gt_source with_thread = {
	.name = "a", .state_size = sizeof(struct own), .start = start_a, .run = run, .stop = stop};
static const struct gt_source that_hangs = {
	.name = "a", .state_size = sizeof(struct own), .start = start_a, .run = hang, .stop = stop};

static const struct gt_source with_late_thread = {.name = "a",
                                                  .state_size = sizeof(struct own),
                                                  .start = start_a,
                                                  .run = run,
                                                  .runs_when_asked = true};
static const struct gt_source that_ends = {
	.name = "a", .state_size = sizeof(struct own), .start = start_a, .run = end_thread};

static void make(void)
{
	recorder_init(&recorder);
	recorder.session->cupti.cuptiEnableCallback = enable;
	sources = &recorder.session->sources;
}

TestSuite(sources, .init = make);

static uint32_t start_all(const struct gt_source *first, const struct gt_source *second)
{
	static const struct gt_source *all[2];
	uint32_t routes;

	all[0] = first;
	all[1] = second;
	recorder_add_sources(&recorder, all, second ? 2 : 1);
	gt_sources_start(recorder.session);
	routes = gt_sources_arm(recorder.session, false);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
	atomic_store(&recorder.session->starter, 0);
	gt_thread_enter(GT_THREAD_WRITER); /* from here on the test is the writer thread */
	return routes;
}

static struct own *own(uint32_t i)
{
	return sources->members[i].state;
}

static void expect_phases(enum gt_source_phase first, enum gt_source_phase second)
{
	cr_expect(eq(int, sources->members[0].phase, first));
	cr_expect(eq(int, sources->members[1].phase, second));
}

Test(sources, go_through_their_phases)
{
	cr_expect(eq(u32, start_all(&a, &b), 1));
	expect_phases(GT_SOURCE_RECORDING, GT_SOURCE_RECORDING);
	expect_said("start a, start b, arm a, arm b, enable, ");
	gt_sources_disarm(recorder.session, true);
	expect_phases(GT_SOURCE_READY, GT_SOURCE_READY);
	expect_said("disable, disarm b, disarm a, ");
	cr_expect(eq(u32, gt_sources_arm(recorder.session, false), 1));
	expect_phases(GT_SOURCE_RECORDING, GT_SOURCE_RECORDING);
	expect_said("arm a, arm b, enable, ");
	gt_sources_stop(recorder.session);
	expect_phases(GT_SOURCE_STOPPED, GT_SOURCE_STOPPED);
	expect_said("stop b, stop a, ");
}

Test(sources, have_a_state_each)
{
	start_all(&a, &b);
	cr_expect(ne(ptr, own(0), own(1)));
	cr_expect(eq(ptr, gt_source_state(recorder.session, &a), own(0)));
	cr_expect(eq(ptr, gt_source_state(recorder.session, &b), own(1)));
	cr_expect(eq(ptr, gt_source_state(recorder.session, &never_arms), NULL));
	expect_text(own(0)->name, "a");
	expect_text(own(1)->name, "b");
	cr_expect(eq(sz, (uintptr_t)own(1) % 64, 0));
}

Test(sources, go_on_without_one_that_cannot_start)
{
	start_all(&never_starts, &a);
	expect_phases(GT_SOURCE_OFF, GT_SOURCE_RECORDING);
	expect_said("start a, arm a, ");
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_sources_failed), 1));
	cr_expect(eq(sz, recorder_notes(&recorder, "this GPU has no such thing"), 1));
	gt_sources_tick(recorder.session);
	cr_expect(eq(u32, own(1)->ticks, 1));
	gt_sources_stop(recorder.session);
	expect_phases(GT_SOURCE_OFF, GT_SOURCE_STOPPED);
	expect_said("stop a, ");
}

Test(sources, go_on_without_one_that_cannot_be_armed)
{
	start_all(&never_arms, &a);
	expect_phases(GT_SOURCE_READY, GT_SOURCE_RECORDING);
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_sources_failed), 1));
	cr_expect(eq(sz, recorder_notes(&recorder, "somebody else has it"), 1));
}

Test(sources, that_are_told_nothing_do_not_record)
{
	recorder.session->cupti.cuptiEnableCallback = refuse;
	cr_expect(eq(u32, start_all(&a, &b), 0));
	expect_phases(GT_SOURCE_RECORDING, GT_SOURCE_READY);
	cr_expect(eq(sz, recorder_notes(&recorder, "none of the callbacks"), 1));
	expect_said("start a, start b, arm a, arm b, disarm b, ");
}

Test(sources, tick_at_intervals_of_their_own)
{
	const uint64_t hour = 3600000000000;
	uint64_t due;

	start_all(&a, &b);
	due = gt_sources_tick(recorder.session);
	cr_expect(eq(u32, own(0)->ticks, 1));
	cr_expect(eq(u32, own(1)->ticks, 1));
	cr_expect(le(u64, due, gt_now() + hour));
	cr_expect(gt(u64, due, gt_now() + hour / 2));
	gt_sources_tick(recorder.session);
	cr_expect(eq(u32, own(0)->ticks, 1));
	own(0)->quick = true;
	sources->members[0].due_ns = gt_now();
	for (int i = 0; i < 3; i++) {
		const uint64_t next = gt_sources_tick(recorder.session);

		while (gt_now() < next)
			;
	}
	cr_expect(eq(u32, own(0)->ticks, 4));
	cr_expect(eq(u32, own(1)->ticks, 1));
	/* Once more before the end, whatever is due. */
	gt_sources_stop(recorder.session);
	cr_expect(eq(u32, own(0)->ticks, 5));
	cr_expect(eq(u32, own(1)->ticks, 2));
}

Test(sources, do_not_tick_while_they_do_not_record)
{
	start_all(&a, NULL);
	gt_sources_disarm(recorder.session, true);
	cr_expect(eq(u64, gt_sources_tick(recorder.session), UINT64_MAX));
	gt_sources_stop(recorder.session);
	cr_expect(eq(u32, own(0)->ticks, 0));
}

Test(sources, hear_once_that_cuda_is_up)
{
	start_all(&a, &b);
	said[0] = '\0';
	gt_sources_cuda_up(recorder.session);
	gt_sources_cuda_up(recorder.session);
	expect_said("cuda a, ");
}

Test(sources, have_threads_that_end_with_the_program)
{
	uint32_t turns;

	start_all(&with_thread, NULL);
	gt_sources_cuda_up(recorder.session);
	while (__atomic_load_n(&own(0)->turns, __ATOMIC_SEQ_CST) < 3)
		usleep(1000);
	atomic_store(&recorder.session->phase, GT_SESSION_STOPPING);
	gt_sources_end_threads(recorder.session);
	gt_notes_write(recorder.session);
	cr_expect(eq(sz, recorder_notes(&recorder, "its thread ends"), 1));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_sources_failed), 0));
	turns = own(0)->turns;
	gt_sources_stop(recorder.session);
	cr_expect(eq(u32, own(0)->turns, turns));
	expect_said("start a, stop a, ");
}

Test(sources, that_ask_for_their_thread_get_it_then)
{
	start_all(&with_late_thread, NULL);
	gt_sources_cuda_up(recorder.session);
	gt_sources_start_threads(recorder.session);
	cr_expect(not(sources->members[0].waiter.runs), "nobody asked");
	gt_want_thread(recorder.session, &with_late_thread);
	gt_want_thread(recorder.session, &with_late_thread);
	gt_want_thread(recorder.session, &a);
	cr_expect(not(sources->members[0].waiter.runs), "that is the writer thread's");
	gt_sources_start_threads(recorder.session);
	gt_sources_start_threads(recorder.session);
	while (__atomic_load_n(&own(0)->turns, __ATOMIC_SEQ_CST) == 0)
		usleep(1000);
	atomic_store(&recorder.session->phase, GT_SESSION_STOPPING);
	gt_sources_end_threads(recorder.session);
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_sources_failed), 0));
}

/* As one does in which Python ends. */
Test(sources, whose_thread_ends_by_itself_are_not_waited_for)
{
	uint64_t began_ns;

	start_all(&that_ends, NULL);
	gt_sources_cuda_up(recorder.session);
	atomic_store(&recorder.session->phase, GT_SESSION_STOPPING);
	began_ns = gt_now();
	gt_sources_end_threads(recorder.session);
	cr_expect(lt(u64, gt_now() - began_ns, 1000000000));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_sources_failed), 0));
}

Test(sources, have_threads_that_pause_while_nothing_is_recorded)
{
	uint32_t turns;

	start_all(&with_thread, NULL);
	gt_sources_cuda_up(recorder.session);
	while (__atomic_load_n(&own(0)->turns, __ATOMIC_SEQ_CST) == 0)
		usleep(1000);
	atomic_store(&recorder.session->phase, GT_SESSION_READY);
	gt_sources_wake(recorder.session);
	turns = __atomic_load_n(&own(0)->turns, __ATOMIC_SEQ_CST);
	usleep(20000);
	/* It may have been in a turn. */
	cr_expect(le(u32, __atomic_load_n(&own(0)->turns, __ATOMIC_SEQ_CST), turns + 1));
	turns = __atomic_load_n(&own(0)->turns, __ATOMIC_SEQ_CST);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
	gt_sources_wake(recorder.session);
	while (__atomic_load_n(&own(0)->turns, __ATOMIC_SEQ_CST) == turns)
		usleep(1000);
}

Test(sources, whose_thread_hangs_are_left_behind)
{
	uint64_t began_ns;

	start_all(&that_hangs, NULL);
	gt_sources_cuda_up(recorder.session);
	atomic_store(&recorder.session->phase, GT_SESSION_STOPPING);
	began_ns = gt_now();
	gt_sources_end_threads(recorder.session);
	cr_expect(lt(u64, gt_now() - began_ns, 3000000000));
	gt_sources_stop(recorder.session);
	expect_said("start a, "); /* no stop: its thread may still use what it has */
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_sources_failed), 1));
	cr_expect(eq(sz, recorder_notes(&recorder, "did not end"), 1));
}

Test(sources, notes_of_other_threads_wait_for_the_writer)
{
	start_all(&a, NULL);
	gt_thread_enter(GT_THREAD_PROGRAM);
	for (int i = 0; i < GT_WAITING_NOTES + 1; i++)
		gt_note(recorder.session, "a", "from a thread of the program");
	cr_expect(eq(sz, recorder_notes(&recorder, "from a thread"), 0));
	gt_thread_enter(GT_THREAD_WRITER);
	gt_notes_write(recorder.session);
	cr_expect(eq(sz, recorder_notes(&recorder, "from a thread"), GT_WAITING_NOTES));
	gt_notes_write(recorder.session);
	cr_expect(eq(sz, recorder_notes(&recorder, "from a thread"), GT_WAITING_NOTES));
}

Test(sources, of_the_list_have_a_name)
{
	uint32_t count;
	const struct gt_source *const *all = gt_sources_all(&count);

	cr_expect(gt(u32, count, 3));
	for (uint32_t i = 0; i < count; i++)
		cr_expect(ne(ptr, (char *)all[i]->name, NULL));
}
