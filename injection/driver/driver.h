/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_DRIVER_DRIVER_H
#define GT_INJECTION_DRIVER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>

/*
 * The CUDA driver's facts about the GPUs that the process may use: its own functions, found in the
 * libcuda that the process has loaded. Where nothing else is said they are called on threads of
 * ours alone, once CUDA is up.
 */
struct gt_driver {
	CUresult (*count)(int *count);
	CUresult (*get)(CUdevice *device, int ordinal);
	CUresult (*name)(char *name, int size, CUdevice device);
	CUresult (*uuid)(CUuuid *uuid, CUdevice device);
	CUresult (*pci)(char *text, int size, CUdevice device);
	CUresult (*memory)(size_t *bytes, CUdevice device);
	CUresult (*attribute)(int *value, CUdevice_attribute attribute, CUdevice device);
};

/* False when one of them is not there. */
bool gt_driver_open(struct gt_driver *driver);

/* Asked inside of a program's call, on its thread, about the context that is current there. */
struct gt_driver_current {
	CUresult (*device)(CUdevice *device);
	CUresult (*memory)(size_t *left_bytes, size_t *total_bytes);
};

/* Likewise; on a thread of ours. */
bool gt_driver_open_current(struct gt_driver_current *driver);

#define GT_UUID_BYTES 48 /* enough for one as text */

/* GPU- and so on, as nvidia-smi prints it. */
void gt_driver_uuid_text(const CUuuid *uuid, char text[GT_UUID_BYTES]);

/* The same of a device; false when the driver does not tell. */
bool gt_driver_uuid(const struct gt_driver *driver, CUdevice device, char text[GT_UUID_BYTES]);

#endif
