/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/measure/activity.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "cupti/library.h"
#include "replay/gpu/cuda.h"

/* The functions of libcupti that are called: CALL(name here, its symbol, parameters). */
#define CALLS(CALL)                                                                                \
	CALL(enable, "cuptiActivityEnable", (CUpti_ActivityKind kind))                             \
	CALL(disable, "cuptiActivityDisable", (CUpti_ActivityKind kind))                           \
	CALL(flush, "cuptiActivityFlushAll", (uint32_t flags))                                     \
	CALL(now, "cuptiGetTimestamp", (uint64_t * ns))                                            \
	CALL(next, "cuptiActivityGetNextRecord",                                                   \
	     (uint8_t * buffer, size_t size, CUpti_Activity * *record))                            \
	CALL(callbacks, "cuptiActivityRegisterCallbacks",                                          \
	     (CUpti_BuffersCallbackRequestFunc requested,                                          \
	      CUpti_BuffersCallbackCompleteFunc completed))

struct gt_activity {
	pthread_mutex_t lock; /* times: CUPTI hands over buffers on a thread of its own */
	gt_array(struct gt_activity_time) times;
#define CALL(name, symbol, parameters) CUptiResult(*name) parameters;
	CALLS(CALL)
#undef CALL
};

static const struct call {
	const char *symbol;
	size_t offset;
} calls[] = {
#define CALL(name, symbol, parameters) {symbol, offsetof(struct gt_activity, name)},
	CALLS(CALL)
#undef CALL
};

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMSET,
};

enum { BUFFER_BYTES = 1 << 20, ALIGNMENT = 8 };

/* What CUPTI's callbacks belong to; set before they are registered. */
static struct gt_activity *running;

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*buffer = aligned_alloc(ALIGNMENT, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*most_records = 0;
}

/* Their times have stood at one place since CUPTI's records have that size. */
static bool take_times(const CUpti_Activity *record, struct gt_activity_time *times)
{
	const CUpti_ActivityKernel4 *kernel = (const void *)record;
	const CUpti_ActivityMemcpy *copy = (const void *)record;
	const CUpti_ActivityMemset *fill = (const void *)record;

	if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		*times = (struct gt_activity_time){kernel->start, kernel->end};
	else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
		*times = (struct gt_activity_time){copy->start, copy->end};
	else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET)
		*times = (struct gt_activity_time){fill->start, fill->end};
	else
		return false;
	return times->end_ns > times->start_ns;
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                               size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	if (!running) {
		free(buffer);
		return;
	}
	(void)pthread_mutex_lock(&running->lock);
	while (running->next(buffer, valid, &record) == CUPTI_SUCCESS) {
		struct gt_activity_time times;

		if (take_times(record, &times))
			*gt_array_push(&running->times) = times;
	}
	(void)pthread_mutex_unlock(&running->lock);
	free(buffer);
}

static bool find_calls(struct gt_activity *activity, void *library)
{
	for (size_t i = 0; i < GT_COUNT_OF(calls); i++) {
		void *call = dlsym(library, calls[i].symbol);

		if (!call)
			return false;
		*(void **)((char *)activity + calls[i].offset) = call;
	}
	return true;
}

/* Another tool in this process would lose its records to this one. */
static bool taken(void)
{
	const char *injected = getenv("CUDA_INJECTION64_PATH"); // NOLINT(concurrency-mt-unsafe)

	return running || (injected && *injected);
}

static bool enable(const struct gt_activity *activity)
{
	CUptiResult result = activity->callbacks(requested, completed);

	for (size_t i = 0; result == CUPTI_SUCCESS && i < GT_COUNT_OF(kinds); i++)
		result = activity->enable(kinds[i]);
	return result == CUPTI_SUCCESS;
}

struct gt_activity *gt_activity_start(const struct gt_cuda *cuda, char *reason, size_t size)
{
	const char *wanted = getenv("GPUTRACE_CUPTI"); // NOLINT(concurrency-mt-unsafe)
	struct gt_activity *activity;
	struct gt_error err = {0};
	char path[PATH_MAX];
	int version = 0;
	void *library;

	if (taken()) {
		snprintf(reason, size, "another tool uses CUPTI in this process");
		return NULL;
	}
	(void)cuda->driver_version(&version);
	library = gt_cupti_library_open(version, wanted ? wanted : "", path, &err);
	if (!library) {
		snprintf(reason, size, "%s", err.text);
		return NULL;
	}
	activity = gt_allocate(sizeof(*activity));
	*activity = (struct gt_activity){.lock = PTHREAD_MUTEX_INITIALIZER};
	running = activity;
	if (find_calls(activity, library) && enable(activity))
		return activity;
	snprintf(reason, size, "%s does not tell of kernels here", path);
	gt_activity_stop(activity);
	return NULL;
}

uint64_t gt_activity_now_ns(const struct gt_activity *activity)
{
	uint64_t now_ns = 0;

	return activity->now(&now_ns) == CUPTI_SUCCESS ? now_ns : 0;
}

void gt_activity_collect(struct gt_activity *activity, uint64_t since_ns,
                         const struct gt_activity_time **times, size_t *count)
{
	size_t kept = 0;

	(void)activity->flush(0);
	(void)pthread_mutex_lock(&activity->lock);
	for (size_t i = 0; i < activity->times.count; i++)
		if (activity->times.rows[i].start_ns >= since_ns)
			activity->times.rows[kept++] = activity->times.rows[i];
	activity->times.count = kept;
	*times = activity->times.rows;
	*count = kept;
	(void)pthread_mutex_unlock(&activity->lock);
}

void gt_activity_stop(struct gt_activity *activity)
{
	if (!activity)
		return;
	for (size_t i = 0; activity->disable && i < GT_COUNT_OF(kinds); i++)
		(void)activity->disable(kinds[i]);
	if (activity->flush)
		(void)activity->flush(0);
	running = NULL;
	gt_array_release(&activity->times);
	(void)pthread_mutex_destroy(&activity->lock);
	free(activity);
}
