/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/activity.h"
#include "injection/cupti/cupti.h"
#include "injection/cupti/layout.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/usdt/records.h"

/* The GPU's work, from CUPTI's activity records, in buffers that are slots of the arena. */

static const struct {
	CUpti_ActivityKind kind;
	bool enabled;     /* without GPUTRACE_KINDS */
	const char *name; /* in it */
	const char *words;
} kinds[] = {
#define KIND(name, enabled, words)                                                                 \
	[GT_ACTIVITY_##name] = {(CUpti_ActivityKind)GT_KIND_##name, enabled, #name, words},
#include "injection/cupti/kinds.def"
};

/* Counters of managed memory. */
static const CUpti_ActivityUnifiedMemoryCounterKind unified_kinds[] = {
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
};

enum { UNIFIED_KINDS = sizeof(unified_kinds) / sizeof(unified_kinds[0]) };

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

_Static_assert((int)KIND_COUNT == (int)GT_ACTIVITY_COUNT,
               "every ACTIVITY of format/activity.def has a KIND in injection/cupti/kinds.def");

struct activity {
	uint32_t wanted;  /* bit n: kinds[n], of GT_ACTIVITY n, is to be recorded */
	uint32_t refused; /* bit n: kinds[n] could not be enabled, and that is noted */
	bool graphs_noted;
	bool armed;                       /* recording is on */
	bool unified_is_set;              /* CUPTI has been told which counters of managed memory */
	struct gt_activity_layout layout; /* for who listens to records; from the start */
	_Atomic bool last_is_lent;
	_Alignas(64) uint8_t last_resort[GT_DISCARD_BYTES]; /* zero while CUPTI has it not */
};

extern const struct gt_source gt_source_activity;

/* Memory that nobody reads, for one who asks at a time. */
static struct gt_buffer lend_last(struct gt_session *session)
{
	struct activity *activity = gt_source_state(session, &gt_source_activity);

	if (gt_is_recorded(session))
		gt_count(session, GT_LEDGER_discarded_uncounted, 1);
	/* Pairs with the release in take_back_last. */
	if (atomic_exchange_explicit(&activity->last_is_lent, true, memory_order_acquire))
		return (struct gt_buffer){0};
	return (struct gt_buffer){activity->last_resort, sizeof(activity->last_resort)};
}

static void take_back_last(struct gt_session *session, const uint8_t *bytes)
{
	struct activity *activity = gt_source_state(session, &gt_source_activity);

	if (bytes != activity->last_resort)
		return;
	memset(activity->last_resort, 0, sizeof(activity->last_resort));
	atomic_store_explicit(&activity->last_is_lent, false, memory_order_release);
}

/*
 * CUPTI's thread or the program's, never blocking. When even the discard buffers are in use,
 * CUPTI is given none and counts what it drops itself; before CUDA 12.9 that could crash it, so
 * that there the first who asks gets the last resort.
 */
static void CUPTIAPI request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	struct gt_session *session = gt_session_get();
	struct gt_buffer lent = gt_buffer_lend(session);

	*max_records = 0; /* as many as fit */
	if (!lent.bytes && gt_cupti_of(session)->version < GT_CUPTI_12_9)
		lent = lend_last(session);
	*buffer = lent.bytes;
	*size = lent.size;
	gt_tell_cuda_is_up(session);
}

/* Buffers that nobody reads count as well: the work was done. */
static __attribute__((cold, noinline)) void tell_records(struct gt_session *session,
                                                         uint8_t *buffer, size_t valid)
{
	const struct activity *activity = gt_source_state(session, &gt_source_activity);
	const int saved = errno;

	gt_probe_records(gt_cupti_of(session), &activity->layout, buffer, valid);
	errno = saved;
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                              size_t valid)
{
	struct gt_session *session = gt_session_get();
	size_t dropped = 0;

	(void)size;
	/* The counter starts again at 0 with each reading. */
	if (gt_is_recorded(session) &&
	    gt_cupti_of(session)->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) ==
	            CUPTI_SUCCESS &&
	    dropped) {
		gt_count(session, GT_LEDGER_dropped_by_cupti, dropped);
		gt_probe_dropped(dropped);
	}
	/* cppcheck-suppress knownConditionTrueFalse ; on processors with probes it is not */
	if (gt_probe_hears_records())
		tell_records(session, buffer, valid);
	if (!gt_buffer_take_back(session, buffer, valid))
		take_back_last(session, buffer);
}

/* Attributes must be set before CUDA makes a context; one that is not known is left as it is. */
static void set_attributes(const struct gt_cupti *cupti)
{
	uint8_t yes = 1;
	size_t size = sizeof(yes);

	/* Slots are zero when they are handed out: CUPTI need not do it on the program's thread. */
	(void)cupti->cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER,
	                                       &size, &yes);
}

/* The kind of a name so long, or KIND_COUNT. */
static size_t find_kind(const char *name, size_t length)
{
	size_t i = 0;

	while (i < KIND_COUNT &&
	       (strlen(kinds[i].name) != length || memcmp(kinds[i].name, name, length) != 0))
		i++;
	return i;
}

static void refuse_name(struct gt_session *session, const char *name, size_t length)
{
	char text[256];

	snprintf(text, sizeof(text), "GPUTRACE_KINDS: there is no kind of activity '%.*s'",
	         (int)length, name);
	gt_note(session, "settings", text);
}

/* The kinds of a list joined by commas; of an empty one those that are on by themselves. */
static uint32_t read_kinds(struct gt_session *session, const char *list)
{
	uint32_t wanted = 0;

	for (size_t i = 0; i < KIND_COUNT && !*list; i++)
		wanted |= (uint32_t)kinds[i].enabled << i;
	while (*list) {
		const size_t length = strcspn(list, ",");
		const size_t i = find_kind(list, length);

		if (i < KIND_COUNT)
			wanted |= 1u << i;
		else
			refuse_name(session, list, length);
		list += length + (list[length] == ',');
	}
	return wanted;
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	struct activity *activity = state;
	CUptiResult result;

	activity->wanted = read_kinds(session, gt_settings_of(session)->kinds);
	if (gt_settings_of(session)->graphs == GT_GRAPHS_SETTING_GRAPH)
		activity->wanted |= 1u << GT_ACTIVITY_graph_trace;
	if (gt_settings_of(session)->keep_modules_bytes)
		activity->wanted |=
			1u << GT_ACTIVITY_jit; /* who asks for modules asks for all of them */
	if (gt_settings_of(session)->unified_memory)
		activity->wanted |= 1u << GT_ACTIVITY_unified;
	gt_layout_fill(&activity->layout, cupti->version);
	set_attributes(cupti);
	result = cupti->cuptiActivityRegisterCallbacks(request, complete);
	if (result == CUPTI_SUCCESS)
		return 0;
	return gt_fail(err, ENOTSUP, "cuptiActivityRegisterCallbacks failed: %s",
	               gt_cupti_text(cupti, result));
}

static void refuse(struct gt_session *session, struct activity *activity, size_t i,
                   CUptiResult result)
{
	char text[256];

	if (activity->refused & 1u << i)
		return; /* an earlier time */
	activity->refused |= 1u << i;
	snprintf(text, sizeof(text), "%s are not recorded: cuptiActivityEnable says %s",
	         kinds[i].words, gt_cupti_text(gt_cupti_of(session), result));
	gt_count(session, GT_LEDGER_sources_failed, 1);
	gt_note(session, "activity", text);
}

/* Then CUPTI leaves out what runs in graphs, which nobody is to take for a GPU that does nothing. */
static void remark_graphs(struct gt_session *session, struct activity *activity, size_t i)
{
	if (kinds[i].kind != (CUpti_ActivityKind)GT_KIND_graph_trace || activity->graphs_noted)
		return;
	activity->graphs_noted = true;
	gt_note(session, "activity",
	        "launches of CUDA graphs are recorded as a whole, as was asked: the kernels, "
	        "copies and fills in them are in no figure");
}

static int arm(struct gt_session *session, void *state, struct gt_error *err)
{
	struct activity *activity = state;
	uint32_t enabled = 0;

	activity->armed = true;
	for (size_t i = 0; i < KIND_COUNT; i++) {
		CUptiResult result;

		if (!(activity->wanted & 1u << i) ||
		    (i == GT_ACTIVITY_unified && !activity->unified_is_set))
			continue;
		result = gt_cupti_of(session)->cuptiActivityEnable(kinds[i].kind);
		if (result == CUPTI_SUCCESS) {
			enabled |= 1u << i;
			remark_graphs(session, activity, i);
		} else {
			refuse(session, activity, i, result);
		}
	}
	gt_tell_activities(session, enabled);
	return enabled ? 0 : gt_fail(err, ENOTSUP, "CUPTI refused every kind of activity");
}

static void disarm(struct gt_session *session, void *state)
{
	struct activity *activity = state;

	activity->armed = false;
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (activity->wanted & 1u << i)
			(void)gt_cupti_of(session)->cuptiActivityDisable(kinds[i].kind);
	gt_tell_activities(session, 0);
}

/* Where the GPU itself cannot take the times of kernels: CUPTI says so in several ways. */
static bool cannot_trace(CUptiResult result)
{
	static const CUptiResult answers[] = {
		CUPTI_ERROR_NOT_SUPPORTED,
		CUPTI_ERROR_NOT_COMPATIBLE,
		CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
		CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
		CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED,
		CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED,
		CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED,
		CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED,
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (result == answers[i])
			return true;
	return false;
}

/* For all GPUs. */
static CUptiResult set_unified(const struct gt_cupti *cupti)
{
	CUpti_ActivityUnifiedMemoryCounterConfig configs[UNIFIED_KINDS];

	for (uint32_t i = 0; i < UNIFIED_KINDS; i++)
		configs[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
			.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
			.kind = unified_kinds[i],
			.enable = 1,
		};
	return cupti->cuptiActivityConfigureUnifiedMemoryCounter
	               ? cupti->cuptiActivityConfigureUnifiedMemoryCounter(configs, UNIFIED_KINDS)
	               : CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED;
}

/* CUPTI takes this only once the driver is initialised, and before the kind is enabled. */
static void begin_unified(struct gt_session *session, struct activity *activity)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	CUptiResult result;
	char text[256];

	if (!(activity->wanted & 1u << GT_ACTIVITY_unified))
		return;
	result = set_unified(cupti);
	activity->unified_is_set = result == CUPTI_SUCCESS;
	if (result == CUPTI_SUCCESS && activity->armed)
		result = cupti->cuptiActivityEnable(kinds[GT_ACTIVITY_unified].kind);
	if (result == CUPTI_SUCCESS)
		return;
	snprintf(text, sizeof(text),
	         "what happens to managed memory is not recorded: CUPTI says %s",
	         gt_cupti_text(cupti, result));
	gt_count(session, GT_LEDGER_sources_failed, 1);
	gt_note(session, "activity", text);
}

/*
 * From Blackwell on the GPU takes the times of kernels itself, which costs the program less. CUPTI
 * wants the driver to be initialised first, and no call from inside its callbacks.
 */
static void cuda_up(struct gt_session *session, void *state)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	CUptiResult result;
	char text[256];

	begin_unified(session, state);
	if (!cupti->cuptiActivityEnableHWTrace)
		return;
	result = cupti->cuptiActivityEnableHWTrace(1);
	if (cannot_trace(result))
		return;
	if (result == CUPTI_SUCCESS)
		snprintf(text, sizeof(text), "the GPU takes the times of kernels itself");
	else
		snprintf(text, sizeof(text),
		         "the GPU does not take the times of kernels itself: "
		         "cuptiActivityEnableHWTrace says %s",
		         gt_cupti_text(cupti, result));
	gt_note(session, "activity", text);
}

const struct gt_source gt_source_activity = {
	.name = "activity",
	.state_size = sizeof(struct activity),
	.start = start,
	.arm = arm,
	.disarm = disarm,
	.cuda_up = cuda_up,
};
