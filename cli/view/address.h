/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_VIEW_ADDRESS_H
#define GT_CLI_VIEW_ADDRESS_H

struct gt_error;

/*
 * Addresses at which Perfetto's UI shows a trace: they turn on the plugins that show launch facts
 * and the GPU's tracks by process, and carry the commands of viewer-assets/startup-commands.json,
 * which open what is worth seeing.
 */
#define GT_ADDRESS_UI "https://ui.perfetto.dev"

/*
 * Address of the UI at ui, whose own part ends without a '#'. trace is the address that the UI
 * fetches the trace from, or NULL: a file is dropped in. The caller frees it.
 */
char *gt_address_make(const char *ui, const char *trace);

/*
 * The origin of the address of a UI, as browsers write it: scheme, host and port. The caller frees
 * it. NULL and -EINVAL in err for what is no address of http or https.
 */
char *gt_address_origin(const char *ui, struct gt_error *err);

/* A text as a part of an address's path. The caller frees it. */
char *gt_address_encode(const char *text);

#endif
