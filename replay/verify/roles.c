/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/verify/roles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/bundle/bundle.h"
#include "replay/gpu/gpu.h"
#include "replay/verify/verifying.h"

/*
 * No further run begins after so long, but for memory that was seen to be written: what else there
 * is to find out is whether it was read.
 */
#define MOST_NS INT64_C(5000000000)

enum {
	POISON = 0x01, /* as that of patterns.c: near to what is there */
	WORD = 8,      /* bytes of which one is other: indices stay near, be they of 4 or of 8 */
};

struct roles_run {
	struct gt_roles *roles;
	const struct gt_verifying *verifying;
	uint32_t set;
	bool affected; /* something came out that is not what comes out without */
	bool wrong;    /* so in memory of the set itself */
};

void gt_roles_release(struct gt_roles *roles)
{
	gt_array_release(&roles->list);
	*roles = (struct gt_roles){0};
}

void gt_roles_begin_variant(struct gt_roles *roles)
{
	roles->done = true;
	roles->unfinished = false;
	roles->no_poison[0] = '\0';
}

/* ---- which memory ---- */

/* Variables may be constants, and pointers and handles would lead anywhere: they are never changed.
 */
static bool can_be_asked(const struct gt_verifying *verifying, size_t number)
{
	const struct gt_bundle_memory *memory = &verifying->bundle->memory.rows[number];

	/* Arrays that no surface may be of are not written. */
	if (memory->kind == GT_BUNDLE_MEMORY_array && !(memory->array.flags & GT_ARRAY_SURFACES))
		return false;
	return memory->same && memory->before.hash[0] && memory->size > 0 && !memory->pointers &&
	       !memory->handles && memory->kind != GT_BUNDLE_MEMORY_variable &&
	       !verifying->seen[number].first;
}

static void begin(struct gt_roles *roles, const struct gt_verifying *verifying)
{
	if (roles->list.count > 0)
		return;
	for (size_t i = 0; i < verifying->bundle->memory.count; i++)
		*gt_array_push(&roles->list) =
			(struct gt_role_of){.asked = can_be_asked(verifying, i)};
	roles->sets = 1;
}

static bool is_open(const struct gt_role_of *of)
{
	return of->asked && of->role == GT_ROLE_unknown;
}

/* Memory that was written goes first; else the set of the lowest number. NULL: there is none. */
static const struct gt_role_of *choose(const struct gt_roles *roles)
{
	const struct gt_role_of *best = NULL;

	gt_array_each(const struct gt_role_of, of, &roles->list) {
		if (!is_open(of))
			continue;
		if (!best || (of->written && !best->written) ||
		    (of->written == best->written && of->set < best->set))
			best = of;
	}
	return best;
}

static size_t count_set(const struct gt_roles *roles, uint32_t set)
{
	size_t count = 0;

	gt_array_each(const struct gt_role_of, of, &roles->list)
		count += is_open(of) && of->set == set;
	return count;
}

/* ---- a run ---- */

static bool is_floating(enum gt_element element)
{
	return element == GT_ELEMENT_f16 || element == GT_ELEMENT_bf16 ||
	       element == GT_ELEMENT_f32 || element == GT_ELEMENT_f64;
}

/*
 * Floating point numbers change everywhere, and stay numbers. Others may be indices, and zeros
 * anything: one byte of eight, the lowest of integers of whatever size.
 */
static size_t stride_of(const struct gt_verifying *verifying, size_t number, const uint8_t *bytes)
{
	const size_t size = gt_verifying_size(verifying, number);
	bool zeros = true;
	enum gt_element_source source;

	if (!is_floating(gt_verifying_element(verifying, number, bytes, &source)))
		return WORD;
	for (size_t i = 0; i < size && zeros; i++)
		zeros = bytes[i] == 0;
	return zeros ? WORD : 1;
}

static int change(const struct roles_run *run, size_t number, struct gt_error *err)
{
	const struct gt_verifying *verifying = run->verifying;
	const size_t size = gt_verifying_size(verifying, number);
	uint8_t *bytes = gt_allocate(size + 1);
	int result = gt_restored_before(verifying->restored, number, bytes, err);

	if (result == 0) {
		const size_t stride = stride_of(verifying, number, bytes);

		for (size_t i = 0; i < size; i += stride)
			bytes[i] ^= POISON;
		result = gt_restored_put(verifying->restored, number, bytes, err);
	}
	free(bytes);
	return result;
}

static int change_set(const struct roles_run *run, struct gt_error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < run->roles->list.count; i++)
		if (is_open(&run->roles->list.rows[i]) && run->roles->list.rows[i].set == run->set)
			result = change(run, i, err);
	return result;
}

/* Whether a memory that the steps change is what it is without. */
static int look_at_changed(struct roles_run *run, size_t number, struct gt_error *err)
{
	const struct gt_verifying *verifying = run->verifying;
	const struct gt_replay_buffer *buffer = gt_verifying_find(verifying, number);
	const size_t size = gt_verifying_size(verifying, number);
	uint8_t *got;
	int result;

	if (!buffer || buffer->varies)
		return 0;
	got = gt_allocate(size + 1);
	result = gt_restored_get(verifying->restored, number, got, err);
	if (result == 0 && memcmp(got, verifying->seen[number].first, size) != 0)
		run->affected = true;
	free(got);
	return result;
}

/* Judges one of the set, by bytes that are neither what was put nor what is without. */
static void judge(struct roles_run *run, struct gt_role_of *of, size_t stride,
                  const uint8_t *before, const uint8_t *got, size_t size)
{
	of->written = false;
	for (size_t i = 0; i < size; i++) {
		const bool put = i % stride == 0;

		if (put && got[i] == (uint8_t)(before[i] ^ POISON))
			continue;
		if (put)
			of->written = true;
		if (got[i] != before[i])
			run->wrong = of->written = true;
	}
}

/* All that was the same is so again. */
static int look_at_same(struct roles_run *run, size_t number, struct gt_error *err)
{
	const struct gt_verifying *verifying = run->verifying;
	struct gt_role_of *of = &run->roles->list.rows[number];
	const bool changed = is_open(of) && of->set == run->set;
	const size_t size = gt_verifying_size(verifying, number);
	uint8_t *before = gt_allocate(size + 1);
	uint8_t *got = gt_allocate(size + 1);
	int result = gt_restored_before(verifying->restored, number, before, err);

	if (result == 0)
		result = gt_restored_get(verifying->restored, number, got, err);
	if (result == 0 && changed)
		judge(run, of, stride_of(verifying, number, before), before, got, size);
	else if (result == 0 && memcmp(before, got, size) != 0)
		run->affected = true;
	if (result == 0 && memcmp(before, got, size) != 0)
		result = gt_restored_put(verifying->restored, number, before, err);
	free(before);
	free(got);
	return result;
}

static int look_at(struct roles_run *run, size_t number, struct gt_error *err)
{
	const struct gt_bundle_memory *memory = &run->verifying->bundle->memory.rows[number];

	if (run->verifying->seen[number].first)
		return look_at_changed(run, number, err);
	return memory->same && memory->before.hash[0] && memory->size > 0
	               ? look_at_same(run, number, err)
	               : 0;
}

/* ---- what it tells ---- */

/* Settles a set that nothing else came out of, or one memory alone. */
static void settle(const struct roles_run *run)
{
	gt_array_each(struct gt_role_of, of, &run->roles->list) {
		if (!is_open(of) || of->set != run->set)
			continue;
		if (of->written)
			of->role = run->affected || run->wrong ? GT_ROLE_both : GT_ROLE_output;
		else
			of->role = run->affected ? GT_ROLE_input : GT_ROLE_none;
	}
}

/* Splits written memory from the rest; where all is the same, into halves. */
static void split(const struct roles_run *run)
{
	struct gt_roles *roles = run->roles;
	const size_t count = count_set(roles, run->set);
	size_t written = 0;
	size_t seen = 0;

	gt_array_each(const struct gt_role_of, of, &roles->list)
		written += is_open(of) && of->set == run->set && of->written;
	gt_array_each(struct gt_role_of, of, &roles->list) {
		if (!is_open(of) || of->set != run->set)
			continue;
		if (written > 0 && written < count ? of->written : seen < count / 2)
			of->set = roles->sets;
		else
			of->set = roles->sets + 1;
		seen++;
	}
	roles->sets += 2;
}

static void conclude(const struct roles_run *run)
{
	if ((!run->affected && !run->wrong) || count_set(run->roles, run->set) == 1)
		settle(run);
	else
		split(run);
}

/* One memory that the steps cannot go on with, or some of which one is. */
static void blame(const struct roles_run *run)
{
	if (count_set(run->roles, run->set) > 1) {
		split(run);
		return;
	}
	gt_array_each(struct gt_role_of, of, &run->roles->list)
		if (is_open(of) && of->set == run->set)
			of->role = GT_ROLE_input;
}

static int try_set(struct gt_roles *roles, const struct gt_verifying *verifying, uint32_t set,
                   struct gt_error *err)
{
	struct roles_run run = {.roles = roles, .verifying = verifying, .set = set};
	int result = gt_restored_reset(verifying->restored, err);

	roles->runs++;
	if (result == 0)
		result = change_set(&run, err);
	if (result < 0)
		return result;
	result = gt_verifying_run(verifying, err);
	if (result < 0) {
		blame(&run);
		return result;
	}
	for (size_t i = 0; result == 0 && i < verifying->bundle->memory.count; i++)
		result = look_at(&run, i, err);
	if (result == 0)
		conclude(&run);
	return result;
}

static bool may_run(const struct gt_roles *roles)
{
	return roles->runs < GT_ROLES_MOST_RUNS && roles->faults < GT_ROLES_MOST_FAULTS;
}

/* Earlier runs may have written into memory that the steps leave alone. */
static int restore(struct gt_roles *roles, const struct gt_verifying *verifying,
                   struct gt_error *err)
{
	struct roles_run run = {.roles = roles, .verifying = verifying, .set = UINT32_MAX};
	int result = 0;

	for (size_t i = 0; result == 0 && i < verifying->bundle->memory.count; i++)
		if (!verifying->seen[i].first)
			result = look_at(&run, i, err);
	return result;
}

bool gt_roles_has_more(struct gt_roles *roles, const struct gt_verifying *verifying)
{
	begin(roles, verifying);
	if (roles->done || roles->faults > GT_ROLES_MOST_FAULTS)
		return false;
	gt_array_each(const struct gt_role_of, of, &roles->list)
		if (of->role == GT_ROLE_output && of->bytes == 0)
			return true;
	return choose(roles) && may_run(roles);
}

int gt_roles_find(struct gt_roles *roles, const struct gt_verifying *verifying,
                  struct gt_error *err)
{
	const int64_t begun_ns = gt_gpu_now_ns();
	const struct gt_role_of *next;
	int result = 0;

	if (roles->done)
		return 0;
	begin(roles, verifying);
	if (choose(roles))
		result = restore(roles, verifying, err);
	while (result == 0 && (next = choose(roles)) != NULL && may_run(roles)) {
		if (roles->runs > 0 && !next->written && gt_gpu_now_ns() - begun_ns > MOST_NS)
			break;
		result = try_set(roles, verifying, next->set, err);
	}
	roles->faults += result < 0;
	roles->unfinished = result < 0 && gt_roles_has_more(roles, verifying);
	roles->done = !roles->unfinished;
	return result;
}
