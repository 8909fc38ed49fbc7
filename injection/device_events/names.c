/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/device_events/names.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define GPUTRACE_NO_IMPL /* types and the function for ids */
#include "include/gputrace/device_layout.h"
#include "include/gputrace/gputrace.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

struct gt_device_name {
	uint32_t id; /* 0: free */
	uint32_t size;
	char text[GPUTRACE_DEVICE_NAME_BYTES + 1];
};

static struct {
	bool ready; /* the lock is there: from the start of a session that records such events */
	/* Guards the rest. Nothing is waited for while it is held. */
	pthread_mutex_t lock;
	struct gt_device_name *entries; /* GT_DEVICE_NAMES_KEPT of them; NULL: none was told yet */
	uint32_t count;
} names;

enum verdict { KNOWN, NEW, REFUSED };

static void emit(struct gt_session *session, const struct gt_device_name *name)
{
	struct gt_record_device_name *record = gt_emit_begin(
		session, GT_RECORD_device_name, sizeof(*record) + GT_TEXT_BYTES(name->size));

	if (!record)
		return;
	record->number = name->id;
	record->name = gt_emit_text(record, sizeof(*record), name->text, name->size);
	gt_emit_commit();
}

/* With the lock: memory for the names, once there is one. */
static bool has_entries(void)
{
	void *memory;

	if (names.entries)
		return true;
	memory = mmap(NULL, GT_DEVICE_NAMES_KEPT * sizeof(*names.entries), PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	names.entries = memory;
	return true;
}

/* With the lock: the entry of the id, or the free one for it. One entry is always free. */
static struct gt_device_name *entry_of(uint32_t id)
{
	uint32_t at = id % GT_DEVICE_NAMES_KEPT;

	while (names.entries[at].id != 0 && names.entries[at].id != id)
		at = (at + 1) % GT_DEVICE_NAMES_KEPT;
	return &names.entries[at];
}

static enum verdict take(const struct gt_device_name *name)
{
	struct gt_device_name *entry;

	if (!has_entries())
		return REFUSED;
	entry = entry_of(name->id);
	if (entry->id)
		return strcmp(entry->text, name->text) == 0 ? KNOWN : REFUSED;
	if (names.count == GT_DEVICE_NAMES_KEPT - 1)
		return REFUSED;
	*entry = *name;
	names.count++;
	return NEW;
}

static enum verdict add(const char *text, struct gt_device_name *name)
{
	enum verdict verdict;

	name->size = (uint32_t)strnlen(text, sizeof(name->text));
	if (name->size == 0 || name->size == sizeof(name->text))
		return REFUSED;
	memcpy(name->text, text, name->size);
	pthread_mutex_lock(&names.lock);
	verdict = take(name);
	pthread_mutex_unlock(&names.lock);
	return verdict;
}

uint32_t gt_device_names_add(struct gt_session *session, const char *text)
{
	struct gt_device_name name = {.id = gputrace_device_name_id(text)};

	if (!text || !names.ready || !gt_is_recorded(session))
		return name.id;
	switch (add(text, &name)) {
	case KNOWN:
		break;
	case NEW:
		emit(session, &name);
		break;
	case REFUSED:
		gt_count(session, GT_LEDGER_device_names_refused, 1);
		break;
	}
	return name.id;
}

void gt_device_names_start(struct gt_session *session)
{
	if (!names.ready)
		pthread_mutex_init(&names.lock, NULL);
	names.ready = true;
	for (uint32_t i = 0; names.entries && i < GT_DEVICE_NAMES_KEPT; i++)
		if (names.entries[i].id)
			emit(session, &names.entries[i]);
}

void gt_device_names_forget(void)
{
	if (names.ready)
		pthread_mutex_init(&names.lock, NULL);
}
