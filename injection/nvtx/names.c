/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/texts.h"
#include "injection/session/services.h"

/*
 * Names that the program gives. They are also kept, in the order in which they come, since the
 * child of a fork may have a session of its own, in which the handles of its parent are good still.
 */

#define NAMES_BYTES (16u << 20) /* address space; what is not used takes no memory */

/* The header of each text that is kept. */
struct kept {
	_Atomic uint32_t bytes; /* of this and the text, a multiple of 8; 0: not there yet */
	uint32_t kind;
	uint32_t domain;
	uint32_t size;
	uint64_t number;
};

void gt_nvtx_names_init(void)
{
	void *memory = mmap(NULL, NAMES_BYTES, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	gt_nvtx.names = memory == MAP_FAILED ? NULL : memory;
}

/* One that finds no room is missing in the sessions of children alone. */
static void keep(const struct gt_record_given_name *record, const struct gt_nvtx_text *text)
{
	const uint32_t bytes = (uint32_t)((sizeof(struct kept) + text->size + 7) & ~(size_t)7);
	uint64_t at;
	struct kept *kept;

	if (!gt_nvtx.names)
		return;
	at = atomic_fetch_add_explicit(&gt_nvtx.name_bytes, bytes, memory_order_relaxed);
	if (at > NAMES_BYTES - bytes)
		return;
	kept = (struct kept *)(gt_nvtx.names + at);
	kept->kind = record->kind;
	kept->domain = record->domain;
	kept->size = text->size;
	kept->number = record->number;
	gt_nvtx_copy_text((uint8_t *)(kept + 1), text);
	/* Last: a fork may come in between, and its child stops here. */
	atomic_store_explicit(&kept->bytes, bytes, memory_order_release);
}

static void emit(struct gt_session *session, const struct gt_record_given_name *facts,
                 const struct gt_nvtx_text *text)
{
	const size_t bytes = sizeof(*facts) + GT_TEXT_BYTES(text->size);
	struct gt_record_given_name *record = gt_emit_begin(session, GT_RECORD_given_name, bytes);

	if (!record)
		return;
	*record = *facts;
	record->text = gt_nvtx_put_text(record, sizeof(*record), text);
	record->flags = text->cut ? GT_RECORD_CUT : 0;
	record->time_ns = gt_stamp();
	gt_emit_commit();
	if (text->cut)
		gt_count(session, GT_LEDGER_nvtx_cut, 1);
}

void gt_nvtx_give_name(struct gt_session *session, const struct gt_nvtx_name *name)
{
	struct gt_nvtx_text text =
		name->wide ? gt_nvtx_wide(name->wide) : gt_nvtx_narrow(name->text);
	const struct gt_record_given_name facts = {
		.number = name->number,
		.domain = name->domain,
		.kind = name->kind,
	};

	if (name->domain == GT_DOMAIN_UNWANTED)
		return;
	if (gt_is_recording(session))
		emit(session, &facts, &text);
	keep(&facts, &text);
}

void gt_nvtx_names_replay(struct gt_session *session)
{
	const uint64_t used = atomic_load_explicit(&gt_nvtx.name_bytes, memory_order_relaxed);
	uint64_t at = 0;

	while (gt_nvtx.names && at < used && at < NAMES_BYTES - sizeof(struct kept)) {
		const struct kept *kept = (const struct kept *)(gt_nvtx.names + at);
		const uint32_t bytes = atomic_load_explicit(&kept->bytes, memory_order_acquire);
		const struct gt_record_given_name facts = {
			.number = kept->number,
			.domain = kept->domain,
			.kind = kept->kind,
		};
		const struct gt_nvtx_text text = {.narrow = (const char *)(kept + 1),
		                                  .size = kept->size};

		if (bytes == 0)
			return;
		emit(session, &facts, &text);
		at += bytes;
	}
}
