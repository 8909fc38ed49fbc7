/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_SNAPSHOT_BUNDLE_CAPTURE_H
#define GT_INJECTION_SNAPSHOT_BUNDLE_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bundle/writer.h"
#include "format/cubin.h"
#include "injection/driver/capture_driver.h"
#include "injection/snapshot/launch/function.h"
#include "injection/snapshot/launch/lists.h"
#include "injection/snapshot/memory/askers.h"
#include "injection/snapshot/memory/foreign.h"
#include "injection/snapshot/memory/host_writes.h"
#include "injection/snapshot/memory/objects.h"
#include "injection/snapshot/memory/reach.h"
#include "injection/snapshot/memory/segments.h"

struct gt_error;
struct gt_session;

/*
 * A launch, or a sequence of steps, on its way into a bundle: what a call asks for is read by the
 * thread of the program that makes it, all else by a thread of ours, while the other one waits.
 */

enum {
	GT_CAPTURE_STAGING = 8 << 20,
	GT_CAPTURE_RESCAN =
		4 << 20, /* memory of a later launch that is looked at for new pointers */
};

/* Memory that a call is to free; 0 bytes: all that is at the address. */
struct gt_freed {
	uint64_t address;
	uint64_t bytes;
};

struct gt_launch_capture {
	struct gt_session *session;
	const struct gt_capture_driver *driver;
	const struct gt_foreign *foreign;
	_Atomic uint64_t *alive_ns; /* gt_now, whenever it gets on */
	_Atomic bool *abandoned;    /* nobody waits for it any more */
	char folder[192];           /* name of the bundle's */
	const char *range;          /* that each step is told to be in */
	uint64_t most;              /* bytes that the bundle may take on disk */
	CUcontext context;
	bool has_focus; /* it is captured for one of its steps: */
	uint32_t focus;
	/* The step that comes next, of its lists but what our thread finds out: */
	struct gt_capture_step step;
	struct gt_captured_function function; /* that it launches, */
	const char *name;                     /* mangled: the driver's */
	struct gt_freed freed;                /* by the call that is next */
	/* Our thread's: */
	CUdevice device;
	uint64_t image_hash; /* of the kept file */
	uint32_t images;     /* kept modules that have a function of that name */
	void *image;         /* mapped; NULL: none is, or it is one of the lists' */
	size_t image_size;
	struct gt_cubin cubin;
	uint32_t variables_left_out;
	uint32_t kept;        /* memory of reach whose contents before are in the bundle */
	uint32_t arrays_kept; /* the same of the arrays of objects */
	int64_t local_bytes;  /* the most that a launch needs */
	uint64_t bytes;       /* that the bundle takes on disk */
	struct gt_capture_lists lists;
	struct gt_bundle_writer writer;
	struct gt_reach reach;
	struct gt_capture_objects objects;
	struct gt_capture_askers askers;
	struct gt_host_writes host_writes; /* of a sequence, */
	struct gt_segments segments;       /* and these */
	uint8_t staging[GT_CAPTURE_STAGING];
};

/* The name of the bundle's folder: PID-NUMBER-SHORTNAME, of letters, digits and underscores. */
void gt_capture_folder(char *folder, size_t size, uint64_t number, const char *name);

/* A sign of life of our thread, for the program's that waits for it. */
void gt_capture_get_on(const struct gt_launch_capture *capture);

/* Fails where nobody waits for it any more. */
int gt_capture_check_wanted(const struct gt_launch_capture *capture, struct gt_error *err);

/* Until the GPU has nothing to do; when: what is said of a failure that it tells of. */
int gt_capture_wait_for_device(const struct gt_launch_capture *capture, const char *when,
                               struct gt_error *err);

/* A number that the driver has of the GPU; 0: it has none. */
int gt_capture_device_attribute(const struct gt_launch_capture *capture,
                                CUdevice_attribute attribute);

#endif
