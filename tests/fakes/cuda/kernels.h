/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_TESTS_FAKES_CUDA_KERNELS_H
#define GT_TESTS_FAKES_CUDA_KERNELS_H

#include "fakes/cuda/state.h"

/*
 * Kernels that are known by their names, and that really do what they are for, on the host's memory
 * that is the device's. All others take time and do nothing.
 */

enum { FAKE_MOST_PARAMETERS = 6 };

struct fake_known_kernel {
	const char *name;
	uint8_t sizes[FAKE_MOST_PARAMETERS]; /* bytes of its parameters; 0: behind the last */
	void (*run)(const struct fake_activity *kernel);
};

/* NULL: it is not known. */
const struct fake_known_kernel *fake_known_kernel(const char *name);

/* Where a parameter is in the block; false: there is none of that number. */
int fake_parameter(const struct fake_known_kernel *kernel, size_t index, size_t *offset,
                   size_t *size);

/*
 * Takes the parameters of a launch, as cuLaunchKernel gets them. False: they are fewer bytes than
 * the kernel has.
 */
int fake_take_parameters(struct fake_activity *kernel, void **arguments, void **extra);

/* Does the kernel's work; returns its share of a kernel's time: 1 but for some of those
 * whose work depends on memory. */
double fake_run_known(const struct fake_activity *kernel);

/*
 * A variable of a module: a symbol of its cubin, or of an image that is a text with a line "variable
 * NAME BYTES"; NULL: it has none of that name. It begins as zeros, and goes with the module.
 */
void *fake_variable(CUmodule module, const char *name, size_t *size);
void fake_variables_drop(CUmodule module);

/* modules.c: the image of a module, which ends with 0. */
const char *fake_module_image(CUmodule module);

#endif
