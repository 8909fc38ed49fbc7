/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "collector/decode/decoder.h"
#include "format/file/series.h"

/* Samples of series, their times still in the clock they were read from. */

/* Series begin with room for so many samples. */
enum { FIRST_SAMPLES = 64 };

/*
 * The trace's series for this one of the capture; a damaged chunk may say other columns. NULL when
 * there is no room for one more.
 */
static struct gt_series *find_series(struct gt_decoder *decoder, const struct gt_samples *samples)
{
	struct gt_trace *trace = decoder->collection->trace;
	struct gt_capture *capture = decoder->capture;
	const uint64_t number = (uint64_t)samples->series << 8 | samples->clock;
	const gt_id row = gt_known_find(&capture->series_places, number);
	size_t place;

	if (row != GT_NONE)
		return &trace->series.rows[capture->raw_series.rows[row].place];
	if (!gt_decoder_take(decoder, FIRST_SAMPLES * (samples->columns + 2ull) * sizeof(double)))
		return NULL;
	place = gt_trace_add_series(trace, samples->columns);
	gt_known_add(&capture->series_places, number, (gt_id)capture->raw_series.count);
	if (gt_known_find(&capture->series_numbers, samples->series) == GT_NONE)
		gt_known_add(&capture->series_numbers, samples->series,
		             (gt_id)capture->raw_series.count);
	*gt_array_push(&capture->raw_series) = (struct gt_raw_series){
		.number = samples->series, .clock = samples->clock, .place = place};
	return &trace->series.rows[place];
}

static void append(struct gt_series *series, const struct gt_samples *samples)
{
	gt_series_reserve(series, samples->count);
	for (uint32_t i = 0; i < samples->count; i++) {
		const size_t row = series->count + i;

		series->times_ns[row] = (gt_time)samples->times_ns[i];
		for (size_t column = 0; column < series->column_count; column++)
			series->columns[column][row] =
				samples->values[(size_t)i * samples->columns + column];
	}
	series->count += samples->count;
}

void gt_decode_series(struct gt_decoder *decoder, const struct gt_chunk *chunk)
{
	struct gt_samples samples = {.count = chunk->header.count};

	if (chunk->header.count > GT_CHUNK_MAX_RECORDS ||
	    gt_series_peek(chunk->payload, chunk->header.raw, &samples) < 0) {
		decoder->damaged++;
		return;
	}
	if (!gt_decoder_take(decoder,
	                     (uint64_t)samples.count * (samples.columns + 1u) * sizeof(double))) {
		decoder->refused++;
		return;
	}
	samples.times_ns = gt_allocate(samples.count * sizeof(*samples.times_ns));
	samples.values =
		gt_allocate((size_t)samples.count * samples.columns * sizeof(*samples.values));
	if (gt_series_decode(chunk->payload, chunk->header.raw, &samples) < 0) {
		decoder->damaged++;
	} else {
		struct gt_series *series = find_series(decoder, &samples);

		if (!series)
			decoder->refused++;
		else if (series->column_count == samples.columns)
			append(series, &samples);
		else
			decoder->damaged++;
	}
	gt_array_free(samples.times_ns);
	gt_array_free(samples.values);
}
