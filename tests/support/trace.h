/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_SUPPORT_TRACE_H
#define GT_TESTS_SUPPORT_TRACE_H

#include "model/trace.h"

/*
 * Builds traces in a few lines. Every function adds one row and returns its number, or a
 * pointer that is valid until the next row of that table, for what the arguments do not cover.
 * Rows with times must be added in order of their start, as the collector leaves them; moments
 * are nanoseconds since the recording began.
 */

#define TRACE_START_NS 1000000 /* when the recording begins, so that moments are not times */

/* An empty trace that lasts so long. */
void trace_init(struct gt_trace *trace, gt_time duration_ns);

gt_id trace_process(struct gt_trace *trace, const char *name, gt_count pid);
gt_id trace_thread(struct gt_trace *trace, gt_id process, gt_count tid);

/* A GPU with all the figures of an NVIDIA H200. */
gt_id trace_device(struct gt_trace *trace);

/* With a context of its own. */
gt_id trace_stream(struct gt_trace *trace, gt_id process, gt_id device);

/* A kernel of so many blocks of so many threads that uses 32 registers. */
gt_id trace_shape(struct gt_trace *trace, const char *name, gt_count blocks, gt_count threads);

struct gt_kernel *trace_kernel(struct gt_trace *trace, gt_id stream, gt_id shape, gt_time start_ns,
                               gt_time end_ns);

/* One that had begun when its process ended. */
struct gt_kernel *trace_unfinished_kernel(struct gt_trace *trace, gt_id stream, gt_id shape);

/* enum gt_copy_kind; the kinds of memory are pinned where that is the host's, else device. */
struct gt_copy *trace_copy(struct gt_trace *trace, gt_id stream, gt_count kind, gt_size bytes,
                           gt_time start_ns, gt_time end_ns);

struct gt_fill *trace_fill(struct gt_trace *trace, gt_id stream, gt_size bytes, gt_time start_ns,
                           gt_time end_ns);

/* A successful call of the runtime API; its kind is told from the name as far as tests need. */
gt_id trace_call(struct gt_trace *trace, gt_id thread, const char *function, gt_time start_ns,
                 gt_time end_ns);

/* The same on the thread of an NVTX range, the innermost that is open there. */
gt_id trace_call_in(struct gt_trace *trace, gt_id range, const char *function, gt_time start_ns,
                    gt_time end_ns);

/* A node that a call made while its stream was captured into a graph. */
gt_id trace_node(struct gt_trace *trace, gt_id process, gt_id api_call);

gt_id trace_domain(struct gt_trace *trace, gt_id process, const char *name);

/* An NVTX range of the default domain inside another one, or in GT_NONE. */
gt_id trace_range(struct gt_trace *trace, gt_id thread, gt_id parent, const char *name,
                  gt_time start_ns, gt_time end_ns);

/* range: the innermost that is open on the thread, GT_NONE for none. */
struct gt_mark *trace_mark(struct gt_trace *trace, gt_id thread, gt_id range, const char *name,
                           gt_time start_ns);

/*
 * A counter of a device, in a series of its own: values, NAN where nothing was measured, so many
 * nanoseconds apart from that moment on.
 */
void trace_counter(struct gt_trace *trace, gt_id device, const char *name, gt_count kind,
                   gt_time start_ns, gt_time step_ns, const double *values, size_t count);

/* A column of samples; values of each. */
struct trace_column {
	const char *name;
	const char *unit;
	gt_count kind; /* enum gt_counter_kind */
	const double *values;
};

/*
 * Hardware counters of a device in one series, sample_ns before them: samples one behind the other
 * from that moment on. Returns the row of counters of sample_ns.
 */
gt_id trace_sampled(struct gt_trace *trace, gt_id device, gt_time start_ns, gt_time step_ns,
                    const struct trace_column *columns, size_t column_count, size_t count);

/* An API call's request about memory, also one that failed. kind: enum gt_memory_call_kind. */
struct gt_memory_call *trace_memory_call(struct gt_trace *trace, gt_id api_call, gt_count kind,
                                         gt_size bytes, gt_code result);

/*
 * Memory that an API call took; end_ns 0: it was never freed. device GT_NONE: the host's. There
 * when the call returned.
 */
struct gt_allocation *trace_allocation(struct gt_trace *trace, gt_id api_call, gt_id device,
                                       gt_count kind, gt_size bytes, gt_time end_ns);

gt_id trace_pool(struct gt_trace *trace, gt_id process, gt_id device, const char *name);

/* end_ns 0: it was never given back. */
struct gt_pool_block *trace_block(struct gt_trace *trace, gt_id pool, gt_size bytes,
                                  gt_time start_ns, gt_time end_ns);

/* A NUMA node of the machine, with processors of its own. */
gt_id trace_numa_node(struct gt_trace *trace, gt_count number);

/*
 * What NVML says of a GPU of the machine, numbered in order: PCIe 5.0 x16, no NVLinks. device
 * GT_NONE: nobody used it. path: bridges above it.
 */
gt_id trace_pci_gpu(struct gt_trace *trace, gt_id device, gt_id numa_node, const char *path);

/* How two of these reach each other: over so many NVLinks of 25 GB/s, or PCIe alone. */
struct gt_gpu_pair *trace_gpu_pair(struct gt_trace *trace, gt_id from, gt_id to, gt_code nvlinks);

/*
 * Event of a thread of a kernel; kind: enum gt_device_kind. Values and the range around it are
 * filled in by the caller; a multiprocessor has the blocks whose number, modulo four, it is.
 */
struct gt_device_event *trace_device_event(struct gt_trace *trace, gt_id kernel, gt_count kind,
                                           const char *name, gt_count block, gt_time start_ns,
                                           gt_time end_ns);

/* That times of such events are off by so much at most, and the clock goes on by so much. */
void trace_device_clock(struct gt_trace *trace, gt_id device, gt_wide bound_ns, gt_count step_ns);

void trace_ledger(struct gt_trace *trace, gt_id process, const char *name, gt_wide value);

#endif
