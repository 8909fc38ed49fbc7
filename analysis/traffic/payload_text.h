/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_TRAFFIC_PAYLOAD_TEXT_H
#define GT_ANALYSIS_TRAFFIC_PAYLOAD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The text of an extended payload of NVTX, JSON as collector/nvtx/payloads.h makes it, read member
 * by member. It may be cut off anywhere.
 */
enum gt_payload_part {
	GT_PAYLOAD_END,    /* of the text */
	GT_PAYLOAD_MEMBER, /* a key with its value */
	GT_PAYLOAD_OPENS,  /* a struct begins */
	GT_PAYLOAD_CLOSES, /* and ends */
};

/* Begins as {text}. Its pointers point into the text. */
struct gt_payload_text {
	const char *at;
	const char *key; /* of a member, without its quotes */
	size_t key_length;
	const char *value; /* where it begins */
};

/* Reads the next part. */
enum gt_payload_part gt_payload_next(struct gt_payload_text *text);

/* Whether the member is called so. */
bool gt_payload_is(const struct gt_payload_text *text, const char *key);

/* The member's value, a whole number, in quotes as addresses are or not. False: it is none. */
bool gt_payload_number(const struct gt_payload_text *text, uint64_t *number);

/* The same of any number that is not below 0. */
bool gt_payload_real(const struct gt_payload_text *text, double *real);

#endif
