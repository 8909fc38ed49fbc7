/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "injection/calls/access.h"
#include "injection/calls/launch.h"
#include "injection/counters/asked.h"
#include "injection/counters/pm_sampler.h"
#include "injection/cupti/cupti.h"
#include "injection/driver/driver.h"
#include "injection/process/now.h"
#include "injection/process/wait.h"
#include "injection/session/begin.h"
#include "injection/session/columns.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * Hardware counters of the GPUs on which the process has a context: one sampler each, on a thread
 * of its own, which starts them, decodes what they have sampled and emits it. Off unless
 * GPUTRACE_COUNTERS names some.
 *
 * A sample stands at the time at which it begins, in CUPTI's clock; its first column says how long
 * it is. One in which nothing but that was measured is a gap: the samples of that time were lost.
 */

#define MOST_GPUS     64
#define END_NS        500000000u  /* that the program's end may be held up */
#define TURN_NS       2000000000u /* waiting for the other thread, which may hang in CUPTI */
#define IDLE_NS       2000000u    /* while no GPU is in use */
#define LEAST_WAIT_NS 1000000u    /* between two decodings */
#define MOST_WAIT_NS  50000000u
#define TURN_SAMPLES  128          /* that a GPU takes from one decoding to the next */
#define BEGIN_NS      10000000000u /* that a thread of the program waits for sampling to begin */
#define NAP_NS        500000

enum gpu_phase { UNSEEN = 0, LEFT_OUT, READY, SAMPLING };

struct gpu {
	enum gpu_phase phase;
	bool overflow_noted;
	struct gt_pm_sampler sampler;
};

struct counters {
	_Atomic uint64_t used;    /* bit n: there is or was a context on the GPU of that ordinal */
	_Atomic uint64_t settled; /* of these: it is sampled, or left out */
	_Atomic bool waits_no_more; /* it took too long once */
	struct gt_pm pm;
	struct gt_driver driver;
	struct gt_asked_counters asked;
	/* Guards all below: they are the thread's, and the writer thread's in arm and disarm. */
	sem_t turn;
	bool armed;
	bool ends_before_cupti;
	char noted[256]; /* the sentence about the last GPU that was left out */
	struct gpu gpus[MOST_GPUS];
};

/* The program's thread, which is making a context. */
static void hear(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                 CUpti_CallbackId id, const void *data, void *kept)
{
	const CUpti_ResourceData *resource = data;
	struct counters *counters = state;
	uint32_t ordinal = MOST_GPUS;

	(void)domain;
	(void)id;
	(void)kept;
	if (gt_cupti_of(session)->cuptiGetDeviceId(resource->context, &ordinal) == CUPTI_SUCCESS &&
	    ordinal < MOST_GPUS)
		atomic_fetch_or_explicit(&counters->used, UINT64_C(1) << ordinal,
		                         memory_order_relaxed);
}

/* Whether all GPUs in use are sampled, or left out. */
static bool is_settled(struct counters *counters)
{
	const uint64_t used = atomic_load_explicit(&counters->used, memory_order_relaxed);

	/* Pairs with the release in work_on. */
	return (used & ~atomic_load_explicit(&counters->settled, memory_order_acquire)) == 0;
}

static void wait_until_settled(struct gt_session *session, struct counters *counters)
{
	const struct timespec nap = {0, NAP_NS};
	const uint64_t until_ns = gt_now() + BEGIN_NS;
	const int kept = errno;

	while (!is_settled(counters) &&
	       !atomic_load_explicit(&counters->waits_no_more, memory_order_relaxed)) {
		if (gt_now() > until_ns && !atomic_exchange(&counters->waits_no_more, true))
			gt_note(session, "counters",
			        "sampling took more than ten seconds to begin: what the program "
			        "did meanwhile is not in the samples");
		(void)nanosleep(&nap, NULL);
	}
	errno = kept;
}

/*
 * Launches, copies and fills of the program's threads wait until samples are taken: else the first
 * ones would be missed, and a program that is over soon would end while CUPTI gets ready on our
 * thread, in libraries whose exit handlers run before anything that we could stop it in (seen to
 * crash a program, CUDA 13.0).
 */
static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct counters *counters = state;

	(void)call;
	if (!is_settled(counters))
		wait_until_settled(session, counters);
	return NULL;
}

static void want(struct gt_session *session)
{
	const CUpti_CallbackData none = {.functionParams = NULL};
	struct gt_launch launch;

	for (uint32_t id = 1; id < GT_ROUTER_IDS; id++)
		if (gt_launch_read(id, &none, &launch) || gt_access_call_is_known(true, id))
			gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, id);
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	struct counters *counters = state;

	if (!*gt_settings_of(session)->counters)
		return 0;
	sem_init(&counters->turn, 0, 1);
	gt_asked_counters_read(session, &counters->asked);
	if (counters->asked.count == 0)
		return gt_fail(err, EINVAL, "no hardware counters: GPUTRACE_COUNTERS names none");
	if (!gt_pm_open(&counters->pm, gt_cupti_of(session)))
		return gt_fail(err, ENOTSUP,
		               "no hardware counters: they need the CUPTI of CUDA 12.6 or later, "
		               "and this one is version %u",
		               gt_cupti_of(session)->version);
	want(session);
	return 0;
}

/* Equal sentences about several GPUs, but for their number, are said once. */
static void note_once(struct gt_session *session, struct counters *counters, const char *sentence)
{
	const char *why = strchr(sentence, ':');

	why = why ? why : sentence;
	if (strcmp(counters->noted, why) == 0)
		return;
	(void)snprintf(counters->noted, sizeof(counters->noted), "%s", why);
	gt_count(session, GT_LEDGER_sources_failed, 1);
	gt_note(session, "counters", sentence);
}

/*
 * CUPTI loads a library for metrics at the first use. When a host object is given back, the library
 * frees once more all that its exit handlers have freed, which ends the program with abort(): all
 * is to be given back before they run.
 */
static void end_before_cupti(struct counters *counters)
{
	if (!counters->ends_before_cupti)
		gt_session_end_before();
	counters->ends_before_cupti = true;
}

/* Once for each GPU that is in use. */
static void get_to_know(struct gt_session *session, struct counters *counters, uint32_t ordinal)
{
	struct gpu *gpu = &counters->gpus[ordinal];
	struct gt_metric_wanted wanted[GT_COUNTERS_ASKED];
	struct gt_error err = {0};
	CUdevice device = 0;
	int clock_khz = 0;

	for (size_t i = 0; i < counters->asked.count; i++)
		wanted[i] = (struct gt_metric_wanted){.metric = counters->asked.list[i].metric,
		                                      .instead = counters->asked.list[i].instead};
	gpu->phase = LEFT_OUT;
	gpu->sampler = (struct gt_pm_sampler){
		.pm = &counters->pm,
		.device = ordinal,
		.interval_ns = gt_settings_of(session)->counter_interval_ns,
	};
	if (counters->driver.get(&device, (int)ordinal) != CUDA_SUCCESS) {
		note_once(session, counters, "no counters of a GPU: the driver does not know it");
		return;
	}
	if (counters->driver.attribute(&clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device) ==
	            CUDA_SUCCESS &&
	    clock_khz > 0)
		gpu->sampler.clock_khz = (uint64_t)clock_khz;
	if (gt_pm_prepare(&gpu->sampler, device, wanted, counters->asked.count, &err) < 0) {
		end_before_cupti(counters);
		note_once(session, counters, err.text);
		return;
	}
	end_before_cupti(counters);
	gpu->phase = READY;
	gt_asked_counters_note_missing(session, &counters->asked, wanted, ordinal);
	gt_asked_counters_announce(session, &counters->asked, &gpu->sampler);
}

struct emission {
	struct gt_session *session;
	const struct gt_pm_sampler *sampler;
};

static void emit(void *context, const struct gt_pm_sample *sample)
{
	const struct emission *emission = context;
	const size_t count = emission->sampler->count;
	union {
		struct gt_sample sample;
		uint8_t bytes[sizeof(struct gt_sample) + (GT_PM_METRICS + 1) * sizeof(double)];
	} row = {.sample = {.time_ns = sample->start_ns,
	                    .series = (uint16_t)(GT_SERIES_COUNTERS + emission->sampler->device),
	                    .clock = GT_SERIES_CUPTI,
	                    .columns = (uint8_t)(count + 1)}};

	row.sample.values[0] = (double)(sample->end_ns - sample->start_ns);
	for (size_t i = 0; i < count; i++)
		row.sample.values[i + 1] = sample->values ? sample->values[i] : NAN;
	gt_emit_sample(emission->session, &row.sample);
}

static void begin_sampling(struct gt_session *session, struct counters *counters, struct gpu *gpu)
{
	struct gt_error err = {0};

	if (gt_pm_start(&gpu->sampler, &err) == 0) {
		gpu->phase = SAMPLING;
		end_before_cupti(counters);
		return;
	}
	note_once(session, counters, err.text);
	gt_pm_release(&gpu->sampler);
	gpu->phase = LEFT_OUT;
}

/* Fetches what there is. A full buffer takes no more samples until they are begun anew. */
static void fetch(struct gt_session *session, struct counters *counters, struct gpu *gpu)
{
	struct emission emission = {session, &gpu->sampler};
	const int result = gt_pm_decode(&gpu->sampler, emit, &emission);
	char note[256];

	if (result == 0)
		return;
	if (result > 0 && !gpu->overflow_noted) {
		gpu->overflow_noted = true;
		(void)snprintf(note, sizeof(note),
		               "samples of GPU %u were lost, as the hardware's buffer was full: "
		               "gaps are in its series. Choose a longer --counter-interval or "
		               "fewer counters",
		               gpu->sampler.device);
		gt_note(session, "counters", note);
	}
	if (result < 0) {
		(void)snprintf(note, sizeof(note),
		               "the counters of GPU %u end early: CUPTI cannot decode them",
		               gpu->sampler.device);
		note_once(session, counters, note);
		gt_pm_release(&gpu->sampler);
		gpu->phase = LEFT_OUT;
		return;
	}
	if (gpu->sampler.runs) {
		gt_pm_stop(&gpu->sampler);
		begin_sampling(session, counters, gpu);
	}
}

/* Fetches all samples until now; nothing is between this and the next beginning. */
static void pause_sampling(struct gt_session *session, struct counters *counters, struct gpu *gpu)
{
	if (gpu->phase != SAMPLING)
		return;
	gt_pm_stop(&gpu->sampler);
	fetch(session, counters, gpu);
	if (gpu->phase == SAMPLING)
		gpu->phase = READY;
	gpu->sampler.last_end_ns = 0;
}

static bool take_turn(struct counters *counters)
{
	return gt_wait(&counters->turn, TURN_NS);
}

static int arm(struct gt_session *session, void *state, struct gt_error *err)
{
	struct counters *counters = state;

	(void)err;
	if (!*gt_settings_of(session)->counters || !take_turn(counters))
		return 0;
	counters->armed = true;
	sem_post(&counters->turn);
	return 0;
}

static void disarm(struct gt_session *session, void *state)
{
	struct counters *counters = state;

	if (!*gt_settings_of(session)->counters || !take_turn(counters))
		return;
	counters->armed = false;
	for (uint32_t i = 0; i < MOST_GPUS; i++)
		pause_sampling(session, counters, &counters->gpus[i]);
	sem_post(&counters->turn);
}

static void work_on(struct gt_session *session, struct counters *counters, uint32_t ordinal)
{
	struct gpu *gpu = &counters->gpus[ordinal];

	if (gpu->phase == UNSEEN)
		get_to_know(session, counters, ordinal);
	if (gpu->phase == SAMPLING)
		fetch(session, counters, gpu);
	else if (gpu->phase == READY)
		begin_sampling(session, counters, gpu);
	/* Pairs with the acquire in is_settled. */
	atomic_fetch_or_explicit(&counters->settled, UINT64_C(1) << ordinal, memory_order_release);
}

/* With GPUTRACE_COUNTER_PAUSE. */
static bool is_pause(struct gt_session *session)
{
	const uint64_t stretch_ns = gt_settings_of(session)->counter_pause_ns;

	return stretch_ns && gt_monotonic() / stretch_ns % 2;
}

/* Does all that is due; returns how long nothing is. */
static uint64_t turn(struct gt_session *session, struct counters *counters)
{
	const uint64_t used = atomic_load_explicit(&counters->used, memory_order_relaxed);
	const uint64_t every_ns = gt_settings_of(session)->counter_interval_ns * TURN_SAMPLES;
	const uint64_t due_ns = gt_now() + (every_ns < MOST_WAIT_NS ? every_ns : MOST_WAIT_NS);
	uint64_t now_ns;

	if (!used)
		return IDLE_NS;
	if (!take_turn(counters))
		return LEAST_WAIT_NS;
	for (uint32_t i = 0; i < MOST_GPUS && counters->armed; i++)
		if (!(used >> i & 1))
			continue;
		else if (is_pause(session))
			pause_sampling(session, counters, &counters->gpus[i]);
		else
			work_on(session, counters, i);
	sem_post(&counters->turn);
	now_ns = gt_now();
	return now_ns + LEAST_WAIT_NS < due_ns ? due_ns - now_ns : LEAST_WAIT_NS;
}

static void run(struct gt_session *session, void *state, struct gt_waiter *waiter)
{
	struct counters *counters = state;

	if (!*gt_settings_of(session)->counters)
		return;
	if (gt_driver_open(&counters->driver))
		for (uint64_t wait_ns = 0; gt_wait_next(waiter, wait_ns);)
			wait_ns = turn(session, counters);
	else
		gt_note(session, "counters", "the driver told nothing about its devices");
	/* Nobody waits for what will not begin any more; pairs with the acquire in is_settled. */
	atomic_store_explicit(&counters->settled, UINT64_MAX, memory_order_release);
	if (!take_turn(counters))
		return;
	for (uint32_t i = 0; i < MOST_GPUS; i++) {
		pause_sampling(session, counters, &counters->gpus[i]);
		if (counters->gpus[i].phase == READY)
			gt_pm_release(&counters->gpus[i].sampler);
		counters->gpus[i].phase = LEFT_OUT;
	}
	sem_post(&counters->turn);
}

const struct gt_source gt_source_counters = {
	.name = "counters",
	.state_size = sizeof(struct counters),
	.start = start,
	.arm = arm,
	.disarm = disarm,
	.run = run,
	.end_ns = END_NS,
	.hears = {.enter = enter, .event = hear},
};
