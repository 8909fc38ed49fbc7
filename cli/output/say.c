/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/say.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "cli/output/hyperlink.h"

static void put_text(const char *text, FILE *out)
{
	while (*text) {
		const size_t size = gt_utf8_size(text);

		if (gt_utf8_misleads(text))
			putc('?', out);
		else
			(void)fwrite(text, 1, size ? size : 1, out);
		text += size ? size : 1;
	}
}

/* "gputrace: SENTENCE", without a line end. */
__attribute__((format(printf, 1, 0))) static void say(const char *fmt, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0)
		return;
	fputs("gputrace: ", stderr);
	put_text(text, stderr);
	free(text);
}

void gt_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	putc('\n', stderr);
}

void gt_say_link(const char *name, const char *address, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	if (gt_hyperlink_works(stderr))
		gt_hyperlink_print(name, address, stderr);
	else
		put_text(name, stderr);
	putc('\n', stderr);
}

void gt_say_line(const char *text, FILE *out)
{
	put_text(text, out);
	putc('\n', out);
}
