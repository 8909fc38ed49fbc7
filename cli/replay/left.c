/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/left.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "replay/compare/compare.h"
#include "replay/verify/roles.h"

/*
 * Structs as they are in memory: who reads them is this program, of which the sizes are checked all
 * the same. Their arrays follow, and constants are found anew.
 */
struct head {
	char mark[16];
	uint64_t outcome_bytes; /* of one */
	uint64_t buffer_bytes;
	uint64_t outcome_count;
	uint64_t relocate;
	uint64_t unverified;
	uint64_t role_bytes;
	uint64_t role_count;
};

#define MARK "replay left 001"

enum { MOST_OUTCOMES = 1 << 16, MOST_BUFFERS = 1 << 20 };

/* Bytes that are still to be read. */
struct reading {
	const uint8_t *at;
	size_t left;
};

void *gt_left_pack(const struct gt_left *left, size_t *size)
{
	const struct head head = {
		.mark = MARK,
		.outcome_bytes = sizeof(struct gt_outcome),
		.buffer_bytes = sizeof(struct gt_outcome_buffer),
		.outcome_count = left->outcomes.list.count,
		.relocate = left->relocate,
		.unverified = left->unverified,
		.role_bytes = sizeof(struct gt_roles) + sizeof(struct gt_role_of),
		.role_count = left->roles.list.count,
	};
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size);

	if (!out)
		return NULL;
	(void)fwrite(&head, sizeof(head), 1, out);
	(void)fwrite(&left->roles, sizeof(left->roles), 1, out);
	if (left->roles.list.count > 0)
		(void)fwrite(left->roles.list.rows, sizeof(*left->roles.list.rows),
		             left->roles.list.count, out);
	gt_array_each(const struct gt_outcome, outcome, &left->outcomes.list) {
		(void)fwrite(outcome, sizeof(*outcome), 1, out);
		if (outcome->buffers.count > 0)
			(void)fwrite(outcome->buffers.rows, sizeof(*outcome->buffers.rows),
			             outcome->buffers.count, out);
	}
	if (fclose(out) == 0)
		return bytes;
	free(bytes);
	return NULL;
}

static bool take(struct reading *reading, void *to, size_t size)
{
	if (size > reading->left)
		return false;
	memcpy(to, reading->at, size);
	reading->at += size;
	reading->left -= size;
	return true;
}

static bool take_buffers(struct reading *reading, struct gt_outcome *outcome, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct gt_outcome_buffer buffer;

		if (!take(reading, &buffer, sizeof(buffer)))
			return false;
		buffer.element = gt_element_name(buffer.found.comparison.element);
		*gt_array_push(&outcome->buffers) = buffer;
	}
	return true;
}

static bool take_outcome(struct reading *reading, struct gt_outcomes *outcomes)
{
	struct gt_outcome outcome;
	size_t count;

	if (!take(reading, &outcome, sizeof(outcome)))
		return false;
	count = outcome.buffers.count;
	memset(&outcome.buffers, 0, sizeof(outcome.buffers));
	*gt_array_push(&outcomes->list) = outcome;
	return count <= MOST_BUFFERS &&
	       take_buffers(reading, gt_array_end(&outcomes->list) - 1, count);
}

static bool take_roles(struct reading *reading, struct gt_roles *roles, uint64_t count)
{
	struct gt_roles taken;

	if (!take(reading, &taken, sizeof(taken)))
		return false;
	memset(&taken.list, 0, sizeof(taken.list));
	*roles = taken;
	for (uint64_t i = 0; i < count; i++) {
		struct gt_role_of of;

		if (!take(reading, &of, sizeof(of)) || of.role >= GT_ROLE_COUNT)
			return false;
		*gt_array_push(&roles->list) = of;
	}
	return true;
}

int gt_left_unpack(struct gt_left *left, const void *bytes, size_t size, struct gt_error *err)
{
	struct reading reading = {bytes, size};
	struct head head = {0};
	bool good = take(&reading, &head, sizeof(head)) &&
	            memcmp(head.mark, MARK, sizeof(head.mark)) == 0 &&
	            head.outcome_bytes == sizeof(struct gt_outcome) &&
	            head.buffer_bytes == sizeof(struct gt_outcome_buffer) &&
	            head.role_bytes == sizeof(struct gt_roles) + sizeof(struct gt_role_of) &&
	            head.outcome_count <= MOST_OUTCOMES;

	*left = (struct gt_left){.relocate = head.relocate != 0,
	                         .unverified = head.unverified != 0};
	good = good && take_roles(&reading, &left->roles, head.role_count);
	for (uint64_t i = 0; good && i < head.outcome_count; i++)
		good = take_outcome(&reading, &left->outcomes);
	if (good && reading.left == 0)
		return 0;
	gt_left_release(left);
	return gt_fail(err, EBADMSG, "what the process before this one left is not whole");
}

void gt_left_release(struct gt_left *left)
{
	gt_outcomes_release(&left->outcomes);
	gt_roles_release(&left->roles);
	*left = (struct gt_left){0};
}
