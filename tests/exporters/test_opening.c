/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/perfetto/opening.h"

#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"
#include "support/scene.h"

#include "exporters/read.h"

static char found[GT_OPENING_BYTES];

static void begin(void)
{
	scene_begin(1000000);
	trace_kernel(&trace, stream, shape, 1000, 2000);
}

static void end(void)
{
	gt_trace_release(&trace);
}

TestSuite(opening, .init = begin, .fini = end);

static bool reads(const char *bytes, size_t size)
{
	const int file = memfd_create("trace", MFD_CLOEXEC);
	bool result;

	cr_assert(ge(int, file, 0));
	cr_assert(eq(i64, pwrite(file, bytes, size, 0), (int64_t)size));
	result = gt_perfetto_read_opening(file, found);
	close(file);
	return result;
}

static struct file write_with(enum gt_compression compression, const char *opening)
{
	const struct gt_view view = gt_view_of(&trace);
	const struct gt_export_options options = {.compression = compression, .opening = opening};

	return export_as(&view, "perfetto", &options);
}

Test(opening, is_read_from_the_trace_however_it_is_compressed)
{
	static const enum gt_compression compressions[] = {GT_COMPRESSION_NONE, GT_COMPRESSION_ZLIB,
	                                                   GT_COMPRESSION_ZSTD};

	for (size_t i = 0; i < GT_COUNT_OF(compressions); i++) {
		struct file file = write_with(compressions[i], "1 2 1 1 0 7");

		cr_assert(reads(file.bytes, file.size), "compression %zu", i);
		expect_text(found, "1 2 1 1 0 7");
		free(file.bytes);
		file = write_with(compressions[i], NULL);
		cr_expect(!reads(file.bytes, file.size), "compression %zu", i);
		free(file.bytes);
	}
}

Test(opening, is_in_no_other_file)
{
	static const char *const files[] = {"",
	                                    "\n",
	                                    "{\"traceEvents\":[]}",
	                                    "\n\x80",
	                                    "\n\x7f",
	                                    "\n\x05\x92\x03\x02xx",
	                                    "\n\x06\xaa\x08\x02xx"};

	for (size_t i = 0; i < GT_COUNT_OF(files); i++)
		cr_expect(!reads(files[i], strlen(files[i])), "file %zu", i);
}

/* Every byte of the beginning changed, and every length: nothing worse than no answer comes of it. */
static void damage(enum gt_compression compression)
{
	struct file file = write_with(compression, "1 2 1 1 0 7");
	const size_t most = file.size < 600 ? file.size : 600;

	for (size_t i = 0; i < most; i++) {
		const char kept = file.bytes[i];

		file.bytes[i] = (char)(kept ^ 0xff);
		if (reads(file.bytes, file.size))
			cr_expect(lt(sz, strlen(found), GT_OPENING_BYTES));
		file.bytes[i] = (char)(kept + 1);
		(void)reads(file.bytes, file.size);
		file.bytes[i] = kept;
		(void)reads(file.bytes, i);
	}
	free(file.bytes);
}

Test(opening, survives_damaged_files)
{
	damage(GT_COMPRESSION_NONE);
	damage(GT_COMPRESSION_ZLIB);
	damage(GT_COMPRESSION_ZSTD);
}

/* One that is too long to be ours. */
Test(opening, has_a_most)
{
	char text[GT_OPENING_BYTES + 1];
	struct file file;

	memset(text, '1', sizeof(text));
	text[GT_OPENING_BYTES] = '\0';
	file = write_with(GT_COMPRESSION_ZLIB, text);
	cr_expect(!reads(file.bytes, file.size));
	free(file.bytes);
}
