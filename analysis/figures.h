/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_FIGURES_H
#define GT_ANALYSIS_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "model/trace.h"

/* Figures and names that several reports show, worked out in one way. */

struct gt_ranges;
struct gt_result;

/* A count inside a sentence, digits in groups of three as the tables show them: 1,234,567. */
struct gt_figure gt_grouped(uint64_t count);

/* Both are NAN when there is nothing to divide by. */
double gt_percent(double part, double whole);
double gt_bytes_per_second(double bytes, double duration_ns);

/* Whether the processes ran on several machines: then names say on which. */
bool gt_several_hosts(const struct gt_trace *trace);

/*
 * Cells of a result. "0: NVIDIA H200"; with several hosts in the trace, "host 0: NVIDIA H200".
 * Names that the program gave stand behind those of model/naming/labels.h.
 */
void gt_add_device(struct gt_result *result, const struct gt_trace *trace, gt_id device);

/* "GPU 0"; with several hosts in the trace, "host GPU 0". The device must exist. */
void gt_add_device_number(struct gt_result *result, const struct gt_trace *trace, gt_id device);

/* "7", CUPTI's number of the stream, or "7: copies"; with several GPUs "7 of GPU 1". */
void gt_add_stream(struct gt_result *result, const struct gt_trace *trace, gt_id stream);

/* "app (4711)", with several hosts "host app (4711)". */
void gt_add_process(struct gt_result *result, const struct gt_trace *trace, gt_id process);

/* "worker (4712)"; unknown where it is not known. */
void gt_add_thread(struct gt_result *result, const struct gt_trace *trace, gt_id thread);

/* "train/step", the path of an NVTX range; unknown where there is none. */
void gt_add_range(struct gt_result *result, const struct gt_ranges *ranges, gt_id range);

/* A text of the trace; unknown when it is empty. */
void gt_add_string(struct gt_result *result, const struct gt_trace *trace, gt_string text);

/* A mean or deviation in whole nanoseconds; unknown when it is NAN. */
void gt_add_rounded(struct gt_result *result, double ns);

/* Bytes that are a mean or a sum; unknown when they are NAN or no count can hold them. */
void gt_add_bytes(struct gt_result *result, double bytes);

/* A moment as the recording counts it: nanoseconds since it began. */
void gt_add_moment(struct gt_result *result, const struct gt_trace *trace, gt_time time);

/* Says that there are no kernels in the trace, and what there is of graphs instead. */
void gt_remark_no_kernels(struct gt_result *result, const struct gt_trace *trace);

/* Why there are no API calls in the trace, as the beginning of a sentence: recorded, or chosen. */
const char *gt_no_calls(const struct gt_trace *trace);

/* The name of gt_copy_host_memory; unknown when it is 0. */
void gt_add_host_memory(struct gt_result *result, uint32_t kind);

/*
 * Whether a call returned an error (gt_result_failed). "Not ready" is what a query answers while
 * the GPU still works (cudaErrorNotReady and CUDA_ERROR_NOT_READY are both 600): no error.
 */
enum { GT_RESULT_NOT_READY = 600 };
bool gt_api_failed(const struct gt_api_call *call);

/* The process of an API call; GT_NONE when its thread is not known. */
gt_id gt_api_process(const struct gt_trace *trace, gt_id api_call);

/* The device of a stream's context; GT_NONE when that is not known. */
gt_id gt_stream_device(const struct gt_trace *trace, gt_id stream);

#endif
