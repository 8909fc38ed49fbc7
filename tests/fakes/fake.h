/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_FAKE_H
#define GT_TESTS_FAKES_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>
#include <cupti.h>

/*
 * Shared by the fake libcuda and the fake libcupti: the handles behind CUDA's opaque
 * pointers, and the hooks through which libcuda reports what the program does. The real
 * libraries have such a private channel as well; no program under test may use this one.
 */

/* Work that may wait in a stream; then the call that adds more waits, as with the real driver. */
#define FAKE_QUEUE_DEPTH 1024

struct fake_capture;

/* The nodes that what a stream is given next in a capture has to wait for. */
struct fake_frontier {
	CUgraphNode nodes[64];
	uint32_t count;
};

struct CUstream_st {
	CUcontext context;
	uint32_t id; /* CUPTI's stream id, unique in its context */
	uint32_t flags;
	int priority;
	uint64_t given_ns; /* when the launch came whose nodes are being queued, 0: none; lock */
	uint64_t ready_ns; /* when everything queued so far will have ended; libcuda's lock */
	uint64_t queued;   /* pieces of work so far; libcuda's lock */
	uint64_t ends_ns[FAKE_QUEUE_DEPTH]; /* when the latest of them end, by number */
	struct fake_capture *capture;       /* that it is or was part of; libcuda's lock */
	struct fake_frontier frontier;      /* of that capture; libcuda's lock */
	CUstream next;
};

struct CUctx_st {
	uint32_t id; /* CUPTI's context id, unique in the process */
	CUdevice device;
	struct CUstream_st null_stream;
	uint32_t last_stream; /* id given out last */
	CUstream streams;     /* those created and not yet destroyed */
	CUcontext next;
};

/* The attributes follow from the name alone, so that a test can know them. */
struct CUfunc_st {
	CUmodule module;
	const char *name; /* never freed: CUPTI hands it out in records */
	uint32_t registers;
	uint32_t shared_static_bytes;
	_Atomic uint32_t launches;
	CUfunction next;
};

/* One call of the runtime or driver API; lives on the stack of the thread that makes it. */
struct fake_call {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId cbid;
	const char *name;
	const char *symbol; /* of the kernel, for launches */
	const void *params;
	CUcontext context;
	uint32_t correlation;
	uint64_t correlation_data;
	uint64_t start_ns;
	int result;
	const struct fake_hooks *hooks; /* NULL: nobody was told that it began */
};

/* How the bytes of a copy or fill lie; no rows: on end. */
struct fake_rows {
	size_t rows;
	size_t slices;
	size_t target_pitch;
	size_t source_pitch;
	size_t target_slice_pitch;
	size_t source_slice_pitch;
};

/* One thing a GPU or the driver did; which fields hold depends on the kind. */
struct fake_activity {
	CUpti_ActivityKind kind;
	CUcontext context;
	CUstream stream;
	uint32_t correlation;
	uint64_t start_ns; /* CLOCK_REALTIME */
	uint64_t end_ns;   /* in the future while the GPU is still at it */
	uint32_t graph;
	uint64_t graph_node;
	bool is_uncorrelated; /* CUPTI gives it no correlation id */
	CUfunction function;
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t shared_dynamic_bytes;
	uint64_t bytes;
	uint32_t value;    /* of a fill */
	uint8_t copy_kind; /* CUpti_ActivityMemcpyKind */
	uint8_t src_kind;  /* CUpti_ActivityMemoryKind */
	uint8_t dst_kind;
	uint8_t async;
	uint32_t subkind; /* CUpti_ActivitySynchronizationType or CUpti_ActivityOverheadKind */
	uint32_t event;   /* id of the event waited for */
	CUdevice device;  /* of a device record */
	void *target;     /* of a copy or fill in a graph */
	const void *source;
	struct fake_rows rows;
	uint8_t parameters[64]; /* of a kernel that is known (cuda/kernels.h) */
};

enum { FAKE_NODE_ATTRIBUTES = 16 };

/* A node; those of executable graphs are copies with ids of their own. */
struct CUgraphNode_st {
	uint64_t id;     /* CUPTI's: the graph's id and a number in it */
	uint64_t number; /* of one in an executable graph: what activity calls it */
	CUgraphNodeType type;
	struct fake_activity work; /* of kernels and fills */
	CUhostFn function;         /* of host nodes */
	void *data;
	CUgraph inside;       /* of child graphs and conditional nodes */
	uint64_t times;       /* that its inside runs in a launch */
	CUgraphNode original; /* that it is a copy of */
	CUgraphNode next;     /* in the order they were added */
	CUgraphNode *before;  /* that it waits for, and how */
	CUgraphEdgeData *edges;
	size_t before_count;
	bool disabled;                                           /* of one in an executable graph */
	CUlaunchAttributeValue attributes[FAKE_NODE_ATTRIBUTES]; /* by CUlaunchAttributeID */
	void *arguments[8]; /* where its parameters are, once that was asked for */
};

struct CUgraph_st {
	uint32_t id;
	uint32_t node_count; /* that were ever made */
	CUgraphNode nodes;
};

/* Its id is that of the graph inside of it, as CUPTI has it. */
struct CUgraphExec_st {
	CUgraph inside;
};

/* Events that libcupti wants to hear; called on the thread that makes the API call. */
struct fake_hooks {
	void (*api)(struct fake_call *call, CUpti_ApiCallbackSite site);
	void (*resource)(CUpti_CallbackIdResource cbid, CUcontext context, CUstream stream,
	                 void *descriptor);
	void (*synchronized)(CUpti_CallbackIdSync cbid, CUcontext context, CUstream stream);
	void (*activity)(const struct fake_activity *activity);
};

/* Queries of libcupti to libcuda; both find each other at run time, as neither links the other. */
struct fake_driver {
	int (*ready)(void); /* cuInit has finished */
	int (*device_count)(void);
	void (*each_context)(void (*visit)(CUcontext context));
};

/*
 * Exported by the fake libcuda. attach is called by libcupti when it is loaded; enter and
 * exit are for the runtime layer inside the test programs. exit returns result.
 */
const struct fake_driver *fake_cuda_attach(const struct fake_hooks *hooks);
void fake_cuda_enter(struct fake_call *call, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                     const char *name, const void *params, const char *symbol);
int fake_cuda_exit(struct fake_call *call, int result);

/*
 * For the fake libnvidia-ml, which asks what the GPU does: the time for which anything ran on it
 * until now_ns (CLOCK_REALTIME), and whether something does at that moment. Time that lies
 * between two pieces of work that were queued together counts as busy.
 */
uint64_t fake_cuda_busy_ns(CUdevice device, uint64_t now_ns, int *busy);

/* Exported by the fake libcupti, for a libcuda that is loaded after it. */
const struct fake_hooks *fake_cupti_attach(const struct fake_driver *driver);

/* Attributes of the pretended GPU, an H200; -1 for what it does not know. */
int fake_device_attribute(CUdevice_attribute attribute, CUdevice device);
CUuuid fake_device_uuid(CUdevice device);

uint64_t fake_realtime_ns(void);
_Noreturn __attribute__((format(printf, 1, 2))) void fake_die(const char *fmt, ...);

#define FAKE_DEVICE_NAME  "NVIDIA H200"
#define FAKE_DEVICE_BYTES (UINT64_C(150754820096))

#endif
