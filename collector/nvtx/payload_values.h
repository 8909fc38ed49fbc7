/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_NVTX_PAYLOAD_VALUES_H
#define GT_COLLECTOR_NVTX_PAYLOAD_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/nvtx/payload_types.h"
#include "collector/nvtx/payloads.h"
#include "model/trace.h"

/* Values of payloads as JSON, as their schemas say. For collector/nvtx/payloads.c alone. */

#define GT_PAYLOAD_ALL_MEMBERS UINT64_MAX

/* One payload, and the texts that it points to. */
struct gt_payload_bytes {
	const struct gt_record_range_data *data; /* the first behind it is of it, if it is */
	const struct gt_record_range_data *end;
	const uint8_t *bytes;
	size_t size;
};

/* A part of a payload on its way to text. */
struct gt_payload_part {
	const struct gt_payload_bytes *payload;
	size_t base; /* of the struct that it is in */
	int nesting;
	uint64_t member; /* of a union: the one that holds, or GT_PAYLOAD_ALL_MEMBERS */
	gt_string *message;
};

/* False when there is no room for so much more. */
bool gt_payloads_spend(struct gt_payloads *payloads, uint64_t much);

/* NULL: there is none. */
const struct gt_record_payload_schema *gt_payloads_schema_of(struct gt_payloads *payloads,
                                                             uint64_t id);

/* A text of so many bytes at most. */
void gt_payload_add_letters(struct gt_payload_text *out, const uint8_t *at, size_t most);

/* Adds the value at part->base. */
void gt_payload_add_value(struct gt_payloads *payloads, struct gt_payload_text *out,
                          const struct gt_payload_part *part, uint64_t type);

#endif
