/* SPDX-License-Identifier: Apache-2.0 */
#include "support/document.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static FILE *open_document(const char *name, const char *mode)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/../docs/%s", GT_TEST_DATA, name);
	file = fopen(path, mode);
	cr_assert(file != NULL, "%s", path);
	return file;
}

char *document_read(const char *name)
{
	FILE *in = open_document(name, "r");
	char *text = NULL;
	size_t size = 0;

	cr_assert(gt(int, (int)getdelim(&text, &size, '\0', in), 0));
	fclose(in);
	return text;
}

static void write_document(const char *name, const char *head, size_t head_size, const char *text,
                           const char *tail)
{
	FILE *out = open_document(name, "w");

	fwrite(head, 1, head_size, out);
	fputs(text, out);
	fputs(tail, out);
	cr_assert(eq(int, fclose(out), 0));
}

void expect_document(const char *name, const char *part, const char *text)
{
	char *document = document_read(name);
	char marker[64];
	const char *begin;
	const char *end;

	snprintf(marker, sizeof(marker), "<!-- %s -->\n", part);
	begin = strstr(document, marker);
	cr_assert(begin != NULL, "docs/%s has no %s", name, marker);
	begin += strlen(marker);
	end = strstr(begin, "<!-- end -->\n");
	cr_assert(end != NULL);

	const size_t size = (size_t)(end - begin);
	const bool is_current = size == strlen(text) && memcmp(begin, text, size) == 0;

	if (!getenv("GT_WRITE_DOCUMENTS"))
		cr_expect(is_current, "docs/%s is not what its lists say: run scripts/check fix",
		          name);
	else if (!is_current)
		write_document(name, document, (size_t)(begin - document), text, end);
	free(document);
}
