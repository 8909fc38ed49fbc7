/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/bundle/bundle.h"

/*
 * Prints the bundle of a launch, or of a sequence with its first launch, as a line of JSON, memory
 * as floats: show_bundle FOLDER [MOST]. Prints at most MOST of larger memory, at even distances
 * from the first on.
 */

static const char *const kinds[] = {
#define KIND(name, help) #name,
	GT_BUNDLE_MEMORY_KINDS(KIND)
#undef KIND
};

/* show_bundle FOLDER MOST: so many floats of each memory, at even distances from the first on. */
static size_t step_of(size_t count, size_t most)
{
	return count > most ? (count + most - 1) / most : 1;
}

static int print_contents(const struct gt_bundle *bundle, const char *key,
                          const struct gt_blob *blob, size_t most, struct gt_error *err)
{
	const size_t count = blob->size / sizeof(float);
	float *values = calloc(1, blob->size + 1);
	const int result = gt_bundle_read(bundle, blob, values, err);

	printf(",\"%s\":[", key);
	for (size_t i = 0; result == 0 && i < count; i += step_of(count, most))
		printf("%s%.9g", i ? "," : "", (double)values[i]);
	printf("]");
	free(values);
	return result;
}

static int print_memory(const struct gt_bundle *bundle, size_t most, struct gt_error *err)
{
	int result = 0;

	printf(",\"memory\":[");
	for (size_t i = 0; i < bundle->memory.count && result == 0; i++) {
		const struct gt_bundle_memory *memory = &bundle->memory.rows[i];

		printf("%s{\"kind\":\"%s\",\"address\":%" PRIu64 ",\"size\":%" PRIu64
		       ",\"name\":\"%s\",\"same\":%s,\"pointers\":%s",
		       i ? "," : "", kinds[memory->kind], memory->address, memory->size,
		       memory->name, memory->same ? "true" : "false",
		       memory->pointers ? "true" : "false");
		/* Tables of pointers are no floats: what they hold shows in the pointers. */
		if (!memory->pointers)
			result = print_contents(bundle, "before", &memory->before, most, err);
		if (!memory->pointers && result == 0)
			result = print_contents(bundle, "after", &memory->after, most, err);
		printf("}");
	}
	printf("]");
	return result;
}

static void print_triple(const char *key, const uint32_t *values)
{
	printf(",\"%s\":[%u,%u,%u]", key, values[0], values[1], values[2]);
}

static const struct gt_bundle_step *first_launch(const struct gt_bundle *bundle)
{
	const struct gt_bundle_step *step = bundle->steps.rows;

	while (step->kind != GT_BUNDLE_STEP_launch)
		step++;
	return step;
}

static void print_launch(const struct gt_bundle *bundle)
{
	const struct gt_bundle_step *step = first_launch(bundle);
	const struct gt_bundle_function *function = &bundle->functions.rows[step->function];
	const struct gt_bundle_stream *stream = &bundle->streams.rows[step->stream];

	printf("{\"function\":\"%s\",\"image_bytes\":%" PRIu64
	       ",\"shared_bytes\":%u,\"job_ns\":%" PRId64,
	       function->name, bundle->modules.rows[function->module].image.size,
	       step->shared_bytes, step->start_ns == 0 ? step->end_ns : -1);
	print_triple("grid", step->grid);
	print_triple("block", step->block);
	print_triple("cluster", step->cluster);
	printf(",\"cooperative\":%s,\"launch_priority\":%d,\"priority\":%d,\"nonblocking\":%s",
	       step->cooperative ? "true" : "false", step->priority, stream->priority,
	       stream->nonblocking ? "true" : "false");
	printf(",\"parameters\":[");
	for (size_t i = 0; i < function->parameters.count; i++)
		printf("%s[%u,%u]", i ? "," : "", function->parameters.rows[i].offset,
		       function->parameters.rows[i].size);
	printf("],\"pointers\":[");
	for (size_t i = 0; i < bundle->pointers.count; i++) {
		const struct gt_bundle_pointer *pointer = &bundle->pointers.rows[i];

		printf(i ? ",[" : "[");
		if (pointer->memory == UINT32_MAX)
			printf("null");
		else
			printf("%u", pointer->memory);
		printf(",%" PRIu64 ",%u,%s]", pointer->offset, pointer->target,
		       pointer->declared ? "true" : "false");
	}
	printf("],\"missing\":[");
	for (size_t i = 0; i < bundle->missing.count; i++)
		printf("%s\"%s\"", i ? "," : "", bundle->missing.rows[i]);
	printf("]");
}

int main(int argc, char **argv)
{
	struct gt_error err = {0};
	struct gt_bundle bundle;
	size_t blobs;
	const size_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	int result = argc == 2 || most ? gt_bundle_open(&bundle, argv[1], &err) : -1;

	if (result < 0) {
		(void)fprintf(stderr, "show_bundle: %s\n", err.text);
		return 1;
	}
	result = gt_bundle_check(&bundle, &blobs, &err);
	if (result == 0) {
		print_launch(&bundle);
		result = print_memory(&bundle, most ? most : SIZE_MAX, &err);
		printf("}\n");
	}
	if (result < 0)
		(void)fprintf(stderr, "show_bundle: %s\n", err.text);
	gt_bundle_close(&bundle);
	return result < 0;
}
