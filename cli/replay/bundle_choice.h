/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_BUNDLE_CHOICE_H
#define GT_CLI_REPLAY_BUNDLE_CHOICE_H

struct gt_bundle;
struct gt_bundle_step;
struct gt_error;

/*
 * The bundle that words mean: its own folder, or one of a recording, whose bundles lie in
 * launches/PID-NUMBER-NAME. word NULL: of the newest recording here. launch is a NUMBER or a
 * regular expression (POSIX extended) for names of these folders; NULL: the recording has one
 * bundle. The caller frees *folder. Fails in the words of who typed it.
 */
int gt_bundle_choose(const char *word, const char *launch, char **folder, struct gt_error *err);

/* The first kernel of a bundle; NULL: it has none. */
const struct gt_bundle_step *gt_first_launch(const struct gt_bundle *bundle);

#endif
