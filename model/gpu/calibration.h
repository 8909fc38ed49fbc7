/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_GPU_CALIBRATION_H
#define GT_MODEL_GPU_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/gpu/ceilings.h"

struct gt_error;

/*
 * Measurements of a GPU by gputrace calibrate, and their file: JSON with one or more GPUs. It lies
 * in the user's data folder, in recordings, and in gputrace itself for GPUs of the same model.
 */

#define GT_CALIBRATION_VERSION   1         /* of the file's format */
#define GT_CALIBRATION_MOST_SIZE (1 << 20) /* of a file, in bytes */

/* One ceiling, measured or not. */
struct gt_calibrated {
	enum gt_ceiling_name name;
	char peer[48]; /* UUID of the other GPU of a link between two; "": none */
	double value;  /* in the unit of model/gpu/ceilings.def; NAN: not measured */
	double spread; /* of repeated measurements, as a share of the value; NAN: one alone */
	double sm_mhz; /* clock of the multiprocessors meanwhile; NAN: not measured */
	char how[160]; /* by which instruction or call; of what was not measured why */
};

/* One GPU. Texts: "" is not known; numbers: 0. */
struct gt_calibration {
	char device[96]; /* product name */
	char uuid[48];
	char driver[32];
	char cuda[16]; /* version that the driver knows */
	char host[72];
	char date[40]; /* when it began: RFC 3339, UTC */
	char gputrace[24];
	uint32_t cc_major;
	uint32_t cc_minor;
	uint32_t sm_count;
	uint32_t sm_clock_khz; /* at its peak, as memory_clock_khz */
	uint32_t memory_clock_khz;
	uint32_t memory_bus_bits;
	gt_array(struct gt_calibrated) list;
};

struct gt_calibrations {
	gt_array(struct gt_calibration) list;
};

void gt_calibration_release(struct gt_calibration *calibration);
void gt_calibrations_release(struct gt_calibrations *calibrations);

/*
 * Adds the GPUs of a file's text; names of ceilings that are not known here are passed over.
 * -EBADMSG for what is no such file, in a sentence that calls it what; nothing is then added.
 */
int gt_calibrations_parse(struct gt_calibrations *calibrations, const char *text, size_t size,
                          const char *what, struct gt_error *err);

/* The text of a file. The caller frees it. */
char *gt_calibrations_text(const struct gt_calibrations *calibrations);

/* The last that was added of a GPU; NULL: there is none. */
const struct gt_calibration *gt_calibrations_find(const struct gt_calibrations *calibrations,
                                                  const char *uuid);

/* Adds those that gputrace brings along: measured, of one GPU of each model
 * (model/gpu/calibrations). */
void gt_calibrations_add_shipped(struct gt_calibrations *calibrations);

enum { GT_MEASURED_BYTES = 384 };

/* When, how and at which clock: the column measured of the table ceilings. */
void gt_calibrated_describe(const struct gt_calibration *calibration,
                            const struct gt_calibrated *ceiling, char text[GT_MEASURED_BYTES]);

#endif
