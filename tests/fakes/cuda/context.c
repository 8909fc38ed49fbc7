/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/calls.h"
#include "fakes/cuda/state.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* Contexts, streams, and the clock of the pretended GPU. */

static _Thread_local CUcontext current;

enum { FIRST_STREAM = 7, STREAM_STEP = 6 }; /* as CUPTI numbers them: 7, 13, 14, ... */

CUcontext fake_context(void)
{
	return current;
}

static int known(CUcontext context)
{
	CUcontext other = fake_cuda.contexts;

	while (other && other != context)
		other = other->next;
	return other != NULL;
}

static CUresult find_stream(CUstream handle, CUstream *stream)
{
	if (!current)
		return CUDA_ERROR_INVALID_CONTEXT;
	*stream = &current->null_stream;
	if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
		return CUDA_SUCCESS;
	for (CUcontext context = fake_cuda.contexts; context; context = context->next)
		for (*stream = context->streams; *stream; *stream = (*stream)->next)
			if (*stream == handle)
				return CUDA_SUCCESS;
	return CUDA_ERROR_INVALID_HANDLE;
}

CUresult fake_stream(CUstream handle, CUstream *stream)
{
	CUresult result = fake_usable();

	if (result != CUDA_SUCCESS)
		return result;
	(void)pthread_mutex_lock(&fake_cuda.lock);
	result = find_stream(handle, stream);
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return result;
}

/* A stretch that is over, for those who ask of times in the past. */
static void remember(struct fake_busy *busy)
{
	if ((busy->past_count & (busy->past_count - 1)) == 0)
		busy->past = realloc(busy->past, 2 * (busy->past_count + 1) * sizeof(*busy->past));
	if (!busy->past)
		fake_die("no memory");
	busy->past[busy->past_count].from_ns = busy->from_ns;
	busy->past[busy->past_count++].until_ns = busy->until_ns;
}

/* Time of past stretches behind now_ns. */
static uint64_t busy_since(const struct fake_busy *busy, uint64_t now_ns)
{
	uint64_t busy_ns = 0;

	for (size_t i = busy->past_count; i > 0 && now_ns < busy->past[i - 1].until_ns; i--) {
		const uint64_t from_ns = busy->past[i - 1].from_ns;

		busy_ns += busy->past[i - 1].until_ns - (now_ns > from_ns ? now_ns : from_ns);
	}
	return busy_ns;
}

/* With the lock held. Busy and idle times until now do not change any more. */
static void count_busy(struct fake_busy *busy, uint64_t now_ns, const struct fake_activity *work)
{
	if (busy->until_ns <= now_ns) {
		remember(busy);
		busy->before_ns += busy->until_ns - busy->from_ns;
		busy->from_ns = work->start_ns;
		busy->until_ns = work->end_ns;
	}
	if (work->start_ns < busy->from_ns)
		busy->from_ns = work->start_ns;
	if (work->end_ns > busy->until_ns)
		busy->until_ns = work->end_ns;
}

uint64_t fake_cuda_busy_ns(CUdevice device, uint64_t now_ns, int *busy)
{
	const struct fake_busy *state = &fake_cuda.busy[device];
	uint64_t busy_ns;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	*busy = state->from_ns <= now_ns && now_ns < state->until_ns;
	busy_ns = state->before_ns - busy_since(state, now_ns);
	if (now_ns > state->from_ns)
		busy_ns += (*busy ? now_ns : state->until_ns) - state->from_ns;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return busy_ns;
}

void fake_queue(CUstream stream, uint64_t delay_ns, uint64_t duration_ns,
                struct fake_activity *activity)
{
	uint64_t room_ns;
	uint64_t now_ns;

	if (fake_capture_of(stream))
		fake_die("only launches can be captured");
	(void)pthread_mutex_lock(&fake_cuda.lock);
	now_ns = fake_realtime_ns();
	activity->context = stream->context;
	activity->stream = stream;
	activity->start_ns = (stream->given_ns ? stream->given_ns : now_ns) + delay_ns;
	if (activity->start_ns < stream->ready_ns)
		activity->start_ns = stream->ready_ns;
	activity->end_ns = activity->start_ns + duration_ns;
	stream->ready_ns = activity->end_ns;
	count_busy(&fake_cuda.busy[stream->context->device], now_ns, activity);
	room_ns = stream->ends_ns[stream->queued % FAKE_QUEUE_DEPTH];
	stream->ends_ns[stream->queued++ % FAKE_QUEUE_DEPTH] = activity->end_ns;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	fake_wait_until(room_ns);
}

void fake_wait_until(uint64_t end_ns)
{
	const struct timespec end = {
		.tv_sec = (time_t)(end_ns / 1000000000),
		.tv_nsec = (long)(end_ns % 1000000000),
	};

	/* Sleeping until the past still costs the host dearly. */
	while (end_ns > fake_realtime_ns() &&
	       clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
	fake_host_wait(end_ns);
}

int fake_has_passed(uint64_t end_ns)
{
	return end_ns <= fake_realtime_ns() && !fake_host_pending(end_ns);
}

static void tell_created(CUpti_ActivityKind kind, CUcontext context, CUstream stream)
{
	struct fake_activity activity = {.kind = kind, .context = context, .stream = stream};

	fake_tell(&activity);
}

static _Atomic(CUcontext) gone; /* the one that was destroyed last, where places are used again */

static CUcontext new_context(void)
{
	CUcontext context = atomic_exchange(&gone, NULL);

	if (!context)
		return calloc(1, sizeof(*context));
	memset(context, 0, sizeof(*context));
	return context;
}

static CUcontext add_context(CUdevice device)
{
	CUcontext context = new_context();
	struct fake_activity overhead = {
		.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
		.subkind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE,
		.context = context,
		.start_ns = fake_realtime_ns(),
	};

	context->device = device;
	context->null_stream.context = context;
	context->null_stream.id = FIRST_STREAM;
	context->last_stream = FIRST_STREAM + STREAM_STEP - 1;
	(void)pthread_mutex_lock(&fake_cuda.lock);
	context->id = ++fake_cuda.last_context;
	context->next = fake_cuda.contexts;
	fake_cuda.contexts = context;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	fake_tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context, NULL, NULL);
	tell_created(CUPTI_ACTIVITY_KIND_CONTEXT, context, NULL);
	tell_created(CUPTI_ACTIVITY_KIND_STREAM, context, &context->null_stream);
	overhead.end_ns = fake_realtime_ns() + 1;
	fake_tell(&overhead);
	return context;
}

static CUresult check_device(CUdevice device)
{
	const CUresult usable = fake_usable();

	if (usable != CUDA_SUCCESS)
		return usable;
	return device >= 0 && device < (int)fake_cuda.script.devices ? CUDA_SUCCESS
	                                                             : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	const CUresult result = check_device(device);

	API_BEGIN(cuDevicePrimaryCtxRetain, context, device);
	if (result == CUDA_SUCCESS) {
		if (!fake_cuda.primary[device])
			fake_cuda.primary[device] = add_context(device);
		*context = fake_cuda.primary[device];
	}
	API_END(result);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	API_BEGIN(cuDevicePrimaryCtxRelease_v2, device);
	API_END(check_device(device));
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *create, unsigned int flags,
                        CUdevice device)
{
	const CUresult result = check_device(device);

	API_BEGIN(cuCtxCreate_v4, context, create, flags, device);
	if (result == CUDA_SUCCESS) {
		current = add_context(device);
		*context = current;
	}
	API_END(result);
}

static CUresult destroy_context(CUcontext context)
{
	CUresult result = fake_usable();
	CUcontext *link = &fake_cuda.contexts;

	if (result != CUDA_SUCCESS)
		return result;
	(void)pthread_mutex_lock(&fake_cuda.lock);
	result = known(context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	if (result != CUDA_SUCCESS)
		return result;
	fake_tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context, NULL, NULL);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	while (*link != context)
		link = &(*link)->next;
	*link = context->next;
	for (size_t i = 0; i < 8; i++)
		if (fake_cuda.primary[i] == context)
			fake_cuda.primary[i] = NULL;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	if (current == context)
		current = NULL;
	if (fake_cuda.script.same_context)
		atomic_store(&gone, context);
	return CUDA_SUCCESS; /* its memory stays: records and handles may still name it */
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
	API_BEGIN(cuCtxDestroy_v2, context);
	API_END(destroy_context(context));
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	CUresult result = fake_usable();

	API_BEGIN(cuCtxSetCurrent, context);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	if (result == CUDA_SUCCESS && context && !known(context))
		result = CUDA_ERROR_INVALID_CONTEXT;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	if (result == CUDA_SUCCESS)
		current = context;
	API_END(result);
}

enum { MOST_PUSHED = 16 };

static _Thread_local struct {
	CUcontext contexts[MOST_PUSHED];
	size_t count;
} pushed; /* those that were current before */

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	CUresult result = fake_usable_for(FAKE_CUDA_context_push);

	API_BEGIN(cuCtxPushCurrent_v2, context);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	if (result == CUDA_SUCCESS && !known(context))
		result = CUDA_ERROR_INVALID_CONTEXT;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	if (pushed.count == MOST_PUSHED)
		fake_die("more contexts were pushed than were popped");
	if (result == CUDA_SUCCESS) {
		pushed.contexts[pushed.count++] = current;
		current = context;
	}
	API_END(result);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
	API_BEGIN(cuCtxPopCurrent_v2, context);
	if (pushed.count == 0)
		fake_die("a context is popped that was not pushed");
	if (context)
		*context = current;
	current = pushed.contexts[--pushed.count];
	API_END(fake_usable());
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	static _Thread_local CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
	const CUstreamCaptureMode wanted = *mode;

	API_BEGIN(cuThreadExchangeStreamCaptureMode, mode);
	*mode = now;
	now = wanted;
	API_END(fake_usable_for(FAKE_CUDA_exchange_capture));
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	API_BEGIN(cuCtxGetCurrent, context);
	*context = current;
	API_END(fake_usable());
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	API_BEGIN(cuCtxGetDevice, device);
	if (current)
		*device = current->device;
	API_END(current ? fake_usable() : CUDA_ERROR_INVALID_CONTEXT);
}

static uint64_t all_ready(CUcontext context)
{
	uint64_t ready_ns = context->null_stream.ready_ns;

	for (CUstream stream = context->streams; stream; stream = stream->next)
		if (stream->ready_ns > ready_ns)
			ready_ns = stream->ready_ns;
	return ready_ns;
}

void fake_wait_for_context(void)
{
	uint64_t ready_ns;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	ready_ns = all_ready(current);
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	fake_wait_until(ready_ns);
}

CUresult cuCtxSynchronize(void)
{
	CUresult result = fake_usable();
	const uint64_t start_ns = fake_realtime_ns();
	struct fake_call call;

	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
	                "cuCtxSynchronize", NULL, NULL);
	FAKE_CALLS_MAY_FAIL(&call, "cuCtxSynchronize");
	if (result == CUDA_SUCCESS && !current)
		result = CUDA_ERROR_INVALID_CONTEXT;
	if (result != CUDA_SUCCESS)
		API_END(result);
	fake_wait_for_context();
	fake_tell_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, NULL, 0, start_ns);
	API_END(result);
}

/* Profilers alone take notice of these two. */
CUresult cuProfilerStart(void)
{
	struct fake_call call;

	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart,
	                "cuProfilerStart", NULL, NULL);
	API_END(fake_usable());
}

CUresult cuProfilerStop(void)
{
	struct fake_call call;

	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop,
	                "cuProfilerStop", NULL, NULL);
	API_END(fake_usable());
}

static CUresult add_stream(CUstream *stream, unsigned int flags, int priority)
{
	CUresult result = fake_usable();

	if (result == CUDA_SUCCESS && !current)
		result = CUDA_ERROR_INVALID_CONTEXT;
	if (result != CUDA_SUCCESS)
		return result;
	*stream = calloc(1, sizeof(**stream));
	(*stream)->context = current;
	(*stream)->flags = flags;
	(*stream)->priority = priority;
	(void)pthread_mutex_lock(&fake_cuda.lock);
	(*stream)->id = ++current->last_stream;
	(*stream)->next = current->streams;
	current->streams = *stream;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	fake_tell_resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, current, *stream, NULL);
	tell_created(CUPTI_ACTIVITY_KIND_STREAM, current, *stream);
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	const CUresult usable = fake_usable_for(FAKE_CUDA_stream_create);

	API_BEGIN(cuStreamCreate, stream, flags);
	API_END(usable == CUDA_SUCCESS ? add_stream(stream, flags, 0) : usable);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
	API_BEGIN(cuStreamCreateWithPriority, stream, flags, priority);
	API_END(add_stream(stream, flags, priority));
}

CUresult cuStreamGetPriority(CUstream handle, int *priority)
{
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuStreamGetPriority, handle, priority);
	result = fake_stream(handle, &stream);
	if (result == CUDA_SUCCESS)
		*priority = stream->priority;
	API_END(result);
}

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags)
{
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuStreamGetFlags, handle, flags);
	result = fake_stream(handle, &stream);
	if (result == CUDA_SUCCESS)
		*flags = stream->flags;
	API_END(result);
}

CUresult cuStreamDestroy_v2(CUstream handle)
{
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuStreamDestroy_v2, handle);
	result = fake_stream(handle, &stream);
	if (result == CUDA_SUCCESS && stream != handle)
		result = CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS) {
		CUstream *link = &stream->context->streams;

		fake_tell_resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, stream->context,
		                   stream, NULL);
		(void)pthread_mutex_lock(&fake_cuda.lock);
		while (*link != stream)
			link = &(*link)->next;
		*link = stream->next; /* its memory stays: records may still name it */
		(void)pthread_mutex_unlock(&fake_cuda.lock);
	}
	API_END(result);
}

CUresult cuStreamSynchronize(CUstream handle)
{
	const uint64_t start_ns = fake_realtime_ns();
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuStreamSynchronize, handle);
	result = fake_stream(handle, &stream);
	if (result == CUDA_SUCCESS) {
		fake_wait_until(stream->ready_ns);
		fake_tell_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, stream, 0,
		               start_ns);
	}
	API_END(result);
}

static int hangs(CUstream stream)
{
	static atomic_ullong queries;
	const uint64_t from = fake_cuda.script.copy_hang;

	return from && stream->flags & CU_STREAM_NON_BLOCKING &&
	       atomic_fetch_add(&queries, 1) + 1 >= from;
}

CUresult cuStreamQuery(CUstream handle)
{
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuStreamQuery, handle);
	result = fake_stream(handle, &stream);
	if (result == CUDA_SUCCESS && (!fake_has_passed(stream->ready_ns) || hangs(stream)))
		result = CUDA_ERROR_NOT_READY;
	API_END(result);
}
