/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVTX_EVENTS_H
#define GT_INJECTION_NVTX_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/texts.h"

/*
 * Ranges and marks on their way into records, on threads of the program, and the levels of what a
 * thread has pushed. Each function does it for any of NVTX's calls that say the same.
 */

struct gt_session;

/* The contents of a call. */
struct gt_nvtx_event {
	uint64_t id;
	uint64_t payload;
	uint32_t kind; /* enum gt_range_step */
	uint32_t domain;
	uint32_t level;
	uint32_t registered;
	uint32_t category;
	uint32_t payload_type;
	uint32_t color;
	struct gt_nvtx_text text;
	const struct nvtxPayloadData_v1 *data;
	size_t data_count;
};

/*
 * Field by field: compilers clear a struct of this size by an instruction that takes longer to
 * begin than all of these.
 */
static inline struct gt_nvtx_event gt_nvtx_event_in(uint32_t domain)
{
	struct gt_nvtx_event event;

	event.id = 0;
	event.payload = 0;
	event.kind = GT_RANGE_STEP_STACK;
	event.domain = domain;
	event.level = GT_LEVEL_UNKNOWN;
	event.registered = 0;
	event.category = 0;
	event.payload_type = 0;
	event.color = 0;
	event.text.narrow = NULL;
	event.text.wide = NULL;
	event.text.size = 0;
	event.text.cut = false;
	event.data = NULL;
	event.data_count = 0;
	return event;
}

/* The level of the new range, which is what NVTX's function returns; of the one that ends. */
int gt_nvtx_push(struct gt_session *session, struct gt_nvtx_event *event);
int gt_nvtx_pop(struct gt_session *session, uint32_t domain);

/* The range's id: the wanted one, or where that is 0, a new one. */
nvtxRangeId_t gt_nvtx_start_range(struct gt_session *session, struct gt_nvtx_event *event,
                                  nvtxRangeId_t wanted);
void gt_nvtx_end_range(struct gt_session *session, uint32_t domain, nvtxRangeId_t id);
void gt_nvtx_mark(struct gt_session *session, struct gt_nvtx_event *event);

#endif
