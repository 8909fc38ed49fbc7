/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_EXPORTERS_TIMELINE_SAID_H
#define GT_EXPORTERS_TIMELINE_SAID_H

#include <stdint.h>
#include <string.h>

#include "model/trace.h"

/* Attributes that a program gives a range or mark of NVTX besides its name. */
struct gt_said {
	gt_id domain;
	gt_string category;
	gt_string data;
	gt_wide payload;
	gt_count payload_type;
	gt_count color;
};

static inline struct gt_said gt_said_of_range(const struct gt_range *range)
{
	return (struct gt_said){range->domain,  range->category,     range->data,
	                        range->payload, range->payload_type, range->color};
}

static inline struct gt_said gt_said_of_mark(const struct gt_mark *mark)
{
	return (struct gt_said){mark->domain,  mark->category,     mark->data,
	                        mark->payload, mark->payload_type, mark->color};
}

/* The number that comes with it: its bits, as nvtxPayloadType_t says. */
struct gt_payload {
	enum {
		GT_PAYLOAD_NONE,
		GT_PAYLOAD_NUMBER,
		GT_PAYLOAD_UNSIGNED,
		GT_PAYLOAD_REAL,
	} type;
	int64_t number; /* of UNSIGNED its bits */
	double real;
};

static inline struct gt_payload gt_payload_of(const struct gt_said *said)
{
	enum { UINT64 = 1, INT64, DOUBLE, UINT32, INT32, FLOAT }; /* nvToolsExt.h */
	const gt_wide bits = said->payload;
	const uint32_t low = (uint32_t)bits;
	struct gt_payload payload = {.number = (int64_t)bits};
	float single;

	switch (said->payload_type) {
	case UINT64:
		payload.type = GT_PAYLOAD_UNSIGNED;
		break;
	case INT64:
		payload.type = GT_PAYLOAD_NUMBER;
		break;
	case UINT32:
		payload.type = GT_PAYLOAD_NUMBER;
		payload.number = low;
		break;
	case INT32:
		payload.type = GT_PAYLOAD_NUMBER;
		payload.number = (int32_t)low;
		break;
	case DOUBLE:
		payload.type = GT_PAYLOAD_REAL;
		memcpy(&payload.real, &bits, sizeof(payload.real));
		break;
	case FLOAT:
		payload.type = GT_PAYLOAD_REAL;
		memcpy(&single, &low, sizeof(single));
		payload.real = single;
		break;
	default:
		break;
	}
	return payload;
}

#endif
