/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/texts.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

/*
 * Which domains of NVTX are recorded. It is asked once for each, when the program makes it; its
 * handle then says so.
 */

static const char default_name[] = "default";

/* Whether the names, with commas between them, have this one. */
static bool has_name(const char *names, const char *name, size_t size)
{
	while (*names) {
		const size_t length = strcspn(names, ",");

		if (length == size && memcmp(names, name, size) == 0)
			return true;
		names += length;
		names += *names == ',';
	}
	return false;
}

static bool is_wanted(const char *name, size_t size)
{
	return !gt_nvtx.domains[0] ||
	       has_name(gt_nvtx.domains, name, size) == gt_nvtx.domains_wanted;
}

bool gt_nvtx_is_wanted(const struct gt_nvtx_text *name)
{
	uint8_t text[GT_NVTX_DOMAINS_BYTES];

	if (name->size > sizeof(text))
		return !gt_nvtx.domains_wanted;
	gt_nvtx_copy_text(text, name);
	return is_wanted((const char *)text, name->size);
}

/* The environment may change, so that the names are copied. */
void gt_nvtx_domains_init(struct gt_session *session)
{
	const char *wanted = session->settings.nvtx_domains;
	const char *unwanted = session->settings.nvtx_no_domains;
	const char *names = *wanted ? wanted : unwanted;
	const size_t length = strlen(names);

	if (*wanted && *unwanted)
		gt_note(session, "nvtx",
		        "GPUTRACE_NVTX_NO_DOMAINS says nothing where GPUTRACE_NVTX_DOMAINS does");
	gt_nvtx.domains[0] = '\0';
	if (length < sizeof(gt_nvtx.domains))
		memcpy(gt_nvtx.domains, names, length + 1);
	else
		gt_note(session, "nvtx",
		        "the list of domains of NVTX is too long: all are recorded");
	gt_nvtx.domains_wanted = *wanted != '\0';
	atomic_store_explicit(
		&session->nvtx.default_domain,
		is_wanted(default_name, sizeof(default_name) - 1) ? 0 : GT_DOMAIN_UNWANTED,
		memory_order_relaxed);
}
