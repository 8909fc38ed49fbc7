/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/state.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/*
 * Ordering of work: events, functions of the host, and values in memory. The times of work
 * are settled when it is queued, so that whatever a stream is made to wait for has to be
 * queued before it; events always are, values that are not end the process.
 */

struct CUevent_st {
	uint32_t id;
	unsigned int flags;
	uint64_t own_end_ns;
	_Atomic uint64_t *shared_end_ns; /* instead, once another process may have the event */
	int file;                        /* that it is in, of the process that made the event */
	struct fake_capture *capture;    /* its latest record is part of; NULL: of none */
	struct fake_frontier frontier;   /* of that, when it was recorded */
};

static _Atomic uint32_t last_event;

/* When everything before an event will have ended; 0: it was not recorded. */
static uint64_t end_of(const struct CUevent_st *event)
{
	return event->shared_end_ns
	               ? atomic_load_explicit(event->shared_end_ns, memory_order_acquire)
	               : event->own_end_ns;
}

static void set_end(struct CUevent_st *event, uint64_t end_ns)
{
	if (event->shared_end_ns)
		atomic_store_explicit(event->shared_end_ns, end_ns, memory_order_release);
	else
		event->own_end_ns = end_ns;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	CUresult result = fake_usable();

	API_BEGIN(cuEventCreate, event, flags);
	if (result == CUDA_SUCCESS) {
		*event = calloc(1, sizeof(**event));
		(*event)->id = atomic_fetch_add(&last_event, 1) + 1;
		(*event)->flags = flags;
	}
	API_END(result);
}

CUresult cuEventDestroy_v2(CUevent event)
{
	API_BEGIN(cuEventDestroy_v2, event);
	if (event->shared_end_ns)
		(void)munmap((void *)(uintptr_t)event->shared_end_ns, sizeof(uint64_t));
	if (event->file > 0)
		(void)close(event->file);
	free(event);
	API_END(fake_usable());
}

/* The bytes of a handle: where another process finds the event. */
struct ipc_handle {
	int pid;
	int file;
};

static CUresult map_event(struct CUevent_st *event, int file)
{
	void *memory = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (memory == MAP_FAILED)
		return CUDA_ERROR_INVALID_HANDLE;
	event->shared_end_ns = memory;
	return CUDA_SUCCESS;
}

static CUresult export_event(CUevent event, CUipcEventHandle *handle)
{
	const CUresult result = fake_usable();
	struct ipc_handle where = {.pid = (int)getpid()};

	if (result != CUDA_SUCCESS)
		return result;
	if (!event || !handle || !(event->flags & CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->file <= 0) {
		event->file = memfd_create("event", MFD_CLOEXEC);
		if (event->file < 0 || ftruncate(event->file, sizeof(uint64_t)) != 0 ||
		    map_event(event, event->file) != CUDA_SUCCESS)
			fake_die("an event cannot be shared");
		set_end(event, event->own_end_ns);
	}
	where.file = event->file;
	memset(handle, 0, sizeof(*handle));
	memcpy(handle, &where, sizeof(where));
	return CUDA_SUCCESS;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
	API_BEGIN(cuIpcGetEventHandle, handle, event);
	API_END(export_event(event, handle));
}

static CUresult open_event(CUevent *event, const CUipcEventHandle *handle)
{
	CUresult result = fake_usable();
	struct CUevent_st *opened;
	struct ipc_handle where;
	char path[64];
	int file;

	memcpy(&where, handle, sizeof(where));
	/* As the real one: a handle is for other processes. */
	if (result != CUDA_SUCCESS || where.pid == (int)getpid())
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_CONTEXT;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", where.pid, where.file);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return CUDA_ERROR_INVALID_HANDLE;
	opened = calloc(1, sizeof(*opened));
	opened->id = atomic_fetch_add(&last_event, 1) + 1;
	opened->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
	result = map_event(opened, file);
	(void)close(file);
	if (result == CUDA_SUCCESS)
		*event = opened;
	else
		free(opened);
	return result;
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
	API_BEGIN(cuIpcOpenEventHandle, event, handle);
	API_END(open_event(event, &handle));
}

static CUresult record_event(CUevent event, CUstream handle)
{
	const uint64_t now_ns = fake_realtime_ns();
	CUstream stream = NULL;
	CUresult result = fake_stream(handle, &stream);

	if (result == CUDA_SUCCESS && !event)
		result = CUDA_ERROR_INVALID_HANDLE;
	if (result != CUDA_SUCCESS)
		return result;
	event->capture = fake_capture_of(stream);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	if (event->capture) {
		event->frontier = stream->frontier;
		(void)pthread_mutex_unlock(&fake_cuda.lock);
		return CUDA_SUCCESS;
	}
	set_end(event, stream->ready_ns > now_ns ? stream->ready_ns : now_ns);
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	API_BEGIN(cuEventRecord, event, stream);
	API_END(record_event(event, stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
	API_BEGIN(cuEventRecordWithFlags, event, stream, flags);
	API_END(record_event(event, stream));
}

CUresult cuEventSynchronize(CUevent event)
{
	const uint64_t start_ns = fake_realtime_ns();
	const CUresult result = event ? fake_usable() : CUDA_ERROR_INVALID_HANDLE;

	API_BEGIN(cuEventSynchronize, event);
	if (result == CUDA_SUCCESS) {
		fake_wait_until(end_of(event));
		fake_tell_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, NULL,
		               event->id, start_ns);
	}
	API_END(result);
}

CUresult cuEventQuery(CUevent event)
{
	CUresult result = event ? fake_usable() : CUDA_ERROR_INVALID_HANDLE;

	API_BEGIN(cuEventQuery, event);
	if (result == CUDA_SUCCESS && !fake_has_passed(end_of(event)))
		result = CUDA_ERROR_NOT_READY;
	API_END(result);
}

static CUresult elapsed(CUevent start, CUevent end)
{
	const CUresult result = fake_usable();

	if (result != CUDA_SUCCESS)
		return result;
	if (!start || !end || !end_of(start) || !end_of(end) ||
	    (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
		return CUDA_ERROR_INVALID_HANDLE;
	return fake_has_passed(end_of(start)) && fake_has_passed(end_of(end))
	               ? CUDA_SUCCESS
	               : CUDA_ERROR_NOT_READY;
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
	const CUresult result = elapsed(start, end);

	API_BEGIN(cuEventElapsedTime_v2, milliseconds, start, end);
	if (result == CUDA_SUCCESS)
		*milliseconds = (float)(((double)end_of(end) - (double)end_of(start)) / 1e6);
	API_END(result);
}

/* As the driver had it before CUDA 13, and still has. */
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
	return cuEventElapsedTime_v2(milliseconds, start, end);
}

/* Work queued after this begins no sooner. */
static void hold_back(CUstream stream, uint64_t until_ns)
{
	(void)pthread_mutex_lock(&fake_cuda.lock);
	if (stream->ready_ns < until_ns)
		stream->ready_ns = until_ns;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
}

/* An event that was never recorded holds nothing back. */
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags)
{
	const uint64_t start_ns = fake_realtime_ns();
	CUstream stream = NULL;
	CUresult result;

	API_BEGIN(cuStreamWaitEvent, handle, event, flags);
	result = event ? fake_stream(handle, &stream) : CUDA_ERROR_INVALID_HANDLE;
	if (result == CUDA_SUCCESS)
		result = fake_capture_join(stream, event->capture);
	if (result == CUDA_SUCCESS && event->capture)
		fake_frontier_join(&stream->frontier, &event->frontier);
	if (result == CUDA_SUCCESS && !event->capture) {
		hold_back(stream, end_of(event));
		fake_tell_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, stream,
		               event->id, start_ns);
	}
	API_END(result);
}

/*
 * Functions of the host run on a thread of the driver's, one after the other. Work after
 * one in its stream begins a fixed time after it, however long it takes; waits take it as it is.
 */
struct host_function {
	CUhostFn function;
	CUstreamCallback callback; /* instead of function */
	CUstream handle;
	void *data;
	uint64_t start_ns;
	uint64_t end_ns;
	struct host_function *next;
};

enum { HOST_FUNCTION_NS = 50000 };

static struct {
	pthread_mutex_t lock; /* all below */
	pthread_cond_t added;
	pthread_cond_t returned;
	struct host_function *first; /* stays in the list until it has returned */
	int running;                 /* there is a thread */
} host = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.added = PTHREAD_COND_INITIALIZER,
	.returned = PTHREAD_COND_INITIALIZER,
};

/* With host.lock. */
static int pending(uint64_t end_ns)
{
	const struct host_function *function = host.first;

	while (function && function->end_ns > end_ns)
		function = function->next;
	return function != NULL;
}

int fake_host_pending(uint64_t end_ns)
{
	int result;

	(void)pthread_mutex_lock(&host.lock);
	result = pending(end_ns);
	(void)pthread_mutex_unlock(&host.lock);
	return result;
}

void fake_host_wait(uint64_t end_ns)
{
	(void)pthread_mutex_lock(&host.lock);
	while (pending(end_ns))
		(void)pthread_cond_wait(&host.returned, &host.lock);
	(void)pthread_mutex_unlock(&host.lock);
}

static void run(const struct host_function *function)
{
	struct timespec start = {
		.tv_sec = (time_t)(function->start_ns / 1000000000),
		.tv_nsec = (long)(function->start_ns % 1000000000),
	};

	(void)clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &start, NULL);
	if (function->callback)
		function->callback(function->handle, CUDA_SUCCESS, function->data);
	else
		function->function(function->data);
}

static void *call_all(void *unused)
{
	(void)unused;
	(void)pthread_mutex_lock(&host.lock);
	for (;;) {
		struct host_function *function = host.first;

		if (!function) {
			(void)pthread_cond_wait(&host.added, &host.lock);
			continue;
		}
		(void)pthread_mutex_unlock(&host.lock);
		run(function);
		(void)pthread_mutex_lock(&host.lock);
		host.first = function->next; /* others are only added behind it */
		free(function);
		(void)pthread_cond_broadcast(&host.returned);
	}
	return NULL;
}

/* With host.lock. Signals are the program's business. */
static void start_thread(void)
{
	pthread_t thread;
	sigset_t all;
	sigset_t before;

	if (host.running)
		return;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, call_all, NULL))
		fake_die("cannot start the thread for functions of the host");
	(void)pthread_detach(thread);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	host.running = 1;
}

static CUresult add_function(const struct host_function *asked)
{
	struct host_function *function;
	struct host_function **last = &host.first;
	struct fake_activity slot = {0};
	CUstream stream = NULL;
	CUresult result = fake_stream(asked->handle, &stream);

	if (result == CUDA_SUCCESS && !asked->function && !asked->callback)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	fake_queue(stream, 0, HOST_FUNCTION_NS, &slot);
	function = malloc(sizeof(*function));
	*function = *asked;
	function->start_ns = slot.start_ns;
	function->end_ns = slot.end_ns;
	(void)pthread_mutex_lock(&host.lock);
	start_thread();
	while (*last && (*last == host.first || (*last)->start_ns <= function->start_ns))
		last = &(*last)->next;
	function->next = *last;
	*last = function;
	(void)pthread_cond_signal(&host.added);
	(void)pthread_mutex_unlock(&host.lock);
	return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
	API_BEGIN(cuLaunchHostFunc, stream, function, data);
	API_END(add_function(
		&(struct host_function){.handle = stream, .function = function, .data = data}));
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
                             unsigned int flags)
{
	API_BEGIN(cuStreamAddCallback, stream, callback, data, flags);
	API_END(add_function(
		&(struct host_function){.handle = stream, .callback = callback, .data = data}));
}

/* When the latest write to an address will have happened; the bytes themselves are there at once. */
static struct written {
	CUdeviceptr address;
	uint64_t end_ns;
} written[64]; /* fake_cuda.lock; an address keeps its place */

enum { WRITE_NS = 1000 };

static struct written *find_written(CUdeviceptr address)
{
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		if (!written[i].address || written[i].address == address)
			return &written[i];
	fake_die("values are written to more than 64 addresses");
}

static uint64_t load(CUdeviceptr address, int wide)
{
	const void *memory = (const void *)(uintptr_t)address;

	return wide ? __atomic_load_n((const uint64_t *)memory, __ATOMIC_ACQUIRE)
	            : __atomic_load_n((const uint32_t *)memory, __ATOMIC_ACQUIRE);
}

static int holds(uint64_t is, uint64_t wanted, unsigned int flags, int wide)
{
	switch (flags & 3) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		return wide ? (int64_t)(is - wanted) >= 0 : (int32_t)(is - wanted) >= 0;
	case CU_STREAM_WAIT_VALUE_EQ:
		return is == wanted;
	case CU_STREAM_WAIT_VALUE_AND:
		return (is & wanted) != 0;
	default:
		return (wide ? ~(is | wanted) : (uint32_t) ~(is | wanted)) != 0;
	}
}

static CUresult check_value(CUstream handle, CUdeviceptr address, int wide, CUstream *stream)
{
	const CUresult result = fake_stream(handle, stream);

	if (result != CUDA_SUCCESS)
		return result;
	return address && address % (wide ? 8 : 4) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult wait_value(CUstream handle, CUdeviceptr address, uint64_t value, unsigned int flags,
                           int wide)
{
	CUstream stream = NULL;
	const CUresult result = check_value(handle, address, wide, &stream);
	uint64_t end_ns;

	if (result != CUDA_SUCCESS)
		return result;
	if (!holds(load(address, wide), value, flags, wide))
		fake_die("a stream waits for a value that nobody has written before");
	(void)pthread_mutex_lock(&fake_cuda.lock);
	end_ns = find_written(address)->end_ns;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	hold_back(stream, end_ns);
	return CUDA_SUCCESS;
}

static CUresult write_value(CUstream handle, CUdeviceptr address, uint64_t value, int wide)
{
	CUstream stream = NULL;
	const CUresult result = check_value(handle, address, wide, &stream);
	struct fake_activity slot = {0};
	void *memory = (void *)(uintptr_t)address;

	if (result != CUDA_SUCCESS)
		return result;
	fake_queue(stream, 0, WRITE_NS, &slot);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	*find_written(address) = (struct written){.address = address, .end_ns = slot.end_ns};
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	if (wide)
		__atomic_store_n((uint64_t *)memory, value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint32_t *)memory, (uint32_t)value, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned int flags)
{
	API_BEGIN(cuStreamWaitValue32_v2, stream, address, value, flags);
	API_END(wait_value(stream, address, value, flags, 0));
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned int flags)
{
	API_BEGIN(cuStreamWaitValue64_v2, stream, address, value, flags);
	API_END(wait_value(stream, address, value, flags, 1));
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned int flags)
{
	API_BEGIN(cuStreamWriteValue32_v2, stream, address, value, flags);
	API_END(write_value(stream, address, value, 0));
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned int flags)
{
	API_BEGIN(cuStreamWriteValue64_v2, stream, address, value, flags);
	API_END(write_value(stream, address, value, 1));
}

static CUresult operate(CUstream stream, const CUstreamBatchMemOpParams *operation)
{
	switch ((int)operation->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
		return wait_value(stream, operation->waitValue.address, operation->waitValue.value,
		                  operation->waitValue.flags, 0);
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		return wait_value(stream, operation->waitValue.address,
		                  operation->waitValue.value64, operation->waitValue.flags, 1);
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		return write_value(stream, operation->writeValue.address,
		                   operation->writeValue.value, 0);
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		return write_value(stream, operation->writeValue.address,
		                   operation->writeValue.value64, 1);
	case CU_STREAM_MEM_OP_BARRIER:
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                               CUstreamBatchMemOpParams *operations, unsigned int flags)
{
	CUresult result = operations && count ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuStreamBatchMemOp_v2, stream, count, operations, flags);
	for (unsigned int i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = operate(stream, &operations[i]);
	API_END(result);
}
