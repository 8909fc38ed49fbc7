/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "fakes/cupti/calls.h"
#include "fakes/cupti/state.h"

/* The fake libcupti: everything but callbacks, records and buffers. */

/* The build of libcupti.so.12 sets the version of CUDA 12.4. */
#ifndef FAKE_CUPTI_VERSION
#define FAKE_CUPTI_VERSION CUPTI_API_VERSION
#endif

struct fake_script fake_script;

static atomic_uchar kinds[CUPTI_ACTIVITY_KIND_COUNT];
static _Atomic(CUpti_TimestampCallbackFunc) timestamp;
static atomic_int system_thread_ids;
static atomic_uint flushes;
static atomic_int unified_configured;
static atomic_int flushing;

static _Atomic(const struct fake_driver *) driver; /* NULL until there is a libcuda */

__attribute__((constructor)) static void load(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	const struct fake_driver *(*attach)(const struct fake_hooks *hooks) = NULL;

	fake_script_read(&fake_script);
	if (cuda)
		*(void **)&attach = dlsym(cuda, "fake_cuda_attach");
	if (attach)
		atomic_store(&driver, attach(&fake_hooks));
}

const struct fake_hooks *fake_cupti_attach(const struct fake_driver *cuda)
{
	atomic_store(&driver, cuda);
	return &fake_hooks;
}

uint32_t fake_cupti_version(void)
{
	return fake_script.version ? (uint32_t)fake_script.version : FAKE_CUPTI_VERSION;
}

uint64_t fake_cupti_time(uint64_t realtime_ns)
{
	const CUpti_TimestampCallbackFunc function = atomic_load(&timestamp);

	if (function)
		return realtime_ns + (function() - fake_realtime_ns());
	return realtime_ns + fake_script.clock_offset;
}

uint64_t fake_cupti_thread_id(void)
{
	return atomic_load(&system_thread_ids) ? (uint64_t)gettid() : (uint64_t)pthread_self();
}

int fake_cupti_enabled(CUpti_ActivityKind kind)
{
	return atomic_load(&kinds[kind]);
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = fake_cupti_version();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *now)
{
	if (!now)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*now = fake_cupti_time(fake_realtime_ns());
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function)
{
	FAKE_TELL("%s", FAKE_THERE(function));
	for (size_t i = 0; i < CUPTI_ACTIVITY_KIND_COUNT && fake_script.strict; i++)
		if (atomic_load(&kinds[i]))
			fake_die("a timestamp callback is registered after kind %zu was enabled",
			         i);
	atomic_store(&timestamp, function);
	return CUPTI_SUCCESS;
}

static void record_devices(int count)
{
	for (int device = 0; device < count; device++) {
		const struct fake_activity activity = {
			.kind = CUPTI_ACTIVITY_KIND_DEVICE,
			.device = device,
		};

		fake_record_activity(&activity);
	}
}

static void record_context(CUcontext context)
{
	const struct fake_activity activity = {
		.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
		.context = context,
	};

	fake_record_activity(&activity);
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	const struct fake_driver *cuda = atomic_load(&driver);
	unsigned char before;

	FAKE_TELL("%d", (int)kind);
	/* The answers of an H200 with CUPTI 130001. */
	if (kind == CUPTI_ACTIVITY_KIND_ENVIRONMENT || kind == CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT ||
	    kind == CUPTI_ACTIVITY_KIND_MODULE)
		return CUPTI_ERROR_INVALID_KIND;
	if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER && !atomic_load(&unified_configured))
		return CUPTI_ERROR_INVALID_OPERATION;
	if (fake_script.enable_fail & (UINT64_C(1) << kind))
		return CUPTI_ERROR_NOT_SUPPORTED;
	before = atomic_exchange(&kinds[kind], 1);
	if (before || !cuda || !cuda->ready())
		return CUPTI_SUCCESS;
	if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
		record_devices(cuda->device_count());
	if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		cuda->each_context(record_context);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	FAKE_TELL("%d", (int)kind);
	if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
		return CUPTI_ERROR_INVALID_KIND;
	atomic_store(&kinds[kind], 0);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed)
{
	FAKE_TELL("%s %s", FAKE_THERE(requested), FAKE_THERE(completed));
	return fake_buffers_register(requested, completed);
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult result;

	FAKE_TELL("%u", flag);
	if (fake_script.flush_hang && atomic_fetch_add(&flushes, 1) + 1 >= fake_script.flush_hang)
		for (;;)
			(void)pause();
	if (atomic_exchange(&flushing, 1) && fake_script.strict)
		fake_die("cuptiActivityFlushAll is called by two threads at once");
	while (fake_range_is_profiling && fake_range_is_profiling())
		(void)usleep(100);
	result = fake_buffers_flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
	atomic_store(&flushing, 0);
	return result;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
	FAKE_TELL("%u", time);
	return fake_buffers_period(time);
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_size, CUpti_Activity **record)
{
	size_t offset = 0;
	size_t size;
	uint32_t kind;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*record) {
		offset = (size_t)((uint8_t *)*record - buffer);
		memcpy(&kind, *record, sizeof(kind));
		offset += fake_record_size((CUpti_ActivityKind)kind);
	}
	if (offset >= valid_size)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	memcpy(&kind, buffer + offset, sizeof(kind));
	size = fake_record_size((CUpti_ActivityKind)kind);
	if (!size || offset + size > valid_size)
		return CUPTI_ERROR_INVALID_KIND;
	*record = (CUpti_Activity *)(void *)(buffer + offset);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
	FAKE_TELL("%s %u", FAKE_THERE(context), stream);
	(void)context;
	(void)stream;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = fake_buffers_dropped();
	return CUPTI_SUCCESS;
}

/* Sizes in bytes; the flags are uint8_t (header). Defaults of CUPTI 13.0. */
static size_t attributes[] = {
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = 3200000,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP] = 8388608,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = 250,
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE] = 25000,
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT] = 250,
	[CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER] = 0,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = 3,
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE] = 3,
	[CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED] = 1,
	/* The real default is 1: there threads have buffers of their own. Here the order of records
         * is that of launches, whichever thread made them, so that recordings are the same each
         * time. */
	[CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER] = 0,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS] = 16777216,
};

static size_t attribute_size(CUpti_ActivityAttribute attribute)
{
	switch ((int)attribute) {
	case CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER:
	case CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED:
	case CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER:
		return sizeof(uint8_t);
	default:
		return sizeof(size_t);
	}
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
	if (!size || !value || (size_t)attribute >= sizeof(attributes) / sizeof(attributes[0]))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*size < attribute_size(attribute))
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	attributes[attribute] = 0;
	memcpy(&attributes[attribute], value, attribute_size(attribute));
	FAKE_TELL("%d=%zu", (int)attribute, attributes[attribute]);
	if (attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER)
		fake_buffers_promise_zeroed(attributes[attribute] != 0);
	if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER)
		fake_buffers_per_thread(attributes[attribute] != 0);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
	if (!size || !value || (size_t)attribute >= sizeof(attributes) / sizeof(attributes[0]))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*size < attribute_size(attribute))
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	memcpy(value, &attributes[attribute], attribute_size(attribute));
	*size = attribute_size(attribute);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
	if (!context || !id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*id = context->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *id)
{
	if (!graph || !id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*id = graph->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
	if (!node || !id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*id = node->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id)
{
	if (!exec || !id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*id = exec->inside->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	if (!context || !id)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*id = (uint32_t)context->device;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	const int named = stream && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD;

	(void)per_thread;
	if (!id || (!context && !named))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*id = named ? stream->id : context->null_stream.id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	FAKE_TELL("%d", (int)type);
	if (type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	atomic_store(&system_thread_ids, type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	FAKE_TELL("%u", enable);
	(void)enable;
	return CUPTI_SUCCESS;
}

/* Blackwell alone has it, once the driver is initialised. */
CUptiResult
cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *configs,
                                           uint32_t count)
{
	if (!configs || !count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t i = 0; i < count; i++)
		FAKE_TELL("kind=%d scope=%d device=%u enable=%u", (int)configs[i].kind,
		          (int)configs[i].scope, configs[i].deviceId, configs[i].enable);
	atomic_store(&unified_configured, 1);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableHWTrace(uint8_t enable)
{
	const struct fake_driver *cuda = atomic_load(&driver);

	FAKE_TELL("%u", enable);
	(void)enable;
	if (!cuda || !cuda->ready())
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (fake_script.hw_trace == 2)
		return CUPTI_ERROR_UNKNOWN;
	return fake_script.hw_trace ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	static const char *const names[] = {
#include "fakes/result_names.inc"
	};

	if (!text)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*text = "<unknown>";
	if ((size_t)result < sizeof(names) / sizeof(names[0]) && names[result])
		*text = names[result];
	return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void)
{
	fake_die("cuptiFinalize was called; the real one crashes or hangs");
}
