/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/access.h"

#include <stddef.h>
#include <string.h>

#include "injection/calls/parameters.h"

static void add(struct gt_access_facts *facts, struct gt_access_fact fact)
{
	if (fact.address == 0 || fact.size_bytes == 0 || fact.rows == 0)
		return;
	if (facts->left_out > 0) {
		facts->left_out--;
		return;
	}
	if (facts->count == GT_ACCESSES_MOST) {
		facts->is_cut = true;
		facts->is_full = true;
		return;
	}
	facts->list[facts->count++] = fact;
}

/* Rows without a gap between them are one. */
static void add_rows(struct gt_access_facts *facts, struct gt_access_fact row, uint64_t height)
{
	if (height <= 1 || (row.pitch == row.size_bytes && !facts->in_shape)) {
		row.size_bytes *= height;
		row.pitch = 0;
		height = height ? 1 : 0;
	}
	row.rows = height < UINT32_MAX ? (uint32_t)height : UINT32_MAX;
	add(facts, row);
}

static uint64_t side_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
	if (type == CU_MEMORYTYPE_HOST)
		return (uintptr_t)host;
	return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED ? device : 0;
}

/* A side that is an array has no address; 0 is left out. */
static uint64_t begin_of(uint64_t address, uint64_t x, uint64_t y, uint64_t pitch)
{
	return address ? address + y * pitch + x : 0;
}

static void add_described(struct gt_access_facts *facts, const CUDA_MEMCPY2D *copy)
{
	struct gt_access_fact from = {.kind = GT_ACCESS_COPY_FROM};
	struct gt_access_fact to = {.kind = GT_ACCESS_COPY_TO};

	if (!copy)
		return;
	from.address = begin_of(side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice),
	                        copy->srcXInBytes, copy->srcY, copy->srcPitch);
	to.address = begin_of(side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice),
	                      copy->dstXInBytes, copy->dstY, copy->dstPitch);
	from.size_bytes = to.size_bytes = copy->WidthInBytes;
	from.pitch = copy->srcPitch;
	to.pitch = copy->dstPitch;
	add_rows(facts, from, copy->Height);
	add_rows(facts, to, copy->Height);
}

/* ---- three dimensions ---- */

struct box {
	uint64_t height;
	uint64_t depth;
	uint64_t slice_pitch; /* from one slice to the next, in bytes */
};

/*
 * Slices of rows, of which fact is the first row. Where all rows are as far from each other it is
 * one access, else one for each slice.
 */
static void add_box(struct gt_access_facts *facts, struct gt_access_fact fact, struct box box)
{
	if (fact.address == 0 || box.height == 0)
		return;
	if (facts->in_shape && box.height > 1 && box.depth > 1) {
		fact.slices = box.depth;
		fact.slice_pitch = box.slice_pitch;
		add_rows(facts, fact, box.height);
		return;
	}
	if (box.depth > 1 && box.height == 1)
		fact.pitch = box.slice_pitch;
	if (box.depth <= 1 || box.height == 1 || box.slice_pitch == box.height * fact.pitch) {
		add_rows(facts, fact, box.height * box.depth);
		return;
	}
	for (uint64_t slice = 0; slice < box.depth && !facts->is_cut; slice++) {
		add_rows(facts, fact, box.height);
		fact.address += box.slice_pitch;
	}
}

/* One side of a copy of the runtime's: the place is in bytes where no array has a part in it. */
static void add_pitched(struct gt_access_facts *facts, enum gt_access_kind kind,
                        const struct cudaPitchedPtr *at, const struct cudaPos *place,
                        const struct cudaExtent *extent)
{
	const uint64_t slice_pitch = (uint64_t)at->pitch * at->ysize;

	if (!at->ptr)
		return;
	add_box(facts,
	        (struct gt_access_fact){.kind = kind,
	                                .address = (uintptr_t)at->ptr + place->z * slice_pitch +
	                                           place->y * at->pitch + place->x,
	                                .size_bytes = extent->width,
	                                .pitch = at->pitch},
	        (struct box){extent->height, extent->depth, slice_pitch});
}

/*
 * With an array the extent is in its elements, whose size no parameter tells. Two structs have the
 * same names.
 */
#define ADD_SIDES(copy)                                                                            \
	do {                                                                                       \
		if ((copy)->srcArray || (copy)->dstArray) {                                        \
			facts->is_cut = true;                                                      \
			break;                                                                     \
		}                                                                                  \
		add_pitched(facts, GT_ACCESS_COPY_FROM, &(copy)->srcPtr, &(copy)->srcPos,          \
		            &(copy)->extent);                                                      \
		add_pitched(facts, GT_ACCESS_COPY_TO, &(copy)->dstPtr, &(copy)->dstPos,            \
		            &(copy)->extent);                                                      \
	} while (0)

static void add_runtime_box(struct gt_access_facts *facts, const struct cudaMemcpy3DParms *copy)
{
	if (copy)
		ADD_SIDES(copy);
}

static void add_runtime_peer_box(struct gt_access_facts *facts,
                                 const struct cudaMemcpy3DPeerParms *copy)
{
	if (copy)
		ADD_SIDES(copy);
}

/* A copy of the driver's has all in bytes; its two descriptors have the same names. */
#define DRIVER_SIDE(what, copy, side)                                                              \
	add_box(facts,                                                                             \
	        (struct gt_access_fact){                                                           \
			.kind = GT_ACCESS_##what,                                                  \
			.address =                                                                 \
				begin_of(side_of((copy)->side##MemoryType, (copy)->side##Host,     \
	                                         (copy)->side##Device),                            \
	                                 (copy)->side##XInBytes,                                   \
	                                 (copy)->side##Y + (copy)->side##Z * (copy)->side##Height, \
	                                 (copy)->side##Pitch),                                     \
			.size_bytes = (copy)->WidthInBytes,                                        \
			.pitch = (copy)->side##Pitch},                                             \
	        (struct box){(copy)->Height, (copy)->Depth,                                        \
	                     (uint64_t)(copy)->side##Pitch * (copy)->side##Height});

static void add_driver_box(struct gt_access_facts *facts, const CUDA_MEMCPY3D *copy)
{
	if (!copy)
		return;
	DRIVER_SIDE(COPY_FROM, copy, src)
	DRIVER_SIDE(COPY_TO, copy, dst)
}

static void add_driver_peer_box(struct gt_access_facts *facts, const CUDA_MEMCPY3D_PEER *copy)
{
	if (!copy)
		return;
	DRIVER_SIDE(COPY_FROM, copy, src)
	DRIVER_SIDE(COPY_TO, copy, dst)
}

/* ---- fills ---- */

static void add_filled_box(struct gt_access_facts *facts, struct cudaPitchedPtr at,
                           struct cudaExtent extent)
{
	const struct cudaPos begin = {0};

	add_pitched(facts, GT_ACCESS_FILL, &at, &begin, &extent);
}

static void add_filled(struct gt_access_facts *facts, uint64_t address, uint64_t width,
                       uint64_t pitch, uint64_t height)
{
	add_rows(facts,
	         (struct gt_access_fact){.kind = GT_ACCESS_FILL,
	                                 .address = address,
	                                 .size_bytes = width,
	                                 .pitch = pitch},
	         height);
}

static void set_value(struct gt_access_facts *facts, uint32_t value, uint32_t bytes)
{
	facts->value = bytes == 1 ? value & UINT8_MAX : value;
	facts->value_bytes = bytes;
}

/* The structs of runtime and driver have the same names; width is in elements. */
#define ADD_FILLED(fill)                                                                           \
	set_value(facts, (fill)->value, (fill)->elementSize);                                      \
	add_filled(facts, (uintptr_t)(fill)->dst, (uint64_t)(fill)->width *(fill)->elementSize,    \
	           (fill)->pitch, (fill)->height)

/* ---- batches ---- */

static void add_batch(struct gt_access_facts *facts, const void *to, const void *from,
                      const size_t *sizes, size_t count)
{
	for (size_t i = 0; to && from && sizes && i < count && !facts->is_cut; i++) {
		struct gt_access_fact fact = {.rows = 1, .size_bytes = sizes[i]};
		uintptr_t address;

		memcpy(&address, (const char *)from + i * sizeof(address), sizeof(address));
		fact.kind = GT_ACCESS_COPY_FROM;
		fact.address = address;
		add(facts, fact);
		memcpy(&address, (const char *)to + i * sizeof(address), sizeof(address));
		fact.kind = GT_ACCESS_COPY_TO;
		fact.address = address;
		add(facts, fact);
	}
}

/* A pointer of a batch; between pointers elements are bytes. */
struct operand {
	uint64_t address;
	uint64_t row_length;
	uint64_t layer_height;
};

static void add_operand(struct gt_access_facts *facts, enum gt_access_kind kind,
                        struct operand operand, const struct cudaExtent *extent)
{
	/* For more than one row nothing says what lengths that are not given mean. */
	if ((operand.row_length == 0 && extent->height * extent->depth > 1) ||
	    (operand.layer_height == 0 && extent->depth > 1)) {
		facts->is_cut = true;
		return;
	}
	add_box(facts,
	        (struct gt_access_fact){.kind = kind,
	                                .address = operand.address,
	                                .size_bytes = extent->width,
	                                .pitch = operand.row_length},
	        (struct box){extent->height, extent->depth,
	                     operand.row_length * operand.layer_height});
}

/* Both APIs have the same structs by other names. */
#define OPERAND(side)                                                                              \
	((struct operand){(uintptr_t)(side).op.ptr.ptr, (side).op.ptr.rowLength,                   \
	                  (side).op.ptr.layerHeight})
#define ADD_BOXES(list, count, pointer)                                                            \
	for (size_t i = 0; (list) && i < (count) && !facts->is_cut; i++) {                         \
		const struct cudaExtent extent = {(list)[i].extent.width, (list)[i].extent.height, \
		                                  (list)[i].extent.depth};                         \
                                                                                                   \
		facts->hints |= (list)[i].flags;                                                   \
		if ((list)[i].src.type != (pointer) || (list)[i].dst.type != (pointer)) {          \
			facts->is_cut = true;                                                      \
			continue;                                                                  \
		}                                                                                  \
		add_operand(facts, GT_ACCESS_COPY_FROM, OPERAND((list)[i].src), &extent);          \
		add_operand(facts, GT_ACCESS_COPY_TO, OPERAND((list)[i].dst), &extent);            \
	}

static void add_boxes(struct gt_access_facts *facts, const struct cudaMemcpy3DBatchOp *list,
                      size_t count)
{
	ADD_BOXES(list, count, cudaMemcpyOperandTypePointer)
}

static void add_driver_boxes(struct gt_access_facts *facts, const CUDA_MEMCPY3D_BATCH_OP *list,
                             size_t count)
{
	ADD_BOXES(list, count, CU_MEMCPY_OPERAND_TYPE_POINTER)
}

/* ---- nodes of any type ---- */

static void add_node(struct gt_access_facts *facts, const struct cudaGraphNodeParams *node)
{
	if (!node)
		return;
	if (node->type == cudaGraphNodeTypeMemcpy) {
		add_runtime_box(facts, &node->memcpy.copyParams);
	} else if (node->type == cudaGraphNodeTypeMemset) {
		ADD_FILLED(&node->memset);
	}
}

static void add_driver_node(struct gt_access_facts *facts, const CUgraphNodeParams *node)
{
	if (!node)
		return;
	if (node->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
		add_driver_box(facts, &node->memcpy.copyParams);
	} else if (node->type == CU_GRAPH_NODE_TYPE_MEMSET) {
		ADD_FILLED(&node->memset);
	}
}

/* How a member is read into the fact: the words of access_calls.def. */
#define FACT(what, at) .kind = GT_ACCESS_##what, .address = (uintptr_t)params->at
#define ON_END(what, at, bytes)                                                                    \
	add(facts, (struct gt_access_fact){FACT(what, at), .rows = 1, .size_bytes = params->bytes});
#define IN_ROWS(what, at, distance, width, height)                                                 \
	add_rows(facts,                                                                            \
	         (struct gt_access_fact){FACT(what, at), .size_bytes = params->width,              \
	                                 .pitch = params->distance},                               \
	         params->height);
#define STREAM(member)                        facts->stream = gt_stream_of(params->member, facts->stream);
#define FROM(at, bytes)                       ON_END(COPY_FROM, at, bytes)
#define TO(at, bytes)                         ON_END(COPY_TO, at, bytes)
#define FILLED(at, bytes)                     ON_END(FILL, at, bytes)
#define FROM_ROWS(at, pitch, width, height)   IN_ROWS(COPY_FROM, at, pitch, width, height)
#define TO_ROWS(at, pitch, width, height)     IN_ROWS(COPY_TO, at, pitch, width, height)
#define FILLED_ROWS(at, pitch, width, height) IN_ROWS(FILL, at, pitch, width, height)
#define VALUE(member, bytes)                  set_value(facts, (uint32_t)params->member, bytes);
#define DESCRIBED(member)                     add_described(facts, params->member);
#define BOX(member)                           add_runtime_box(facts, params->member);
#define PEER_BOX(member)                      add_runtime_peer_box(facts, params->member);
#define DRIVER_BOX(member)                    add_driver_box(facts, params->member);
#define DRIVER_PEER_BOX(member)               add_driver_peer_box(facts, params->member);
#define FILLED_BOX(at, extent)                add_filled_box(facts, params->at, params->extent);
#define FILLED_BY(member)                                                                          \
	if (params->member) {                                                                      \
		ADD_FILLED(params->member);                                                        \
	}
#define BATCH(to, from, sizes, count)                                                              \
	add_batch(facts, params->to, params->from, params->sizes, params->count);                  \
	for (size_t i = 0; params->attrs && i < params->numAttrs; i++)                             \
		facts->hints |= params->attrs[i].flags;
#define BOXES(list, count)        add_boxes(facts, params->list, params->count);
#define DRIVER_BOXES(list, count) add_driver_boxes(facts, params->list, params->count);
#define NODE(member)              add_node(facts, params->member);
#define DRIVER_NODE(member)       add_driver_node(facts, params->member);

/* NOLINTBEGIN(readability-identifier-naming): CUPTI calls the structs of parameters so */
/*
 * Calls of earlier runtimes: CUDA 13 has their structs in a header that cannot be included alone.
 * As far as they are read they differ from their successors' in one member.
 */
#define EARLIER_BATCH(call)                                                                        \
	typedef struct {                                                                           \
		void *const *dsts;                                                                 \
		const void *const *srcs;                                                           \
		const size_t *sizes;                                                               \
		size_t count;                                                                      \
		struct cudaMemcpyAttributes *attrs;                                                \
		size_t *attrsIdxs;                                                                 \
		size_t numAttrs;                                                                   \
		size_t *failIdx;                                                                   \
		cudaStream_t stream;                                                               \
	} call##_params;
#define EARLIER_BOXES(call)                                                                        \
	typedef struct {                                                                           \
		size_t numOps;                                                                     \
		const struct cudaMemcpy3DBatchOp *opList;                                          \
		size_t *failIdx;                                                                   \
		unsigned long long flags;                                                          \
		cudaStream_t stream;                                                               \
	} call##_params;
EARLIER_BATCH(cudaMemcpyBatchAsync_v12080)
EARLIER_BATCH(cudaMemcpyBatchAsync_ptsz_v12080)
EARLIER_BOXES(cudaMemcpy3DBatchAsync_v12080)
EARLIER_BOXES(cudaMemcpy3DBatchAsync_ptsz_v12080)
/* NOLINTEND(readability-identifier-naming) */

#define ROW(reader, what, stream)                                                                  \
	{                                                                                          \
		.default_stream = GT_STREAM_##stream, .read = (reader)                             \
	}

#define CALL  struct gt_access_call
#define FACTS struct gt_access_facts
#define CALLS "injection/calls/access.def"
#include "injection/calls/tables.inc"

const struct gt_access_call *gt_access_call_find(bool driver, CUpti_CallbackId id)
{
	return listed_call(driver, id);
}

bool gt_access_call_is_known(bool driver, CUpti_CallbackId id)
{
	return gt_access_call_find(driver, id) != NULL;
}

static void read_facts(const struct gt_access_call *call, const CUpti_CallbackData *data,
                       struct gt_access_facts *facts)
{
	facts->stream = call->default_stream;
	facts->count = 0;
	facts->is_cut = false;
	facts->is_full = false;
	facts->hints = 0;
	facts->value = 0;
	facts->value_bytes = 0;
	if (data->functionParams)
		call->read(data, facts);
}

void gt_access_call_read(const struct gt_access_call *call, const CUpti_CallbackData *data,
                         unsigned first, struct gt_access_facts *facts)
{
	facts->left_out = first;
	facts->in_shape = false;
	read_facts(call, data, facts);
}

void gt_access_call_read_shapes(const struct gt_access_call *call, const CUpti_CallbackData *data,
                                unsigned first, struct gt_access_facts *facts)
{
	facts->left_out = first;
	facts->in_shape = true;
	read_facts(call, data, facts);
}

void gt_access_node_read(const CUDA_MEMCPY3D *copy, struct gt_access_facts *facts)
{
	facts->stream = GT_STREAM_NONE;
	facts->count = 0;
	facts->is_cut = false;
	facts->is_full = false;
	facts->left_out = 0;
	facts->in_shape = true;
	facts->hints = 0;
	facts->value = 0;
	facts->value_bytes = 0;
	add_driver_box(facts, copy);
}
