/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "format/activity.h"
#include "format/cubin.h"
#include "format/recording.h"
#include "injection/cupti/cupti.h"
#include "injection/recorder.h"
#include "injection/session/source.h"
#include "injection/snapshot/bundle/kept_modules.h"

/* Covers SOURCE(modules): what becomes of a module that is loaded, kept and unloaded. */

extern const struct gt_source gt_source_modules;

enum { CONTEXT = 3, MODULE = 9 };

static struct recorder recorder;
static void *state;
static struct gt_content cubin;
static bool captures; /* launches are captured */
static char folder[] = "/tmp/gputrace-modules-XXXXXX";

static CUptiResult context_id(CUcontext context, uint32_t *id)
{
	*id = context ? CONTEXT : 0;
	return context ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static void start(uint64_t keep_bytes)
{
	const struct gt_source *sources[] = {&gt_source_modules};
	struct gt_error err = {0};

	recorder_init(&recorder);
	recorder_add_sources(&recorder, sources, 1);
	recorder.session->cupti.cuptiGetContextId = context_id;
	recorder.session->settings = (struct gt_settings){.keep_modules_bytes = keep_bytes,
	                                                  .kernel_counters = "",
	                                                  .capture_kernels = captures ? "." : "",
	                                                  .capture_sequence = ""};
	snprintf(recorder.session->output.arena_path, sizeof(recorder.session->output.arena_path),
	         "%s/x.arena", folder);
	state = gt_source_state(recorder.session, &gt_source_modules);
	recorder.session->sources.starting = &recorder.session->sources.members[0];
	cr_assert(eq(int, gt_source_modules.start(recorder.session, state, &err), 0));
	gt_tell_activities(recorder.session, 1u << GT_ACTIVITY_kernel | 1u << GT_ACTIVITY_jit);
	atomic_store(&recorder.session->phase, GT_SESSION_RECORDING);
}

static void make(void)
{
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	cr_assert(eq(int, gt_load_file(&cubin, GT_TEST_DATA "/cubins/sample_90.cubin", NULL), 0));
}

static void remove_all(void)
{
	char command[128];

	gt_unload(&cubin);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_expect(eq(int, system(command), 0));
}

TestSuite(modules, .init = make, .fini = remove_all);

static void tell_in(uintptr_t context, CUpti_CallbackIdResource id, const void *bytes, size_t size)
{
	CUpti_ModuleResourceData module = {.moduleId = MODULE, .cubinSize = size, .pCubin = bytes};
	const CUpti_ResourceData data = {.context = (CUcontext)context,
	                                 .resourceDescriptor = &module};

	gt_source_modules.hears.event(recorder.session, state, CUPTI_CB_DOMAIN_RESOURCE, id, &data,
	                              NULL);
}

static void tell(CUpti_CallbackIdResource id, const void *bytes, size_t size)
{
	tell_in(0x100, id, bytes, size);
}

static struct gt_record_module *modules(size_t *count)
{
	recorder_drain(&recorder);
	return recorder_records(&recorder, GT_RECORD_module, count);
}

/* Size of the file that a cubin is kept in; -1: there is none. */
static long kept_bytes(uint64_t hash)
{
	struct stat status;
	char path[256];

	snprintf(path, sizeof(path), "%s/modules/%016lx.cubin", folder, (unsigned long)hash);
	return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

Test(modules, says_what_was_loaded_and_which_functions_are_in_it)
{
	struct gt_record_function *functions;
	struct gt_record_module *rows;
	size_t count;

	start(0);
	errno = EDOM;
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	cr_expect(eq(int, errno, EDOM));
	rows = modules(&count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u64, rows[0].hash, gt_content_hash(cubin.bytes, cubin.size)));
	cr_expect(eq(u64, rows[0].size_bytes, cubin.size));
	cr_expect(eq(u32, rows[0].number, 1));
	cr_expect(eq(u32, rows[0].cupti_id, MODULE));
	cr_expect(eq(u32, rows[0].context, CONTEXT));
	cr_expect(eq(u32, rows[0].arch, 90));
	cr_expect(eq(u32, rows[0].function_count, 4));
	cr_expect(eq(u32, rows[0].traits, GT_RECORD_MODULE_JIT | GT_RECORD_MODULE_READ));
	cr_expect(gt(u64, rows[0].loaded_ns, 0));
	cr_expect(ge(u64, rows[0].noted_ns, rows[0].loaded_ns));
	cr_expect(eq(int, access(folder, R_OK), 0));
	cr_expect(eq(long, kept_bytes(rows[0].hash), -1));
	functions = recorder_records(&recorder, GT_RECORD_function, &count);
	cr_assert(eq(sz, count, 4));
	cr_expect(eq(u64, functions[0].name_hash, gt_content_hash("plain", 5)));
	cr_expect(eq(u32, functions[0].module, 1));
	cr_expect(eq(u32, functions[3].place, 3));
	free(functions);
	free(rows);
}

/* CUPTI may have refused the kind, whatever the settings ask for. */
Test(modules, says_whether_compilations_are_recorded)
{
	struct gt_record_module *rows;
	size_t count;

	start(0);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	gt_tell_activities(recorder.session, 1u << GT_ACTIVITY_kernel);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	rows = modules(&count);
	cr_assert(eq(sz, count, 2));
	cr_expect(ne(u32, rows[0].traits & GT_RECORD_MODULE_JIT, 0));
	cr_expect(eq(u32, rows[1].traits & GT_RECORD_MODULE_JIT, 0));
	free(rows);
}

Test(modules, says_when_one_is_unloaded)
{
	struct gt_record_module_unload *rows;
	size_t count;

	start(0);
	tell(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, NULL, 0);
	recorder_drain(&recorder);
	rows = recorder_records(&recorder, GT_RECORD_module_unload, &count);
	cr_assert(eq(sz, count, 1));
	cr_expect(eq(u32, rows[0].cupti_id, MODULE));
	cr_expect(eq(u32, rows[0].context, CONTEXT));
	cr_expect(gt(u64, rows[0].time_ns, 0));
	free(rows);
}

Test(modules, takes_what_is_no_cubin_as_it_comes)
{
	struct gt_record_module *rows;
	size_t count;

	start(0);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, "no cubin", 8);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, NULL, 0);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size / 2);
	rows = modules(&count);
	cr_assert(eq(sz, count, 3));
	cr_expect(eq(u64, rows[0].size_bytes, 8));
	cr_expect(ne(u64, rows[0].hash, 0));
	cr_expect(eq(u32, rows[0].traits, GT_RECORD_MODULE_JIT));
	cr_expect(eq(u64, rows[1].hash, 0));
	cr_expect(eq(u32, rows[2].function_count, 0));
	cr_expect(eq(u32, rows[2].number, 3));
	free(rows);
}

Test(modules, keeps_equal_ones_once_and_under_their_hash)
{
	struct gt_record_module *rows;
	struct stat before;
	struct stat after;
	char path[256];
	size_t count;

	start(cubin.size + 100); /* not enough for two */
	snprintf(path, sizeof(path), "%s/modules", folder);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	cr_assert(eq(int, stat(path, &before), 0));
	cr_expect(eq(u32, before.st_mode & 0777, 0700));
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	cr_assert(eq(int, stat(path, &after), 0));
	cr_expect(eq(long, before.st_mtim.tv_nsec, after.st_mtim.tv_nsec));
	rows = modules(&count);
	cr_assert(eq(sz, count, 2));
	cr_expect(ne(u32, rows[0].traits & GT_RECORD_MODULE_KEPT, 0));
	cr_expect(ne(u32, rows[1].traits & GT_RECORD_MODULE_KEPT, 0));
	cr_expect(eq(long, kept_bytes(rows[0].hash), (long)cubin.size));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_modules_not_kept), 0));
	free(rows);
}

/* Anything under its name that is no file of its size is not it: half of one, or a folder. */
Test(modules, keeps_one_where_something_else_has_its_name)
{
	const uint64_t hash = gt_content_hash(cubin.bytes, cubin.size);
	struct gt_record_module *rows;
	char path[256];
	size_t count;
	FILE *half;

	start(1 << 20);
	snprintf(path, sizeof(path), "%s/modules", folder);
	cr_assert(eq(int, mkdir(path, 0700), 0));
	snprintf(path, sizeof(path), "%s/modules/%016lx.cubin", folder, (unsigned long)hash);
	half = fopen(path, "w");
	cr_assert(ne(ptr, half, NULL));
	cr_assert(eq(sz, fwrite(cubin.bytes, 1, cubin.size / 2, half), cubin.size / 2));
	fclose(half);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	rows = modules(&count);
	cr_assert(eq(sz, count, 1));
	cr_expect(ne(u32, rows[0].traits & GT_RECORD_MODULE_KEPT, 0));
	cr_expect(eq(long, kept_bytes(hash), (long)cubin.size));
	free(rows);
}

Test(modules, leaves_out_and_counts_what_is_more_than_was_allowed)
{
	struct gt_record_module *rows;
	size_t count;

	start(cubin.size - 1);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, "small", 5);
	rows = modules(&count);
	cr_assert(eq(sz, count, 2));
	cr_expect(ne(u32, rows[0].traits & GT_RECORD_MODULE_NOT_KEPT, 0));
	cr_expect(ne(u32, rows[1].traits & GT_RECORD_MODULE_KEPT, 0));
	cr_expect(eq(long, kept_bytes(rows[0].hash), -1));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_modules_not_kept), 1));
	gt_notes_write(recorder.session);
	free(rows);
}

/* Where the folder cannot be made, nothing happens to the program, and it is counted. */
Test(modules, goes_on_where_nothing_can_be_written)
{
	struct gt_record_module *rows;
	size_t count;

	start(1 << 20);
	snprintf(recorder.session->output.arena_path, sizeof(recorder.session->output.arena_path),
	         "%s/gone/x.arena", folder);
	errno = EDOM;
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	cr_expect(eq(int, errno, EDOM));
	rows = modules(&count);
	cr_assert(eq(sz, count, 1));
	cr_expect(ne(u32, rows[0].traits & GT_RECORD_MODULE_NOT_KEPT, 0));
	cr_expect(eq(u64, recorder_count(&recorder, GT_LEDGER_modules_not_kept), 1));
	free(rows);
}

/* A call that loads a module, in which CUPTI tells of one. */
static void load_in_call(CUmodule handle)
{
	CUmodule made = handle;
	const cuModuleLoadData_params params = {.module = &made};
	const CUresult result = CUDA_SUCCESS;
	const CUpti_CallbackData data = {.functionParams = &params,
	                                 .functionReturnValue = (void *)&result};
	const struct gt_call call = {.data = &data,
	                             .callee = {.id = CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
	                                        .driver = 1}};
	const CUpti_ModuleResourceData module = {
		.moduleId = MODULE, .cubinSize = cubin.size, .pCubin = (const char *)cubin.bytes};
	const CUpti_ResourceData resource = {.context = (CUcontext)0x100,
	                                     .resourceDescriptor = (void *)&module};
	void *kept = gt_source_modules.hears.enter(recorder.session, state, call);

	gt_source_modules.hears.event(recorder.session, state, CUPTI_CB_DOMAIN_RESOURCE,
	                              CUPTI_CBID_RESOURCE_MODULE_LOADED, &resource, kept);
	gt_source_modules.hears.leave(recorder.session, state, call, kept);
}

static struct gt_kept_modules *kept_modules(void)
{
	return gt_kept_modules_of(recorder.session);
}

Test(modules, knows_which_file_is_the_image_of_which_module_for_captures)
{
	struct gt_kept_module first;
	struct gt_kept_module last;

	captures = true;
	start(0);
	load_in_call((CUmodule)0x1234);
	tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	cr_assert(gt_kept_module_before(kept_modules(), UINT32_MAX, &last));
	cr_assert(gt_kept_module_before(kept_modules(), last.number, &first));
	cr_expect(not(gt_kept_module_before(kept_modules(), first.number, &last)));
	cr_expect(eq(ptr, (void *)first.handle, (void *)0x1234));
	cr_expect(eq(ptr, (void *)last.handle, NULL), "no call that says which it is");
	cr_expect(eq(u64, first.hash, gt_content_hash(cubin.bytes, cubin.size)));
	tell(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, NULL, 0);
	cr_expect(not(gt_kept_module_before(kept_modules(), UINT32_MAX, &last)));
}

/* As where a program compiles small modules all the time. */
Test(modules, have_a_place_for_captures_again_when_others_are_unloaded)
{
	struct gt_kept_module module;

	captures = true;
	start(0);
	for (uint32_t i = 0; i <= GT_KEPT_MODULES; i++) {
		load_in_call((CUmodule)0x1234);
		tell(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, NULL, 0);
	}
	cr_expect(not(gt_kept_module_before(kept_modules(), UINT32_MAX, &module)));
	load_in_call((CUmodule)0x5678);
	cr_assert(gt_kept_module_before(kept_modules(), UINT32_MAX, &module));
	cr_expect(eq(ptr, (void *)module.handle, (void *)0x5678));
}

Test(modules, that_are_too_many_for_captures_are_told_once)
{
	captures = true;
	start(0);
	for (uint32_t i = 0; i < GT_KEPT_MODULES + 2; i++)
		tell_in(0x100 + i, CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	cr_expect(eq(sz, recorder_notes(&recorder, "more than 16384 modules"), 1));
}

/* CUPTI numbers the modules of each context anew. */
Test(modules, of_another_context_stay_when_one_is_unloaded)
{
	struct gt_kept_module left;
	struct gt_kept_module none;

	captures = true;
	start(0);
	tell_in(0x100, CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	tell_in(0x200, CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin.bytes, cubin.size);
	tell_in(0x200, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, NULL, 0);
	cr_assert(gt_kept_module_before(kept_modules(), UINT32_MAX, &left));
	cr_expect(eq(ptr, (void *)left.context, (void *)0x100));
	cr_expect(not(gt_kept_module_before(kept_modules(), left.number, &none)));
}
