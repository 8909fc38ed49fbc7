/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_ADDRESS_H
#define GT_CLI_VIEW_ADDRESS_H

struct gt_error;
struct gt_opening;

/*
 * Addresses at which Perfetto's UI shows a trace: they turn on the plugins that show launch facts
 * and the GPU's tracks by process, and carry the commands of viewer-assets/startup-commands.json,
 * which open what is worth seeing. Where the trace is known they name the stretch of time that is
 * shown first and the tracks that stay in view, and leave out tracks by process that one process
 * has alone.
 */
#define GT_ADDRESS_UI "https://ui.perfetto.dev"

/*
 * Address of the UI at ui, whose own part ends without a '#'. trace is the address that the UI
 * fetches the trace from, or NULL: a file is dropped in. opening is how it is opened, NULL: it is
 * not known which trace it will be. The caller frees it.
 */
char *gt_address_make(const char *ui, const char *trace, const struct gt_opening *opening);

/*
 * The origin of the address of a UI, as browsers write it: scheme, host and port. The caller frees
 * it. NULL and -EINVAL in err for what is no address of http or https.
 */
char *gt_address_origin(const char *ui, struct gt_error *err);

/* A text as a part of an address's path. The caller frees it. */
char *gt_address_encode(const char *text);

#endif
