/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_RANGES_PAYLOAD_H
#define GT_MODEL_RANGES_PAYLOAD_H

#include <stdint.h>
#include <string.h>

#include "model/trace.h"

/* The number that came with an NVTX range or mark. */
struct gt_payload {
	enum gt_payload_type {
		GT_PAYLOAD_NONE,
		GT_PAYLOAD_NUMBER,
		GT_PAYLOAD_UNSIGNED,
		GT_PAYLOAD_REAL,
	} type;
	int64_t number; /* of UNSIGNED its bits */
	double real;
};

/* The columns payload and payload_type of the row. */
static inline struct gt_payload gt_payload_of(gt_wide bits, gt_count type)
{
	enum { UINT64 = 1, INT64, DOUBLE, UINT32, INT32, FLOAT }; /* nvToolsExt.h */
	const uint32_t low = (uint32_t)bits;
	struct gt_payload payload = {.number = (int64_t)bits};
	float single;

	switch (type) {
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
