/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu/state.h"

#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

#include "model/gpu/throttle.h"

/* NVML's numbers. */
enum { CLOCK_SM = 1 };

enum { MOST_PROCESSES = 128 };

static bool start(struct gt_gpu_state *state, const char *uuid)
{
	if (!state->nvmlInit_v2 || !state->nvmlShutdown || !state->nvmlDeviceGetHandleByUUID ||
	    state->nvmlInit_v2() != 0)
		return false;
	if (state->nvmlDeviceGetHandleByUUID(uuid, &state->device) == 0)
		return true;
	(void)state->nvmlShutdown();
	return false;
}

void gt_gpu_state_open(struct gt_gpu_state *state, const char *uuid)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	*state = (struct gt_gpu_state){0};
	if (!library)
		return;
		/* POSIX gives functions out as void pointers; C has no cast for that. */
#define CALL(name, parameters) *(void **)&state->name = dlsym(library, #name);
#include "replay/gpu/nvml_calls.def"
	if (start(state, uuid))
		state->library = library;
	else
		(void)dlclose(library);
}

void gt_gpu_state_close(struct gt_gpu_state *state)
{
	if (!state->library)
		return;
	(void)state->nvmlShutdown();
	(void)dlclose(state->library);
	state->library = NULL;
}

unsigned gt_gpu_state_sm_mhz(const struct gt_gpu_state *state)
{
	unsigned mhz = 0;

	if (!state->library || !state->nvmlDeviceGetClockInfo ||
	    state->nvmlDeviceGetClockInfo(state->device, CLOCK_SM, &mhz) != 0)
		return 0;
	return mhz;
}

bool gt_gpu_state_slowed(const struct gt_gpu_state *state, uint64_t *reasons)
{
	gt_nvml_result (*call)(gt_nvml_handle device, uint64_t * reasons) =
		state->nvmlDeviceGetCurrentClocksEventReasons
			? state->nvmlDeviceGetCurrentClocksEventReasons
			: state->nvmlDeviceGetCurrentClocksThrottleReasons;
	uint64_t told = 0;

	*reasons = 0;
	if (!state->library || !call || call(state->device, &told) != 0)
		return false;
	*reasons = gt_throttle_slowing(told);
	return true;
}

struct process_list {
	struct gt_nvml_process rows[MOST_PROCESSES];
	unsigned count;
};

typedef gt_nvml_result (*list_call)(gt_nvml_handle device, unsigned *count,
                                    struct gt_nvml_process *processes);

/* False: NVML does not say. A process that computes and draws is in both lists. */
static bool add_processes(const struct gt_gpu_state *state, list_call call,
                          struct process_list *list)
{
	struct gt_nvml_process rows[MOST_PROCESSES];
	unsigned count = MOST_PROCESSES;

	if (!call || call(state->device, &count, rows) != 0)
		return false;
	for (unsigned i = 0; i < count && list->count < MOST_PROCESSES; i++) {
		unsigned known = 0;

		while (known < list->count && list->rows[known].pid != rows[i].pid)
			known++;
		if (known == list->count)
			list->rows[list->count++] = rows[i];
	}
	return true;
}

int gt_gpu_state_others(const struct gt_gpu_state *state)
{
	struct process_list list = {.count = 0};
	unsigned own = 0;

	if (!state->library ||
	    !add_processes(state, state->nvmlDeviceGetComputeRunningProcesses_v2, &list))
		return -1;
	(void)add_processes(state, state->nvmlDeviceGetGraphicsRunningProcesses_v2, &list);
	for (unsigned i = 0; i < list.count; i++)
		own += list.rows[i].pid == (uint32_t)getpid();
	return (int)(list.count - own);
}
