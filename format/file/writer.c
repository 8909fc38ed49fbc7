/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/writer.h"

#include <errno.h>
#include <string.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "base/bytes.h"
#include "format/file/chunk.h"
#include "format/file/columns.h"
#include "format/file/series.h"
#include "format/records.h"

/* Level 3 is zstd's default; the columns are small enough that higher ones gain little. */
#define LEVEL 3

_Static_assert(GT_COLUMNS_BOUND(GT_RECORD_MAX_FIELDS, GT_CHUNK_MAX_RECORDS) <= GT_CHUNK_MAX_RAW,
               "a full chunk always fits");
_Static_assert(ZSTD_COMPRESSBOUND(GT_CHUNK_MAX_RAW) <= GT_CHUNK_MAX_STORED,
               "a chunk that does not compress still fits");

static size_t compressor_memory(void)
{
	return gt_align_64(ZSTD_estimateCCtxSize(LEVEL));
}

size_t gt_writer_memory(void)
{
	return compressor_memory() + gt_align_64(GT_CHUNK_MAX_RAW) +
	       gt_align_64(GT_CHUNK_HEADER_SIZE + GT_CHUNK_MAX_STORED);
}

int gt_writer_init(struct gt_writer *writer, struct gt_sink sink, void *memory, size_t size)
{
	uint8_t *at = memory;

	if (size < gt_writer_memory())
		return -ENOMEM;
	*writer = (struct gt_writer){.sink = sink};
	writer->compressor = ZSTD_initStaticCCtx(at, compressor_memory());
	if (!writer->compressor)
		return -ENOMEM;
	at += compressor_memory();
	writer->raw = at;
	at += gt_align_64(GT_CHUNK_MAX_RAW);
	writer->out = at;
	return 0;
}

static int give(struct gt_writer *writer, const void *data, size_t size)
{
	const int result = writer->sink.write(writer->sink.context, data, size);

	if (result < 0) {
		writer->failed++;
		return result;
	}
	writer->bytes += size;
	return 0;
}

int gt_writer_file_header(struct gt_writer *writer)
{
	uint8_t header[GT_FILE_HEADER_SIZE] = {0};

	memcpy(header, GT_FILE_MAGIC, 8);
	gt_put_u32(header + 8, GT_FORMAT_VERSION);
	gt_put_u32(header + 12, GT_FILE_HEADER_SIZE);
	return give(writer, header, sizeof(header));
}

/* Compresses raw into the output behind the header; stores it as it is when that is not smaller. */
static uint32_t compress(struct gt_writer *writer, const void *raw, size_t size, uint32_t *flags)
{
	uint8_t *const payload = writer->out + GT_CHUNK_HEADER_SIZE;
	const size_t stored = ZSTD_compressCCtx(writer->compressor, payload, GT_CHUNK_MAX_STORED,
	                                        raw, size, LEVEL);

	if (ZSTD_isError(stored) || stored >= size) {
		memcpy(payload, raw, size);
		return (uint32_t)size;
	}
	*flags |= GT_CHUNK_COMPRESSED;
	return (uint32_t)stored;
}

static int append(struct gt_writer *writer, struct gt_chunk_header *header, const void *raw,
                  size_t size)
{
	header->flags = writer->flags;
	header->raw = (uint32_t)size;
	header->stored = compress(writer, raw, size, &header->flags);
	gt_chunk_encode_header(writer->out, header);
	header->checksum =
		gt_chunk_checksum(writer->out, writer->out + GT_CHUNK_HEADER_SIZE, header->stored);
	gt_chunk_encode_header(writer->out, header);

	const int result = give(writer, writer->out, GT_CHUNK_HEADER_SIZE + header->stored);

	if (result < 0) {
		writer->failed_records += header->count;
		return result;
	}
	writer->chunks++;
	if (writer->written && header->kind < GT_RECORD_KIND_COUNT)
		writer->written[header->kind] += header->count;
	return 0;
}

static void note_span(struct gt_chunk_header *header, const struct gt_record_info *info,
                      const uint8_t *rows, size_t count)
{
	if (!gt_record_has_times(info))
		return;
	for (size_t i = 0; i < count; i++, rows += info->size) {
		uint64_t start;
		uint64_t end;

		memcpy(&start, rows + info->fields[0].offset, sizeof(start));
		memcpy(&end, rows + info->fields[1].offset, sizeof(end));
		if (start && (header->first == 0 || start < header->first))
			header->first = start;
		if (end > header->last)
			header->last = end;
	}
}

int gt_writer_records(struct gt_writer *writer, uint32_t kind, const void *records, size_t count,
                      struct gt_origin origin)
{
	const struct gt_record_info *info = gt_record_info(kind);
	struct gt_chunk_header header = {
		.kind = (uint16_t)kind,
		.part = origin.part,
		.source = origin.source,
		.count = (uint32_t)count,
	};

	if (!info || count > GT_CHUNK_MAX_RECORDS)
		return -EINVAL;
	if (count == 0)
		return 0;
	note_span(&header, info, records, count);
	return append(writer, &header, writer->raw,
	              gt_columns_encode(info, records, count, writer->raw));
}

int gt_writer_samples(struct gt_writer *writer, const struct gt_samples *samples,
                      struct gt_origin origin)
{
	struct gt_chunk_header header = {
		.kind = GT_RECORD_SERIES,
		.part = origin.part,
		.source = origin.source,
		.count = samples->count,
	};

	if (samples->count > GT_CHUNK_MAX_RECORDS ||
	    GT_SERIES_BOUND(samples->columns, samples->count) > GT_CHUNK_MAX_RAW)
		return -EINVAL;
	if (samples->count == 0)
		return 0;
	header.first = samples->times_ns[0];
	header.last = samples->times_ns[samples->count - 1];
	return append(writer, &header, writer->raw, gt_series_encode(samples, writer->raw));
}

int gt_writer_payload(struct gt_writer *writer, uint32_t kind, const void *payload, size_t size,
                      uint32_t count)
{
	struct gt_chunk_header header = {.kind = (uint16_t)kind, .count = count};

	if (size > GT_CHUNK_MAX_RAW)
		return -EMSGSIZE;
	return append(writer, &header, payload, size);
}
