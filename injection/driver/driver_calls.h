/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DRIVER_DRIVER_CALLS_H
#define GT_INJECTION_DRIVER_DRIVER_CALLS_H

#include <stddef.h>

struct gt_error;

/*
 * Finding functions of the libcuda that the process has loaded, for structs of pointers to them
 * that are made of a list (device_calls.def, capture_calls.def).
 */
struct gt_driver_call {
	const char *symbol;
	size_t offset; /* of the pointer in the struct */
};

/* 0, or -ENOTSUP with a sentence that begins with without: one of them is not there. Any thread. */
int gt_driver_calls_find(void *functions, const struct gt_driver_call *calls, size_t count,
                         const char *without, struct gt_error *err);

#endif
