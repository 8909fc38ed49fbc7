/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

/*
 * Another injection library: counts the calls that it hears of, hands out handles of its own and
 * complains about any that are not. At the end it says in the file that NVTX_OTHER_OUT names what
 * it has counted. NVTX_OTHER=refuse: it does not want to be used; none: it has no calls to hear of;
 * later: it puts its functions in place only at the first call that it hears of.
 */

enum { DOMAIN_BASE = 0x5000, STRING_BASE = 0x6000, RANGE_BASE = 0x7000 };

static NvtxFunctionPointer *core[32];
static NvtxFunctionPointer *core2[32];
static unsigned long heard;
static unsigned long wrong;
static uintptr_t domains;
static uintptr_t strings;
static uint64_t ranges;
static int was_asked;

static void check_domain(nvtxDomainHandle_t domain)
{
	const uintptr_t number = (uintptr_t)domain;

	heard++;
	if (domain && (number <= DOMAIN_BASE || number > DOMAIN_BASE + domains))
		wrong++;
}

static void check_event(const nvtxEventAttributes_t *event)
{
	const uintptr_t number = (uintptr_t)event->message.registered;

	if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED &&
	    (number <= STRING_BASE || number > STRING_BASE + strings))
		wrong++;
}

static void mark_a(const char *text)
{
	(void)text;
	heard++;
}

static int push_a(const char *text)
{
	(void)text;
	heard++;
	return 0;
}

static int pop(void)
{
	heard++;
	return 0;
}

static nvtxRangeId_t start_a(const char *text)
{
	(void)text;
	heard++;
	return RANGE_BASE + ++ranges;
}

static void end(nvtxRangeId_t id)
{
	heard++;
	if (id <= RANGE_BASE || id > RANGE_BASE + ranges)
		wrong++;
}

static nvtxDomainHandle_t create(const char *name)
{
	(void)name;
	heard++;
	return (nvtxDomainHandle_t)(DOMAIN_BASE + ++domains);
}

static nvtxStringHandle_t register_a(nvtxDomainHandle_t domain, const char *text)
{
	(void)text;
	check_domain(domain);
	return (nvtxStringHandle_t)(STRING_BASE + ++strings);
}

static int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
	check_domain(domain);
	check_event(event);
	return 0;
}

static int domain_pop(nvtxDomainHandle_t domain)
{
	check_domain(domain);
	return 0;
}

static void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
	check_domain(domain);
	check_event(event);
}

static void put_in_place(void)
{
	*core[NVTX_CBID_CORE_MarkA] = (NvtxFunctionPointer)mark_a;
	*core[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push_a;
	*core[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
	*core[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer)start_a;
	*core[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer)end;
	*core2[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
	*core2[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)register_a;
	*core2[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)domain_push;
	*core2[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)domain_pop;
	*core2[NVTX_CBID_CORE2_DomainMarkEx] = (NvtxFunctionPointer)domain_mark;
}

static int first_push(const char *text)
{
	put_in_place();
	return push_a(text);
}

static void copy_table(const NvtxExportTableCallbacks *callbacks, NvtxCallbackModule module,
                       NvtxFunctionPointer **copy)
{
	NvtxFunctionTable table = NULL;
	unsigned int size = 0;

	if (!callbacks->GetModuleFunctionTable(module, &table, &size))
		abort();
	for (unsigned int i = 0; i < size && i < 32; i++)
		copy[i] = table[i];
}

static void say(void)
{
	const char *path = getenv("NVTX_OTHER_OUT");
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	(void)fprintf(out, "{\"asked\": %d, \"heard\": %lu, \"wrong\": %lu}\n", was_asked, heard,
	              wrong);
	(void)fclose(out);
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table)
{
	const char *how = getenv("NVTX_OTHER");
	const NvtxExportTableCallbacks *callbacks = get_export_table(NVTX_ETID_CALLBACKS);
	const NvtxExportTableVersionInfo *version = get_export_table(NVTX_ETID_VERSIONINFO);

	was_asked++;
	atexit(say);
	if (how && strcmp(how, "refuse") == 0)
		return 0;
	if (!version || version->version < 2 || callbacks->struct_size < sizeof(*callbacks))
		abort();
	copy_table(callbacks, NVTX_CB_MODULE_CORE, core);
	copy_table(callbacks, NVTX_CB_MODULE_CORE2, core2);
	if (how && strcmp(how, "later") == 0)
		*core[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)first_push;
	else if (!how || strcmp(how, "none") != 0)
		put_in_place();
	return 1;
}
