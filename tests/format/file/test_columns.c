/* SPDX-License-Identifier: Apache-2.0 */
#include "format/file/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/file/chunk.h"
#include "format/records.h"
#include "support/capture.h"
#include "support/check.h"

static uint8_t encoded[GT_CHUNK_MAX_RAW];
static uint8_t rows[GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE];
static uint8_t decoded[GT_CHUNK_MAX_RECORDS * GT_RECORD_MAX_SIZE];

/* One column as it stands in a file. */
static uint8_t *put_column(uint8_t *out, uint8_t number, uint8_t coding, const uint64_t *values,
                           size_t count)
{
	uint8_t *const header = out;

	out += GT_COLUMN_HEADER_SIZE;
	for (size_t i = 0; i < count; i++)
		out = gt_put_varint(out, values[i]);
	header[0] = number;
	header[1] = coding;
	gt_put_u32(header + 2, (uint32_t)(out - header - GT_COLUMN_HEADER_SIZE));
	return out;
}

static void expect_round_trip(const struct gt_record_info *info, size_t count)
{
	const size_t size = gt_columns_encode(info, rows, count, encoded);

	cr_assert(le(sz, size, GT_COLUMNS_BOUND(info->field_count, count)));
	memset(decoded, 0xa5, sizeof(decoded));
	cr_assert(eq(int, gt_columns_decode(info, encoded, size, decoded, count), 0), "%s",
	          info->name);
	cr_expect(eq(int, memcmp(rows, decoded, count * info->size), 0), "%s", info->name);
	if (count < GT_CHUNK_MAX_RECORDS)
		cr_expect(eq(u8, decoded[count * info->size], 0xa5), "wrote behind the rows");
}

Test(columns, bring_every_kind_of_record_through)
{
	static const size_t counts[] = {1, 2, 17, 1000, GT_CHUNK_MAX_RECORDS};
	unsigned kinds = 0;

	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT; kind++) {
		const struct gt_record_info *info = gt_record_info(kind);

		if (!info)
			continue;
		kinds++;
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			random_records(info, rows, counts[i], kind * 100 + i);
			expect_round_trip(info, counts[i]);
		}
	}
	cr_expect(ge(u32, kinds, 14));
}

Test(columns, wrap_around_rather_than_lose_a_value)
{
	const struct gt_record_info *info = gt_record_info(GT_RECORD_kernel);
	struct gt_record_kernel *kernels = (struct gt_record_kernel *)rows;

	memset(rows, 0, 8 * sizeof(*kernels));
	for (int i = 0; i < 8; i++) {
		kernels[i].start_ns = i & 1 ? UINT64_MAX : 0;
		kernels[i].end_ns = i & 2 ? UINT64_MAX : 0;
		kernels[i].correlation = i & 1 ? UINT32_MAX : 0;
		kernels[i].flags = i & 4 ? UINT32_MAX : 0;
	}
	expect_round_trip(info, 8);
}

Test(columns, encode_no_records_as_empty_columns)
{
	const struct gt_record_info *info = gt_record_info(GT_RECORD_ledger);

	cr_expect(eq(sz, gt_columns_encode(info, rows, 0, encoded),
	             info->field_count * GT_COLUMN_HEADER_SIZE));
	expect_round_trip(info, 0);
}

Test(columns, read_a_missing_field_as_zero_and_skip_an_unknown_one)
{
	const struct gt_record_info *info = gt_record_info(GT_RECORD_sync);
	const uint64_t unknown[] = {1, UINT64_MAX, 300};
	const uint64_t flags[] = {4, 5, 6};
	struct gt_record_sync syncs[3];
	uint8_t *out = encoded;

	memset(syncs, 0xff, sizeof(syncs));
	out = put_column(out, 200, GT_CODING_plain, unknown, 3);
	out = put_column(out, 8, GT_CODING_plain, flags, 3);
	out = put_column(out, 201, 99, unknown, 2); /* of a coding that is not known either */
	cr_assert(eq(int, gt_columns_decode(info, encoded, (size_t)(out - encoded), syncs, 3), 0));
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect(eq(u64, syncs[i].start_ns, 0));
		cr_expect(eq(u32, syncs[i].stream, 0));
		cr_expect(eq(u32, syncs[i].flags, 4 + i));
	}
}

Test(columns, follow_the_coding_in_the_file)
{
	/* A later version may code a field in another way than this one writes it. */
	const struct gt_record_info *info = gt_record_info(GT_RECORD_sync);
	const uint64_t starts[] = {10, 20, 30};
	const uint64_t spans[] = {gt_zigzag(5), gt_zigzag((uint64_t)-3), 0};
	const uint64_t deltas[] = {gt_zigzag(7), gt_zigzag((uint64_t)-2), 0};
	struct gt_record_sync syncs[3];
	uint8_t *out = encoded;

	out = put_column(out, 1, GT_CODING_plain, starts, 3);
	out = put_column(out, 2, GT_CODING_span, spans, 3);
	out = put_column(out, 7, GT_CODING_delta, deltas, 3);
	cr_assert(eq(int, gt_columns_decode(info, encoded, (size_t)(out - encoded), syncs, 3), 0));
	cr_expect(eq(u64, syncs[0].end_ns, 15));
	cr_expect(eq(u64, syncs[1].end_ns, 17));
	cr_expect(eq(u64, syncs[2].end_ns, 30));
	cr_expect(eq(u32, syncs[0].kind, 7));
	cr_expect(eq(u32, syncs[1].kind, 5));
	cr_expect(eq(u32, syncs[2].kind, 5));
}

Test(columns, read_zeros_as_what_they_are_the_difference_from)
{
	const struct gt_record_info *info = gt_record_info(GT_RECORD_sync);
	const uint64_t starts[] = {10, 20, 30};
	const uint64_t zeros[4] = {0};
	const uint64_t last[] = {0, 0, 6};
	struct gt_record_sync syncs[3];
	uint8_t *out = encoded;

	out = put_column(out, 1, GT_CODING_plain, starts, 3);
	out = put_column(out, 2, GT_CODING_span, zeros, 3);
	out = put_column(out, 7, GT_CODING_delta, zeros, 3);
	out = put_column(out, 8, GT_CODING_plain, last, 3);
	cr_assert(eq(int, gt_columns_decode(info, encoded, (size_t)(out - encoded), syncs, 3), 0));
	cr_expect(eq(u64, syncs[2].end_ns, 30));
	cr_expect(eq(u32, syncs[2].kind, 0));
	cr_expect(eq(u32, syncs[1].flags, 0));
	cr_expect(eq(u32, syncs[2].flags, 6));
	for (size_t count = 2; count <= 4; count++) {
		out = put_column(encoded, 7, GT_CODING_delta, zeros, count);
		cr_expect(eq(int,
		             gt_columns_decode(info, encoded, (size_t)(out - encoded), syncs, 3),
		             count == 3 ? 0 : -EBADMSG));
	}
}

Test(columns, read_values_of_one_two_and_three_bytes)
{
	const struct gt_record_info *info = gt_record_info(GT_RECORD_sync);
	const uint64_t values[] = {0, 127, 128, 16383, 16384, 1};
	struct gt_record_sync syncs[6];
	uint8_t *const end = put_column(encoded, 1, GT_CODING_plain, values, 6);

	cr_assert(eq(int, gt_columns_decode(info, encoded, (size_t)(end - encoded), syncs, 6), 0));
	for (size_t i = 0; i < 6; i++)
		cr_expect(eq(u64, syncs[i].start_ns, values[i]));
}

Test(columns, refuse_bytes_that_are_not_that_many_records)
{
	const struct gt_record_info *info = gt_record_info(GT_RECORD_copy);
	size_t size;

	random_records(info, rows, 5, 1);
	size = gt_columns_encode(info, rows, 5, encoded);
	cr_expect(eq(int, gt_columns_decode(info, encoded, size, decoded, 4), -EBADMSG));
	cr_expect(eq(int, gt_columns_decode(info, encoded, size, decoded, 6), -EBADMSG));
	cr_expect(eq(int, gt_columns_decode(info, encoded, size, decoded, 0), -EBADMSG));
}

Test(columns, refuse_a_cut_inside_a_column)
{
	const struct gt_record_info *info = gt_record_info(GT_RECORD_copy);
	size_t size;
	size_t whole = 0;

	random_records(info, rows, 5, 2);
	size = gt_columns_encode(info, rows, 5, encoded);
	for (size_t cut = 0; cut < size; cut++) {
		/* Memory of just that size, so that a sanitizer sees a read behind it. */
		uint8_t *bytes = malloc(cut + 1);
		const int result =
			gt_columns_decode(info, memcpy(bytes, encoded, cut), cut, decoded, 5);

		if (result == 0)
			whole++;
		else
			cr_expect(eq(int, result, -EBADMSG));
		free(bytes);
	}
	/* Before the first column and after each but the last: those fields read as 0. */
	cr_expect(eq(sz, whole, info->field_count));
}

Test(columns, refuse_a_coding_that_is_not_known)
{
	const struct gt_record_info *info = gt_record_info(GT_RECORD_ledger);
	const uint64_t value = 1;
	uint8_t *const end = put_column(encoded, 1, 4, &value, 1);

	cr_expect(eq(int, gt_columns_decode(info, encoded, (size_t)(end - encoded), decoded, 1),
	             -EBADMSG));
}

Test(columns, refuse_more_records_than_a_chunk_may_have)
{
	/* The columns are empty, so that nothing but the count can be what is refused. */
	const struct gt_record_info *info = gt_record_info(GT_RECORD_ledger);

	cr_expect(eq(int, gt_columns_decode(info, encoded, 0, decoded, GT_CHUNK_MAX_RECORDS), 0));
	cr_expect(eq(int, gt_columns_decode(info, encoded, 0, decoded, GT_CHUNK_MAX_RECORDS + 1),
	             -EBADMSG));
	cr_expect(eq(int, gt_columns_decode(info, encoded, 0, decoded, SIZE_MAX), -EBADMSG));
}

Test(columns, are_small_where_little_changes)
{
	struct gt_record_kernel *kernels = (struct gt_record_kernel *)rows;
	const size_t count = 1000;

	memset(rows, 0, count * sizeof(*kernels));
	for (size_t i = 0; i < count; i++) {
		kernels[i].start_ns = 1700000000000000000u + i * 5000;
		kernels[i].end_ns = kernels[i].start_ns + 2000;
		kernels[i].correlation = (uint32_t)i;
		kernels[i].shape = 1;
	}
	/* Eleven columns; only start and end need more than a byte a row. */
	cr_expect(le(sz, gt_columns_encode(gt_record_info(GT_RECORD_kernel), rows, count, encoded),
	             count * 13 + 100));
}

Test(records, describe_themselves)
{
	for (uint32_t kind = 0; kind < GT_RECORD_KIND_COUNT + 10; kind++) {
		const struct gt_record_info *info = gt_record_info(kind);
		uint8_t seen[256] = {0};

		if (!info)
			continue;
		for (uint32_t f = 0; f < info->field_count; f++) {
			const struct gt_field *field = &info->fields[f];

			cr_expect(ne(u8, field->number, 0), "%s", field->name);
			cr_expect(eq(u8, seen[field->number]++, 0), "%s.%s", info->name,
			          field->name);
			cr_expect(le(u32, (uint32_t)field->offset + field->width, info->size));
			/* The encoder reads the first field as what spans begin at. */
			cr_expect(field->coding != GT_CODING_span || f > 0);
		}
	}
	cr_expect(eq(ptr, (void *)gt_record_info(GT_RECORD_META), NULL));
	cr_expect(eq(ptr, (void *)gt_record_info(GT_RECORD_STRINGS), NULL));
	cr_expect(eq(ptr, (void *)gt_record_info(UINT32_MAX), NULL));
}
