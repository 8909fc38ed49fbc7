/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/say.h"

#include <stdarg.h>
#include <stdlib.h>

#include "cli/hyperlink.h"

static void put_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		const unsigned char byte = (unsigned char)*text;

		putc(byte < ' ' || byte == 0x7f ? '?' : byte, out);
	}
}

void gt_say(const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int length;

	va_start(args, fmt);
	length = vasprintf(&text, fmt, args);
	va_end(args);
	if (length < 0)
		return;
	fputs("gputrace: ", stderr);
	gt_say_line(text, stderr);
	free(text);
}

void gt_say_link(const char *text, const char *name, const char *address)
{
	fputs("gputrace: ", stderr);
	put_text(text, stderr);
	if (gt_hyperlink_works(stderr))
		gt_hyperlink_print(name, address, stderr);
	else
		put_text(address, stderr);
	putc('\n', stderr);
}

void gt_say_line(const char *text, FILE *out)
{
	put_text(text, out);
	putc('\n', out);
}
