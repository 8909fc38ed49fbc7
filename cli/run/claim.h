/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RUN_CLAIM_H
#define GT_CLI_RUN_CLAIM_H

#include <stdbool.h>

struct gt_error;

/*
 * A run's claim to the folder it records into. It is held by a lock that ends with the run: nobody
 * else replaces or removes the folder meanwhile. An older recording that is replaced lies beside
 * it, as NAME.old-1.gputrace, until the new one is there.
 */
struct gt_claim {
	const char *folder; /* the caller's */
	int fd;             /* holds the folder; -1: nothing does (any more) */
	bool was_there;     /* it was joined: somebody else made it */
	char *older;        /* where the replaced recording lies; NULL: there is none */
	int older_fd;       /* holds that one */
};

#define GT_CLAIM_INIT                                                                              \
	{                                                                                          \
		.fd = -1, .older_fd = -1                                                           \
	}

enum gt_claim_how {
	GT_CLAIM_NEW,     /* makes the folder; -EEXIST: the name is taken */
	GT_CLAIM_REPLACE, /* puts what is there aside, if it is a recording that nobody writes */
	GT_CLAIM_JOIN,    /* makes it or writes into the recording that is there */
};

/* folder must outlive the claim. On failure everything is as it was. */
int gt_claim_make(struct gt_claim *claim, const char *folder, enum gt_claim_how how,
                  struct gt_error *err);

/* The new recording is there: removes the older one. On failure that stays; err says where. */
int gt_claim_keep(struct gt_claim *claim, struct gt_error *err);

/*
 * Nothing was recorded: removes the folder, unless it was there before, holds captures or others
 * write into it, and gives the older recording its name back. Negative: that could not be; err says
 * where it lies.
 */
int gt_claim_drop(struct gt_claim *claim, struct gt_error *err);

/*
 * Whether nobody else writes into the folder. Exactly the last of several that ask at their end
 * is told so; the others' claims end with the question. The last keeps its own and may ask again.
 */
bool gt_claim_is_last(struct gt_claim *claim);

/* Ends it; what lies where stays. May be called twice. */
void gt_claim_release(struct gt_claim *claim);

#endif
