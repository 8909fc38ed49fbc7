/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/activity.h"
#include "format/cubin.h"
#include "format/recording.h"
#include "injection/calls/parameters.h"
#include "injection/cupti/cupti.h"
#include "injection/session/services.h"
#include "injection/session/source.h"
#include "injection/snapshot/bundle/kept_modules.h"

/*
 * Modules as they are loaded into contexts, and their ends. CUPTI hands the cubin over, on the
 * thread that loads it and for as long as the callback lasts: it is hashed there, its functions are
 * noted by hashes of their names, and it is written to the recording where that is asked for.
 * Which call it was loaded in is told by the thread and the time.
 *
 * Loading takes milliseconds, hashing 0.06 to 0.12 ms a megabyte (docs/performance.md).
 */

/* More than this would take many slots of the arena; what is left out is said. */
enum { FUNCTIONS_MAX = 2048 };

#define KEPT_FOR_CAPTURES ((uint64_t)4 << 30) /* bytes, where launches are captured */

enum { LOADINGS = 64 };

#define NOT_KEPT 0

/* A call that is under way in which a module may be loaded. */
struct loading {
	_Atomic bool used;
	uint32_t number; /* of the module that was, NOT_KEPT */
};

struct modules {
	bool captures; /* launches are captured: which module is which is followed */
	struct loading loadings[LOADINGS];
	struct gt_kept_modules kept;
	_Atomic bool crowded;        /* there was no place for one, and that is noted */
	_Atomic uint32_t loaded;     /* so many have been, since the start */
	_Atomic uint64_t kept_bytes; /* of the modules that were kept, */
	_Atomic bool left_out;       /* and that one could not be was noted */
	uint64_t keep_bytes;         /* at most */
};

static void note_left_out(struct gt_session *session, struct modules *modules, const char *why)
{
	char text[256];

	gt_count(session, GT_LEDGER_modules_not_kept, 1);
	if (atomic_exchange_explicit(&modules->left_out, true, memory_order_relaxed))
		return;
	snprintf(text, sizeof(text), "not every module is kept: %s", why);
	gt_note(session, "modules", text);
}

/* False, and noted, when it would be more than is allowed. */
static bool take_room(struct gt_session *session, struct modules *modules, size_t size)
{
	if (atomic_fetch_add_explicit(&modules->kept_bytes, size, memory_order_relaxed) + size <=
	    modules->keep_bytes)
		return true;
	atomic_fetch_sub_explicit(&modules->kept_bytes, size, memory_order_relaxed);
	note_left_out(session, modules, "they take more than was allowed with --keep-modules");
	return false;
}

/* Once for equal bytes, whoever loaded them before: this process, or another of the recording. */
static uint32_t keep(struct gt_session *session, struct modules *modules,
                     const CUpti_ModuleResourceData *module, uint64_t hash)
{
	char name[16 + sizeof(GT_CUBIN_SUFFIX)];
	const struct gt_kept_file file = {GT_MODULES_FOLDER, name, module->pCubin,
	                                  module->cubinSize};
	int result;

	if (modules->keep_bytes == 0)
		return 0;
	snprintf(name, sizeof(name), "%016" PRIx64 GT_CUBIN_SUFFIX, hash);
	if (gt_is_kept(session, &file))
		return GT_RECORD_MODULE_KEPT;
	if (!take_room(session, modules, file.size))
		return GT_RECORD_MODULE_NOT_KEPT;
	result = gt_keep_file(session, &file);
	if (result == 0)
		return GT_RECORD_MODULE_KEPT;
	note_left_out(session, modules, gt_errno_text(-result));
	return GT_RECORD_MODULE_NOT_KEPT;
}

static bool note_function(struct gt_session *session, const struct gt_cubin_section *section,
                          uint32_t module, uint32_t place)
{
	struct gt_record_function *record;
	const char *name;
	size_t size;

	if (!gt_cubin_function(section, &name, &size))
		return false;
	if (place >= FUNCTIONS_MAX)
		return true;
	record = gt_emit_begin(session, GT_RECORD_function, sizeof(*record));
	if (!record)
		return true;
	*record = (struct gt_record_function){
		.module = module,
		.place = place,
		.name_hash = gt_content_hash(name, size),
		.code_bytes = section->size,
	};
	gt_emit_commit();
	return true;
}

/* Reads what is in the cubin, which is another's memory: nothing in it is relied on. */
static void read_cubin(struct gt_session *session, const CUpti_ModuleResourceData *module,
                       struct gt_record_module *record)
{
	struct gt_cubin_section section;
	struct gt_cubin cubin;

	if (gt_cubin_open(&cubin, module->pCubin, module->cubinSize, NULL) < 0)
		return;
	record->arch = cubin.arch;
	record->traits |= GT_RECORD_MODULE_READ;
	for (uint32_t i = 0; i < cubin.section_count; i++) {
		if (!gt_cubin_section(&cubin, i, &section))
			continue;
		if (note_function(session, &section, record->number, record->function_count))
			record->function_count++;
		else if (gt_cubin_says_one_arch(&section))
			cubin.one_arch = true;
	}
	if (cubin.one_arch)
		record->traits |= GT_RECORD_MODULE_ONE_ARCH;
	if (record->function_count > FUNCTIONS_MAX)
		record->traits |= GT_RECORD_MODULE_CUT;
}

static uint32_t context_of(const struct gt_session *session, const CUpti_ResourceData *data)
{
	const struct gt_cupti *cupti = gt_cupti_of(session);
	uint32_t context;

	if (!data->context || !cupti->cuptiGetContextId ||
	    cupti->cuptiGetContextId(data->context, &context) != CUPTI_SUCCESS)
		return UINT32_MAX;
	return context;
}

static void note_crowded(struct gt_session *session)
{
	gt_count(session, GT_LEDGER_modules_not_kept, 1);
	gt_note(session, "modules",
	        "more than 16384 modules are loaded at a time: launches of functions of the others "
	        "are not captured");
}

/* Notes a module for those who want its image. Returns its number, NOT_KEPT where it has no place. */
static uint32_t note_kept(struct gt_session *session, struct modules *modules,
                          struct gt_kept_module module)
{
	uint32_t number;

	if (!modules->captures)
		return NOT_KEPT;
	number = gt_kept_modules_add(&modules->kept, module);
	if (number == NOT_KEPT &&
	    !atomic_exchange_explicit(&modules->crowded, true, memory_order_relaxed))
		note_crowded(session);
	return number;
}

static void load(struct gt_session *session, struct modules *modules,
                 const CUpti_ResourceData *resource, struct loading *loading)
{
	const CUpti_ModuleResourceData *module = resource->resourceDescriptor;
	const uint32_t context = context_of(session, resource);
	/* Before anything else is done: what comes now is no part of the loading. */
	struct gt_record_module read = {.loaded_ns = gt_stamp()};
	struct gt_record_module *record;

	read.number = atomic_fetch_add_explicit(&modules->loaded, 1, memory_order_relaxed) + 1;
	read.cupti_id = module->moduleId;
	read.context = context;
	read.size_bytes = module->cubinSize;
	if (gt_is_activity_recorded(session, GT_ACTIVITY_jit))
		read.traits = GT_RECORD_MODULE_JIT;
	if (module->pCubin && module->cubinSize) {
		read.hash = gt_content_hash(module->pCubin, module->cubinSize);
		read_cubin(session, module, &read);
		read.traits |= keep(session, modules, module, read.hash);
	}
	if (read.traits & GT_RECORD_MODULE_KEPT) {
		const uint32_t number =
			note_kept(session, modules,
		                  (struct gt_kept_module){.hash = read.hash,
		                                          .size = module->cubinSize,
		                                          .context = resource->context,
		                                          .cupti_id = module->moduleId});

		if (loading)
			loading->number = number;
	}
	record = gt_emit_begin(session, GT_RECORD_module, sizeof(*record));
	if (!record)
		return;
	*record = read;
	record->noted_ns = gt_stamp();
	gt_emit_commit();
}

static void unload(struct gt_session *session, uint32_t context,
                   const CUpti_ModuleResourceData *module)
{
	struct gt_record_module_unload *record =
		gt_emit_begin(session, GT_RECORD_module_unload, sizeof(*record));

	if (!record)
		return;
	*record = (struct gt_record_module_unload){
		.time_ns = gt_stamp(), .cupti_id = module->moduleId, .context = context};
	gt_emit_commit();
}

static void event(struct gt_session *session, void *state, CUpti_CallbackDomain domain,
                  CUpti_CallbackId id, const void *data, void *kept)
{
	const CUpti_ResourceData *resource = data;
	const CUpti_ModuleResourceData *module = resource->resourceDescriptor;
	struct modules *modules = state;

	(void)domain;
	if (!module)
		return;
	if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
		load(session, modules, resource, kept);
	} else if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) {
		if (modules->captures)
			gt_kept_modules_remove(&modules->kept, resource->context, module->moduleId);
		unload(session, context_of(session, resource), module);
	}
}

/*
 * The module that the call loaded, or a function of which it looked up, so that a loading in it is
 * of that one; once it has returned. NULL: not known.
 */
static CUmodule module_of(struct gt_call call)
{
	switch (call.id) {
	case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
		return *((const cuModuleLoad_params *)call.data->functionParams)->module;
	case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
		return *((const cuModuleLoadData_params *)call.data->functionParams)->module;
	case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
		return *((const cuModuleLoadDataEx_params *)call.data->functionParams)->module;
	case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
		return *((const cuModuleLoadFatBinary_params *)call.data->functionParams)->module;
	case CUPTI_DRIVER_TRACE_CBID_cuModuleGetFunction:
		return ((const cuModuleGetFunction_params *)call.data->functionParams)->hmod;
	default: /* CUPTI's numbers, of which most are of other calls */
		return NULL;
	}
}

static const CUpti_CallbackId loading_calls[] = {
	CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,        CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
	CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,  CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
	CUPTI_DRIVER_TRACE_CBID_cuModuleGetFunction,
};

static void *enter(struct gt_session *session, void *state, struct gt_call call)
{
	struct modules *modules = state;

	(void)session;
	(void)call;
	for (size_t i = 0; i < LOADINGS; i++) {
		struct loading *loading = &modules->loadings[i];
		bool used = false;

		if (!atomic_compare_exchange_strong_explicit(&loading->used, &used, true,
		                                             memory_order_acquire,
		                                             memory_order_relaxed))
			continue;
		loading->number = NOT_KEPT;
		return loading;
	}
	return NULL;
}

static void leave(struct gt_session *session, void *state, struct gt_call call, void *kept)
{
	struct modules *modules = state;
	struct loading *loading = kept;

	(void)session;
	if (!loading)
		return;
	if (loading->number != NOT_KEPT && gt_call_result(call) == 0)
		gt_kept_modules_name(&modules->kept, loading->number, module_of(call));
	atomic_store_explicit(&loading->used, false, memory_order_release);
}

static int start(struct gt_session *session, void *state, struct gt_error *err)
{
	struct modules *modules = state;

	(void)err;
	modules->captures = gt_captured_work(session) != GT_CAPTURED_NOTHING;
	if (modules->captures) {
		gt_kept_modules_init(&modules->kept);
		gt_share(session, GT_SHARED_KEPT_MODULES, &modules->kept);
	}
	modules->keep_bytes = gt_settings_of(session)->keep_modules_bytes;
	if (modules->captures && modules->keep_bytes == 0)
		modules->keep_bytes = KEPT_FOR_CAPTURES;
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
	gt_want(session, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
	for (size_t i = 0;
	     modules->captures && i < sizeof(loading_calls) / sizeof(loading_calls[0]); i++)
		gt_want(session, CUPTI_CB_DOMAIN_DRIVER_API, loading_calls[i]);
	return 0;
}

const struct gt_source gt_source_modules = {
	.name = "modules",
	.goes_on = true,
	.state_size = sizeof(struct modules),
	.start = start,
	.hears = {.enter = enter, .leave = leave, .event = event},
};
