/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_INJECTION_MINI_WAITS_H
#define GT_TESTS_FAKES_INJECTION_MINI_WAITS_H

#include <stdio.h>

#include <cupti.h>

/*
 * Counts of waits in the mini injection: facts by kind, handles that nobody had been told
 * of, and kernels `consume` that began before the kernel `produce` of their turn had ended.
 * The caller keeps threads from calling these at the same time.
 */
void mini_waits_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data);
void mini_waits_kernel(const CUpti_ActivityKernel9 *kernel);
void mini_waits_print(FILE *file);

#endif
