/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_CALLS_ACCESS_H
#define GT_INJECTION_CALLS_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

/*
 * Which memory API calls copy and fill, read from the parameters that CUPTI's callbacks carry; its
 * records of copies and fills have no addresses. Nothing here keeps state.
 */

enum gt_access_kind {
#define ACCESS_KIND(name, number, words, writes) GT_ACCESS_##name = (number),
#include "format/kinds/access.def"
};

/*
 * Rows of so many bytes, each pitch bytes behind the one before; one row has no pitch. In the shape
 * of the call also slices of such rows, each slice_pitch bytes behind the one before.
 */
struct gt_access_fact {
	enum gt_access_kind kind;
	uint32_t rows;
	uint64_t address;
	uint64_t size_bytes;
	uint64_t pitch;
	uint64_t slices; /* 0 but in the shape of the call */
	uint64_t slice_pitch;
};

enum { GT_ACCESSES_MOST = 64 }; /* that are read at a time: 32 copies of a batch */

struct gt_access_facts {
	uint64_t stream; /* or one of GT_STREAM_... */
	unsigned count;
	unsigned left_out;    /* before the first of the list: where reading goes on */
	bool in_shape;        /* as the call says: rows and slices are not put together */
	bool is_cut;          /* the call touches memory that is not in the list */
	bool is_full;         /* so for want of room */
	uint32_t hints;       /* flags of copies that say how they are best made */
	uint32_t value;       /* with what a call fills, */
	uint32_t value_bytes; /* and how many bytes of it that is; 0: it fills nothing */
	struct gt_access_fact list[GT_ACCESSES_MOST];
};

struct gt_access_call {
	uint64_t default_stream;
	void (*read)(const CUpti_CallbackData *data, struct gt_access_facts *facts);
};

/* NULL: the call copies and fills nothing that is listed. */
const struct gt_access_call *gt_access_call_find(bool driver, CUpti_CallbackId id);

/* Whether it does: gt_knows_call. */
bool gt_access_call_is_known(bool driver, CUpti_CallbackId id);

/* Empty stretches, and the first ones, are left out. The list is filled up to count alone. */
void gt_access_call_read(const struct gt_access_call *call, const CUpti_CallbackData *data,
                         unsigned first, struct gt_access_facts *facts);

/* Each stretch in the shape of the call, without the first ones. */
void gt_access_call_read_shapes(const struct gt_access_call *call, const CUpti_CallbackData *data,
                                unsigned first, struct gt_access_facts *facts);

/* Each stretch in its shape, of a node of a CUDA graph that copies, which has no stream. */
void gt_access_node_read(const CUDA_MEMCPY3D *copy, struct gt_access_facts *facts);

#endif
