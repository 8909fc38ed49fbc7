/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_PERFETTO_RESULTS_H
#define GT_EXPORTERS_PERFETTO_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_annotation;
struct gt_api_call;
struct gt_names;

/* Annotations beside a call that did not return success. */
struct gt_results {
	struct gt_names *names;
	uint32_t code_name;
	uint32_t result_name;
	uint32_t function_name;
};

void gt_results_init(struct gt_results *results, struct gt_names *names);

/* Whether it returned an error. That the GPU still works, as queries say, is none. */
bool gt_results_failed(const struct gt_api_call *call);

/*
 * "code" is the number, "function" what was called, "result" the name of the number where there is
 * one. Nothing for a call that returned success, or did not return. annotations: room for so many.
 */
enum { GT_RESULT_ANNOTATIONS = 3 };
size_t gt_results_annotate(const struct gt_results *results, const struct gt_api_call *call,
                           struct gt_annotation *annotations);

#endif
