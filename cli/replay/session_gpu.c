/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/session.h"

#include <math.h>
#include <string.h>

#include "base/strings.h"
#include "cli/calibrate/store.h"
#include "cli/gpus/choice.h"
#include "cli/output/say.h"
#include "cli/replay/again.h"
#include "model/trace.h"
#include "replay/gpu/describe.h"
#include "replay/gpu/gpu.h"

/* The one that was recorded on; else the first of its architecture; else the first. */
static int best_device(const struct gt_session *session)
{
	const struct gt_bundle_origin *origin = &session->bundle->origin;
	const int count = gt_cuda_count(&session->cuda);
	int best = 0;
	bool fits = false;

	for (int i = 0; i < count; i++) {
		struct gt_calibration found = {0};
		struct gt_gpu gpu = {.cuda = &session->cuda};

		if (session->cuda.device_get(&gpu.device, i) != CUDA_SUCCESS)
			continue;
		gt_gpu_tell(&gpu, &found);
		if (*found.uuid && strcmp(found.uuid, origin->uuid) == 0)
			return i;
		if (fits || found.cc_major != origin->cc_major ||
		    found.cc_minor != origin->cc_minor)
			continue;
		best = i;
		fits = true;
	}
	return best;
}

int gt_session_choose_device(struct gt_session *session, struct gt_error *err)
{
	const char *word = session->request->args->device;
	struct gt_gpu gpu = {.cuda = &session->cuda};
	int result;

	if (word) {
		result = gt_gpu_choose(&session->cuda, word, &session->options.device, err);
		if (result < 0)
			return result;
	} else {
		session->options.device = best_device(session);
	}
	result = gt_cuda_check(&session->cuda,
	                       session->cuda.device_get(&gpu.device, session->options.device), err,
	                       "the GPU cannot be used");
	if (result == 0)
		gt_gpu_tell(&gpu, &session->gpu);
	return result;
}

void gt_session_find_roof(struct gt_session *session)
{
	const struct gt_calibration *gpu = &session->gpu;
	struct gt_calibrations here = {0};
	struct gt_calibrations shipped = {0};
	struct gt_trace trace;

	gt_trace_init(&trace);
	gt_store_load(&here, NULL);
	gt_calibrations_add_shipped(&shipped);
	*gt_array_push(&trace.devices) = (struct gt_device){
		.name = gt_strings_add(trace.strings, gpu->device),
		.uuid = gt_strings_add(trace.strings, gpu->uuid),
		.cc_major = gpu->cc_major,
		.cc_minor = gpu->cc_minor,
		.sm_count = gpu->sm_count,
		.sm_clock_khz = gpu->sm_clock_khz,
		.memory_clock_khz = gpu->memory_clock_khz,
		.memory_bus_bits = gpu->memory_bus_bits,
	};
	gt_ceilings_add(&trace, 0, &here, &shipped);
	session->roof = gt_roof_of_memory(&trace, 0, NAN, NAN);
	gt_calibrations_release(&here);
	gt_calibrations_release(&shipped);
	gt_trace_release(&trace);
}

void gt_session_look_for_others(struct gt_session *session)
{
	session->others = gt_gpu_state_others(&session->state);
	if (session->others > 0 && gt_begun_again() == 0 && session->left.outcomes.list.count == 0)
		gt_say("%d other process%s ha%s a context on GPU %d: what %s on it shows in the "
		       "times",
		       session->others, session->others == 1 ? "" : "es",
		       session->others == 1 ? "s" : "ve", session->options.device,
		       session->others == 1 ? "it runs" : "they run");
}

/*
 * NVML takes its time to answer, in which the GPU would idle and its clocks fall: short runs share
 * an answer.
 */
static void read_state(struct gt_session *session)
{
	enum { PAUSE_NS = 5000000 };
	const int64_t now_ns = gt_gpu_now_ns();
	uint64_t reasons;
	unsigned mhz;

	if (session->reading.asked_ns && now_ns - session->reading.asked_ns < PAUSE_NS)
		return;
	session->reading.throttled = gt_gpu_state_slowed(&session->state, &reasons) && reasons;
	mhz = gt_gpu_state_sm_mhz(&session->state);
	session->reading.sm_mhz = mhz ? (double)mhz : (double)NAN;
	session->reading.asked_ns = gt_gpu_now_ns();
}

bool gt_session_is_throttled(void *context)
{
	struct gt_session *session = context;

	read_state(session);
	return session->reading.throttled;
}

double gt_session_sm_mhz(void *context)
{
	struct gt_session *session = context;

	read_state(session);
	return session->reading.sm_mhz;
}
