/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "cli/doctor/elf_head.h"
#include "cli/run/steps/steps.h"
#include "support/check.h"
#include "support/folder.h"

/* Whether a run's programs get libgputrace-end.so, and what becomes of the variables around it. */

static char folder[] = "/tmp/gputrace-preload-XXXXXX";
static char library[128];
static struct gt_run_args args;
static struct gt_run run;

/* A file that can be run, with these bytes. */
static const char *write_program(const char *name, const void *bytes, size_t size)
{
	static char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	cr_assert(ne(ptr, file, NULL));
	cr_assert(eq(sz, fwrite(bytes, 1, size, file), size));
	(void)fclose(file);
	cr_assert(eq(int, chmod(path, 0755), 0));
	return path;
}

static void use_injection(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s/libgputrace-injection.so", folder, name);
	gt_environment_set(&run.environment, "CUDA_INJECTION64_PATH", path);
}

static void make(void)
{
	static char shell[] = "/bin/sh";
	static char *program[] = {shell, NULL};

	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	snprintf(library, sizeof(library), "%s", write_program("libgputrace-end.so", "library", 7));
	run = (struct gt_run){.args = &args, .program = program};
	gt_environment_init(&run.environment);
	gt_environment_unset(&run.environment, "LD_PRELOAD");
	gt_environment_unset(&run.environment, "ASAN_OPTIONS");
	use_injection("");
}

static void drop(void)
{
	gt_environment_release(&run.environment);
	(void)folder_remove(folder);
}

TestSuite(preload, .init = make, .fini = drop);

static const char *value_of(const char *name)
{
	const char *value = gt_environment_find(&run.environment, name);

	return value ? value : "none";
}

Test(preload, is_the_library_beside_the_injection_library)
{
	gt_run_set_preload(&run);
	expect_text(value_of("LD_PRELOAD"), library);
	expect_text(value_of("ASAN_OPTIONS"), "verify_asan_link_order=0");
}

Test(preload, comes_before_what_was_there)
{
	char both[256];

	snprintf(both, sizeof(both), "%s:/a.so /b.so", library);
	gt_environment_set(&run.environment, "LD_PRELOAD", "/a.so /b.so");
	gt_environment_set(&run.environment, "ASAN_OPTIONS", "detect_leaks=0");
	gt_run_set_preload(&run);
	expect_text(value_of("LD_PRELOAD"), both);
	expect_text(value_of("ASAN_OPTIONS"), "detect_leaks=0:verify_asan_link_order=0");
	gt_run_set_preload(&run); /* a run inside a run */
	expect_text(value_of("LD_PRELOAD"), both);
	expect_text(value_of("ASAN_OPTIONS"), "detect_leaks=0:verify_asan_link_order=0");
}

Test(preload, is_not_there_when_nobody_wants_it)
{
	args.no_preload = true;
	gt_run_set_preload(&run);
	expect_text(value_of("LD_PRELOAD"), "none");
	expect_text(value_of("ASAN_OPTIONS"), "none");
}

Test(preload, is_not_there_without_the_library)
{
	use_injection("/elsewhere");
	gt_run_set_preload(&run);
	expect_text(value_of("LD_PRELOAD"), "none");
}

/* The head of a program, with the path of its loader behind. */
struct program {
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	char loader[32];
};

static struct program program_of(uint16_t machine, const char *loader)
{
	struct program program = {
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
	                 .e_machine = machine,
	                 .e_phoff = offsetof(struct program, segment),
	                 .e_phentsize = sizeof(Elf64_Phdr),
	                 .e_phnum = 1},
		.segment = {.p_type = PT_INTERP,
	                    .p_offset = offsetof(struct program, loader),
	                    .p_filesz = sizeof(program.loader)},
	};

	snprintf(program.loader, sizeof(program.loader), "%s", loader);
	return program;
}

Test(preload, is_not_for_programs_that_cannot_load_it)
{
	const uint16_t here = gt_elf_machine_here();
	const struct {
		struct program program;
		const char *preloaded;
	} cases[] = {
		{program_of(here, "/bin/sh"), library},
		{program_of(here, "/lib/ld-musl-x86_64.so.1"), "none"},
		{program_of(here == EM_386 ? EM_ARM : EM_386, "/bin/sh"), "none"},
	};

	for (size_t i = 0; i < GT_COUNT_OF(cases); i++) {
		char *words[] = {(char *)(uintptr_t)write_program("program", &cases[i].program,
		                                                  sizeof(cases[i].program)),
		                 NULL};

		run.program = words;
		gt_environment_unset(&run.environment, "LD_PRELOAD");
		gt_run_set_preload(&run);
		expect_text(value_of("LD_PRELOAD"), cases[i].preloaded);
	}
}

/* The loader would take its part before the blank for another library, and say that it is missing. */
Test(preload, is_not_there_where_its_path_has_a_blank)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/a b", folder);
	cr_assert(eq(int, mkdir(path, 0755), 0));
	(void)write_program("a b/libgputrace-end.so", "library", 7);
	use_injection("/a b");
	gt_run_set_preload(&run);
	expect_text(value_of("LD_PRELOAD"), "none");
}
