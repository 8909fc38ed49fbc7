/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_REPORTS_ERRORS_XIDS_H
#define GT_ANALYSIS_REPORTS_ERRORS_XIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/trace.h"

/*
 * Xid messages: what NVIDIA's kernel driver wrote into the kernel log of a machine while the
 * program ran, as "NVRM: Xid (PCI:0000:3b:00): 31, pid=4711, name=app, Ch 00000008". gputrace run
 * keeps them as notes (GT_KERNEL_LOG_TOPIC).
 */
struct gt_xid {
	const char *host;    /* its bytes end at ':' */
	const char *message; /* from the kernel's time on; lives as long as the trace */
	uint32_t domain;     /* of the GPU's PCI address, */
	uint32_t bus;
	uint32_t slot;
	uint32_t code;
	int64_t pid;   /* as the kernel numbers processes, -1: it does not say */
	gt_id process; /* that it names; GT_NONE: none that was recorded */
	gt_id device;  /* that it is about; GT_NONE: none that was used */
};

struct gt_xids {
	const struct gt_trace *trace;
	gt_array(struct gt_xid) rows;
};

/* The trace must outlive it. Under a filter it has what is said of the processes that are left. */
void gt_xids_init(struct gt_xids *xids, const struct gt_trace *trace);
void gt_xids_release(struct gt_xids *xids);

/*
 * Whether a message fits an error of a process: it names the process, or a GPU that the process
 * used and no other process that was recorded.
 */
bool gt_xid_fits(const struct gt_xids *xids, const struct gt_xid *xid, gt_id process);

#endif
