/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/calls/memory.h"

#include <stddef.h>
#include <string.h>

#include "injection/calls/parameters.h"

/* NOLINTNEXTLINE(readability-identifier-naming): CUPTI calls the structs of parameters so */
typedef cuMemHostAlloc_params cuMemHostAlloc_v2_params;

/*
 * Calls that CUDA 13 replaced, which programs of earlier toolkits make: its headers have their
 * callback ids, and their parameters in a file that needs another one that is not there.
 */
struct advice_params {
	const void *devPtr;
	size_t count;
	enum cudaMemoryAdvise advice;
	int device;
};

struct prefetch_params {
	const void *devPtr;
	size_t count;
	int dstDevice;
	cudaStream_t stream;
};

struct add_node_params {
	cudaGraphNode_t *pGraphNode;
	cudaGraph_t graph;
	const cudaGraphNode_t *pDependencies;
	size_t numDependencies;
	struct cudaGraphNodeParams *nodeParams;
};

/* NOLINTBEGIN(readability-identifier-naming): likewise */
typedef struct advice_params cudaMemAdvise_v8000_params;
typedef struct prefetch_params cudaMemPrefetchAsync_v8000_params;
typedef struct prefetch_params cudaMemPrefetchAsync_ptsz_v8000_params;
typedef struct add_node_params cudaGraphAddNode_v12020_params;
/* NOLINTEND(readability-identifier-naming) */

/* Levels of a mipmap that is as wide as any: no more are counted. */
#define MOST_LEVELS 32u

struct extent {
	uint64_t width; /* 0 of a height or a depth: it has no such dimension */
	uint64_t height;
	uint64_t depth;
};

static uint64_t at_least_one(uint64_t number)
{
	return number ? number : 1;
}

/* All levels, each half as wide, high and deep as the one before it. */
static uint64_t elements_of(struct extent extent, uint32_t levels)
{
	uint64_t sum = 0;

	for (uint32_t level = 0; level < levels && level < MOST_LEVELS; level++)
		sum += at_least_one(extent.width >> level) * at_least_one(extent.height >> level) *
		       at_least_one(extent.depth >> level);
	return sum;
}

static uint64_t channel_bytes(CUarray_format format)
{
	switch ((unsigned)format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default: /* blocks and planes: what they take is not told by their format alone */
		return 0;
	}
}

static uint64_t described_bytes(const CUDA_ARRAY_DESCRIPTOR *array)
{
	const struct extent extent = {array ? array->Width : 0, array ? array->Height : 0, 0};

	return array ? channel_bytes(array->Format) * array->NumChannels * elements_of(extent, 1)
	             : 0;
}

static uint64_t described_3d_bytes(const CUDA_ARRAY3D_DESCRIPTOR *array, uint32_t levels)
{
	struct extent extent;

	if (!array)
		return 0;
	extent = (struct extent){array->Width, array->Height, array->Depth};
	return channel_bytes(array->Format) * array->NumChannels * elements_of(extent, levels);
}

static uint64_t array_bytes(const struct cudaChannelFormatDesc *element, struct extent extent,
                            uint32_t levels)
{
	if (!element)
		return 0;
	return (uint64_t)(element->x + element->y + element->z + element->w) / 8 *
	       elements_of(extent, levels);
}

/* Rows as the call asks for them; as it made them once it has returned. */
static uint64_t pitched_bytes(const CUpti_CallbackData *data, uint64_t width, uint64_t rows,
                              const size_t *pitch)
{
	return (pitch && gt_has_returned_well(data) ? *pitch : width) * rows;
}

static uint64_t pitched_3d_bytes(const CUpti_CallbackData *data, struct cudaExtent extent,
                                 const struct cudaPitchedPtr *made)
{
	return pitched_bytes(data, extent.width, extent.height * extent.depth,
	                     made ? &made->pitch : NULL);
}

/* The first three are switches of 32 bits, the others amounts of 64. */
static uint64_t attribute_value(unsigned attribute, const void *value)
{
	uint32_t small = 0;
	uint64_t large = 0;

	if (!value)
		return 0;
	if (attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
		memcpy(&large, value, sizeof(large));
		return large;
	}
	memcpy(&small, value, sizeof(small));
	return small;
}

/* The runtime's and the driver's structs have the same numbers in it. */
static uint32_t place_of(unsigned type, int id)
{
	return type == CU_MEM_LOCATION_TYPE_DEVICE && id >= 0 ? (uint32_t)id + 1 : 0;
}

/* Where memory is to be: the host has no ordinal, the type tells it. */
static void read_location(struct gt_memory_facts *facts, unsigned type, int id)
{
	facts->place_plus_one = place_of(type, id);
	facts->value = type;
}

/* As calls before CUDA 12.2 name it. */
static void read_target(struct gt_memory_facts *facts, int device)
{
	read_location(facts, device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
	              device);
}

/* The bytes of a batch of more members are not told: summing takes the program's time. */
#define MOST_MEMBERS 4096u

static uint64_t sum_of(const size_t *sizes, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count && count <= MOST_MEMBERS; i++)
		sum += sizes[i];
	return sum;
}

/* The runtime's types of nodes have the driver's numbers. */
static uint32_t node_kind(unsigned type)
{
	if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		return GT_MEMORY_CALL_ALLOCATE_NODE;
	return type == CU_GRAPH_NODE_TYPE_MEM_FREE ? GT_MEMORY_CALL_FREE_NODE : 0;
}

/* The address of what a node allocates is known once the call has returned. */
static uint64_t node_address(const CUpti_CallbackData *data, uint64_t address)
{
	return gt_has_returned_well(data) ? address : 0;
}

/* How a member is read into the fact: the words of memory_calls.def. */
#define ADDRESS(member)      facts->address = (uintptr_t)params->member;
#define MADE_ADDRESS(member) facts->address = (uintptr_t)gt_made_at(data, params->member);
#define HANDLE(member)       facts->handle = (uintptr_t)params->member;
#define MADE_HANDLE(member)  facts->handle = (uintptr_t)gt_made_at(data, params->member);
#define BYTES(member)        facts->size_bytes = params->member;
#define VALUE(member)        facts->value = (uintptr_t)params->member;
#define STREAM(member)       facts->stream = gt_stream_of(params->member, facts->stream);
#define FLAGS(member)        facts->options = (uint32_t)params->member;
#define DEVICE(member)       facts->place_plus_one = (uint32_t)params->member + 1;
#define PROPERTIES(member)                                                                         \
	if (params->member)                                                                        \
		facts->place_plus_one =                                                            \
			place_of(params->member->location.type, params->member->location.id);
#define MULTICAST(member)                                                                          \
	if (params->member)                                                                        \
		facts->size_bytes = params->member->size;
#define EXTERNAL(member) MULTICAST(member)
#define PITCHED(width, height, pitch)                                                              \
	facts->size_bytes = pitched_bytes(data, params->width, params->height, params->pitch);
#define PITCHED_3D(extent, made)                                                                   \
	facts->size_bytes = pitched_3d_bytes(data, params->extent, params->made);
#define ARRAY(element, wide, high)                                                                 \
	facts->size_bytes =                                                                        \
		array_bytes(params->element, (struct extent){params->wide, params->high, 0}, 1);
#define ARRAY_3D(element, size, levels)                                                            \
	facts->size_bytes = array_bytes(params->element,                                           \
	                                (struct extent){params->size.width, params->size.height,   \
	                                                params->size.depth},                       \
	                                levels);
#define DESCRIBED(member)            facts->size_bytes = described_bytes(params->member);
#define DESCRIBED_3D(member, levels) facts->size_bytes = described_3d_bytes(params->member, levels);
#define ATTRIBUTE(attribute, member)                                                               \
	facts->options = (uint32_t)params->attribute;                                              \
	facts->value = attribute_value(params->attribute, params->member);
#define LOCATION(member)                                                                           \
	read_location(facts, (unsigned)params->member.type, (int)params->member.id);
#define LOCATION_AT(member)                                                                        \
	if (params->member)                                                                        \
		read_location(facts, (unsigned)params->member->type, (int)params->member->id);
#define ACCESS(list, number)                                                                       \
	facts->value = params->number;                                                             \
	if (params->number == 1 && params->list) {                                                 \
		facts->place_plus_one = place_of((unsigned)params->list[0].location.type,          \
		                                 (int)params->list[0].location.id);                \
		facts->options = (uint32_t)params->list[0].flags;                                  \
	}
#define GOES_TO(member) read_target(facts, (int)params->member);
#define BATCH(addresses, sizes, number)                                                            \
	if (params->number && params->addresses && params->sizes) {                                \
		facts->address = (uintptr_t)params->addresses[0];                                  \
		facts->size_bytes = sum_of(params->sizes, params->number);                         \
	}
#define PLACES(locations, number)                                                                  \
	if (params->number == 1 && params->locations)                                              \
		read_location(facts, (unsigned)params->locations[0].type,                          \
		              (int)params->locations[0].id);
#define ALLOCATES(node)                                                                            \
	facts->address = node_address(data, (uintptr_t)(node).dptr);                               \
	facts->size_bytes = (node).bytesize;                                                       \
	facts->place_plus_one = place_of((unsigned)(node).poolProps.location.type,                 \
	                                 (int)(node).poolProps.location.id);
#define ALLOC_NODE(member)                                                                         \
	if (params->member) {                                                                      \
		ALLOCATES(*params->member)                                                         \
	}
#define NODE(member)                                                                               \
	facts->kind = node_kind(params->member ? (unsigned)params->member->type : 0);              \
	if (facts->kind == GT_MEMORY_CALL_ALLOCATE_NODE) {                                         \
		ALLOCATES(params->member->alloc)                                                   \
	} else if (facts->kind == GT_MEMORY_CALL_FREE_NODE) {                                      \
		facts->address = (uintptr_t)params->member->free.dptr;                             \
	}

#define ROW(reader, memory_kind, stream)                                                           \
	{                                                                                          \
		.kind = GT_MEMORY_CALL_##memory_kind, .default_stream = GT_STREAM_##stream,        \
		.read = (reader)                                                                   \
	}

#define CALL  struct gt_memory_call
#define FACTS struct gt_memory_facts
#define CALLS "injection/calls/memory.def"
#include "injection/calls/tables.inc"

const struct gt_memory_call *gt_memory_call_find(bool driver, CUpti_CallbackId id)
{
	return listed_call(driver, id);
}

void gt_memory_call_read(const struct gt_memory_call *call, const CUpti_CallbackData *data,
                         struct gt_memory_facts *facts)
{
	*facts = (struct gt_memory_facts){.stream = call->default_stream, .kind = call->kind};
	if (data->functionParams)
		call->read(data, facts);
}

bool gt_memory_call_is_empty(const struct gt_memory_facts *facts)
{
	switch (facts->kind) {
	case 0:
		return true;
	case GT_MEMORY_CALL_FREE:
	case GT_MEMORY_CALL_FREE_ORDERED:
	case GT_MEMORY_CALL_FREE_HOST:
	case GT_MEMORY_CALL_DESTROY_ARRAY:
		return facts->address == 0 && facts->handle == 0;
	default:
		return false;
	}
}
