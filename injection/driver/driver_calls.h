/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DRIVER_DRIVER_CALLS_H
#define GT_INJECTION_DRIVER_DRIVER_CALLS_H

#include <stdbool.h>
#include <stddef.h>

struct gt_error;

/*
 * Functions of the libcuda that the process has loaded. It is never loaded for this. Any thread.
 *
 * call: where the pointer to the function goes; NULL where libcuda, or the function, is missing.
 */
bool gt_driver_find(const char *symbol, void *call);

/* All functions of a struct of pointers that is made of a list (device_calls.def,
 * capture_calls.def). */
struct gt_driver_call {
	const char *symbol;
	size_t offset; /* of the pointer in the struct */
};

/* 0, or -ENOTSUP with a sentence that begins with without: one of them is not there. */
int gt_driver_calls_find(void *functions, const struct gt_driver_call *calls, size_t count,
                         const char *without, struct gt_error *err);

#endif
