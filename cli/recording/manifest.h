/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_RECORDING_MANIFEST_H
#define GT_CLI_RECORDING_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "cli/output/process.h"

struct gt_error;
struct timespec;

/* One instant on the clock people read and on the timeline of the recording. */
struct gt_instant {
	char utc[40]; /* RFC 3339 with nanoseconds: 2026-01-02T03:04:05.000000006Z */
	int64_t boottime_ns;
};

/*
 * manifest.json of a recording: what was run, where, when and how it ended. "gputrace run"
 * writes it before the program starts and again after it ended; recordings made by environment
 * alone have none. Each further run that joins the recording has one of its own, manifest.2.json,
 * manifest.3.json, .... All texts are the manifest's own; "" is not known.
 */
struct gt_manifest {
	char file[32];   /* its name in the folder; "": it was not saved yet */
	int64_t version; /* of this file's format */
	char *tool_version;
	char *folder; /* in which the program was started */
	char *host;
	char *boot_id;     /* tells machines and their boots apart */
	char *calibration; /* its file of ceilings in the folder; "": it has none */
	gt_array(char *) command;
	gt_array(struct gt_setting) settings; /* in force for the injection library */
	struct gt_instant start;
	struct gt_instant end; /* only with ended */
	struct gt_ending ending;
	bool ended; /* false: running still, or gputrace run itself was killed */
};

struct gt_setting {
	char *name; /* of the environment variable */
	char *value;
};

#define GT_MANIFEST_VERSION 1

struct gt_instant gt_instant_now(void);

/* Only utc, of a time of CLOCK_REALTIME: these texts sort as the times do. */
void gt_instant_of_day(struct gt_instant *instant, const struct timespec *real);

/* Everything known before the program starts; command ends with NULL. */
void gt_manifest_init(struct gt_manifest *manifest, char *const *command);
void gt_manifest_release(struct gt_manifest *manifest);

/* Copies both. */
void gt_manifest_add_setting(struct gt_manifest *manifest, const char *name, const char *value);

/* Copies the name of its file of ceilings. */
void gt_manifest_set_calibration(struct gt_manifest *manifest, const char *name);

/*
 * Writes it into a recording's folder, under a temporary name first: the first time as the first
 * file that no other run has, also when several do so at the same moment, then over that.
 */
int gt_manifest_save(struct gt_manifest *manifest, const char *folder, struct gt_error *err);

/* Removes what was saved, if anything was. */
void gt_manifest_remove(struct gt_manifest *manifest, const char *folder);

/*
 * Reads the first run's. -ENOENT: there is none, which is fine; anything else means that it cannot
 * be used and why. A newer version is read as far as it is known. The manifest is empty on failure.
 */
int gt_manifest_load(struct gt_manifest *manifest, const char *folder, struct gt_error *err);

/* The manifests of all runs in a recording, in the order in which they started. */
struct gt_manifests {
	gt_array(struct gt_manifest) list;
};

/*
 * Reads those that can be read. Returns the result of gt_manifest_load for the first run's
 * manifest, or for the last that cannot be read; -ENOENT only when there is none at all.
 */
int gt_manifests_load(struct gt_manifests *manifests, const char *folder, struct gt_error *err);
void gt_manifests_release(struct gt_manifests *manifests);

/*
 * When the last of a recording's runs was started. False: no manifest says so, and *begun stays as
 * it was.
 */
bool gt_manifests_begun(const char *folder, struct gt_instant *begun);

/* The command line, words separated by blanks. The caller frees it. */
char *gt_manifest_command(const struct gt_manifest *manifest);

#endif
