/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/nvtx/watch.h"

#include <string.h>

#include "injection/nvtx/texts.h"

/* The outermost range of the name that the thread has pushed: those inside it open nothing anew. */
static __thread struct {
	bool is_open;
	struct gt_nvtx_level at;
} own __attribute__((tls_model("initial-exec")));

#define OCCURRENCE_SHIFT 32 /* of open: below it are the ranges */

static void add_open(struct gt_nvtx_watch *watch)
{
	uint64_t open = atomic_load_explicit(&watch->open, memory_order_relaxed);
	/* Pairs with the release in gt_nvtx_watch_tell. */
	gt_nvtx_tell *began = atomic_load_explicit(&watch->began, memory_order_acquire);
	uint64_t more;
	bool first;

	do {
		first = (uint32_t)open == 0;
		more = open + 1 + (first ? (uint64_t)1 << OCCURRENCE_SHIFT : 0);
	} while (!atomic_compare_exchange_weak_explicit(
		&watch->open, &open, more, memory_order_acq_rel, memory_order_relaxed));
	if (first && began)
		began(watch->context, (uint32_t)(more >> OCCURRENCE_SHIFT));
}

static void end_open(struct gt_nvtx_watch *watch)
{
	const uint64_t open = atomic_fetch_sub_explicit(&watch->open, 1, memory_order_acq_rel);
	/* Pairs with the release in gt_nvtx_watch_tell. */
	gt_nvtx_tell *ended = atomic_load_explicit(&watch->ended, memory_order_acquire);

	if ((uint32_t)open == 1 && ended)
		ended(watch->context, (uint32_t)(open >> OCCURRENCE_SHIFT));
}

bool gt_nvtx_watch_init(struct gt_nvtx_watch *watch, const char *name)
{
	const size_t size = strlen(name);

	watch->size = 0;
	if (size == 0 || size >= sizeof(watch->name))
		return false;
	memcpy(watch->name, name, size + 1);
	watch->size = (uint32_t)size;
	return true;
}

static bool is_name(const struct gt_nvtx_watch *watch, const struct gt_nvtx_text *text)
{
	uint8_t bytes[GT_WATCH_NAME_BYTES];

	if (text->size != watch->size)
		return false;
	gt_nvtx_copy_text(bytes, text);
	return memcmp(bytes, watch->name, watch->size) == 0;
}

static bool is_watched(const struct gt_nvtx_watch *watch, struct gt_nvtx_watched_text text)
{
	if (!text.registered)
		return is_name(watch, text.text);
	for (uint32_t i = 0; i < GT_WATCH_STRINGS; i++)
		if (atomic_load_explicit(&watch->strings[i], memory_order_relaxed) ==
		    text.registered)
			return true;
	return false;
}

void gt_nvtx_watch_register(struct gt_nvtx_watch *watch, const struct gt_nvtx_text *text,
                            uint32_t number)
{
	if (!is_name(watch, text))
		return;
	for (uint32_t i = 0; i < GT_WATCH_STRINGS; i++) {
		uint32_t none = 0;

		if (atomic_compare_exchange_strong_explicit(&watch->strings[i], &none, number,
		                                            memory_order_relaxed,
		                                            memory_order_relaxed))
			return;
	}
}

void gt_nvtx_watch_push(struct gt_nvtx_watch *watch, struct gt_nvtx_watched_text text,
                        struct gt_nvtx_level at)
{
	if (own.is_open || !is_watched(watch, text))
		return;
	own.is_open = true;
	own.at = at;
	add_open(watch);
}

void gt_nvtx_watch_pop(struct gt_nvtx_watch *watch, struct gt_nvtx_level at)
{
	if (!own.is_open || own.at.domain != at.domain || own.at.level != at.level)
		return;
	own.is_open = false;
	end_open(watch);
}

/* One for which there is no place is never open, as its end would not be known. */
void gt_nvtx_watch_start(struct gt_nvtx_watch *watch, struct gt_nvtx_watched_text text, uint64_t id)
{
	if (!is_watched(watch, text))
		return;
	for (uint32_t i = 0; i < GT_WATCH_STARTED; i++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong_explicit(&watch->started[i], &none, id,
		                                            memory_order_relaxed,
		                                            memory_order_relaxed)) {
			add_open(watch);
			return;
		}
	}
}

void gt_nvtx_watch_end(struct gt_nvtx_watch *watch, uint64_t id)
{
	for (uint32_t i = 0; i < GT_WATCH_STARTED; i++) {
		uint64_t held = id;

		if (id && atomic_compare_exchange_strong_explicit(&watch->started[i], &held, 0,
		                                                  memory_order_relaxed,
		                                                  memory_order_relaxed)) {
			end_open(watch);
			return;
		}
	}
}

bool gt_nvtx_watch_is_open(struct gt_nvtx_watch *watch)
{
	return gt_nvtx_watch_occurrence(watch) > 0;
}

uint32_t gt_nvtx_watch_occurrence(struct gt_nvtx_watch *watch)
{
	const uint64_t open = atomic_load_explicit(&watch->open, memory_order_relaxed);

	return (uint32_t)open ? (uint32_t)(open >> OCCURRENCE_SHIFT) : 0;
}

void gt_nvtx_watch_tell(struct gt_nvtx_watch *watch, gt_nvtx_tell *began, gt_nvtx_tell *ended,
                        void *context)
{
	watch->context = context;
	/* Pairs with the acquire in add_open. */
	atomic_store_explicit(&watch->began, began, memory_order_release);
	/* Pairs with the acquire in end_open. */
	atomic_store_explicit(&watch->ended, ended, memory_order_release);
}
