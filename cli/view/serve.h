/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_SERVE_H
#define GT_CLI_VIEW_SERVE_H

#include <stdbool.h>
#include <stdint.h>

struct gt_error;

/*
 * One trace, offered over HTTP to a browser on this machine. Every path begins with a token that
 * cannot be guessed; nothing else of the file system is shown, but the folder of a UI if there is
 * one. All texts are the caller's.
 */
struct gt_serving {
	const char *token;
	int trace; /* descriptor of the file */
	uint64_t trace_bytes;
	const char *trace_name; /* TOKEN/NAME is the trace */
	const char *origin; /* of the UI that may fetch it from there; NULL: no other origin may */
	const char *location; /* where TOKEN/ leads to, or NULL: */
	const char *page;     /* the HTML that it shows */
	int ui;               /* descriptor of a folder that TOKEN/ui/ shows; -1: none */
};

/* 0, or -ENOTSUP when this gputrace was built without what it takes. err may be NULL. */
int gt_serve_check(struct gt_error *err);

/*
 * Answers on a socket that listens, which it closes, until the whole trace was taken; with a UI of
 * its own, which comes in pieces, for ever. Signals end the program as they do everywhere. SIGPIPE
 * must be ignored.
 */
int gt_serve(int socket, const struct gt_serving *serving, struct gt_error *err);

#endif
