/* SPDX-License-Identifier: Apache-2.0 */
#include "format/bundle/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/utf8.h"
#include "format/bundle/writer.h"
#include "format/recording.h"

static void flush(struct gt_bundle_writer *writer)
{
	int result;
	int fd;

	if (writer->failed || !gt_bundle_has_folder(writer))
		return;
	fd = openat(writer->folder, GT_BUNDLE_PART,
	            O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		(void)gt_bundle_note(writer, errno);
		return;
	}
	result = gt_write_all(fd, writer->text, writer->text_used);
	close(fd);
	if (result < 0)
		(void)gt_bundle_note(writer, -result);
	writer->text_written += writer->text_used;
	writer->text_used = 0;
	if (writer->text_written > GT_BUNDLE_MOST_MANIFEST)
		(void)gt_bundle_note(writer, EMSGSIZE);
}

static void put(struct gt_bundle_writer *writer, const char *bytes, size_t size)
{
	if (size > GT_BUNDLE_TEXT - writer->text_used)
		flush(writer);
	if (writer->failed)
		return;
	memcpy(writer->text + writer->text_used, bytes, size);
	writer->text_used += size;
}

/* A character inside of quotes: no more than 6 bytes. */
static void put_character(struct gt_bundle_writer *writer, const char *text, size_t size)
{
	char escaped[8];

	if (size == 0) {
		put(writer, GT_UTF8_REPLACEMENT, sizeof(GT_UTF8_REPLACEMENT) - 1);
	} else if (size > 1 || ((unsigned char)*text >= ' ' && *text != '"' && *text != '\\')) {
		put(writer, text, size);
	} else {
		snprintf(escaped, sizeof(escaped), "\\u%04x", (unsigned char)*text);
		put(writer, escaped, 6);
	}
}

static void put_quoted(struct gt_bundle_writer *writer, const char *text)
{
	put(writer, "\"", 1);
	while (*text) {
		const size_t size = gt_utf8_size(text);

		put_character(writer, text, size);
		text += size ? size : 1;
	}
	put(writer, "\"", 1);
}

/* Writes the comma and the key before a value. */
static void put_key(struct gt_bundle_writer *writer, const char *key)
{
	if (!writer->first)
		put(writer, ",", 1);
	writer->first = false;
	if (!key)
		return;
	put(writer, "\n", 1);
	put_quoted(writer, key);
	put(writer, ":", 1);
}

static void begin(struct gt_bundle_writer *writer, const char *key, const char *bracket)
{
	put_key(writer, key);
	put(writer, bracket, 1);
	writer->depth++;
	writer->first = true;
}

static void end(struct gt_bundle_writer *writer, const char *bracket)
{
	if (writer->depth == 0)
		(void)gt_bundle_note(writer, EINVAL);
	else
		writer->depth--;
	put(writer, bracket, 1);
	writer->first = false;
}

void gt_bundle_begin_object(struct gt_bundle_writer *writer, const char *key)
{
	begin(writer, key, "{");
}

void gt_bundle_begin_list(struct gt_bundle_writer *writer, const char *key)
{
	begin(writer, key, "[");
}

void gt_bundle_end_object(struct gt_bundle_writer *writer)
{
	end(writer, "}");
}

void gt_bundle_end_list(struct gt_bundle_writer *writer)
{
	end(writer, "]");
}

void gt_bundle_text(struct gt_bundle_writer *writer, const char *key, const char *value)
{
	put_key(writer, key);
	put_quoted(writer, value);
}

void gt_bundle_number(struct gt_bundle_writer *writer, const char *key, int64_t value)
{
	char text[24];
	const int size = snprintf(text, sizeof(text), "%lld", (long long)value);

	put_key(writer, key);
	put(writer, text, (size_t)size);
}

void gt_bundle_address(struct gt_bundle_writer *writer, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	gt_bundle_text(writer, key, text);
}

void gt_bundle_flag(struct gt_bundle_writer *writer, const char *key, bool value)
{
	put_key(writer, key);
	put(writer, value ? "true" : "false", value ? 4 : 5);
}

void gt_bundle_contents(struct gt_bundle_writer *writer, const char *key, const char *hash,
                        uint64_t size)
{
	gt_bundle_begin_object(writer, key);
	gt_bundle_text(writer, "hash", hash);
	gt_bundle_number(writer, "size", (int64_t)size);
	gt_bundle_end_object(writer);
}

void gt_bundle_triple(struct gt_bundle_writer *writer, const char *key, const uint32_t values[3])
{
	gt_bundle_begin_list(writer, key);
	for (int i = 0; i < 3; i++)
		gt_bundle_number(writer, NULL, values[i]);
	gt_bundle_end_list(writer);
}

void gt_bundle_end_manifest(struct gt_bundle_writer *writer)
{
	put(writer, "\n", 1);
	flush(writer);
}
