/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injection/calls/access.h"
#include "injection/session/services.h"
#include "injection/session/source.h"

/*
 * On which processor a thread runs when it asks for a copy, and on which NUMA node the memory of
 * the host lies that the call names: one record at the entry of the call, for the price of two
 * calls of the kernel. A few pages of each side are asked about (move_pages(2), which moves nothing
 * when it is given no nodes): what is not the host's has none. Nor has what no page is there for
 * yet, and what a driver mapped.
 */

enum { PAGES_OF_A_SIDE = 4, SIDES = 16 }; /* that are asked about at once */

struct state {
	_Atomic bool refused; /* the kernel does not tell: it is asked once */
};

/* The pages of one side that were asked about. */
struct side {
	uint64_t address;
	uint64_t size_bytes;
	int nodes[PAGES_OF_A_SIDE]; /* or a negative errno value */
};

struct pages {
	void *list[SIDES * PAGES_OF_A_SIDE];
	unsigned long count;
};

/* From the first byte of the first row to the last of the last. */
static uint64_t size_of(const struct gt_access_fact *fact)
{
	return fact->pitch * (fact->rows - 1) + fact->size_bytes;
}

static void add_side(struct pages *pages, struct side *side, const struct gt_access_fact *fact)
{
	*side = (struct side){.address = fact->address, .size_bytes = size_of(fact)};
	for (uint64_t i = 0; i < PAGES_OF_A_SIDE; i++) {
		const uint64_t behind = (side->size_bytes - 1) / (PAGES_OF_A_SIDE - 1) * i;

		/* NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read through it */
		pages->list[pages->count++] = (void *)(uintptr_t)(side->address + behind);
	}
}

static void note_refusal(struct gt_session *session, int code)
{
	gt_note(session, "numa",
	        code == EPERM ? "where the host's memory lies is not known: move_pages is not "
	                        "permitted, as in containers without CAP_SYS_NICE"
	                      : "where the host's memory lies is not known: the kernel has no "
	                        "move_pages");
}

/* Asks about all pages at once; false when the kernel tells nothing. */
static bool ask(struct gt_session *session, struct state *state, const struct pages *pages,
                struct side *sides, unsigned count)
{
	int nodes[SIDES * PAGES_OF_A_SIDE];

	if (count == 0 || atomic_load_explicit(&state->refused, memory_order_relaxed))
		return false;
	if (syscall(SYS_move_pages, 0, pages->count, pages->list, NULL, nodes, 0) < 0) {
		const int code = errno;

		if ((code == EPERM || code == ENOSYS) &&
		    !atomic_exchange_explicit(&state->refused, true, memory_order_relaxed))
			note_refusal(session, code);
		return false;
	}
	for (unsigned i = 0; i < count; i++)
		memcpy(sides[i].nodes, nodes + (size_t)i * PAGES_OF_A_SIDE, sizeof(sides[i].nodes));
	return true;
}

static unsigned on_node(const struct side *side, int node)
{
	unsigned pages = 0;

	for (unsigned i = 0; i < PAGES_OF_A_SIDE; i++)
		pages += side->nodes[i] == node;
	return pages;
}

static unsigned told(const struct side *side)
{
	unsigned pages = 0;

	for (unsigned i = 0; i < PAGES_OF_A_SIDE; i++)
		pages += side->nodes[i] >= 0;
	return pages;
}

static void set_memory(struct gt_record_copy_place *record, const struct side *side)
{
	record->address = side->address;
	record->size_bytes = side->size_bytes;
	record->pages = told(side);
	record->memory_node = -1;
	record->pages_there = 0;
	for (unsigned i = 0; i < PAGES_OF_A_SIDE; i++) {
		const unsigned pages = on_node(side, side->nodes[i]);

		if (side->nodes[i] < 0 || pages <= record->pages_there)
			continue;
		record->memory_node = side->nodes[i];
		record->pages_there = pages;
	}
}

/* The side of which more pages are anywhere is the host's: of these, or one that was found before. */
static void look_at(struct gt_session *session, struct state *state,
                    const struct gt_access_fact *list, unsigned count,
                    struct gt_record_copy_place *place)
{
	struct pages pages = {.count = 0};
	struct side sides[SIDES];
	unsigned used = 0;

	for (unsigned i = 0; i < count; i++)
		if (list[i].kind != GT_ACCESS_FILL)
			add_side(&pages, &sides[used++], &list[i]);
	if (!ask(session, state, &pages, sides, used))
		return;
	for (unsigned i = 0; i < used; i++)
		if (told(&sides[i]) > place->pages)
			set_memory(place, &sides[i]);
}

static bool has_copy(const struct gt_access_facts *facts)
{
	for (unsigned i = 0; i < facts->count; i++)
		if (facts->list[i].kind != GT_ACCESS_FILL)
			return true;
	return false;
}

static void find_place(struct gt_session *session, struct state *state,
                       const struct gt_access_facts *facts, struct gt_record_copy_place *place)
{
	const int before = errno; /* the program's */
	unsigned node;

	if (syscall(SYS_getcpu, &place->cpu, &node, NULL) == 0)
		place->cpu_node = (int32_t)node;
	for (unsigned i = 0; i < facts->count; i += SIDES) {
		const unsigned rest = facts->count - i;

		look_at(session, state, facts->list + i, rest < SIDES ? rest : SIDES, place);
	}
	errno = before;
}

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	const struct gt_access_call *what = gt_access_call_find(call.driver, call.id);
	struct gt_record_copy_place place = {.cpu_node = -1, .memory_node = -1};
	struct gt_record_copy_place *record;
	struct gt_access_facts facts;

	if (!what)
		return NULL;
	gt_access_call_read(what, call.data, 0, &facts);
	if (!has_copy(&facts))
		return NULL;
	place.start_ns = place.end_ns = gt_stamp();
	place.correlation = call.data->correlationId;
	place.flags = call.driver ? GT_RECORD_DRIVER_API : 0;
	find_place(session, state, &facts, &place);
	record = gt_emit_begin(session, GT_RECORD_copy_place, sizeof(*record));
	if (!record)
		return NULL;
	*record = place;
	gt_emit_commit();
	return NULL;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as gt_source has it */
static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	(void)state;
	(void)err;
	if (gt_settings_of(session)->numa)
		gt_want_known(session, gt_access_call_is_known);
	return 0;
}

const struct gt_source gt_source_numa = {
	.name = "numa",
	.state_size = sizeof(struct state),
	.start = start,
	.hears = {.enter = enter},
};
