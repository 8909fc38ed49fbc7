/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_CUDA_STATE_H
#define GT_TESTS_FAKES_CUDA_STATE_H

#include <pthread.h>

#include "fakes/cuda/calls.h"
#include "fakes/fake.h"
#include "fakes/script.h"

/* Shared by the files of the fake libcuda. */

struct fake_busy {
	uint64_t before_ns; /* busy time before from_ns */
	uint64_t from_ns;   /* the last time without a gap; until_ns may be in the future */
	uint64_t until_ns;
	struct {
		uint64_t from_ns;
		uint64_t until_ns;
	} * past; /* those before it, in order */
	size_t past_count;
};

struct fake_cuda {
	pthread_mutex_t lock; /* contexts, streams, times, allocations, modules, graphs */
	struct fake_script script;
	const struct fake_hooks *_Atomic hooks; /* NULL until libcupti is there */
	_Atomic int ready;
	_Atomic int fault;  /* a kernel reached for memory that is not there: nothing works */
	_Atomic int forked; /* the process is a child of one that used CUDA: nothing works */
	_Atomic uint32_t correlation;
	CUcontext contexts;
	CUcontext primary[8];
	uint32_t last_context;
	struct fake_busy busy[8]; /* by device */
};

extern struct fake_cuda fake_cuda;

/* The context current to the thread. */
CUcontext fake_context(void);

/* NULL and the special handles are the context's default stream. Fails for a stale handle. */
CUresult fake_stream(CUstream handle, CUstream *stream);

/*
 * Queues work of so many nanoseconds on the stream, at least delay after now, and fills in
 * start and end. All streams of a context run beside each other. Waits while the stream is full.
 */
void fake_queue(CUstream stream, uint64_t delay_ns, uint64_t duration_ns,
                struct fake_activity *activity);

/* Until an instant has come and the host's functions that were to end by then have returned. */
void fake_wait_until(uint64_t end_ns);
int fake_has_passed(uint64_t end_ns);

/* Until everything queued in the current context has ended. */
void fake_wait_for_context(void);

/* memory.c: memory of a kind, and its end; nothing ends with an address of 0. */
CUresult fake_allocate(size_t size, CUpti_ActivityMemoryKind kind, void **address);
CUresult fake_release(void *address, CUpti_ActivityMemoryKind kind);

/* Memory that somebody else took counts as of that kind, until it is disowned: was there such? */
void fake_adopt(void *address, size_t size, CUpti_ActivityMemoryKind kind);
int fake_disown(const void *address, CUpti_ActivityMemoryKind kind);

/* PAGEABLE for memory that CUDA did not hand out, UNKNOWN for a range that sticks out. */
CUpti_ActivityMemoryKind fake_kind_of(const void *address, size_t size);

/* The memory that an address lies in; 0: CUDA has none there. */
struct fake_memory {
	CUdeviceptr address;
	size_t size;
	CUpti_ActivityMemoryKind kind;
	int managed;
	CUdevice device;
	unsigned number; /* in the order in which all were made */
};
int fake_find_memory(CUdeviceptr address, struct fake_memory *found);

/* sync.c: the host's functions that should have returned by then, and have not. */
int fake_host_pending(uint64_t end_ns);
void fake_host_wait(uint64_t end_ns);

/* capture.c: what the stream is being captured into; NULL: nothing, work runs. */
struct fake_capture *fake_capture_of(CUstream stream);
CUgraph fake_capture_graph(const struct fake_capture *capture);

/* The stream is to wait for an event of a capture, NULL: of none. Takes it into that capture. */
CUresult fake_capture_join(CUstream stream, struct fake_capture *of_event);

/* memory.c: where memory is that a box is copied from or to. */
CUdeviceptr fake_side_of(CUmemorytype type, const void *host, CUdeviceptr device);

/* memory.c: how long a copy or fill takes, which makes it. */
uint64_t fake_copy_ns(const struct fake_activity *copy);
void fake_make(const struct fake_activity *work);

/* launch.c: queues a kernel and tells libcupti of it. */
void fake_run_kernel(CUstream stream, struct fake_activity *kernel);

/* graph.c: an empty graph, which libcupti hears of. */
CUgraph fake_graph_new(void);

/* A launch into a stream that is being captured: a node after all that the stream had before. */
void fake_graph_capture(CUgraph graph, CUstream stream, const struct fake_activity *kernel);

/* The same of a copy or fill. */
void fake_graph_capture_work(CUgraph graph, CUstream stream, CUgraphNodeType type,
                             const struct fake_activity *work);

/* The same of a call that allocates or frees memory: type of its node. */
void fake_graph_capture_memory(CUgraph graph, CUstream stream, CUgraphNodeType type);

/* The next work of the stream also comes after these. */
void fake_frontier_join(struct fake_frontier *frontier, const struct fake_frontier *other);

/* pools.c: an address of a node, and what happens when memory that may be of a pool is freed. */
CUdeviceptr fake_graph_address(size_t size);
CUmemoryPool fake_pool_of(CUdeviceptr address); /* NULL: the memory is of none */
void fake_pool_take_back(const void *address);

/* modules.c: what happens at the first launch of a function. */
void fake_function_load(CUfunction function, CUcontext context);

/* Tells libcupti, with the correlation id of the call the thread is in. */
void fake_tell(struct fake_activity *activity);
void fake_tell_resource(CUpti_CallbackIdResource cbid, CUcontext context, CUstream stream,
                        void *descriptor);
void fake_tell_sync(CUpti_ActivitySynchronizationType type, CUstream stream, uint32_t event,
                    uint64_t start_ns);

/* Answer of every call before it looks at its arguments. */
CUresult fake_usable(void);

/* The same of calls that a script can have fail. */
CUresult fake_usable_for(enum fake_cuda_failure call);

/* The function behind a handle of a function, or of a kernel of no context: that and one. */
CUfunction fake_function(CUfunction handle);

/* modules.c: what gputrace's kernel for the clock leaves at the address that it was given. */
void fake_run_time_kernel(const struct fake_activity *kernel, void **arguments);

/* Begins and ends a call of the driver API whose parameters the toolkit describes. */
#define API_BEGIN(function, ...)                                                                   \
	function##_params params = {__VA_ARGS__};                                                  \
	struct fake_call call;                                                                     \
	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##function,     \
	                #function, &params, NULL);                                                 \
	FAKE_CALLS_LOG(&call, #function, __VA_ARGS__)
#define API_END(result) return (CUresult)fake_cuda_exit(&call, (int)(result))

#endif
