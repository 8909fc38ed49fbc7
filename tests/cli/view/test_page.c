/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/page.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static size_t count(const char *text, const char *part)
{
	size_t found = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		found++;
	}
	return found;
}

Test(page, holds_what_it_is_about)
{
	char *text = gt_page_make(&(struct gt_page){.ui = "https://ui.example/#!/?a=b",
	                                            .origin = "https://ui.example",
	                                            .trace = "saxpy.perfetto",
	                                            .name = "saxpy"});

	cr_expect(strstr(text, "data-ui=\"https://ui.example/#!/?a=b\"") != NULL);
	cr_expect(strstr(text, "data-origin=\"https://ui.example\"") != NULL);
	cr_expect(strstr(text, "data-trace=\"saxpy.perfetto\"") != NULL);
	cr_expect(strstr(text, "data-name=\"saxpy\"") != NULL);
	cr_expect(strstr(text, "@UI@") == NULL && strstr(text, "@NAME@") == NULL);
	cr_expect(strncmp(text, "<!DOCTYPE html>\n", 16) == 0);
	cr_expect(strstr(text, "</html>\n") != NULL);
	free(text);
}

/* A trace may be called anything. */
Test(page, takes_no_name_for_markup_or_for_a_place)
{
	const char *name = "\"><script>alert('@UI@')</script>&";
	char *plain = gt_page_make(&(struct gt_page){"u", "o", "t", "n"});
	char *text = gt_page_make(&(struct gt_page){"u", "o", "t", name});

	cr_expect(eq(sz, count(text, "<script"), count(plain, "<script")));
	cr_expect(eq(sz, count(text, "&#34;&#62;&#60;script&#62;alert(&#39;@UI@&#39;)"),
	             count(plain, ">n<") + count(plain, "\"n\"") + count(plain, ">n -")));
	free(plain);
	free(text);
}
