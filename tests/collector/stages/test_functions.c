/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/collect.h"
#include "format/cubin.h"
#include "format/recording.h"

/* Covers STAGE(functions): the functions of modules, of what was noted and of kept cubins. */

static struct recording recording;
static struct gt_content cubin;
static uint64_t hash;

static void make(void)
{
	cr_assert(eq(int, gt_load_file(&cubin, GT_TEST_DATA "/cubins/sample_90.cubin", NULL), 0));
	hash = gt_content_hash(cubin.bytes, cubin.size);
	recording_init(&recording);
	recording_begin(&recording, "node-1-1");
	recording_add_basics(&recording, 42);
}

static void finish(void)
{
	recording_release(&recording);
	gt_unload(&cubin);
}

TestSuite(functions, .init = make, .fini = finish);

static void add_module(uint32_t number, uint64_t content, uint32_t traits)
{
	recording_add(&recording, module, .loaded_ns = 1000 * number, .noted_ns = 1000 * number,
	              .number = number, .cupti_id = number, .context = CONTEXT, .thread = 100,
	              .hash = content, .size_bytes = cubin.size, .traits = traits,
	              .function_count = 1, .arch = 90);
}

static void add_function(uint32_t module, uint32_t place, const char *name)
{
	recording_add(&recording, function, .module = module, .place = place,
	              .name_hash = gt_content_hash(name, strlen(name)), .code_bytes = 640);
}

/* Keeps these bytes as the cubin with that hash. */
static void keep(uint64_t content, const void *bytes, size_t size)
{
	char path[128];
	char name[64];

	snprintf(path, sizeof(path), "%s/modules", recording.path);
	(void)mkdir(path, 0700);
	snprintf(name, sizeof(name), "modules/%016lx.cubin", (unsigned long)content);
	recording_add_file(&recording, name, bytes, size);
}

static struct gt_trace done(void)
{
	recording_end(&recording, true);
	return collect(&recording);
}

static const struct gt_function *function(const struct gt_trace *trace, const char *name)
{
	gt_array_each(const struct gt_function, row, &trace->functions)
		if (strcmp(gt_trace_text(trace, row->name), name) == 0)
			return row;
	cr_fail("there is no function %s", name);
	return NULL;
}

Test(functions, that_were_launched_are_known_by_the_hash_of_their_name)
{
	struct gt_trace trace;

	add_module(1, 0, GT_RECORD_MODULE_READ);
	add_function(1, 0, "_Z5saxpyPfS_f"); /* the name of the kernels below */
	add_function(1, 1, "never_launched");
	add_function(1, 1, "never_launched"); /* a salvager wrote it again */
	recording_add_kernel(&recording, 100000, 1);
	trace = done();
	cr_assert(eq(sz, trace.functions.count, 2));
	cr_expect(eq(u32, function(&trace, "_Z5saxpyPfS_f")->known, GT_FUNCTION_LAUNCHED));
	cr_expect(eq(u32, function(&trace, "_Z5saxpyPfS_f")->registers, 0)); /* not what it needs */
	cr_expect(eq(u64, function(&trace, "_Z5saxpyPfS_f")->shared_bytes,
	             trace.launch_shapes.rows[0].shared_static_bytes));
	cr_expect(eq(u64, function(&trace, "_Z5saxpyPfS_f")->code_bytes, 640));
	cr_expect(eq(u32, function(&trace, "")->known, GT_FUNCTION_NOTED));
	cr_expect(eq(u32, function(&trace, "")->module, 0));
	gt_trace_release(&trace);
}

Test(functions, of_kept_modules_are_read_once_for_all_that_are_equal)
{
	struct gt_trace trace;

	add_module(1, hash, GT_RECORD_MODULE_READ | GT_RECORD_MODULE_KEPT);
	add_module(2, hash, GT_RECORD_MODULE_READ | GT_RECORD_MODULE_KEPT);
	add_function(1, 0, "plain"); /* noted, and not needed */
	keep(hash, cubin.bytes, cubin.size);
	trace = done();
	cr_assert(eq(sz, trace.functions.count, 8));
	cr_expect(eq(u32, function(&trace, "plain")->registers, 10));
	cr_expect(eq(u32, function(&trace, "plain")->known, GT_FUNCTION_READ));
	cr_expect(eq(u32, function(&trace, "plain")->source_line, 48));
	expect_text(gt_trace_text(&trace, function(&trace, "plain")->source_file),
	            "/src/sample.cu");
	cr_expect(eq(u32, trace.functions.rows[7].module, 1));
	cr_expect(eq(u32, trace.modules.rows[1].function_count, 4));
	cr_expect(eq(u32, trace.modules.rows[1].ptx_arch, 90));
	expect_text(
		gt_trace_text(&trace, trace.modules.rows[1].compiler),
		"Cuda compilation tools, release 13.0, V13.0.88: -lineinfo  -arch sm_90 -m 64 ");
	cr_expect(eq(sz, trace.notes.count, 0));
	gt_trace_release(&trace);
}

/* Launches do not tell the barriers of a block. */
Test(functions, of_kept_modules_tell_launches_their_barriers)
{
	enum { NAME = 50, SCALE = 9 };
	struct gt_trace trace;

	add_module(1, hash, GT_RECORD_MODULE_READ | GT_RECORD_MODULE_KEPT);
	keep(hash, cubin.bytes, cubin.size);
	recording_add_string(&recording, NAME, "_Z5scaleIfEvPT_S0_i");
	recording_add(&recording, shape, .id = SCALE, .name = NAME, .registers = 16,
	              .shared_static = 1024);
	recording_add(&recording, kernel, .start_ns = 100000, .end_ns = 100010, .shape = SCALE,
	              .context = CONTEXT, .stream = STREAM);
	trace = done();
	cr_assert(eq(sz, trace.kernels.count, 1));
	cr_expect(eq(u32, trace.launch_shapes.rows[trace.kernels.rows[0].shape].barriers, 1));
	gt_trace_release(&trace);
}

/* A launch of a function with such a name, of which CUPTI says that it has so much local memory. */
static void add_launch(uint32_t id, const char *name, uint32_t registers, uint32_t local,
                       uint64_t start_ns)
{
	recording_add_string(&recording, 50 + id, name);
	recording_add(&recording, shape, .id = id, .name = 50 + id, .registers = registers,
	              .grid_x = id, .local_per_thread = local);
	recording_add(&recording, kernel, .start_ns = start_ns, .end_ns = start_ns + 10,
	              .shape = id, .context = CONTEXT, .stream = STREAM);
}

static const struct gt_launch_shape *shape(const struct gt_trace *trace, uint32_t id)
{
	gt_array_each(const struct gt_launch_shape, row, &trace->launch_shapes)
		if (row->grid_x == id)
			return row;
	cr_fatal("there is no shape %u", id);
	return NULL;
}

/* CUPTI 13.0 says 0 of kernels that have some. */
Test(functions, of_kept_modules_tell_launches_their_local_memory)
{
	enum { STACK = 10, PLAIN, OTHER, TOLD };
	struct gt_trace trace;

	add_module(1, hash, GT_RECORD_MODULE_READ | GT_RECORD_MODULE_KEPT);
	add_module(2, 0, GT_RECORD_MODULE_READ);
	add_function(2, 0, "other");
	keep(hash, cubin.bytes, cubin.size);
	add_launch(STACK, "_Z5stackPfi", 38, 0, 100000);
	add_launch(PLAIN, "plain", 16, 0, 100100);
	add_launch(OTHER, "other", 16, 0, 100200);
	add_launch(TOLD, "_Z5stackPfi", 38, 300, 100300);
	trace = done();
	cr_expect(eq(u64, shape(&trace, STACK)->local_per_thread_bytes, 256));
	cr_expect(eq(u32, shape(&trace, STACK)->local_known, 1));
	cr_expect(eq(u64, shape(&trace, PLAIN)->local_per_thread_bytes, 0));
	cr_expect(eq(u32, shape(&trace, PLAIN)->local_known, 1));
	cr_expect(eq(u32, shape(&trace, OTHER)->local_known, 0));
	cr_expect(eq(u32, function(&trace, "other")->local_known, 0));
	cr_expect(eq(u64, shape(&trace, TOLD)->local_per_thread_bytes, 300));
	gt_trace_release(&trace);
}

/* The same shape of a function that is in another module, too, which is not kept. */
Test(functions, of_several_modules_tell_no_local_memory)
{
	enum { STACK = 10 };
	struct gt_trace trace;

	add_module(1, hash, GT_RECORD_MODULE_READ | GT_RECORD_MODULE_KEPT);
	keep(hash, cubin.bytes, cubin.size);
	add_launch(STACK, "_Z5stackPfi", 38, 0, 100000);
	recording_add(&recording, kernel, .start_ns = 100, .end_ns = 110, .shape = STACK,
	              .context = CONTEXT, .stream = STREAM); /* before that module was there */
	trace = done();
	cr_assert(eq(sz, trace.kernels.count, 2));
	cr_expect(eq(u32, shape(&trace, STACK)->local_known, 0));
	cr_expect(eq(u64, shape(&trace, STACK)->local_per_thread_bytes, 0));
	gt_trace_release(&trace);
}

Test(functions, of_a_kept_module_that_is_another_are_those_that_were_noted)
{
	struct gt_trace trace;

	add_module(1, 0xabc, GT_RECORD_MODULE_READ | GT_RECORD_MODULE_KEPT);
	add_function(1, 0, "plain");
	keep(0xabc, cubin.bytes, cubin.size);
	trace = done();
	cr_assert(eq(sz, trace.functions.count, 1));
	cr_expect(has_note(&trace, 0,
	                   "modules/0000000000000abc.cubin cannot be read: it is not what was "
	                   "loaded"));
	expect_text(gt_trace_text(&trace, trace.modules.rows[0].file), "");
	gt_trace_release(&trace);
}

Test(functions, of_a_kept_module_that_is_gone_are_those_that_were_noted)
{
	struct gt_trace trace;

	add_module(1, hash, GT_RECORD_MODULE_READ | GT_RECORD_MODULE_KEPT);
	add_function(1, 0, "plain");
	trace = done();
	cr_assert(eq(sz, trace.functions.count, 1));
	cr_expect(eq(sz, trace.notes.count, 1));
	gt_trace_release(&trace);
}
