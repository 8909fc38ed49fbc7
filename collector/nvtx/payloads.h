/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_NVTX_PAYLOADS_H
#define GT_COLLECTOR_NVTX_PAYLOADS_H

#include <stddef.h>
#include <stdint.h>

#include "model/known.h"
#include "model/trace.h"

struct gt_capture;
struct gt_nvtx_names;
struct gt_record_payload_entry;

/*
 * Extended payloads of NVTX as JSON: the bytes that a capture holds, read as its schemas say. Bytes
 * of no schema, and what is not understood, are shown in hexadecimal digits.
 */
struct gt_payloads {
	struct gt_nvtx_names *names;
	struct gt_capture *capture;
	struct gt_known schemas; /* the capture's raw_payload_schemas by id */
	struct gt_known firsts;  /* where a schema's entries begin, by id, */
	struct gt_known ends;    /* and where they end */
	uint64_t room;           /* for text, and for what is looked through for it */
	uint64_t left_out;       /* events whose payloads found no room */
	size_t at;               /* the first of raw_range_data that no event has had */
};

/* Longer text is cut, and ends in the middle of what it would say. */
#define GT_PAYLOAD_TEXT_MAX 16384

/*
 * Bytes of text that all payloads of a capture may have, and entries that may be looked through for
 * them: so many, and so many for each payload. A schema may be inside of itself.
 */
#define GT_PAYLOADS_ROOM     ((uint64_t)1 << 20)
#define GT_PAYLOADS_ROOM_ONE 512

/* Sorts what the capture holds of payloads, by thread and time. */
void gt_payloads_init(struct gt_payloads *payloads, struct gt_nvtx_names *names,
                      struct gt_capture *capture);
void gt_payloads_release(struct gt_payloads *payloads);

/* An event that may have payloads. */
struct gt_payload_event {
	uint32_t tid;
	uint32_t order;
	uint64_t time_ns; /* as the records have it */
};

/*
 * The payloads of an event as a JSON array, behind what the text before (0: none) already has;
 * message gets the text that a payload gives the event itself, or stays. The text before when there
 * is none, and when there is no room left.
 */
gt_string gt_payloads_of(struct gt_payloads *payloads, const struct gt_payload_event *event,
                         gt_string before, gt_string *message);

#endif
