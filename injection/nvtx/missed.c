/* SPDX-License-Identifier: Apache-2.0 */
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "injection/nvtx/nvtx.h"
#include "injection/session/services.h"

/*
 * Shared objects whose copy of NVTX has had its first call without us: it asks nobody again, and
 * nothing of what is called there is seen. No symbol leads to such a copy, but it begins with what
 * it hands to libraries as ours, whose sizes and version say what it is. Only looked for where the
 * environment did not name this library from the start, once, while CUDA starts.
 */

#define MOST_BYTES (256u << 20) /* of memory that is looked through */
#define MOST_NOTES 4
#define COMPLETE   2u /* NVTX_INIT_STATE_COMPLETE */

/* How nvtxGlobals_t of nvtx3/nvtxDetail/nvtxImpl.h begins. */
struct globals {
	uint32_t state;
	uint32_t padding;
	NvtxExportTableCallbacks callbacks;
	NvtxExportTableVersionInfo version;
};

struct search {
	struct gt_session *session;
	uint64_t bytes_left;
	uint32_t notes_left;
};

/* Whether an address is in one of the object's segments. */
static bool is_inside(const struct dl_phdr_info *object, uintptr_t address)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
		    address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

static bool is_copy(const struct dl_phdr_info *object, const struct globals *found)
{
	return found->callbacks.struct_size == sizeof(found->callbacks) &&
	       found->version.struct_size == sizeof(found->version) &&
	       found->version.version >= 1 && found->version.version <= 16 &&
	       found->version.reserved0 == 0 && found->state == COMPLETE &&
	       is_inside(object, (uintptr_t)found->callbacks.GetModuleFunctionTable) &&
	       is_inside(object, (uintptr_t)found->version.SetInjectionNvtxVersion);
}

/* Memory of anybody's: a sanitizer may have put something between what is in it. */
__attribute__((no_sanitize("address"))) static bool has_copy(const struct dl_phdr_info *object,
                                                             const uint8_t *at, size_t size)
{
	const uint8_t *last = at + size;
	struct globals found;

	for (at += -(uintptr_t)at % 8; last - at >= (ptrdiff_t)sizeof(found); at += 8) {
		const uint64_t *words = (const uint64_t *)at;

		/* The first look: nearly all memory is something else. */
		if (words[1] != sizeof(found.callbacks) || words[3] != sizeof(found.version))
			continue;
		for (size_t i = 0; i < sizeof(found) / sizeof(*words); i++)
			((uint64_t *)&found)[i] = words[i];
		if (is_copy(object, &found))
			return true;
	}
	return false;
}

static void note(struct search *search, const char *path)
{
	char text[256];

	if (search->notes_left == 0)
		return;
	search->notes_left--;
	(void)snprintf(
		text, sizeof(text),
		"%.100s had called NVTX when CUDA started, and NVTX_INJECTION64_PATH did not "
		"name gputrace before that: its ranges are not recorded",
		path[0] ? path : "the program");
	gt_note(search->session, "nvtx", text);
}

static int look_into(struct dl_phdr_info *object, size_t size, void *context)
{
	struct search *search = context;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		const uintptr_t at = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W) ||
		    segment->p_filesz > search->bytes_left)
			continue;
		search->bytes_left -= segment->p_filesz;
		// NOLINTNEXTLINE(performance-no-int-to-ptr)
		if (has_copy(object, (const uint8_t *)at, segment->p_filesz)) {
			note(search, object->dlpi_name);
			break;
		}
	}
	return 0;
}

void gt_nvtx_note_missed(struct gt_session *session)
{
	struct search search = {session, MOST_BYTES, MOST_NOTES};

	(void)dl_iterate_phdr(look_into, &search);
}
