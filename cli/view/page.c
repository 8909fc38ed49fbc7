/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/page.h"

#include <stdio.h>
#include <string.h>

#include "cli/view/open_page.h"

static void put_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("&<>\"'", *text))
			fprintf(out, "&#%d;", *text);
		else
			putc(*text, out);
	}
}

/* What @WORD@ at this place of the template stands for; NULL when it is no such word. */
static const char *value_at(const char *at, const struct gt_page *page, size_t *length)
{
	const struct {
		const char *word;
		const char *value;
	} values[] = {
		{"@UI@", page->ui},
		{"@ORIGIN@", page->origin},
		{"@TRACE@", page->trace},
		{"@NAME@", page->name},
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		*length = strlen(values[i].word);
		if (strncmp(at, values[i].word, *length) == 0)
			return values[i].value;
	}
	return NULL;
}

char *gt_page_make(const struct gt_page *page)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (const char *at = gt_open_page; *at;) {
		size_t length;
		const char *value = *at == '@' ? value_at(at, page, &length) : NULL;

		if (value) {
			put_escaped(value, out);
			at += length;
		} else {
			putc(*at++, out);
		}
	}
	(void)fclose(out);
	return text;
}
