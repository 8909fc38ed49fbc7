/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CAPTURE_BUNDLE_H
#define GT_INJECTION_CAPTURE_BUNDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bundle_writer.h"
#include "format/cubin.h"
#include "injection/capture_askers.h"
#include "injection/capture_driver.h"
#include "injection/capture_function.h"
#include "injection/launch_calls.h"
#include "injection/reach.h"

struct gt_error;
struct gt_session;

/*
 * One launch on its way into a bundle: what it launches is read by the thread of the program that
 * makes the call, all else by a thread of ours, while the other one waits.
 */

enum { GT_CAPTURE_STAGING = 8 << 20, GT_CAPTURE_FOREIGN = 512 };

/* Values that the program got from calls, and what launches cannot be captured with them. */
enum gt_foreign_kind { GT_FOREIGN_NONE, GT_FOREIGN_IPC, GT_FOREIGN_TEXTURE, GT_FOREIGN_SURFACE };

struct gt_foreign {
	_Atomic uint64_t value;
	_Atomic uint32_t kind; /* enum gt_foreign_kind */
};

struct gt_launch_capture {
	struct gt_session *session;
	const struct gt_capture_driver *driver;
	const struct gt_foreign *foreign; /* GT_CAPTURE_FOREIGN */
	_Atomic uint64_t *alive_ns;       /* gt_now, whenever it gets on */
	_Atomic bool *abandoned;          /* nobody waits for it any more */
	char folder[192];                 /* name of the bundle's */
	CUcontext context;
	uint32_t correlation;
	uint32_t stream; /* CUPTI's number */
	int stream_priority;
	unsigned stream_flags;
	const char *name; /* of the function, mangled: the driver's */
	uint64_t most;    /* bytes that the bundle may take on disk */
	struct gt_launch_shape launch;
	struct gt_captured_function function;
	/* Of our thread: */
	CUdevice device;
	uint64_t image_hash;
	uint32_t images; /* kept modules that have a function of that name */
	void *image;     /* mapped; NULL: none is */
	size_t image_size;
	struct gt_cubin cubin;
	char image_blob[GT_BUNDLE_HASH_BYTES];
	char block_blob[GT_BUNDLE_HASH_BYTES];
	uint32_t variables_left_out;
	uint64_t bytes; /* that the bundle takes on disk */
	struct gt_bundle_writer writer;
	struct gt_reach reach;
	struct gt_capture_askers askers;
	uint8_t staging[GT_CAPTURE_STAGING];
};

/* The name of the bundle's folder: PID-NUMBER-SHORTNAME, of letters, digits and underscores. */
void gt_capture_folder(char *folder, size_t size, uint64_t number, const char *name);

/*
 * Before the launch and after it: waits for the GPU, copies what it has, writes. Fails in a
 * sentence on why the launch is not captured; nothing of the bundle is left then.
 */
int gt_capture_before(struct gt_launch_capture *capture, struct gt_error *err);
int gt_capture_after(struct gt_launch_capture *capture, struct gt_error *err);
void gt_capture_drop(struct gt_launch_capture *capture);

#endif
