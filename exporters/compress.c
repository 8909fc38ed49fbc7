/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/compress.h"

#include <errno.h>

#include <zstd.h>
#ifdef GPUTRACE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

#include "base/array.h"
#include "base/error.h"

enum {
	/* bench/results/2026-11-21-dev-traces.md says what levels give and take. */
	ZLIB_LEVEL = 6,
	ZSTD_LEVEL = 8,
};

/* zlib's format, by the library that writes it twice as fast where there is one. */
#ifdef GPUTRACE_LIBDEFLATE
static void *start_zlib(void)
{
	return libdeflate_alloc_compressor(ZLIB_LEVEL);
}

static size_t bound_zlib(void *state, size_t size)
{
	return libdeflate_zlib_compress_bound(state, size);
}

static int64_t pack_zlib(struct gt_compressor *compressor, const uint8_t *bytes, size_t size)
{
	const size_t packed = libdeflate_zlib_compress(compressor->state, bytes, size,
	                                               compressor->packed, compressor->capacity);

	return packed > 0 ? (int64_t)packed : -EIO;
}

static void stop_zlib(void *state)
{
	libdeflate_free_compressor(state);
}
#else
static void *start_zlib(void)
{
	z_stream *zlib = gt_allocate(sizeof(*zlib));

	*zlib = (z_stream){0};
	if (deflateInit(zlib, ZLIB_LEVEL) == Z_OK)
		return zlib;
	gt_array_free(zlib);
	return NULL;
}

static size_t bound_zlib(void *state, size_t size)
{
	return deflateBound(state, size);
}

static int64_t pack_zlib(struct gt_compressor *compressor, const uint8_t *bytes, size_t size)
{
	z_stream *zlib = compressor->state;

	zlib->next_in = (Bytef *)(uintptr_t)bytes; /* only read */
	zlib->avail_in = (uInt)size;
	zlib->next_out = compressor->packed;
	zlib->avail_out = (uInt)compressor->capacity;
	if (deflate(zlib, Z_FINISH) != Z_STREAM_END || deflateReset(zlib) != Z_OK)
		return -EIO;
	return (int64_t)(compressor->capacity - zlib->avail_out);
}

static void stop_zlib(void *state)
{
	deflateEnd(state);
	gt_array_free(state);
}
#endif

int gt_compressor_init(struct gt_compressor *compressor, enum gt_compression kind, size_t most,
                       struct gt_error *err)
{
	*compressor = (struct gt_compressor){.kind = kind};
	compressor->state = kind == GT_COMPRESSION_ZSTD ? ZSTD_createCCtx() : start_zlib();
	if (!compressor->state)
		return gt_fail(err, ENOMEM, "cannot start to compress the trace");
	compressor->capacity = kind == GT_COMPRESSION_ZSTD ? ZSTD_compressBound(most)
	                                                   : bound_zlib(compressor->state, most);
	compressor->packed = gt_allocate(compressor->capacity);
	return 0;
}

int64_t gt_compressor_pack(struct gt_compressor *compressor, const uint8_t *bytes, size_t size)
{
	size_t packed;

	if (compressor->kind != GT_COMPRESSION_ZSTD)
		return pack_zlib(compressor, bytes, size);
	packed = ZSTD_compressCCtx(compressor->state, compressor->packed, compressor->capacity,
	                           bytes, size, ZSTD_LEVEL);
	return ZSTD_isError(packed) ? -EIO : (int64_t)packed;
}

void gt_compressor_release(struct gt_compressor *compressor)
{
	if (compressor->state && compressor->kind == GT_COMPRESSION_ZSTD)
		ZSTD_freeCCtx(compressor->state);
	else if (compressor->state)
		stop_zlib(compressor->state);
	gt_array_free(compressor->packed);
	*compressor = (struct gt_compressor){0};
}
