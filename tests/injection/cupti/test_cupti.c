/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/cupti/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "support/check.h"

/* Where libcupti is looked for, and in which order, on a machine that is made up. */

static struct {
	bool made_up;       /* from here on dlopen and dl_iterate_phdr are the test's */
	const char *mapped; /* libraries that the process has, joined by commas */
	const char *there;  /* the one libcupti that can be opened; NULL: none */
	const char *file;   /* the one that is there and is not opened; NULL: see the disk */
	char tried[4096];   /* what was opened, each ended by a new line; + before what is mapped */
} machine;

/* In the place of libc's. */
void *dlopen(const char *path, int flags)
{
	void *(*real)(const char *, int);

	*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	if (!machine.made_up)
		return real(path, flags);
	if (flags & RTLD_NOLOAD)
		strcat(machine.tried, "+");
	strcat(strcat(machine.tried, path), "\n");
	return machine.there && strcmp(path, machine.there) == 0 ? real(FAKE_CUPTI_PATH, RTLD_NOW)
	                                                         : NULL;
}

int dl_iterate_phdr(int (*use)(struct dl_phdr_info *, size_t, void *), void *context)
{
	int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	const char *at = machine.mapped ? machine.mapped : "";

	*(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	if (!machine.made_up)
		return real(use, context);
	while (*at) {
		const size_t length = strcspn(at, ",");
		char *name = strndup(at, length);
		struct dl_phdr_info info = {.dlpi_name = name};
		const int result = use(&info, sizeof(info), context);

		free(name);
		if (result != 0)
			return result;
		at += length + (at[length] == ',');
	}
	return 0;
}

int access(const char *path, int mode)
{
	int (*real)(const char *, int);

	*(void **)&real = dlsym(RTLD_NEXT, "access");
	if (!machine.made_up || !machine.file)
		return real(path, mode);
	return strcmp(path, machine.file) == 0 ? 0 : -1;
}

static struct gt_cupti cupti;
static struct gt_error err;

static int search(int driver_version, const char *wanted)
{
	int result;

	machine.made_up = true;
	result = gt_cupti_open(&cupti, driver_version, wanted, &err);
	machine.made_up = false;
	return result;
}

Test(cupti, is_looked_for_where_toolkits_and_packages_keep_it)
{
	machine.mapped = "/usr/bin/python3,/env/lib/python3.12/site-packages/torch/_C.so";
	cr_expect(eq(int, search(12040, ""), -ENOENT));
	expect_text(machine.tried,
	            "libcupti.so.12\n"
	            "/env/lib/python3.12/site-packages/nvidia/cu12/lib/libcupti.so.12\n"
	            "/env/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12\n"
	            "/env/lib/python3.12/site-packages/torch/lib/libcupti.so.12\n"
	            "/usr/local/cuda-12.4/extras/CUPTI/lib64/libcupti.so.12\n"
	            "/usr/local/cuda-12.4/lib64/libcupti.so.12\n"
	            "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12\n"
	            "/usr/local/cuda/lib64/libcupti.so.12\n"
	            "/opt/cuda/extras/CUPTI/lib64/libcupti.so.12\n"
	            "/opt/cuda/lib64/libcupti.so.12\n");
	cr_expect(ne(ptr, strstr(err.text, "libcupti.so.12 was not found"), NULL), "%s", err.text);
	cr_expect(ne(ptr, strstr(err.text, "GPUTRACE_CUPTI"), NULL), "%s", err.text);
}

Test(cupti, of_the_newest_version_is_looked_for_when_the_driver_tells_none)
{
	cr_expect(eq(int, search(0, ""), -ENOENT));
	cr_expect(eq(int, strncmp(machine.tried, "libcupti.so.13\n", 15), 0), "%s", machine.tried);
	cr_expect(eq(ptr, strstr(machine.tried, "-packages/"), NULL), "%s", machine.tried);
	cr_expect(ne(ptr, strstr(err.text, "libcupti.so.13 was not found"), NULL), "%s", err.text);
}

static bool says(const char *text)
{
	return strstr(err.text, text);
}

Test(cupti, that_is_missing_is_named_with_what_to_install)
{
	cr_expect(eq(int, search(13010, ""), -ENOENT));
	cr_expect(says("libcupti.so.13 was not found: install NVIDIA's package cuda-cupti-13-1 or "
	               "pip's nvidia-cuda-cupti, or"),
	          "%s", err.text);
	cr_expect(eq(int, search(12080, ""), -ENOENT));
	cr_expect(says("package cuda-cupti-12-8 or pip's nvidia-cuda-cupti-cu12, or"), "%s",
	          err.text);
	cr_expect(not(says("older")), "%s", err.text);
}

Test(cupti, of_an_older_CUDA_is_named_where_there_is_no_other)
{
	char folder[] = "/tmp/gputrace-packages-XXXXXX";
	char command[512];
	char text[256];

	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	snprintf(
		command, sizeof(command),
		"cd %s && mkdir -p site-packages/torch/lib && >site-packages/torch/lib/libcupti.so.12",
		folder);
	cr_assert(eq(int, system(command), 0));
	snprintf(text, sizeof(text), "%s/site-packages/torch/_C.so", folder);
	machine.mapped = text;
	cr_expect(eq(int, search(13000, ""), -ENOENT));
	snprintf(text, sizeof(text), "; of an older CUDA there is %s/site-packages/torch/lib/",
	         folder);
	cr_expect(says(text), "%s", err.text);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	cr_expect(eq(int, system(command), 0));
}

/* With all of CUDA 12 whose libcupti has what is needed. */
Test(cupti, of_an_older_CUDA_is_looked_for_in_its_toolkits)
{
	char text[128];

	for (int minor = 4; minor <= 9; minor++) {
		snprintf(text, sizeof(text),
		         "/usr/local/cuda-12.%d/extras/CUPTI/lib64/libcupti.so.12", minor);
		machine.file = text;
		cr_expect(eq(int, search(13000, ""), -ENOENT));
		cr_expect(says(text), "%s", err.text);
	}
	machine.file = "/usr/local/cuda-12.3/extras/CUPTI/lib64/libcupti.so.12";
	cr_expect(eq(int, search(13000, ""), -ENOENT));
	cr_expect(not(says("older")), "%s", err.text);
}

Test(cupti, that_the_process_has_already_is_taken_before_any_other)
{
	machine.mapped = "/x/site-packages/torch/_C.so,/opt/tool/libcupti.so.13,/y/libcupti.so.12";
	machine.there = "/opt/tool/libcupti.so.13";
	cr_expect(eq(int, search(13000, ""), 0), "%s", err.text);
	expect_text(machine.tried, "+/opt/tool/libcupti.so.13\n");
}

Test(cupti, is_taken_from_the_first_place_that_has_it)
{
	machine.mapped = "/x/dist-packages/numpy/core.so";
	machine.there = "/x/dist-packages/nvidia/cuda_cupti/lib/libcupti.so.13";
	cr_expect(eq(int, search(13000, ""), 0), "%s", err.text);
	expect_text(machine.tried, "libcupti.so.13\n"
	                           "/x/dist-packages/nvidia/cu13/lib/libcupti.so.13\n"
	                           "/x/dist-packages/nvidia/cuda_cupti/lib/libcupti.so.13\n");
	cr_expect(eq(u32, cupti.version, 130001));
	cr_expect(ne(ptr, strstr(cupti.path, "libcupti.so.13"), NULL), "%s", cupti.path);
	cr_expect(cupti.cuptiActivityFlushAll != NULL);
}

Test(cupti, that_the_user_names_is_the_only_one_tried)
{
	machine.mapped = "/opt/tool/libcupti.so.13";
	cr_expect(eq(int, search(13000, "/mine/libcupti.so"), -ENOENT));
	expect_text(machine.tried, "/mine/libcupti.so\n");
	cr_expect(ne(ptr, strstr(err.text, "/mine/libcupti.so cannot be used"), NULL), "%s",
	          err.text);
}

Test(cupti, that_is_too_old_is_refused)
{
	setenv("FAKE_CUPTI", "version=21", 1);
	machine.there = "libcupti.so.13";
	cr_expect(eq(int, search(13000, ""), -ENOTSUP));
	cr_expect(ne(ptr, strstr(err.text, "is CUPTI version 21"), NULL), "%s", err.text);
}

Test(cupti, of_CUDA_12_4_is_the_oldest_that_works)
{
	setenv("FAKE_CUPTI", "version=22", 1);
	machine.there = "libcupti.so.13";
	cr_expect(eq(int, search(13000, ""), 0), "%s", err.text);
	cr_expect(eq(u32, cupti.version, 22));
}
