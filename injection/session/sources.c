/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/sources.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "injection/process/thread.h"
#include "injection/process/wait.h"
#include "injection/session/routes.h"
#include "injection/session/services.h"
#include "injection/session/session.h"
#include "injection/session/writer_thread.h"

#define NEVER          UINT64_MAX
#define END_NS         1000000000u /* that a source's thread has to end, if it does not say */
#define DRAIN_EVERY_NS 2000000u    /* while one ends */
#define FOR_EVER_NS    3600000000000000000 /* while nothing is recorded */

#define SOURCE(name)   extern const struct gt_source gt_source_##name;
#include "injection/sources.def"

#define SOURCE(name) &gt_source_##name,
static const struct gt_source *const all_sources[] = {
#include "injection/sources.def"
};

const struct gt_source *const *gt_sources_all(uint32_t *count)
{
	*count = GT_SOURCE_COUNT;
	return all_sources;
}

void gt_sources_forget(void)
{
	for (uint32_t i = 0; i < GT_SOURCE_COUNT; i++)
		if (all_sources[i]->forget)
			all_sources[i]->forget();
}

size_t gt_sources_memory(const struct gt_source *const *sources, uint32_t count)
{
	size_t size = 0;

	for (uint32_t i = 0; i < count; i++)
		size += gt_align_64(sources[i]->state_size);
	return size;
}

void gt_sources_init(struct gt_sources *sources, const struct gt_source *const *all, uint32_t count,
                     void *memory)
{
	uint8_t *at = memory;

	*sources = (struct gt_sources){.count = count};
	for (uint32_t i = 0; i < count; i++) {
		sources->members[i].source = all[i];
		sources->members[i].state = at;
		sources->members[i].due_ns = NEVER;
		at += gt_align_64(all[i]->state_size);
	}
}

void *gt_source_state(struct gt_session *session, const struct gt_source *source)
{
	for (uint32_t i = 0; i < session->sources.count; i++)
		if (session->sources.members[i].source == source)
			return session->sources.members[i].state;
	return NULL;
}

/* The route of the source whose start runs; NULL when there is none left. */
static struct gt_route *own_route(struct gt_session *session)
{
	struct gt_member *member = session->sources.starting;

	if (!member->route)
		member->route =
			gt_router_add(&session->router, &member->source->hears, member->state);
	member->unheard = !member->route;
	return member->route;
}

void gt_want(struct gt_session *session, CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	struct gt_route *route = own_route(session);

	if (route)
		gt_router_want(&session->router, route, domain, id);
}

void gt_want_known(struct gt_session *session, gt_knows_call *knows)
{
	for (uint32_t id = 1; id < GT_ROUTER_IDS; id++) {
		if (knows(false, id))
			gt_want(session, CUPTI_CB_DOMAIN_RUNTIME_API, id);
		if (knows(true, id))
			gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, id);
	}
}

void gt_want_call(struct gt_session *session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                  const char *name)
{
	gt_want(session, domain, id);
	if (session->sources.starting->route)
		session->sources.starting->route->names = true;
	gt_router_name(&session->router, domain, id, gt_intern(session, name));
}

void gt_want_nested(struct gt_session *session)
{
	struct gt_route *route = own_route(session);

	if (route && !gt_router_nest(&session->router, route))
		gt_note(session, session->sources.starting->source->name,
		        "two other sources hear of calls inside calls, and more cannot: it hears "
		        "of the outermost alone");
}

static void note_failure(struct gt_session *session, const struct gt_member *member,
                         const char *sentence)
{
	gt_count(session, GT_LEDGER_sources_failed, 1);
	gt_note(session, member->source->name, sentence);
}

static void start(struct gt_session *session, struct gt_member *member)
{
	const struct gt_source *source = member->source;
	struct gt_error err = {.text = "it could not start"};

	int result = 0;

	session->sources.starting = member;
	member->tried = true;
	if (source->start)
		result = source->start(session, member->state, &err);
	session->sources.starting = NULL;
	if (result == 0 && member->unheard)
		result = gt_fail(&err, ENOSPC, "too many sources want callbacks");
	if (result == 0)
		member->phase = GT_SOURCE_READY;
	else
		note_failure(session, member, err.text);
}

void gt_sources_start_alone(struct gt_session *session)
{
	for (uint32_t i = 0; i < session->sources.count; i++)
		if (session->sources.members[i].source->alone)
			start(session, &session->sources.members[i]);
}

/* It may say which callbacks it wants. */
static void tell_cuda_starts(struct gt_session *session, struct gt_member *member)
{
	session->sources.starting = member;
	member->source->cuda_starts(session, member->state);
	session->sources.starting = NULL;
	if (member->unheard)
		note_failure(session, member, "too many sources want callbacks");
}

void gt_sources_start(struct gt_session *session)
{
	for (uint32_t i = 0; i < session->sources.count; i++) {
		struct gt_member *member = &session->sources.members[i];

		if (!member->tried)
			start(session, member);
		else if (member->phase != GT_SOURCE_OFF && member->source->cuda_starts)
			tell_cuda_starts(session, member);
	}
}

static void arm(struct gt_session *session, struct gt_member *member)
{
	struct gt_error err = {.text = "it could not be armed"};

	if (member->phase != GT_SOURCE_READY)
		return;
	if (member->source->arm && member->source->arm(session, member->state, &err) < 0) {
		note_failure(session, member, err.text);
		return;
	}
	member->phase = GT_SOURCE_RECORDING;
	member->due_ns = member->source->tick ? 0 : NEVER;
}

static void disarm(struct gt_session *session, struct gt_member *member)
{
	if (member->phase != GT_SOURCE_RECORDING)
		return;
	if (member->source->disarm)
		member->source->disarm(session, member->state);
	member->phase = GT_SOURCE_READY;
}

/* The bit of a source that hears callbacks; one that CUPTI tells nothing does not record. */
static uint32_t route_of(struct gt_session *session, struct gt_member *member)
{
	const struct gt_route *route = member->route;

	if (member->phase != GT_SOURCE_RECORDING || !route || route->wanted == 0)
		return 0;
	if (route->enabled)
		return gt_route_bit(&session->router, route);
	disarm(session, member);
	note_failure(session, member, "CUPTI enabled none of the callbacks it needs");
	return 0;
}

static bool is_recording(const struct gt_member *member)
{
	return member->phase == GT_SOURCE_RECORDING;
}

static bool goes_on(const struct gt_member *member)
{
	return member->source->goes_on;
}

/* The routes of those that are so. */
static uint32_t routes_of(const struct gt_session *session, bool (*is)(const struct gt_member *))
{
	uint32_t routes = 0;

	for (uint32_t i = 0; i < session->sources.count; i++) {
		const struct gt_member *member = &session->sources.members[i];

		if (member->route && is(member))
			routes |= gt_route_bit(&session->router, member->route);
	}
	return routes;
}

uint32_t gt_sources_arm(struct gt_session *session, bool paused)
{
	uint32_t routes = 0;

	for (uint32_t i = 0; i < session->sources.count; i++)
		if (!paused || session->sources.members[i].source->goes_on)
			arm(session, &session->sources.members[i]);
	gt_router_enable(&session->router, &session->cupti, routes_of(session, is_recording));
	for (uint32_t i = 0; i < session->sources.count; i++)
		routes |= route_of(session, &session->sources.members[i]);
	return routes;
}

bool gt_sources_pause(struct gt_session *session, uint32_t times)
{
	bool all = true;

	for (uint32_t i = 0; i < session->sources.count; i++) {
		const struct gt_member *member = &session->sources.members[i];

		if (member->phase == GT_SOURCE_RECORDING && member->source->pause)
			all &= member->source->pause(session, member->state, times);
	}
	return all;
}

uint32_t gt_sources_that_go_on(const struct gt_session *session)
{
	return routes_of(session, goes_on);
}

void gt_sources_disarm(struct gt_session *session, bool all)
{
	gt_router_enable(&session->router, &session->cupti,
	                 all ? 0 : gt_sources_that_go_on(session));
	for (uint32_t i = session->sources.count; i-- > 0;)
		if (all || !session->sources.members[i].source->goes_on)
			disarm(session, &session->sources.members[i]);
}

static void tick(struct gt_session *session, struct gt_member *member)
{
	const uint64_t interval_ns = member->source->tick(session, member->state);

	member->due_ns = interval_ns ? gt_now() + interval_ns : NEVER;
}

uint64_t gt_sources_tick(struct gt_session *session)
{
	const uint64_t now = gt_now();
	uint64_t next = NEVER;

	for (uint32_t i = 0; i < session->sources.count; i++) {
		struct gt_member *member = &session->sources.members[i];

		if (member->phase != GT_SOURCE_RECORDING)
			continue;
		if (member->due_ns <= now)
			tick(session, member);
		if (member->due_ns < next)
			next = member->due_ns;
	}
	return next;
}

static void end_run(void *context)
{
	struct gt_waiter *waiter = context;

	gt_emit_hand_over(waiter->session);
	sem_post(&waiter->ended);
}

/* A source that calls functions of the program's may come back from one by the end of the thread. */
static void *run(void *context)
{
	struct gt_waiter *waiter = context;

	gt_thread_enter(GT_THREAD_SOURCE);
	pthread_cleanup_push(end_run, waiter);
	waiter->source->run(waiter->session, waiter->state, waiter);
	pthread_cleanup_pop(1);
	return NULL;
}

static bool is_running(const struct gt_waiter *waiter)
{
	return atomic_load_explicit(&waiter->runs, memory_order_acquire);
}

static void start_thread(struct gt_session *session, struct gt_member *member)
{
	struct gt_waiter *waiter = &member->waiter;

	waiter->tried = true;
	waiter->session = session;
	waiter->source = member->source;
	waiter->state = member->state;
	sem_init(&waiter->wake, 0, 0);
	sem_init(&waiter->ended, 0, 0);
	/* Pairs with the acquire in is_running. */
	atomic_store_explicit(&waiter->runs, gt_thread_start(&waiter->thread, run, waiter) == 0,
	                      memory_order_release);
	if (!is_running(waiter))
		note_failure(session, member, "the program's limits leave no room for its thread");
}

void gt_sources_cuda_up(struct gt_session *session)
{
	if (session->sources.cuda_up)
		return;
	session->sources.cuda_up = true;
	for (uint32_t i = 0; i < session->sources.count; i++) {
		struct gt_member *member = &session->sources.members[i];

		if (member->phase != GT_SOURCE_READY && member->phase != GT_SOURCE_RECORDING)
			continue;
		if (member->source->cuda_up)
			member->source->cuda_up(session, member->state);
		if (member->source->run && !member->source->runs_when_asked &&
		    !gt_session_is_ending(session))
			start_thread(session, member);
	}
}

void gt_want_thread(struct gt_session *session, const struct gt_source *source)
{
	for (uint32_t i = 0; i < session->sources.count; i++) {
		struct gt_member *member = &session->sources.members[i];

		if (member->source != source ||
		    atomic_exchange_explicit(&member->wants_thread, true, memory_order_relaxed))
			continue;
		sem_post(&session->writer_thread.work);
	}
}

void gt_sources_start_threads(struct gt_session *session)
{
	for (uint32_t i = 0; i < session->sources.count; i++) {
		struct gt_member *member = &session->sources.members[i];

		if (atomic_load_explicit(&member->wants_thread, memory_order_relaxed) &&
		    !member->waiter.tried &&
		    (member->phase == GT_SOURCE_READY || member->phase == GT_SOURCE_RECORDING))
			start_thread(session, member);
	}
}

bool gt_wait_next(struct gt_waiter *waiter, uint64_t interval_ns)
{
	for (;;) {
		const bool paused = gt_session_is(waiter->session, GT_SESSION_READY) &&
		                    !waiter->source->goes_on;

		if (gt_session_is_ending(waiter->session))
			return false;
		/* Woken, the phase is looked at again, and whether a reading was asked for. */
		if (gt_wait(&waiter->wake, paused ? FOR_EVER_NS : interval_ns) &&
		    !atomic_load_explicit(&waiter->session->reading_asked, memory_order_relaxed))
			continue;
		if (gt_session_is(waiter->session, GT_SESSION_RECORDING) ||
		    (gt_session_is(waiter->session, GT_SESSION_READY) && waiter->source->goes_on))
			return true;
	}
}

void gt_sources_wake(struct gt_session *session)
{
	for (uint32_t i = 0; i < session->sources.count; i++)
		if (is_running(&session->sources.members[i].waiter))
			sem_post(&session->sources.members[i].waiter.wake);
}

/* Records that the thread still writes need room, which the calling thread makes. */
static bool wait_for_end(struct gt_session *session, struct gt_waiter *waiter, uint64_t limit_ns)
{
	const uint64_t began_ns = gt_now();

	while (!gt_wait(&waiter->ended, DRAIN_EVERY_NS)) {
		if (gt_now() - began_ns >= limit_ns)
			return false;
		gt_writer_thread_drain(session);
	}
	return true;
}

void gt_sources_end_threads(struct gt_session *session)
{
	gt_sources_wake(session);
	for (uint32_t i = 0; i < session->sources.count; i++) {
		struct gt_member *member = &session->sources.members[i];
		const uint64_t end_ns = member->source->end_ns;

		if (!is_running(&member->waiter) ||
		    wait_for_end(session, &member->waiter, end_ns ? end_ns : END_NS))
			continue;
		member->waiter.hung = true;
		note_failure(session, member, "its thread did not end with the program");
	}
}

void gt_sources_stop(struct gt_session *session)
{
	for (uint32_t i = 0; i < session->sources.count; i++) {
		struct gt_member *member = &session->sources.members[i];

		if (member->phase == GT_SOURCE_RECORDING && member->source->tick)
			tick(session, member);
	}
	for (uint32_t i = session->sources.count; i-- > 0;) {
		struct gt_member *member = &session->sources.members[i];

		/* State that a hung thread may still use stays as it is. */
		if (member->phase == GT_SOURCE_OFF || member->waiter.hung)
			continue;
		if (member->source->stop)
			member->source->stop(session, member->state);
		member->phase = GT_SOURCE_STOPPED;
	}
}
