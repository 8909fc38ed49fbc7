/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RECORDING_TELLING_H
#define GT_CLI_RECORDING_TELLING_H

#include "cli/recording/manifest.h"
#include "exporters/exporter.h"

/* Facts of a recording beside its trace, for exporters: of its runs, as their manifests tell them. */
struct gt_telling {
	struct gt_manifests manifests;
	struct gt_told_run *runs; /* as many; they borrow from the manifests */
	char *recording;
	struct gt_told told; /* borrows from all above */
};

/* A recording on disk, or a file of one; without manifests less is known. */
void gt_telling_init(struct gt_telling *telling, const char *recording);
void gt_telling_release(struct gt_telling *telling);

/* Facts of one run; texts are the manifest's. The job is not in it: NULL. */
struct gt_told_run gt_told_run_of(const struct gt_manifest *manifest);

/* A recording's name: the last part of its path, without .gputrace. The caller frees it. */
char *gt_telling_name(const char *path);

#endif
