/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/cupti/calls.h"
#include "fakes/cupti/state.h"

/* One subscriber, as before CUDA 13.3, and which callbacks it wants. */

#define CALLBACKS_PER_DOMAIN 1024

struct CUpti_Subscriber_st {
	CUpti_CallbackFunc function;
	void *userdata;
	char name[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
};

static struct CUpti_Subscriber_st the_subscriber;
static _Atomic(CUpti_SubscriberHandle) subscriber; /* NULL: none */
static atomic_uchar enabled[CUPTI_CB_DOMAIN_SIZE][CALLBACKS_PER_DOMAIN];

static const char *const driver_names[CALLBACKS_PER_DOMAIN] = {
#include "fakes/driver_names.inc"
};
static const char *const runtime_names[CALLBACKS_PER_DOMAIN] = {
#include "fakes/runtime_names.inc"
};

static void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	const CUpti_SubscriberHandle handle = atomic_load(&subscriber);

	if (handle && atomic_load(&enabled[domain][cbid]))
		handle->function(handle->userdata, domain, cbid, data);
}

static void on_api(struct fake_call *call, CUpti_ApiCallbackSite site)
{
	const CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = call->name,
		.functionParams = call->params,
		.functionReturnValue = site == CUPTI_API_EXIT ? &call->result : NULL,
		.symbolName = call->symbol,
		.context = call->context,
		.contextUid = call->context ? call->context->id : 0,
		.correlationData = &call->correlation_data,
		.correlationId = call->correlation,
	};

	if (site == CUPTI_API_EXIT)
		fake_record_api(call, fake_realtime_ns());
	call_back(call->domain, call->cbid, &data);
}

static void on_resource(CUpti_CallbackIdResource cbid, CUcontext context, CUstream stream,
                        void *descriptor)
{
	const CUpti_ResourceData data = {
		.context = context,
		.resourceHandle.stream = stream,
		.resourceDescriptor = descriptor,
	};

	call_back(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

static void on_synchronized(CUpti_CallbackIdSync cbid, CUcontext context, CUstream stream)
{
	const CUpti_SynchronizeData data = {.context = context, .stream = stream};

	call_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
}

const struct fake_hooks fake_hooks = {
	.api = on_api,
	.resource = on_resource,
	.synchronized = on_synchronized,
	.activity = fake_record_activity,
};

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                              void *userdata, CUpti_SubscriberParams *params)
{
	CUpti_SubscriberHandle none = NULL;
	const char *other = fake_script.subscriber_busy ? "other-profiler" : NULL;

	FAKE_TELL("%s %s %s", FAKE_THERE(callback), FAKE_THERE(userdata),
	          params && params->subscriberName ? params->subscriberName : "null");
	if (!handle || !callback)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (fake_script.init_fail)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (!other && !atomic_compare_exchange_strong(&subscriber, &none, &the_subscriber))
		other = the_subscriber.name;
	if (other) {
		if (params && params->oldSubscriberName)
			(void)snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s",
			               other);
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	}
	the_subscriber.function = callback;
	the_subscriber.userdata = userdata;
	(void)snprintf(the_subscriber.name, sizeof(the_subscriber.name), "%s",
	               params && params->subscriberName ? params->subscriberName : "");
	*handle = &the_subscriber;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                           void *userdata)
{
	return cuptiSubscribe_v2(handle, callback, userdata, NULL);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	FAKE_TELL("%s", FAKE_THERE(handle));
	if (!handle || handle != atomic_load(&subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
		for (size_t i = 0; i < CALLBACKS_PER_DOMAIN; i++)
			atomic_store(&enabled[domain][i], 0);
	atomic_store(&subscriber, NULL);
	return CUPTI_SUCCESS;
}

static int valid(CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	return handle && handle == atomic_load(&subscriber) && domain > CUPTI_CB_DOMAIN_INVALID &&
	       domain < CUPTI_CB_DOMAIN_SIZE && cbid < CALLBACKS_PER_DOMAIN;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	FAKE_TELL("%u %d %u", enable, (int)domain, cbid);
	if (!valid(handle, domain, cbid) || cbid == 0)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API && !driver_names[cbid])
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && !runtime_names[cbid])
		return CUPTI_ERROR_INVALID_PARAMETER;
	atomic_store(&enabled[domain][cbid], (unsigned char)(enable != 0));
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain)
{
	FAKE_TELL("%u %d", enable, (int)domain);
	if (!valid(handle, domain, 0))
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 1; i < CALLBACKS_PER_DOMAIN; i++)
		atomic_store(&enabled[domain][i], (unsigned char)(enable != 0));
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (int domain = 1; domain < CUPTI_CB_DOMAIN_SIZE && result == CUPTI_SUCCESS; domain++)
		result = cuptiEnableDomain(enable, handle, (CUpti_CallbackDomain)domain);
	return result;
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (!enable || !valid(handle, domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = atomic_load(&enabled[domain][cbid]);
	return CUPTI_SUCCESS;
}

/* Names only for API calls, with the version suffix of the runtime's: measured. */
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
	const char *const *names = domain == CUPTI_CB_DOMAIN_DRIVER_API    ? driver_names
	                           : domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_names
	                                                                   : NULL;

	if (!name || !names || cbid >= CALLBACKS_PER_DOMAIN || !names[cbid])
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = names[cbid];
	return CUPTI_SUCCESS;
}
