/* SPDX-License-Identifier: Apache-2.0 */
#include "format/arena/staging.h"

#include <string.h>

#include "format/file/chunk.h"

#define VALUES  16384 /* in all samples together */
#define SAMPLES 1024
#define DONE    UINT16_MAX /* in place of its series: the sample was taken out */

struct staged {
	uint64_t time_ns;
	uint32_t first; /* of its values */
	uint16_t series;
	uint8_t clock;
	uint8_t columns;
};

struct gt_staging {
	uint32_t count;
	uint32_t used; /* values */
	struct staged samples[SAMPLES];
	double values[VALUES];
	uint64_t out_times[SAMPLES];
	double out_values[VALUES];
};

_Static_assert(SAMPLES <= GT_CHUNK_MAX_RECORDS, "what is staged fits a chunk");
_Static_assert(GT_SERIES_BOUND(0, SAMPLES) + (size_t)VALUES * 10 + (size_t)256 * 5 <=
                       GT_CHUNK_MAX_RAW,
               "so do its values");

size_t gt_staging_memory(void)
{
	return sizeof(struct gt_staging);
}

struct gt_staging *gt_staging_init(void *memory)
{
	struct gt_staging *staging = memory;

	staging->count = staging->used = 0;
	return staging;
}

bool gt_staging_add(struct gt_staging *staging, const struct gt_sample *sample)
{
	if (sample->series == DONE)
		return true; /* no series has this number */
	if (staging->count == SAMPLES || sample->columns > VALUES - staging->used)
		return false;
	staging->samples[staging->count++] = (struct staged){
		.time_ns = sample->time_ns,
		.first = staging->used,
		.series = sample->series,
		.clock = sample->clock,
		.columns = sample->columns,
	};
	memcpy(&staging->values[staging->used], sample->values,
	       sample->columns * sizeof(sample->values[0]));
	staging->used += sample->columns;
	return true;
}

static void take(struct gt_staging *staging, struct staged *staged, struct gt_samples *samples)
{
	const size_t size = staged->columns * sizeof(double);

	samples->times_ns[samples->count] = staged->time_ns;
	memcpy(&samples->values[(size_t)samples->count * staged->columns],
	       &staging->values[staged->first], size);
	samples->count++;
	staged->series = DONE;
}

int gt_staging_next(struct gt_staging *staging, struct gt_samples *samples)
{
	const struct staged *first = NULL;
	struct staged wanted = {0};

	*samples =
		(struct gt_samples){.times_ns = staging->out_times, .values = staging->out_values};
	for (uint32_t i = 0; i < staging->count; i++) {
		struct staged *staged = &staging->samples[i];

		if (staged->series == DONE)
			continue;
		if (!first) {
			first = staged;
			wanted = *staged;
		}
		if (staged->series == wanted.series && staged->clock == wanted.clock &&
		    staged->columns == wanted.columns)
			take(staging, staged, samples);
	}
	samples->series = wanted.series;
	samples->clock = wanted.clock;
	samples->columns = wanted.columns;
	if (first)
		return 1;
	staging->count = staging->used = 0;
	return 0;
}
