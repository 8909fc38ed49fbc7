/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

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

Test(path, knows_a_suffix_from_a_whole_name)
{
	cr_expect(gt_has_suffix("a.arena", ".arena"));
	cr_expect(not(gt_has_suffix(".arena", ".arena")));
	cr_expect(not(gt_has_suffix("a.arena.new", ".arena")));
	cr_expect(not(gt_has_suffix("", ".arena")));
}
