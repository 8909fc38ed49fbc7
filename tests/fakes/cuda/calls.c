/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/calls.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/cuda/state.h"

/* Bundles that tests make have their memory there: such addresses are told as they are. */
#define FIXED_BEGIN UINT64_C(0x200000000000)
#define FIXED_END   UINT64_C(0x300000000000)

/* Smaller values are no address. */
#define LEAST_ADDRESS (UINT64_C(1) << 32)
#define MOST_ADDRESS  (UINT64_C(1) << 47)

enum { MOST_HANDLES = 256, MOST_BYTES = 1 << 16 };

int fake_calls_wanted = -1;

static struct {
	FILE *file;
	char fail[64]; /* name of the call that fails */
	unsigned long fail_number;
	int fail_result;
	int is_sticky;                  /* all calls after it fail likewise */
	unsigned long seen;             /* calls of that name so far */
	uint64_t handles[MOST_HANDLES]; /* 0: forgotten */
	unsigned numbers[MOST_HANDLES]; /* by place in handles */
	unsigned last_number;           /* given out last */
	uint64_t given[4];              /* the addresses and handles of the line */
	size_t given_count;
	char name[64]; /* of the line's call */
} calls;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_fail(const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	char *end = NULL;

	if (!colon || (size_t)(colon - text) >= sizeof(calls.fail))
		return;
	memcpy(calls.fail, text, (size_t)(colon - text));
	calls.fail_number = strtoul(colon + 1, &end, 10);
	calls.fail_result =
		end && *end == ':' ? (int)strtol(end + 1, &end, 10) : CUDA_ERROR_UNKNOWN;
	calls.is_sticky = end && *end == '+';
}

static void ask(void)
{
	const char *path = getenv("FAKE_CUDA_CALLS");

	calls.file = path ? fopen(path, "ae") : NULL;
	/* The process may become another one at any time. */
	if (calls.file)
		(void)setvbuf(calls.file, NULL, _IOLBF, 1 << 14);
	read_fail(getenv("FAKE_CUDA_FAIL"));
	fake_calls_wanted = calls.file != NULL || *calls.fail;
}

int fake_calls_ask(void)
{
	(void)pthread_once(&once, ask);
	return fake_calls_wanted;
}

static __attribute__((format(printf, 1, 2))) void put(const char *fmt, ...)
{
	va_list args;

	if (!calls.file)
		return;
	va_start(args, fmt);
	(void)vfprintf(calls.file, fmt, args);
	va_end(args);
}

void fake_calls_begin(const char *name)
{
	(void)snprintf(calls.name, sizeof(calls.name), "%s", name);
	calls.given_count = 0;
	put("%s", name);
}

int fake_calls_failure(const char *name)
{
	if (calls.is_sticky && calls.seen >= calls.fail_number)
		return calls.fail_result;
	if (strcmp(name, calls.fail) != 0)
		return 0;
	return ++calls.seen == calls.fail_number ? calls.fail_result : 0;
}

int fake_calls_end(void)
{
	put("\n");
	return fake_calls_failure(calls.name);
}

static void forget(uint64_t handle)
{
	for (size_t i = 0; i < MOST_HANDLES; i++)
		if (calls.handles[i] == handle)
			calls.handles[i] = 0;
}

void fake_calls_ended(const char *name, int result)
{
	static const char *const ends[] = {"Destroy", "Free", "Release", "Unload", "Unmap"};

	if (result)
		put("  %s answers %d\n", name, result);
	if (strcmp(name, calls.name) != 0)
		return;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		for (size_t j = 0; strstr(name, ends[i]) && j < calls.given_count; j++)
			forget(calls.given[j]);
}

static unsigned number_of(uint64_t handle)
{
	size_t room = 0;

	for (size_t i = 0; i < MOST_HANDLES; i++) {
		if (calls.handles[i] == handle)
			return calls.numbers[i];
		if (!calls.handles[i])
			room = i;
	}
	calls.handles[room] = handle;
	return calls.numbers[room] = ++calls.last_number;
}

/*
 * By what it is in: allocations have numbers, in the order in which they were made. Memory of the
 * host's that is copied has none: it may be anywhere.
 */
static void put_value(uint64_t value)
{
	struct fake_memory memory;

	if (value < LEAST_ADDRESS || value >= MOST_ADDRESS)
		put(" %llx", (unsigned long long)value);
	else if (value >= FIXED_BEGIN && value < FIXED_END)
		put(" @%llx", (unsigned long long)value);
	else if (fake_find_memory(value, &memory))
		put(" a%u+%llx", memory.number, (unsigned long long)(value - memory.address));
	else if (strncmp(calls.name, "cuMemcpy", 8) == 0)
		put(" host");
	else
		put(" h%u", number_of(value));
	if (calls.given_count < sizeof(calls.given) / sizeof(calls.given[0]))
		calls.given[calls.given_count++] = value;
}

/* ---- contents ---- */

static int is_known(uint64_t value, struct fake_memory *memory)
{
	return value >= LEAST_ADDRESS && value < MOST_ADDRESS &&
	       (value < FIXED_BEGIN || value >= FIXED_END) && fake_find_memory(value, memory);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* Tables of pointers count by where these lead. */
void fake_calls_bytes(const void *bytes, size_t size)
{
	const char *at = bytes;
	const size_t read = size < MOST_BYTES ? size : MOST_BYTES;
	uint64_t hash = size;

	if (!fake_calls_on() || !calls.file)
		return;
	for (size_t i = 0; i < read; i += sizeof(uint64_t)) {
		const size_t left = read - i;
		struct fake_memory memory;
		uint64_t word = 0;

		memcpy(&word, at + i, left < sizeof(word) ? left : sizeof(word));
		if (is_known(word, &memory))
			word = mix(memory.number, word - memory.address);
		hash = mix(hash, word);
	}
	put("  bytes %016llx\n", (unsigned long long)hash);
}

void fake_calls_words(const void *bytes, size_t size)
{
	const char *at = bytes;

	if (!fake_calls_on() || !calls.file)
		return;
	put("  words");
	for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
		struct fake_memory memory;
		uint64_t word;

		memcpy(&word, at + i, sizeof(word));
		if (is_known(word, &memory))
			put(" a%u+%llx", memory.number,
			    (unsigned long long)(word - memory.address));
		else
			put(" %llx", (unsigned long long)word);
	}
	put("\n");
}

/* Places for messages are somebody's stack. */
void fake_calls_options(unsigned count, const CUjit_option *options, void *const *values)
{
	if (!fake_calls_on())
		return;
	for (unsigned i = 0; i < count; i++) {
		const uint64_t value = (uint64_t)(uintptr_t)values[i];

		put("  option %d %llx\n", (int)options[i],
		    (unsigned long long)(value < LEAST_ADDRESS ? value : LEAST_ADDRESS));
	}
}

/* ---- arguments ---- */

#define TAKE(type, name)                                                                           \
	va_list args_;                                                                             \
	type name;                                                                                 \
                                                                                                   \
	va_start(args_, nothing);                                                                  \
	(name) = va_arg(args_, type);                                                              \
	va_end(args_)

void fake_calls_int(int nothing, ...)
{
	TAKE(int, value);
	put(" %d", value);
}

void fake_calls_unsigned(int nothing, ...)
{
	TAKE(unsigned, value);
	put(" %u", value);
}

void fake_calls_size(int nothing, ...)
{
	TAKE(size_t, value);
	put(" %zu", value);
}

void fake_calls_address(int nothing, ...)
{
	TAKE(unsigned long long, value);
	put_value(value);
}

void fake_calls_pointer(int nothing, ...)
{
	TAKE(void *, value);
	put_value((uint64_t)(uintptr_t)value);
}

void fake_calls_text(int nothing, ...)
{
	TAKE(const char *, value);
	put(" '%s'", value ? value : "");
}

static void put_side(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array)
{
	put(" (");
	if (type == CU_MEMORYTYPE_ARRAY)
		put_value((uint64_t)(uintptr_t)array);
	else
		put_value(type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)host : device);
}

void fake_calls_rows(int nothing, ...)
{
	TAKE(const CUDA_MEMCPY2D *, copy);
	if (!copy)
		return;
	put_side(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray);
	put(" %zu %zu %zu)", copy->srcXInBytes, copy->srcY, copy->srcPitch);
	put_side(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray);
	put(" %zu %zu %zu) %zu %zu", copy->dstXInBytes, copy->dstY, copy->dstPitch,
	    copy->WidthInBytes, copy->Height);
}

void fake_calls_box(int nothing, ...)
{
	TAKE(const CUDA_MEMCPY3D *, copy);
	if (!copy)
		return;
	put_side(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray);
	put(" %zu %zu %zu %zu %zu)", copy->srcXInBytes, copy->srcY, copy->srcZ, copy->srcPitch,
	    copy->srcHeight);
	put_side(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray);
	put(" %zu %zu %zu %zu %zu) %zu %zu %zu", copy->dstXInBytes, copy->dstY, copy->dstZ,
	    copy->dstPitch, copy->dstHeight, copy->WidthInBytes, copy->Height, copy->Depth);
}

void fake_calls_shape(int nothing, ...)
{
	TAKE(const CUDA_ARRAY3D_DESCRIPTOR *, shape);
	if (shape)
		put(" (%zu %zu %zu %d %u %u)", shape->Width, shape->Height, shape->Depth,
		    (int)shape->Format, shape->NumChannels, shape->Flags);
}

void fake_calls_resource(int nothing, ...)
{
	TAKE(const CUDA_RESOURCE_DESC *, resource);
	if (!resource)
		return;
	put(" (%d", (int)resource->resType);
	if (resource->resType == CU_RESOURCE_TYPE_ARRAY) {
		put_value((uint64_t)(uintptr_t)resource->res.array.hArray);
	} else if (resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
		put_value((uint64_t)(uintptr_t)resource->res.mipmap.hMipmappedArray);
	} else if (resource->resType == CU_RESOURCE_TYPE_LINEAR) {
		put_value(resource->res.linear.devPtr);
		put(" %d %u %zu", (int)resource->res.linear.format,
		    resource->res.linear.numChannels, resource->res.linear.sizeInBytes);
	} else {
		put_value(resource->res.pitch2D.devPtr);
		put(" %d %u %zu %zu %zu", (int)resource->res.pitch2D.format,
		    resource->res.pitch2D.numChannels, resource->res.pitch2D.width,
		    resource->res.pitch2D.height, resource->res.pitch2D.pitchInBytes);
	}
	put(" %u)", resource->flags);
}

void fake_calls_texture(int nothing, ...)
{
	TAKE(const CUDA_TEXTURE_DESC *, texture);
	if (!texture)
		return;
	put(" (%d %d %d %d %u %u %d %g %g %g", (int)texture->addressMode[0],
	    (int)texture->addressMode[1], (int)texture->addressMode[2], (int)texture->filterMode,
	    texture->flags, texture->maxAnisotropy, (int)texture->mipmapFilterMode,
	    (double)texture->mipmapLevelBias, (double)texture->minMipmapLevelClamp,
	    (double)texture->maxMipmapLevelClamp);
	for (size_t i = 0; i < 4; i++)
		put(" %g", (double)texture->borderColor[i]);
	put(")");
}

void fake_calls_launch(int nothing, ...)
{
	TAKE(const CUlaunchConfig *, config);
	if (!config)
		return;
	put(" (%u %u %u) (%u %u %u) %u", config->gridDimX, config->gridDimY, config->gridDimZ,
	    config->blockDimX, config->blockDimY, config->blockDimZ, config->sharedMemBytes);
	put_value((uint64_t)(uintptr_t)config->hStream);
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *attribute = &config->attrs[i];

		put(" [%d", (int)attribute->id);
		if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			put(" %u %u %u", attribute->value.clusterDim.x,
			    attribute->value.clusterDim.y, attribute->value.clusterDim.z);
		else
			put(" %d", attribute->value.cooperative);
		put("]");
	}
}

void fake_calls_other(int nothing, ...)
{
	(void)nothing;
	put(" *");
}
