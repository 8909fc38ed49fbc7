/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVTX_PAYLOADS_H
#define GT_INJECTION_NVTX_PAYLOADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtPayload.h>

struct gt_nvtx;
struct gt_session;

/*
 * Extended payloads of NVTX: what they look like, which the program registers, and their bytes,
 * which are recorded as they are. A schema is also kept here, as far as its payloads point to texts
 * that are gone later, or are samples of counters.
 */

#define GT_NVTX_SCHEMAS      2048 /* a power of two */
#define GT_NVTX_ENTRIES_KEPT 32

/* For all that is registered: one thread fills it in, and from then on it stays. */
enum gt_nvtx_filled { GT_NVTX_EMPTY, GT_NVTX_FILLING, GT_NVTX_FILLED };

/* True: the caller is to fill it in, and then to store GT_NVTX_FILLED. */
static inline bool gt_nvtx_fill(_Atomic uint32_t *filled)
{
	uint32_t empty = GT_NVTX_EMPTY;

	return atomic_compare_exchange_strong(filled, &empty, GT_NVTX_FILLING);
}

static inline bool gt_nvtx_is_filled(const _Atomic uint32_t *filled)
{
	/* Pairs with the release of who filled it in. */
	return atomic_load_explicit(filled, memory_order_acquire) == GT_NVTX_FILLED;
}

struct gt_nvtx_entry {
	uint64_t flags;
	uint64_t type;
	uint64_t detail;
	uint64_t offset; /* GT_OFFSET_UNKNOWN */
	uint64_t clock;  /* NVTX's id of what its times are read from; 0: not said */
};

struct gt_nvtx_schema {
	_Atomic uint64_t id;     /* 0: free */
	_Atomic uint32_t filled; /* enum gt_nvtx_filled */
	uint32_t count;          /* of entries that are kept */
	uint64_t bytes;          /* 0: not known */
	struct gt_nvtx_entry entries[GT_NVTX_ENTRIES_KEPT];
	char names[GT_NVTX_ENTRIES_KEPT][32];
};

/* Payloads of one event. */
struct gt_nvtx_data {
	const nvtxPayloadData_t *all;
	size_t count;
	uint64_t time_ns; /* of the event's record */
	uint32_t order;
};

/* Memory for schemas. */
void gt_nvtx_schemas_init(void);

/* Ids, which the program may have chosen; 0: nothing can be made of the attributes. */
uint64_t gt_nvtx_register_schema(struct gt_session *session, uint32_t domain,
                                 const nvtxPayloadSchemaAttr_t *attributes);
uint64_t gt_nvtx_register_enum(struct gt_session *session, uint32_t domain,
                               const nvtxPayloadEnumAttr_t *attributes);

/* NULL: nobody registered it. */
const struct gt_nvtx_schema *gt_nvtx_schema(uint64_t id);

/* Bytes of a value of one of NVTX's types; 0: it is no such type, or has no fixed size. */
uint32_t gt_nvtx_type_bytes(uint64_t type);

/* Right behind the event's own record. */
__attribute__((cold)) void gt_nvtx_emit_data(struct gt_session *session,
                                             const struct gt_nvtx_data *data);

#endif
