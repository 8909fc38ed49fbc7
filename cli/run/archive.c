/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/archive.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/error.h"

/*
 * Sections 4.3.7, 4.3.12 and 4.3.16 of PKWARE's APPNOTE.TXT 6.3.10: a header before each file,
 * the same with its place in a directory behind all, and the end, which says where that is.
 */
enum {
	LOCAL_SIZE = 30,
	DIRECTORY_SIZE = 46,
	END_SIZE = 22,
	COMMON_SIZE = 26, /* what the two headers of a file have in common */

	LOCAL_SIGNATURE = 0x04034b50,
	DIRECTORY_SIGNATURE = 0x02014b50,
	END_SIGNATURE = 0x06054b50,

	VERSION = 10, /* 1.0: nothing is compressed */
	DATE = 0x21,  /* 1980-01-01: the same files make the same archive */
};

/* From the version on: no flags, no method, time, date, checksum, sizes, length of the name. */
static void put_common(uint8_t *to, const struct gt_archive_file *file)
{
	const uLong sum = crc32(0, (const Bytef *)file->bytes, (uInt)file->size);

	memset(to, 0, COMMON_SIZE);
	gt_put_u16(to, VERSION);
	gt_put_u16(to + 8, DATE);
	gt_put_u32(to + 10, (uint32_t)sum);
	gt_put_u32(to + 14, (uint32_t)file->size);
	gt_put_u32(to + 18, (uint32_t)file->size);
	gt_put_u16(to + 22, (uint16_t)strlen(file->name));
}

static size_t write_file(FILE *file, const struct gt_archive_file *one)
{
	uint8_t header[LOCAL_SIZE];

	gt_put_u32(header, LOCAL_SIGNATURE);
	put_common(header + 4, one);
	(void)fwrite(header, 1, sizeof(header), file);
	(void)fputs(one->name, file);
	(void)fwrite(one->bytes, 1, one->size, file);
	return sizeof(header) + strlen(one->name) + one->size;
}

static size_t write_entry(FILE *file, const struct gt_archive_file *one, size_t place)
{
	uint8_t entry[DIRECTORY_SIZE] = {0};

	gt_put_u32(entry, DIRECTORY_SIGNATURE);
	gt_put_u16(entry + 4, VERSION);
	put_common(entry + 6, one);
	gt_put_u32(entry + 42, (uint32_t)place);
	(void)fwrite(entry, 1, sizeof(entry), file);
	(void)fputs(one->name, file);
	return sizeof(entry) + strlen(one->name);
}

static void write_end(FILE *file, size_t count, size_t place, size_t size)
{
	uint8_t end[END_SIZE] = {0};

	gt_put_u32(end, END_SIGNATURE);
	gt_put_u16(end + 8, (uint16_t)count);
	gt_put_u16(end + 10, (uint16_t)count);
	gt_put_u32(end + 12, (uint32_t)size);
	gt_put_u32(end + 16, (uint32_t)place);
	(void)fwrite(end, 1, sizeof(end), file);
}

int gt_archive_write(FILE *file, const char *path, const struct gt_archive_file *files,
                     size_t count, struct gt_error *err)
{
	size_t place = 0;
	size_t directory = 0;
	size_t at = 0;

	for (size_t i = 0; i < count; i++)
		place += write_file(file, &files[i]);
	for (size_t i = 0; i < count; i++) {
		directory += write_entry(file, &files[i], at);
		at += LOCAL_SIZE + strlen(files[i].name) + files[i].size;
	}
	write_end(file, count, place, directory);
	if (ferror(file))
		return gt_fail(err, EIO, "cannot write %s", path);
	return 0;
}
