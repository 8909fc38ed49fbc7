/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/payloads.h"
#include "injection/session/begin.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

/*
 * How NVTX finds this library, and another injection library through it. NVTX calls in once for
 * each shared object of the program that has a copy of it, from whatever thread makes the first
 * call there; threads that come next wait for it.
 */

#define HANDLES_BYTES (sizeof(void *) << 20)

struct gt_nvtx gt_nvtx;

/* Else: the thread id of who opens it. */
#define FRESH 0
#define OPEN  UINT32_MAX

/* NOLINTBEGIN(readability-identifier-naming): NVTX looks for this name */
__attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table);
/* NOLINTEND(readability-identifier-naming) */

/* ---- our functions in the program's tables ---- */

static NvtxFunctionTable table_of(const NvtxExportTableCallbacks *callbacks, uint32_t module,
                                  unsigned int *size)
{
	NvtxFunctionTable table = NULL;

	*size = 0;
	if (!callbacks->GetModuleFunctionTable((NvtxCallbackModule)module, &table, size))
		return NULL;
	return table;
}

/* A table of an older NVTX is shorter, and a module that it has not is missing. */
static bool fill_tables(NvtxGetExportTableFunc_t get_export_table)
{
	const NvtxExportTableCallbacks *callbacks = get_export_table(NVTX_ETID_CALLBACKS);
	const NvtxExportTableVersionInfo *version = get_export_table(NVTX_ETID_VERSIONINFO);

	if (!callbacks || callbacks->struct_size < sizeof(*callbacks))
		return false;
	for (uint32_t module = 1; module < GT_NVTX_MODULES; module++) {
		unsigned int size;
		NvtxFunctionTable table = table_of(callbacks, module, &size);

		for (uint32_t entry = 1; table && entry < size; entry++) {
			const NvtxFunctionPointer function = gt_nvtx_call(module, entry);

			if (function && table[entry])
				*table[entry] = function;
		}
	}
	if (version && version->struct_size >= sizeof(*version))
		version->SetInjectionNvtxVersion(NVTX_VERSION);
	return true;
}

/* ---- another injection library ---- */

/* The tables that the other library is given are ours: it may change them at any time. */
static int get_table(NvtxCallbackModule module, NvtxFunctionTable *table, unsigned int *size)
{
	struct gt_nvtx_next *next = &gt_nvtx.next;

	if ((uint32_t)module == 0 || (uint32_t)module >= GT_NVTX_MODULES)
		return 0;
	if (table)
		*table = next->tables[module];
	if (size)
		*size = GT_NVTX_ENTRIES;
	return 1;
}

static const void *get_export_table(uint32_t id)
{
	static const NvtxExportTableCallbacks callbacks = {sizeof(callbacks), get_table};
	const struct gt_nvtx_next *next = &gt_nvtx.next;

	return id == NVTX_ETID_CALLBACKS ? &callbacks : next->get_export_table(id);
}

static void make_tables(struct gt_nvtx_next *next)
{
#define CALL(module, name, type)                                                                   \
	next->tables[NVTX_CB_MODULE_##module][NVTX_CBID_##module##_##name] =                       \
		(NvtxFunctionPointer *)&next->slots.name;
#include "injection/nvtx/calls.def"
	for (size_t i = 0; i < sizeof(next->handles) / sizeof(next->handles[0]); i++) {
		void *memory = mmap(NULL, HANDLES_BYTES, PROT_READ | PROT_WRITE,
		                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		next->handles[i] = memory == MAP_FAILED ? NULL : memory;
	}
}

static NvtxInitializeInjectionNvtxFunc_t find_other(const char *path)
{
	NvtxInitializeInjectionNvtxFunc_t initialize = NULL;
	void *library = *path ? dlopen(path, RTLD_LAZY) : NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	return initialize == InitializeInjectionNvtx2 ? NULL : initialize;
}

static void note_refusal(struct gt_session *session, const char *path)
{
	char text[256];

	snprintf(text, sizeof(text),
	         "%.160s, which NVTX_INJECTION64_PATH named, could not be used: only "
	         "gputrace hears of NVTX's calls",
	         path);
	gt_note(session, "nvtx", text);
}

static void open_other(struct gt_session *session, NvtxGetExportTableFunc_t first)
{
	struct gt_nvtx_next *next = &gt_nvtx.next;
	const char *path = session->settings.nvtx_next;
	NvtxInitializeInjectionNvtxFunc_t initialize;

	gt_nvtx_names_init();
	gt_nvtx_schemas_init();
	gt_nvtx_counters_init();
	if (!path || !*path)
		return;
	initialize = find_other(path);
	next->get_export_table = first;
	if (initialize)
		make_tables(next);
	if (initialize && initialize(get_export_table))
		atomic_store_explicit(&session->nvtx.others_hear, true, memory_order_relaxed);
	else
		note_refusal(session, path);
}

/* Once; a library that uses NVTX itself may come back here from its own start. */
static void open_once(struct gt_session *session, NvtxGetExportTableFunc_t first)
{
	struct gt_nvtx_next *next = &gt_nvtx.next;
	const uint32_t self = (uint32_t)syscall(SYS_gettid);
	uint32_t state = FRESH;

	if (atomic_compare_exchange_strong(&next->state, &state, self)) {
		open_other(session, first);
		/* Pairs with the acquire below. */
		atomic_store_explicit(&next->state, OPEN, memory_order_release);
	}
	while (state != self && atomic_load_explicit(&next->state, memory_order_acquire) != OPEN)
		sched_yield();
}

void gt_nvtx_forget(void)
{
	if (atomic_load_explicit(&gt_nvtx.next.state, memory_order_relaxed) != FRESH)
		atomic_store_explicit(&gt_nvtx.next.state, OPEN, memory_order_relaxed);
}

void gt_nvtx_start(struct gt_session *session, const char *watched)
{
	gt_nvtx_domains_init(session);
	atomic_store_explicit(&session->nvtx.watches, gt_nvtx_watch_init(&gt_nvtx.watch, watched),
	                      memory_order_relaxed);
	gt_nvtx_names_replay(session);
	if (gt_nvtx.named_late)
		gt_nvtx_note_missed(session);
}

bool gt_nvtx_is_watched(const struct gt_session *session)
{
	return atomic_load_explicit(&session->nvtx.watches, memory_order_relaxed);
}

/* Where nothing of NVTX is recorded, a library that was to hear of it is told by NVTX itself. */
static int step_aside(const struct gt_session *session, NvtxGetExportTableFunc_t get)
{
	const char *path = session->settings.nvtx_next;
	const NvtxInitializeInjectionNvtxFunc_t initialize = find_other(path ? path : "");

	return initialize ? initialize(get) : 0;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
	struct gt_session *session = gt_session_get();
	const int saved = errno;
	int result = 0;

	gt_session_must_begin(false);
	if (!session->settings.nvtx || !gt_is_recorded(session)) {
		result = step_aside(session, get);
	} else {
		open_once(session, get);
		result = fill_tables(get);
	}
	errno = saved;
	return result;
}
