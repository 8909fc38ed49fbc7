/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/nvtx/names.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/strings.h"
#include "collector/stage.h"
#include "format/ranges.h"

static uint64_t key_of(uint32_t domain, uint32_t category)
{
	return (uint64_t)domain << 32 | category;
}

/* In the order of time: stage labels has sorted them, and the last one holds. */
void gt_nvtx_names_init(struct gt_nvtx_names *names, struct gt_trace *trace,
                        struct gt_capture *capture)
{
	*names = (struct gt_nvtx_names){.trace = trace, .capture = capture};
	gt_array_each(const struct gt_record_given_name, name, &capture->raw_given_names) {
		const gt_string text = gt_capture_string(capture, name->text);

		if (name->kind == GT_NAMED_STRING)
			gt_known_set(&names->strings, name->number, text);
		else if (name->kind == GT_NAMED_DOMAIN)
			gt_known_set(&names->domain_texts, name->number, text);
		else if (name->kind == GT_NAMED_CATEGORY)
			gt_known_set(&names->categories,
			             key_of(name->domain, (uint32_t)name->number), text);
	}
}

void gt_nvtx_names_release(struct gt_nvtx_names *names)
{
	gt_known_release(&names->strings);
	gt_known_release(&names->domain_texts);
	gt_known_release(&names->domains);
	gt_known_release(&names->domain_rows);
	gt_known_release(&names->categories);
}

/* A name for a domain that nobody named. */
static gt_string text_of_domain(struct gt_nvtx_names *names, uint32_t domain)
{
	const gt_id known = gt_known_find(&names->domain_texts, domain);
	char text[32];

	if (known != GT_NONE)
		return known;
	if (domain == 0)
		return 0;
	if (domain == GT_DOMAIN_UNKNOWN)
		return gt_strings_add(names->trace->strings, "unknown domain");
	snprintf(text, sizeof(text), "domain %" PRIu32, domain);
	return gt_strings_add(names->trace->strings, text);
}

gt_id gt_nvtx_domain(struct gt_nvtx_names *names, uint32_t domain)
{
	gt_id row = gt_known_find(&names->domains, domain);
	gt_string text;

	if (row != GT_NONE)
		return row;
	text = text_of_domain(names, domain);
	if (gt_known_is_new(&names->domain_rows, text, names->trace->domains.count, &row))
		*gt_array_push(&names->trace->domains) =
			(struct gt_domain){.process = names->capture->process, .name = text};
	gt_known_add(&names->domains, domain, row);
	return row;
}

gt_string gt_nvtx_registered(struct gt_nvtx_names *names, uint32_t number)
{
	const gt_id text = gt_known_find(&names->strings, number);

	return text == GT_NONE ? 0 : text;
}

gt_string gt_nvtx_category(struct gt_nvtx_names *names, uint32_t domain, uint32_t category)
{
	const uint64_t key = key_of(domain, category);
	gt_id text = gt_known_find(&names->categories, key);
	char number[16];

	if (text != GT_NONE || category == 0)
		return text == GT_NONE ? 0 : text;
	snprintf(number, sizeof(number), "%" PRIu32, category);
	text = gt_strings_add(names->trace->strings, number);
	gt_known_add(&names->categories, key, text);
	return text;
}
