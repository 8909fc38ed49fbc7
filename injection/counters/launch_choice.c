/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/counters/launch_choice.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/error.h"
#include "format/cubin.h"
#include "injection/driver/driver_calls.h"
#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/watch.h"
#include "injection/process/calm.h"
#include "injection/process/thread.h"
#include "injection/process/wait.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

#define IDLE_NS 2000000000u /* for launches that other threads are in the middle of */
#define NAP_NS  20000

/* ---- which launches ---- */

/* A verdict on a name: its hash, of which these bits say what it is. */
#define KNOWN       UINT64_C(1)
#define WANTED      UINT64_C(2)
#define PLACE_SHIFT 2
enum { NAMES = 1024 };

int gt_launch_choice_init(const struct gt_session *session, struct gt_launch_choice *choice,
                          const char *names, const char *without, struct gt_error *err)
{
	const struct gt_settings *settings = gt_settings_of(session);
	void *memory;

	choice->first = settings->launches_first ? settings->launches_first : 1;
	choice->end = choice->first + settings->launches_count;
	if (!*names)
		return 0;
	if (regcomp(&choice->names, names, REG_EXTENDED | REG_NOSUB) != 0)
		return gt_fail(err, EINVAL, "%s: '%.100s' is no regular expression", without,
		               names);
	memory = mmap(NULL, NAMES * sizeof(*choice->known), PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return gt_fail(err, ENOMEM, "%s: there is no memory for names", without);
	choice->known = memory;
	choice->by_name = true;
	return 0;
}

void gt_launch_choice_want(struct gt_session *session)
{
	const CUpti_CallbackData none = {.functionParams = NULL};
	struct gt_launch launch;

	for (uint32_t id = 1; id < GT_ROUTER_IDS; id++)
		if (gt_launch_read(id, &none, &launch) || gt_capture_step(id))
			gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

/*
 * A launch into a stream that is being captured runs later, as part of a graph; and while anything
 * is captured, on whichever thread, what is done with a launch would make that fail.
 */
bool gt_launch_choice_is_captured(struct gt_launch_choice *choice, CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	if (atomic_load_explicit(&choice->captures, memory_order_relaxed) > 0)
		return true;
	if (!choice->is_capturing)
		(void)gt_driver_find("cuStreamIsCapturing", &choice->is_capturing);
	return !choice->is_capturing || choice->is_capturing(stream, &status) != CUDA_SUCCESS ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static CUstream stream_of(const struct gt_launch *launch)
{
	return !launch->stream && launch->per_thread ? CU_STREAM_PER_THREAD : launch->stream;
}

struct match {
	const regex_t *names;
	const char *name;
	bool is_one;
};

static void *run_match(void *context)
{
	struct match *match = context;

	gt_thread_enter(GT_THREAD_SOURCE);
	match->is_one = regexec(match->names, match->name, 0, NULL, 0) == 0;
	return NULL;
}

/* libc takes more of a stack for this than a thread of the program's may have. */
static bool matches(const struct gt_launch_choice *choice, const char *name)
{
	struct match match = {.names = &choice->names, .name = name};
	struct gt_calm before;
	pthread_t thread;

	gt_calm_begin(&before);
	if (gt_thread_start(&thread, run_match, &match) == 0)
		(void)pthread_join(thread, NULL);
	gt_calm_end(&before);
	return match.is_one;
}

/* Matching makes a thread, so it is done once for a name. */
bool gt_launch_choice_has_name(const struct gt_launch_choice *choice, const char *name)
{
	uint64_t hash;
	uint64_t verdict;
	_Atomic uint64_t *place;

	if (!choice->by_name || !name)
		return !choice->by_name;
	hash = gt_content_hash(name, strlen(name)) | KNOWN;
	place = &choice->known[(hash >> PLACE_SHIFT) % NAMES];
	verdict = atomic_load_explicit(place, memory_order_relaxed);
	if ((verdict | WANTED) == (hash | WANTED))
		return verdict & WANTED;
	verdict = (hash & ~WANTED) | (matches(choice, name) ? WANTED : 0);
	atomic_store_explicit(place, verdict, memory_order_relaxed);
	return verdict & WANTED;
}

bool gt_launch_choice_is_open(struct gt_session *session, const struct gt_launch_choice *choice)
{
	return atomic_load_explicit(&choice->chosen, memory_order_relaxed) + 1 < choice->end &&
	       (!*gt_settings_of(session)->launches_range || gt_nvtx_watch_is_open(&gt_nvtx.watch));
}

uint64_t gt_launch_choice_count(struct gt_launch_choice *choice, uint64_t count)
{
	return atomic_fetch_add_explicit(&choice->chosen, count, memory_order_relaxed) + 1;
}

enum gt_launch_answer gt_launch_choice_ask(struct gt_session *session,
                                           struct gt_launch_choice *choice,
                                           const struct gt_launch *launch, struct gt_call call,
                                           uint64_t *number)
{
	const char *name = launch->kind == GT_LAUNCH_KERNEL ? call.data->symbolName : NULL;

	if (launch->kind != choice->wanted || !gt_launch_choice_is_open(session, choice) ||
	    !gt_launch_choice_has_name(choice, name))
		return GT_LAUNCH_OTHER;
	if (gt_launch_choice_is_captured(choice, stream_of(launch)))
		return GT_LAUNCH_CAPTURED;
	*number = gt_launch_choice_count(choice, 1);
	return *number >= choice->first && *number < choice->end ? GT_LAUNCH_TAKEN
	                                                         : GT_LAUNCH_OTHER;
}

void gt_launch_choice_follow(struct gt_launch_choice *choice, struct gt_call call)
{
	uint32_t open = atomic_load_explicit(&choice->captures, memory_order_relaxed);

	if (gt_capture_step(call.id) > 0 && gt_call_result(call) == 0)
		atomic_fetch_add_explicit(&choice->captures, 1, memory_order_relaxed);
	while (gt_capture_step(call.id) < 0 && open > 0 &&
	       !atomic_compare_exchange_weak_explicit(&choice->captures, &open, open - 1,
	                                              memory_order_relaxed, memory_order_relaxed))
		;
}

/* ---- one at a time ---- */

void gt_launch_turn_init(struct gt_launch_turn *turn, uint64_t patience_ns)
{
	turn->patience_ns = patience_ns;
	sem_init(&turn->turn, 0, 1);
	atomic_store_explicit(&turn->on, true, memory_order_release);
}

bool gt_launch_turn_is_on(const struct gt_launch_turn *turn)
{
	const uint32_t times = atomic_load(&turn->times);

	/* A thread that was in no call yet may end a range. */
	return atomic_load_explicit(&turn->on, memory_order_acquire) && times != GT_PAUSED &&
	       (gt_own.times == times || gt_own.times == 0);
}

/*
 * Whoever passes says so first and then looks whether it may, and this the other way round;
 * whoever takes the turn after it was given back here sees that, too.
 */
bool gt_launch_turn_pause(struct gt_launch_turn *turn, const struct gt_launch_choice *choice,
                          uint32_t times)
{
	atomic_store(&turn->times, times);
	if (times != GT_PAUSED || !atomic_load_explicit(&turn->on, memory_order_relaxed))
		return true;
	if (atomic_load(&turn->inside) > 0 || atomic_load(&choice->captures) > 0 ||
	    !gt_launch_turn_try(turn))
		return false;
	gt_launch_turn_give(turn);
	return true;
}

static void nap(void)
{
	const struct timespec time = {0, NAP_NS};

	(void)nanosleep(&time, NULL);
}

static bool is_late(const struct gt_launch_turn *turn, uint64_t began_ns)
{
	const uint64_t alive_ns = atomic_load_explicit(&turn->alive_ns, memory_order_relaxed);

	return gt_now() - (alive_ns > began_ns ? alive_ns : began_ns) > turn->patience_ns;
}

/*
 * Whoever takes the turn says so first and then looks for launches inside, and this the other way
 * round, so that one of both sees the other.
 */
bool gt_launch_turn_pass(struct gt_launch_turn *turn, void (*late)(void *context), void *context)
{
	const uint64_t began_ns = gt_now();

	while (gt_launch_turn_is_on(turn)) {
		atomic_fetch_add(&turn->inside, 1);
		if (!atomic_load(&turn->busy) && gt_launch_turn_is_on(turn))
			return true;
		atomic_fetch_sub(&turn->inside, 1);
		if (!is_late(turn, began_ns))
			nap();
		else if (atomic_exchange_explicit(&turn->on, false, memory_order_relaxed))
			late(context);
	}
	return false;
}

void gt_launch_turn_leave(struct gt_launch_turn *turn)
{
	atomic_fetch_sub(&turn->inside, 1);
}

/* No other launch goes to a GPU from here on; false: one does not come to an end. */
static bool make_alone(struct gt_launch_turn *turn)
{
	const uint64_t began_ns = gt_now();

	atomic_store(&turn->busy, true);
	while (atomic_load(&turn->inside) > 0) {
		if (gt_now() - began_ns > IDLE_NS) {
			atomic_store(&turn->busy, false);
			return false;
		}
		nap();
	}
	return true;
}

bool gt_launch_turn_hold(struct gt_launch_turn *turn)
{
	return gt_wait(&turn->turn, turn->patience_ns);
}

bool gt_launch_turn_try(struct gt_launch_turn *turn)
{
	return sem_trywait(&turn->turn) == 0;
}

void gt_launch_turn_give(struct gt_launch_turn *turn)
{
	sem_post(&turn->turn);
}

enum gt_launch_taking gt_launch_turn_take(struct gt_launch_turn *turn)
{
	const uint64_t began_ns = gt_now();

	while (!gt_launch_turn_hold(turn))
		if (is_late(turn, began_ns))
			return GT_TURN_LATE;
	/* Whoever had it before gave up, and may have left things half done. */
	if (!gt_launch_turn_is_on(turn)) {
		gt_launch_turn_give(turn);
		return GT_TURN_LATE;
	}
	if (make_alone(turn))
		return GT_TURN_TAKEN;
	gt_launch_turn_give(turn);
	return GT_TURN_NOISY;
}

void gt_launch_turn_end(struct gt_launch_turn *turn)
{
	/* Whoever waits now may wait again: launches come to an end. */
	atomic_store_explicit(&turn->alive_ns, gt_now(), memory_order_relaxed);
	atomic_store(&turn->busy, false);
	gt_launch_turn_give(turn);
}
