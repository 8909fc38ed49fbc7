/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_events/clock.h"

#include <stddef.h>

#include "base/error.h"
#include "injection/device_events/host_side.h"
#include "injection/driver/device_driver.h"
#include "injection/session/services.h"

#define TIMES_NS 50000000u /* for the last kernels for the clock */

/*
 * Reads %globaltimer first of all and last of all, and in between until it has gone on eight times:
 * what it goes on by is the least of these steps.
 */
static const char time_kernel[] =
	".version 6.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry gputrace_device_time(.param .u64 out)\n"
	"{\n"
	"	.reg .u64 %first, %before, %now, %step, %gone, %last, %out;\n"
	"	.reg .u32 %left, %seen;\n"
	"	.reg .pred %same, %more;\n"
	"	mov.u64 %first, %globaltimer;\n"
	"	ld.param.u64 %out, [out];\n"
	"	mov.u64 %before, %first;\n"
	"	mov.u64 %step, -1;\n"
	"	mov.u32 %left, 4096;\n"
	"	mov.u32 %seen, 0;\n"
	"AGAIN:\n"
	"	mov.u64 %now, %globaltimer;\n"
	"	sub.u64 %gone, %now, %before;\n"
	"	setp.eq.u64 %same, %gone, 0;\n"
	"	@%same bra NEXT;\n"
	"	min.u64 %step, %step, %gone;\n"
	"	mov.u64 %before, %now;\n"
	"	add.u32 %seen, %seen, 1;\n"
	"NEXT:\n"
	"	sub.u32 %left, %left, 1;\n"
	"	setp.ne.u32 %more, %left, 0;\n"
	"	setp.lt.and.u32 %more, %seen, 8, %more;\n"
	"	@%more bra AGAIN;\n"
	"	st.global.u64 [%out], %first;\n"
	"	st.global.u64 [%out+16], %step;\n"
	"	mov.u64 %last, %globaltimer;\n"
	"	st.global.u64 [%out+8], %last;\n"
	"	ret;\n"
	"}\n";

void gt_device_ring_load_time_kernel(struct gt_device_ring *ring)
{
	struct gt_error err = {0};
	CUmodule module = NULL;
	CUresult code = ring->driver->module_load(&module, time_kernel);

	if (code == CUDA_SUCCESS)
		code = ring->driver->module_function(&ring->time_kernel, module,
		                                     "gputrace_device_time");
	if (gt_device_ring_check(ring, code,
	                         "the times of device events are not known: a kernel for the clock",
	                         &err) == 0)
		return;
	ring->time_kernel = NULL;
	if (module)
		(void)ring->driver->module_unload(module);
	gt_note(ring->session, "device_events", err.text);
}

static void emit_time(const struct gt_device_ring *ring, uint32_t number)
{
	const struct gt_device_time_slot *slot = &ring->host->times[number];
	struct gt_record_device_time *record;

	if (ring->correlations[number] == 0)
		return;
	record = gt_emit_begin(ring->session, GT_RECORD_device_time, sizeof(*record));
	if (!record)
		return;
	*record = (struct gt_record_device_time){
		.first_ns = slot->first_ns,
		.last_ns = slot->last_ns,
		.correlation = ring->correlations[number],
		.context = ring->context,
		.step_ns = slot->step_ns <= UINT32_MAX ? (uint32_t)slot->step_ns : 0,
	};
	gt_emit_commit();
}

static CUresult launch_time(struct gt_device_ring *ring, uint32_t number)
{
	uint64_t address = ring->host_address + offsetof(struct gt_device_host, times) +
	                   number * sizeof(struct gt_device_time_slot);
	void *arguments[] = {&address};
	CUresult code;

	ring->host->times[number] = (struct gt_device_time_slot){0};
	gt_own_correlation_forget();
	code = ring->driver->launch(ring->time_kernel, 1, 1, 1, 1, 1, 1, 0, ring->timing, arguments,
	                            NULL);
	ring->correlations[number] = gt_own_correlation();
	/* Where API calls are not recorded nothing else says whose launch it was. */
	if (code == CUDA_SUCCESS && ring->correlations[number] &&
	    gt_settings_of(ring->session)->api == GT_API_SETTING_NONE)
		gt_own_call_enter(ring->session, ring->correlations[number]);
	return code;
}

int gt_device_ring_time(struct gt_device_ring *ring, uint32_t count, struct gt_error *err)
{
	CUresult code = CUDA_SUCCESS;

	if (!ring->time_kernel)
		return 0;
	if (ring->times) {
		code = ring->driver->stream_query(ring->timing);
		if (code == CUDA_ERROR_NOT_READY)
			return 0;
		for (uint32_t i = 0; code == CUDA_SUCCESS && i < ring->times; i++)
			emit_time(ring, i);
		ring->times = 0;
	}
	for (uint32_t i = 0; code == CUDA_SUCCESS && i < count && i < GT_DEVICE_TIMES; i++) {
		code = launch_time(ring, i);
		ring->times += code == CUDA_SUCCESS;
		ring->timed_ns = gt_now();
	}
	if (code != CUDA_SUCCESS)
		ring->time_kernel = NULL;
	return gt_device_ring_check(ring, code, "a kernel for the clock of device events", err);
}

void gt_device_ring_end_times(struct gt_device_ring *ring)
{
	struct gt_error err = {0};

	if (gt_device_ring_time(ring, 1, &err) == 0 && ring->times &&
	    gt_device_ring_finish(ring, ring->timing, TIMES_NS, &err) == 0)
		(void)gt_device_ring_time(ring, 0, &err);
}
