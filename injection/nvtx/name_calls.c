/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "injection/cupti/cupti.h"
#include "injection/nvtx/calls.h"
#include "injection/nvtx/handles.h"
#include "injection/nvtx/texts.h"
#include "injection/nvtx/watch.h"
#include "injection/session/services.h"

/*
 * NVTX's functions that give names, among them those of domains, registered strings and resources,
 * which come with handles.
 */

static void name(enum gt_named kind, uint64_t number, const char *text, const wchar_t *wide)
{
	const struct gt_nvtx_name given = {
		.kind = kind, .number = number, .text = text, .wide = wide};

	gt_nvtx_give_name(gt_session_get(), &given);
}

static void name_category(uint32_t domain, uint32_t category, const char *text, const wchar_t *wide)
{
	const struct gt_nvtx_name given = {
		.kind = GT_NAMED_CATEGORY,
		.domain = domain,
		.number = category,
		.text = text,
		.wide = wide,
	};

	gt_nvtx_give_name(gt_session_get(), &given);
}

void gt_nvtx_on_NameCategoryA(uint32_t category, const char *text)
{
	GT_NVTX_SESSION;

	name_category(page->default_domain, category, text, NULL);
	GT_NVTX_PASS_ON(NameCategoryA, category, text);
}

void gt_nvtx_on_NameCategoryW(uint32_t category, const wchar_t *text)
{
	GT_NVTX_SESSION;

	name_category(page->default_domain, category, NULL, text);
	GT_NVTX_PASS_ON(NameCategoryW, category, text);
}

void gt_nvtx_on_DomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char *text)
{
	GT_NVTX_SESSION;

	name_category(gt_nvtx_domain_of(page, domain), category, text, NULL);
	GT_NVTX_PASS_ON(DomainNameCategoryA, gt_nvtx_other_domain(page, domain), category, text);
}

void gt_nvtx_on_DomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category,
                                    const wchar_t *text)
{
	GT_NVTX_SESSION;

	name_category(gt_nvtx_domain_of(page, domain), category, NULL, text);
	GT_NVTX_PASS_ON(DomainNameCategoryW, gt_nvtx_other_domain(page, domain), category, text);
}

static nvtxDomainHandle_t create_domain(const char *text, const wchar_t *wide, void *other)
{
	GT_NVTX_SESSION;
	const uint32_t number = gt_nvtx_give_number(page, GT_NVTX_DOMAIN);
	const struct gt_nvtx_text called = wide ? gt_nvtx_wide(wide) : gt_nvtx_narrow(text);

	gt_nvtx_keep_other(GT_NVTX_DOMAIN, number, other);
	if (!gt_nvtx_is_wanted(&called))
		return gt_nvtx_handle_of(number | GT_NVTX_UNWANTED);
	name(GT_NAMED_DOMAIN, number, text, wide);
	return gt_nvtx_handle_of(number);
}

nvtxDomainHandle_t gt_nvtx_on_DomainCreateA(const char *text)
{
	GT_NVTX_SESSION;
	void *other = page->others_hear && gt_nvtx.next.slots.DomainCreateA
	                      ? gt_nvtx.next.slots.DomainCreateA(text)
	                      : NULL;

	(void)session;
	return create_domain(text, NULL, other);
}

nvtxDomainHandle_t gt_nvtx_on_DomainCreateW(const wchar_t *text)
{
	GT_NVTX_SESSION;
	void *other = page->others_hear && gt_nvtx.next.slots.DomainCreateW
	                      ? gt_nvtx.next.slots.DomainCreateW(text)
	                      : NULL;

	(void)session;
	return create_domain(NULL, text, other);
}

void gt_nvtx_on_DomainDestroy(nvtxDomainHandle_t domain)
{
	GT_NVTX_SESSION;

	(void)session;
	if (gt_nvtx_domain_of(page, domain) != GT_DOMAIN_UNWANTED)
		name(GT_NAMED_DOMAIN_END, gt_nvtx_domain_of(page, domain), NULL, NULL);
	GT_NVTX_PASS_ON(DomainDestroy, gt_nvtx_other_domain(page, domain));
}

static nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char *text,
                                          const wchar_t *wide, void *other)
{
	GT_NVTX_SESSION;
	const uint32_t number = gt_nvtx_give_number(page, GT_NVTX_STRING);
	const struct gt_nvtx_name given = {
		.kind = GT_NAMED_STRING,
		.domain = gt_nvtx_domain_of(page, domain),
		.number = number,
		.text = text,
		.wide = wide,
	};

	gt_nvtx_give_name(session, &given);
	if (page->watches) {
		const struct gt_nvtx_text said = text ? gt_nvtx_narrow(text) : gt_nvtx_wide(wide);

		gt_nvtx_watch_register(&gt_nvtx.watch, &said, number);
	}
	gt_nvtx_keep_other(GT_NVTX_STRING, number, other);
	return gt_nvtx_handle_of(number);
}

nvtxStringHandle_t gt_nvtx_on_DomainRegisterStringA(nvtxDomainHandle_t domain, const char *text)
{
	GT_NVTX_SESSION;
	void *other = page->others_hear && gt_nvtx.next.slots.DomainRegisterStringA
	                      ? gt_nvtx.next.slots.DomainRegisterStringA(
					gt_nvtx_other_domain(page, domain), text)
	                      : NULL;

	(void)session;
	return register_string(domain, text, NULL, other);
}

nvtxStringHandle_t gt_nvtx_on_DomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t *text)
{
	GT_NVTX_SESSION;
	void *other = page->others_hear && gt_nvtx.next.slots.DomainRegisterStringW
	                      ? gt_nvtx.next.slots.DomainRegisterStringW(
					gt_nvtx_other_domain(page, domain), text)
	                      : NULL;

	(void)session;
	return register_string(domain, NULL, text, other);
}

/* A context by what CUPTI calls it; what is no context of its own is just a handle. */
static void name_context(uintptr_t context, const char *text, const wchar_t *wide)
{
	const struct gt_cupti *cupti = gt_cupti_of(gt_session_get());
	uint32_t id = 0;

	/* NOLINTNEXTLINE(performance-no-int-to-ptr): a handle that the program gave as a number */
	if (cupti->cuptiGetContextId && cupti->cuptiGetContextId((CUcontext)context, &id) == 0)
		name(GT_NAMED_CONTEXT, id, text, wide);
	else
		name(GT_NAMED_OTHER, context, text, wide);
}

#define NAME(suffix, type, text_type, narrow, wide, kind, number)                                  \
	void gt_nvtx_on_##suffix(type what, const text_type *text)                                 \
	{                                                                                          \
		GT_NVTX_SESSION;                                                                   \
                                                                                                   \
		(void)session;                                                                     \
		name(GT_NAMED_##kind, (uint64_t)(number), narrow, wide);                           \
		GT_NVTX_PASS_ON(suffix, what, text);                                               \
	}
#define NAME_BOTH(base, type, kind, number)                                                        \
	NAME(base##A, type, char, text, NULL, kind, number)                                        \
	NAME(base##W, type, wchar_t, NULL, text, kind, number)

NAME_BOTH(NameOsThread, uint32_t, THREAD, what)
NAME_BOTH(NameCuDevice, nvtx_CUdevice, DEVICE, what)
NAME_BOTH(NameCuStream, nvtx_CUstream, STREAM, (uintptr_t)what)
NAME_BOTH(NameCuEvent, nvtx_CUevent, EVENT, (uintptr_t)what)
NAME_BOTH(NameCudaDevice, int, DEVICE, what)
NAME_BOTH(NameCudaStream, nvtx_cudaStream_t, STREAM, (uintptr_t)what)
NAME_BOTH(NameCudaEvent, nvtx_cudaEvent_t, EVENT, (uintptr_t)what)

void gt_nvtx_on_NameCuContextA(nvtx_CUcontext context, const char *text)
{
	GT_NVTX_SESSION;

	(void)session;
	name_context((uintptr_t)context, text, NULL);
	GT_NVTX_PASS_ON(NameCuContextA, context, text);
}

void gt_nvtx_on_NameCuContextW(nvtx_CUcontext context, const wchar_t *text)
{
	GT_NVTX_SESSION;

	(void)session;
	name_context((uintptr_t)context, NULL, text);
	GT_NVTX_PASS_ON(NameCuContextW, context, text);
}

/* NVTX_RESOURCE_TYPE_... of nvToolsExt.h, nvToolsExtCuda.h and nvToolsExtCudaRt.h. */
enum {
	RESOURCE_THREAD = 0x10003,
	RESOURCE_CU_DEVICE = 0x40001,
	RESOURCE_CU_CONTEXT = 0x40002,
	RESOURCE_CU_STREAM = 0x40003,
	RESOURCE_CU_EVENT = 0x40004,
	RESOURCE_CUDA_DEVICE = 0x50000,
	RESOURCE_CUDA_STREAM = 0x50001,
	RESOURCE_CUDA_EVENT = 0x50002,
};

static enum gt_named kind_of_resource(uint32_t type)
{
	switch (type) {
	case RESOURCE_THREAD:
		return GT_NAMED_THREAD;
	case RESOURCE_CU_DEVICE:
	case RESOURCE_CUDA_DEVICE:
		return GT_NAMED_DEVICE;
	case RESOURCE_CU_STREAM:
	case RESOURCE_CUDA_STREAM:
		return GT_NAMED_STREAM;
	case RESOURCE_CU_EVENT:
	case RESOURCE_CUDA_EVENT:
		return GT_NAMED_EVENT;
	default: /* what other versions and libraries have */
		return GT_NAMED_OTHER;
	}
}

static void name_resource(const nvtxResourceAttributes_t *attributes)
{
	nvtxResourceAttributes_t whole = {0};
	const char *text = NULL;
	const wchar_t *wide = NULL;

	if (!attributes)
		return;
	memcpy(&whole, attributes,
	       attributes->size < sizeof(whole) ? attributes->size : sizeof(whole));
	if (whole.messageType == NVTX_MESSAGE_TYPE_ASCII)
		text = whole.message.ascii;
	else if (whole.messageType == NVTX_MESSAGE_TYPE_UNICODE)
		wide = whole.message.unicode;
	if ((uint32_t)whole.identifierType == RESOURCE_CU_CONTEXT)
		name_context((uintptr_t)whole.identifier.ullValue, text, wide);
	else
		name(kind_of_resource((uint32_t)whole.identifierType), whole.identifier.ullValue,
		     text, wide);
}

nvtxResourceHandle_t gt_nvtx_on_DomainResourceCreate(nvtxDomainHandle_t domain,
                                                     nvtxResourceAttributes_t *attributes)
{
	GT_NVTX_SESSION;
	const uint32_t number = gt_nvtx_give_number(page, GT_NVTX_RESOURCE);

	(void)session;
	name_resource(attributes);
	if (page->others_hear && gt_nvtx.next.slots.DomainResourceCreate)
		gt_nvtx_keep_other(GT_NVTX_RESOURCE, number,
		                   gt_nvtx.next.slots.DomainResourceCreate(
					   gt_nvtx_other_domain(page, domain), attributes));
	return gt_nvtx_handle_of(number);
}

/* Its name stays true for what there was. */
void gt_nvtx_on_DomainResourceDestroy(nvtxResourceHandle_t resource)
{
	GT_NVTX_SESSION;

	(void)session;
	GT_NVTX_PASS_ON(DomainResourceDestroy, gt_nvtx_other_of(page, GT_NVTX_RESOURCE, resource));
}
