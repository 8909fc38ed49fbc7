/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/manifest.h"
#include "cli/recording/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "support/check.h"

static char folder[64];

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/gputrace-manifest-XXXXXX");
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
}

/* Also shows that nothing but the manifest was left. */
static void remove_folder(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/manifest.json", folder);
	unlink(path);
	cr_expect(eq(int, rmdir(folder), 0));
}

TestSuite(manifest, .init = make_folder, .fini = remove_folder);

static void write_manifest(const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/manifest.json", folder);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
}

Test(manifest, comes_back_as_it_was_saved)
{
	char *command[] = {"./app", "--its", "own \"words\"", "\xff", NULL};
	struct gt_manifest saved;
	struct gt_manifest loaded;
	char *text;

	gt_manifest_init(&saved, command);
	gt_manifest_add_setting(&saved, "GPUTRACE_API", "all");
	saved.ended = true;
	saved.ending = (struct gt_ending){.exit_status = 7};
	saved.end = (struct gt_instant){"2026-01-02T03:04:05.000000006Z", 42};
	cr_assert(eq(int, gt_manifest_save(&saved, folder, NULL), 0));
	cr_assert(eq(int, gt_manifest_load(&loaded, folder, NULL), 0));

	text = gt_manifest_command(&loaded);
	expect_text(text, "./app --its own \"words\" \xef\xbf\xbd");
	free(text);
	cr_expect(eq(i64, loaded.version, 1));
	expect_text(loaded.tool_version, saved.tool_version);
	expect_text(loaded.folder, saved.folder);
	expect_text(loaded.host, saved.host);
	expect_text(loaded.boot_id, saved.boot_id);
	expect_text(loaded.start.utc, saved.start.utc);
	cr_expect(eq(i64, loaded.start.boottime_ns, saved.start.boottime_ns));
	cr_expect(loaded.ended);
	cr_expect(eq(int, loaded.ending.exit_status, 7));
	cr_expect(eq(int, loaded.ending.signal, 0));
	expect_text(loaded.end.utc, "2026-01-02T03:04:05.000000006Z");
	cr_expect(eq(i64, loaded.end.boottime_ns, 42));
	cr_assert(eq(sz, loaded.settings.count, 1));
	expect_text(loaded.settings.rows[0].name, "GPUTRACE_API");
	expect_text(loaded.settings.rows[0].value, "all");
	gt_manifest_release(&saved);
	gt_manifest_release(&loaded);
}

Test(manifest, tells_running_from_killed)
{
	char *command[] = {"app", NULL};
	struct gt_manifest saved;
	struct gt_manifest loaded;

	gt_manifest_init(&saved, command);
	cr_assert(eq(int, gt_manifest_save(&saved, folder, NULL), 0));
	cr_assert(eq(int, gt_manifest_load(&loaded, folder, NULL), 0));
	cr_expect(not(loaded.ended));
	gt_manifest_release(&loaded);

	saved.ended = true;
	saved.ending.signal = 9;
	cr_assert(eq(int, gt_manifest_save(&saved, folder, NULL), 0));
	cr_assert(eq(int, gt_manifest_load(&loaded, folder, NULL), 0));
	cr_expect(loaded.ended);
	cr_expect(eq(int, loaded.ending.signal, 9));
	gt_manifest_release(&loaded);
	gt_manifest_release(&saved);
}

Test(manifest, gives_instants_in_utc_with_nanoseconds)
{
	const struct gt_instant now = gt_instant_now();

	cr_expect(eq(sz, strlen(now.utc), strlen("2026-01-02T03:04:05.000000006Z")));
	cr_expect(eq(chr, now.utc[10], 'T'));
	cr_expect(eq(chr, now.utc[19], '.'));
	cr_expect(eq(chr, now.utc[29], 'Z'));
	cr_expect(gt(i64, now.boottime_ns, 0));
}

Test(manifest, may_be_missing)
{
	struct gt_manifest manifest;

	cr_expect(eq(int, gt_manifest_load(&manifest, folder, NULL), -ENOENT));
	cr_expect(eq(sz, manifest.command.count, 0));
}

Test(manifest, says_where_it_is_damaged)
{
	static const char *const texts[] = {
		"",     "{", "[]", "{\"version\": 1,\n\"gputrace\" 2}", "{\"version\": \"one\"}",
		"\xff",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct gt_manifest manifest;
		struct gt_error err = {0};

		write_manifest(texts[i]);
		cr_expect(eq(int, gt_manifest_load(&manifest, folder, &err), -EBADMSG), "%s",
		          texts[i]);
		cr_expect(ne(ptr, strstr(err.text, "manifest.json"), NULL));
		cr_expect(eq(sz, manifest.command.count, 0));
	}
}

Test(manifest, reads_what_it_knows_of_a_newer_one)
{
	struct gt_manifest manifest;

	write_manifest("{\"version\": 2, \"command\": [\"a\", 1, {}], \"host\": [], \"new\": 3,"
	               " \"start\": 7, \"settings\": [], \"exit_status\": \"x\"}");
	cr_assert(eq(int, gt_manifest_load(&manifest, folder, NULL), 0));
	cr_expect(eq(i64, manifest.version, 2));
	cr_expect(eq(sz, manifest.command.count, 3));
	expect_text(manifest.host, "");
	expect_text(manifest.start.utc, "");
	cr_expect(not(manifest.ended));
	gt_manifest_release(&manifest);
}

Test(manifest, cannot_be_saved_where_there_is_no_folder)
{
	char *command[] = {"app", NULL};
	struct gt_manifest manifest;
	struct gt_error err = {0};

	gt_manifest_init(&manifest, command);
	cr_expect(eq(int, gt_manifest_save(&manifest, "/nosuch", &err), -ENOENT));
	expect_text(err.text, "cannot write /nosuch/manifest.json: there is no folder /nosuch");
	gt_manifest_release(&manifest);
}

static void save_run(const char *name, const char *started)
{
	char *command[] = {(char *)name, NULL};
	struct gt_manifest manifest;

	gt_manifest_init(&manifest, command);
	snprintf(manifest.start.utc, sizeof(manifest.start.utc), "%s", started);
	cr_expect(eq(int, gt_manifest_save(&manifest, folder, NULL), 0));
	gt_manifest_release(&manifest);
}

static void remove_manifest(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	cr_expect(eq(int, unlink(path), 0));
}

Test(manifest, is_one_of_several_runs)
{
	struct gt_manifests runs;

	save_run("second", "2026-01-02");
	save_run("first", "2026-01-01");
	save_run("third", "2026-01-03");
	cr_assert(eq(int, gt_manifests_load(&runs, folder, NULL), 0));
	cr_assert(eq(sz, runs.list.count, 3));
	expect_text(runs.list.rows[0].command.rows[0], "first");
	expect_text(runs.list.rows[0].file, "manifest.2.json");
	expect_text(runs.list.rows[1].command.rows[0], "second");
	expect_text(runs.list.rows[1].file, "manifest.json");
	expect_text(runs.list.rows[2].command.rows[0], "third");
	gt_manifests_release(&runs);
	remove_manifest("manifest.2.json");
	remove_manifest("manifest.3.json");
}

Test(manifest, of_another_run_can_be_damaged)
{
	struct gt_error err = {0};
	struct gt_manifests runs;

	write_manifest("{");
	save_run("readable", "2026-01-02");
	cr_expect(eq(int, gt_manifests_load(&runs, folder, &err), -EBADMSG));
	cr_expect(ne(ptr, strstr(err.text, "manifest.json"), NULL));
	cr_assert(eq(sz, runs.list.count, 1));
	expect_text(runs.list.rows[0].command.rows[0], "readable");
	gt_manifests_release(&runs);
	remove_manifest("manifest.2.json");
	remove_manifest("manifest.json");
	cr_expect(eq(int, gt_manifests_load(&runs, folder, &err), -ENOENT));
}

Test(manifest, removes_only_what_it_saved)
{
	char *command[] = {"app", NULL};
	struct gt_manifest manifest;
	struct gt_manifests runs;

	save_run("other", "2026-01-02");
	gt_manifest_init(&manifest, command);
	gt_manifest_remove(&manifest, folder);
	cr_assert(eq(int, gt_manifest_save(&manifest, folder, NULL), 0));
	gt_manifest_remove(&manifest, folder);
	gt_manifest_release(&manifest);
	cr_assert(eq(int, gt_manifests_load(&runs, folder, NULL), 0));
	cr_assert(eq(sz, runs.list.count, 1));
	expect_text(runs.list.rows[0].command.rows[0], "other");
	gt_manifests_release(&runs);
}

Test(manifest, is_told_by_its_name)
{
	cr_expect(gt_recording_is_manifest("manifest.json"));
	cr_expect(gt_recording_is_manifest("manifest.2.json"));
	cr_expect(not(gt_recording_is_manifest("manifest.x.json")));
	cr_expect(not(gt_recording_is_manifest("manifest..json")));
	cr_expect(not(gt_recording_is_manifest("manifest.2.json.1.partial")));
	cr_expect(not(gt_recording_is_manifest("manifest2.json")));
}
