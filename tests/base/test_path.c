/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <errno.h>

#include "support/check.h"

Test(path, has_its_name_behind_the_last_slash)
{
	expect_text(gt_path_name("results/app.gputrace"), "app.gputrace");
	expect_text(gt_path_name("/app"), "app");
	expect_text(gt_path_name("app"), "app");
	expect_text(gt_path_name("results/"), "");
}

Test(path, ends_with_what_follows_the_last_dot_of_its_name)
{
	expect_text(gt_path_ending("results.d/app.tar.gz"), ".gz");
	expect_text(gt_path_ending("results.d/app"), "");
	expect_text(gt_path_ending(".hidden"), "");
	expect_text(gt_path_ending("app."), ".");
	expect_text(gt_path_ending(""), "");
}

Test(path, is_a_folder_only_when_there_is_one)
{
	cr_expect(gt_path_is_folder("/"));
	cr_expect(gt_path_is_folder(GT_TEST_DATA));
	cr_expect(not(gt_path_is_folder(GT_TEST_DATA "/CMakeLists.txt")));
	cr_expect(not(gt_path_is_folder(GT_TEST_DATA "/no such")));
}

static const char *problem(const char *path, int code)
{
	static char text[128];

	return gt_path_problem(path, code, text, sizeof(text));
}

Test(path, says_which_folder_is_not_there)
{
	expect_text(problem("no/such/app", ENOENT), "there is no folder no/such");
	expect_text(problem("no/such//app", ENOENT), "there is no folder no/such");
	expect_text(problem("/no-such/app", ENOENT), "there is no folder /no-such");
	expect_text(problem("/app", ENOENT), "No such file or directory");
	expect_text(problem("app", ENOENT), "No such file or directory");
	expect_text(problem("no/such/app", EACCES), "Permission denied");
}

Test(path, knows_a_suffix_from_a_whole_name)
{
	cr_expect(gt_has_suffix("a.arena", ".arena"));
	cr_expect(not(gt_has_suffix(".arena", ".arena")));
	cr_expect(not(gt_has_suffix("a.arena.new", ".arena")));
	cr_expect(not(gt_has_suffix("", ".arena")));
}
