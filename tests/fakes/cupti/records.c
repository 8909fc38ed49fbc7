/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <unistd.h>

#include "fakes/cupti/state.h"

/*
 * Records in the layouts of two generations. Newer structs begin with the fields of the
 * older ones, so one function fills the newest and the version decides how much is written.
 */

/* The first cuptiGetVersion that has a layout; NVIDIA's CUPTI release notes. */
enum { V12_6 = 24, V12_8 = 26, V13_0 = 130000 };

size_t fake_record_size(CUpti_ActivityKind kind)
{
	const uint32_t version = fake_cupti_version();

	switch ((int)kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return version >= V13_0 ? sizeof(CUpti_ActivityKernel10)
		                        : sizeof(CUpti_ActivityKernel9);
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return version >= V12_8 ? sizeof(CUpti_ActivityMemcpy6)
		                        : sizeof(CUpti_ActivityMemcpy5);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return sizeof(CUpti_ActivityMemset4);
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_DEVICE:
		return version >= V12_6 ? sizeof(CUpti_ActivityDevice5)
		                        : sizeof(CUpti_ActivityDevice4);
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		return version >= V12_6 ? sizeof(CUpti_ActivityContext3)
		                        : sizeof(CUpti_ActivityContext2);
	case CUPTI_ACTIVITY_KIND_STREAM:
		return sizeof(CUpti_ActivityStream);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return version >= V12_8 ? sizeof(CUpti_ActivitySynchronization2)
		                        : sizeof(CUpti_ActivitySynchronization);
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return sizeof(CUpti_ActivityOverhead3);
	case CUPTI_ACTIVITY_KIND_JIT:
		return sizeof(CUpti_ActivityJit2);
	case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		return version >= V13_0 ? sizeof(CUpti_ActivityUnifiedMemoryCounter3)
		                        : sizeof(CUpti_ActivityUnifiedMemoryCounter2);
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return version >= V12_8 ? sizeof(CUpti_ActivityGraphTrace2)
		                        : sizeof(CUpti_ActivityGraphTrace);
	default:
		return 0;
	}
}

static void add_kernel(const struct fake_activity *activity)
{
	CUpti_ActivityKernel10 record = {
		.kind = activity->kind,
		.registersPerThread = (uint16_t)activity->function->registers,
		.deviceId = (uint32_t)activity->context->device,
		.contextId = activity->context->id,
		.streamId = activity->stream->id,
		.gridX = (int32_t)activity->grid[0],
		.gridY = (int32_t)activity->grid[1],
		.gridZ = (int32_t)activity->grid[2],
		.blockX = (int32_t)activity->block[0],
		.blockY = (int32_t)activity->block[1],
		.blockZ = (int32_t)activity->block[2],
		.staticSharedMemory = (int32_t)activity->function->shared_static_bytes,
		.dynamicSharedMemory = (int32_t)activity->shared_dynamic_bytes,
		.correlationId = activity->correlation,
		.gridId = activity->function->launches,
		.name = activity->function->name,
		.launchType = CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR,
		.sharedMemoryExecuted = 32768, /* smallest carve-out of an H200 that is not 0 */
		.graphNodeId = activity->graph_node,
		.graphId = activity->graph,
		.channelID = 8,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
	};

	fake_buffers_add(&record, fake_record_size(activity->kind),
	                 offsetof(CUpti_ActivityKernel10, start), activity->start_ns,
	                 activity->end_ns);
}

static void add_copy(const struct fake_activity *activity)
{
	CUpti_ActivityMemcpy6 record = {
		.kind = activity->kind,
		.copyKind = activity->copy_kind,
		.srcKind = activity->src_kind,
		.dstKind = activity->dst_kind,
		.flags = activity->async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = activity->bytes,
		.deviceId = (uint32_t)activity->context->device,
		.contextId = activity->context->id,
		.streamId = activity->stream->id,
		.correlationId = activity->correlation,
		.graphNodeId = activity->graph_node,
		.graphId = activity->graph,
		.channelID = 9,
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
		.copyCount = 1,
	};

	fake_buffers_add(&record, fake_record_size(activity->kind),
	                 offsetof(CUpti_ActivityMemcpy6, start), activity->start_ns,
	                 activity->end_ns);
}

static void add_fill(const struct fake_activity *activity)
{
	CUpti_ActivityMemset4 record = {
		.kind = activity->kind,
		.value = activity->value,
		.bytes = activity->bytes,
		.deviceId = (uint32_t)activity->context->device,
		.contextId = activity->context->id,
		.streamId = activity->stream->id,
		.correlationId = activity->correlation,
		.flags = activity->async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0,
		.memoryKind = activity->dst_kind,
		.graphNodeId = activity->graph_node,
		.graphId = activity->graph,
		.channelID = 8,
		.channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
	};

	fake_buffers_add(&record, fake_record_size(activity->kind),
	                 offsetof(CUpti_ActivityMemset4, start), activity->start_ns,
	                 activity->end_ns);
}

static void add_sync(const struct fake_activity *activity)
{
	CUpti_ActivitySynchronization2 record = {
		.kind = activity->kind,
		.type = (CUpti_ActivitySynchronizationType)activity->subkind,
		.start = fake_cupti_time(activity->start_ns),
		.end = fake_cupti_time(activity->end_ns),
		.correlationId = activity->correlation,
		.contextId = activity->context->id,
		.streamId = activity->stream ? activity->stream->id
	                                     : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		.cudaEventId =
			activity->event ? activity->event : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
	};

	fake_buffers_add(&record, fake_record_size(activity->kind), 0, 0, 0);
}

static void add_overhead(const struct fake_activity *activity)
{
	CUpti_ActivityOverhead3 record = {
		.kind = activity->kind,
		.overheadKind = (CUpti_ActivityOverheadKind)activity->subkind,
		.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
		.objectId.pt.processId = (uint32_t)getpid(),
		.objectId.pt.threadId = (uint32_t)fake_cupti_thread_id(),
		.start = fake_cupti_time(activity->start_ns),
		.end = fake_cupti_time(activity->end_ns),
		.correlationId = activity->correlation,
	};

	fake_buffers_add(&record, fake_record_size(activity->kind), 0, 0, 0);
}

static void add_jit(const struct fake_activity *activity)
{
	CUpti_ActivityJit2 record = {
		.kind = activity->kind,
		.jitEntryType = (CUpti_ActivityJitEntryType)activity->value,
		.jitOperationType = (CUpti_ActivityJitOperationType)activity->subkind,
		.deviceId = (uint32_t)activity->context->device,
		.start = fake_cupti_time(activity->start_ns),
		.end = fake_cupti_time(activity->end_ns),
		.correlationId = activity->correlation,
		.jitOperationCorrelationId = activity->correlation,
		.cacheSize = activity->bytes,
		.cachePath = "/cache/0/1/fake.cubin",
		.processId = (uint32_t)getpid(),
		.threadId = (uint32_t)fake_cupti_thread_id(),
	};

	fake_buffers_add(&record, fake_record_size(activity->kind), 0, 0, 0);
}

static void add_unified(const struct fake_activity *activity)
{
	CUpti_ActivityUnifiedMemoryCounter3 record = {
		.kind = activity->kind,
		.counterKind = (CUpti_ActivityUnifiedMemoryCounterKind)activity->subkind,
		.value = activity->bytes,
		.start = fake_cupti_time(activity->start_ns),
		.end = activity->end_ns ? fake_cupti_time(activity->end_ns) : 0,
		.address = activity->graph_node,
		.processId = (uint32_t)getpid(),
		.flags = activity->value,
	};

	fake_buffers_add(&record, fake_record_size(activity->kind), 0, 0, 0);
}

static void add_graph_trace(const struct fake_activity *activity)
{
	CUpti_ActivityGraphTrace2 record = {
		.kind = activity->kind,
		.correlationId = activity->correlation,
		.deviceId = (uint32_t)activity->context->device,
		.graphId = activity->graph,
		.contextId = activity->context->id,
		.streamId = activity->stream->id,
		.endDeviceId = (uint32_t)activity->context->device,
		.endContextId = activity->context->id,
	};

	fake_buffers_add(&record, fake_record_size(activity->kind),
	                 offsetof(CUpti_ActivityGraphTrace2, start), activity->start_ns,
	                 activity->end_ns);
}

static void add_context(const struct fake_activity *activity)
{
	CUpti_ActivityContext3 record = {
		.kind = activity->kind,
		.contextId = activity->context->id,
		.deviceId = (uint32_t)activity->context->device,
		.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA,
		.nullStreamId = (uint16_t)activity->context->null_stream.id,
		.numMultiprocessors = (uint16_t)fake_device_attribute(
			CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, activity->context->device),
	};

	fake_buffers_add(&record, fake_record_size(activity->kind), 0, 0, 0);
}

static void add_stream(const struct fake_activity *activity)
{
	const CUstream stream = activity->stream;
	const int null = stream == &activity->context->null_stream;
	CUpti_ActivityStream record = {
		.kind = activity->kind,
		.contextId = activity->context->id,
		.streamId = stream->id,
		.priority = (uint32_t)stream->priority,
		.correlationId = activity->correlation,
	};

	record.flag = null ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL
	              : stream->flags & CU_STREAM_NON_BLOCKING
	                      ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
	                      : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
	fake_buffers_add(&record, fake_record_size(activity->kind), 0, 0, 0);
}

#define ATTRIBUTE(name) ((uint32_t)fake_device_attribute(CU_DEVICE_ATTRIBUTE_##name, device))

static void add_device(const struct fake_activity *activity)
{
	const CUdevice device = activity->device;
	CUpti_ActivityDevice5 record = {
		.kind = activity->kind,
		.flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS,
		.globalMemorySize = FAKE_DEVICE_BYTES,
		.constantMemorySize = ATTRIBUTE(TOTAL_CONSTANT_MEMORY),
		.l2CacheSize = ATTRIBUTE(L2_CACHE_SIZE),
		.numThreadsPerWarp = ATTRIBUTE(WARP_SIZE),
		.coreClockRate = ATTRIBUTE(CLOCK_RATE),
		.numMemcpyEngines = ATTRIBUTE(ASYNC_ENGINE_COUNT),
		.numMultiprocessors = ATTRIBUTE(MULTIPROCESSOR_COUNT),
		.maxWarpsPerMultiprocessor =
			ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR) / ATTRIBUTE(WARP_SIZE),
		.maxBlocksPerMultiprocessor = ATTRIBUTE(MAX_BLOCKS_PER_MULTIPROCESSOR),
		.maxSharedMemoryPerMultiprocessor = ATTRIBUTE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
		.maxRegistersPerMultiprocessor = ATTRIBUTE(MAX_REGISTERS_PER_MULTIPROCESSOR),
		.maxRegistersPerBlock = ATTRIBUTE(MAX_REGISTERS_PER_BLOCK),
		.maxSharedMemoryPerBlock = ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK),
		.maxThreadsPerBlock = ATTRIBUTE(MAX_THREADS_PER_BLOCK),
		.maxBlockDimX = ATTRIBUTE(MAX_BLOCK_DIM_X),
		.maxBlockDimY = ATTRIBUTE(MAX_BLOCK_DIM_Y),
		.maxBlockDimZ = ATTRIBUTE(MAX_BLOCK_DIM_Z),
		.maxGridDimX = ATTRIBUTE(MAX_GRID_DIM_X),
		.maxGridDimY = ATTRIBUTE(MAX_GRID_DIM_Y),
		.maxGridDimZ = ATTRIBUTE(MAX_GRID_DIM_Z),
		.computeCapabilityMajor = ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR),
		.computeCapabilityMinor = ATTRIBUTE(COMPUTE_CAPABILITY_MINOR),
		.id = (uint32_t)device,
		.eccEnabled = ATTRIBUTE(ECC_ENABLED),
		.uuid = fake_device_uuid(device),
		.name = FAKE_DEVICE_NAME,
		.isCudaVisible = 1,
	};

	/* kilobytes a second, both edges of the clock (header: "kBytes/sec") */
	record.globalMemoryBandwidth =
		(uint64_t)ATTRIBUTE(MEMORY_CLOCK_RATE) * 2 * ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH) / 8;
	fake_buffers_add(&record, fake_record_size(activity->kind), 0, 0, 0);
}

void fake_record_activity(const struct fake_activity *activity)
{
	struct fake_activity replayed = *activity;

	if (activity->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fake_range_launch &&
	    fake_range_launch(activity)) {
		replayed.start_ns = replayed.end_ns = FAKE_NEVER;
		activity = &replayed;
	}
	if (!fake_cupti_enabled(activity->kind))
		return;
	/* A graph as a whole, or node by node. */
	if (activity->graph && activity->kind != CUPTI_ACTIVITY_KIND_GRAPH_TRACE &&
	    fake_cupti_enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))
		return;
	switch ((int)activity->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		add_kernel(activity);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		add_copy(activity);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		add_fill(activity);
		break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		add_sync(activity);
		break;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		add_overhead(activity);
		break;
	case CUPTI_ACTIVITY_KIND_JIT:
		add_jit(activity);
		break;
	case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		add_unified(activity);
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		add_graph_trace(activity);
		break;
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		add_context(activity);
		break;
	case CUPTI_ACTIVITY_KIND_STREAM:
		add_stream(activity);
		break;
	case CUPTI_ACTIVITY_KIND_DEVICE:
		add_device(activity);
		break;
	default:
		fake_die("no records of kind %d", (int)activity->kind);
	}
}

void fake_record_api(const struct fake_call *call, uint64_t end_ns)
{
	const CUpti_ActivityKind kind = call->domain == CUPTI_CB_DOMAIN_RUNTIME_API
	                                        ? CUPTI_ACTIVITY_KIND_RUNTIME
	                                        : CUPTI_ACTIVITY_KIND_DRIVER;
	const CUpti_ActivityAPI record = {
		.kind = kind,
		.cbid = call->cbid,
		.start = fake_cupti_time(call->start_ns),
		.end = fake_cupti_time(end_ns),
		.processId = (uint32_t)getpid(),
		.threadId = (uint32_t)fake_cupti_thread_id(),
		.correlationId = call->correlation,
		.returnValue = (uint32_t)call->result,
	};

	if (fake_cupti_enabled(kind))
		fake_buffers_add(&record, sizeof(record), 0, 0, 0);
}
