/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/state.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The fake libcuda: its start, what it tells libcupti, and questions about devices. */

struct fake_cuda fake_cuda = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local unsigned depth; /* calls the thread is in */
static _Thread_local uint32_t current_correlation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int ready(void)
{
	return atomic_load(&fake_cuda.ready);
}

static int device_count(void)
{
	return (int)fake_cuda.script.devices;
}

static void each_context(void (*visit)(CUcontext context))
{
	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (CUcontext context = fake_cuda.contexts; context; context = context->next)
		visit(context);
	(void)pthread_mutex_unlock(&fake_cuda.lock);
}

static const struct fake_driver driver = {ready, device_count, each_context};

const struct fake_driver *fake_cuda_attach(const struct fake_hooks *hooks)
{
	atomic_store(&fake_cuda.hooks, hooks);
	return &driver;
}

/* For a libcupti that was there before libcuda. */
static void find_cupti(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};

	for (size_t i = 0; i < 2 && !atomic_load(&fake_cuda.hooks); i++) {
		void *cupti = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
		const struct fake_hooks *(*attach)(const struct fake_driver *driver) = NULL;

		if (cupti)
			*(void **)&attach = dlsym(cupti, "fake_cupti_attach");
		if (attach)
			atomic_store(&fake_cuda.hooks, attach(&driver));
	}
}

/* The calls made inside another one, on the same thread, carry its correlation id. */
void fake_cuda_enter(struct fake_call *call, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                     const char *name, const void *params, const char *symbol)
{
	if (depth++ == 0)
		current_correlation = atomic_fetch_add(&fake_cuda.correlation, 1) + 1;
	*call = (struct fake_call){
		.domain = domain,
		.cbid = cbid,
		.name = name,
		.symbol = symbol,
		.params = params,
		.context = fake_context(),
		.correlation = current_correlation,
		.start_ns = fake_realtime_ns(),
		.hooks = atomic_load(&fake_cuda.hooks),
	};
	if (call->hooks)
		call->hooks->api(call, CUPTI_API_ENTER);
}

int fake_cuda_exit(struct fake_call *call, int result)
{
	call->result = result;
	call->context = fake_context();
	if (call->hooks)
		call->hooks->api(call, CUPTI_API_EXIT);
	depth--;
	if (call->domain == CUPTI_CB_DOMAIN_DRIVER_API && fake_calls_on())
		fake_calls_ended(call->name, result);
	return result;
}

void fake_tell(struct fake_activity *activity)
{
	const struct fake_hooks *hooks = atomic_load(&fake_cuda.hooks);

	activity->correlation = activity->is_uncorrelated ? 0 : current_correlation;
	if (hooks)
		hooks->activity(activity);
}

void fake_tell_resource(CUpti_CallbackIdResource cbid, CUcontext context, CUstream stream,
                        void *descriptor)
{
	const struct fake_hooks *hooks = atomic_load(&fake_cuda.hooks);

	if (hooks)
		hooks->resource(cbid, context, stream, descriptor);
}

void fake_tell_sync(CUpti_ActivitySynchronizationType type, CUstream stream, uint32_t event,
                    uint64_t start_ns)
{
	const struct fake_hooks *hooks = atomic_load(&fake_cuda.hooks);
	struct fake_activity activity = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.context = fake_context(),
		.stream = stream,
		.subkind = type,
		.event = event,
		.start_ns = start_ns,
		.end_ns = fake_realtime_ns(),
	};

	fake_tell(&activity);
	if (hooks && type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
		hooks->synchronized(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, activity.context,
		                    stream);
	if (hooks && type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
		hooks->synchronized(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, activity.context,
		                    NULL);
}

CUresult fake_usable(void)
{
	if (!atomic_load(&fake_cuda.ready) || atomic_load(&fake_cuda.forked))
		return CUDA_ERROR_NOT_INITIALIZED;
	return atomic_load(&fake_cuda.fault) ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

CUresult fake_usable_for(enum fake_cuda_failure call)
{
	const CUresult usable = fake_usable();

	if (usable != CUDA_SUCCESS)
		return usable;
	return fake_cuda.script.cuda_fail >> call & 1 ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static void after_fork(void)
{
	atomic_store(&fake_cuda.forked, !fake_cuda.script.fork_works);
}

/* As the real driver does: the library named by the environment is loaded and asked to begin. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*begin)(void) = NULL;

	if (library)
		*(void **)&begin = dlsym(library, "InitializeInjection");
	if (begin)
		(void)begin();
}

static void initialise(void)
{
	fake_script_read(&fake_cuda.script);
	if (!fake_cuda.script.devices)
		return;
	(void)pthread_atfork(NULL, NULL, after_fork);
	inject();
	find_cupti();
	atomic_store(&fake_cuda.ready, 1);
	fake_tell_resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, NULL, NULL, NULL);
	for (int i = 0; i < device_count(); i++) {
		struct fake_activity activity = {.kind = CUPTI_ACTIVITY_KIND_DEVICE, .device = i};

		fake_tell(&activity);
	}
}

CUresult cuInit(unsigned int flags)
{
	(void)pthread_once(&once, initialise);
	API_BEGIN(cuInit, flags);
	if (!fake_cuda.script.devices)
		API_END(CUDA_ERROR_NO_DEVICE);
	API_END(fake_usable());
}

/* Works before cuInit. */
CUresult cuDriverGetVersion(int *version)
{
	struct fake_script script;

	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	fake_script_read(&script);
	*version = (int)script.driver;
	return CUDA_SUCCESS;
}

static CUresult check_device(CUdevice device)
{
	const CUresult usable = fake_usable();

	if (usable != CUDA_SUCCESS)
		return usable;
	return device >= 0 && device < device_count() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetCount(int *count)
{
	API_BEGIN(cuDeviceGetCount, count);
	if (fake_usable() == CUDA_SUCCESS)
		*count = device_count();
	API_END(fake_usable());
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	API_BEGIN(cuDeviceGet, device, ordinal);
	if (check_device(ordinal) == CUDA_SUCCESS)
		*device = ordinal;
	API_END(check_device(ordinal));
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
	API_BEGIN(cuDeviceGetName, name, length, device);
	if (check_device(device) == CUDA_SUCCESS)
		(void)snprintf(name, (size_t)length, "%s", FAKE_DEVICE_NAME);
	API_END(check_device(device));
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
	API_BEGIN(cuDeviceGetUuid_v2, uuid, device);
	if (check_device(device) == CUDA_SUCCESS)
		*uuid = fake_device_uuid(device);
	API_END(check_device(device));
}

#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	API_BEGIN(cuDeviceGetUuid, uuid, device);
	if (check_device(device) == CUDA_SUCCESS)
		*uuid = fake_device_uuid(device);
	API_END(check_device(device));
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	CUresult result = check_device(device);

	API_BEGIN(cuDeviceGetAttribute, value, attribute, device);
	if (result == CUDA_SUCCESS && fake_device_attribute(attribute, device) < 0)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS)
		*value = attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
		                 ? (int)fake_cuda.script.l2_bytes
		                 : fake_device_attribute(attribute, device);
	API_END(result);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	API_BEGIN(cuDeviceTotalMem_v2, bytes, device);
	if (check_device(device) == CUDA_SUCCESS)
		*bytes = FAKE_DEVICE_BYTES;
	API_END(check_device(device));
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	API_BEGIN(cuDeviceCanAccessPeer, can, device, peer);
	*can = 0;
	API_END(check_device(device));
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	API_BEGIN(cuCtxEnablePeerAccess, peer, flags);
	API_END(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device)
{
	API_BEGIN(cuDeviceGetPCIBusId, text, length, device);
	if (check_device(device) == CUDA_SUCCESS)
		(void)snprintf(text, (size_t)length, "0000:%02X:00.0",
		               (unsigned)fake_device_attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
		                                               device));
	API_END(check_device(device));
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	static const char *const names[1024] = {
		[CUDA_SUCCESS] = "CUDA_SUCCESS",
#include "fakes/error_names.inc"
	};

	if (!name || (size_t)error >= 1024 || !names[error])
		return CUDA_ERROR_INVALID_VALUE;
	*name = names[error];
	return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
	return cuGetErrorName(error, text);
}

/* The newest version of a function goes by its bare name, as cuda.h arranges it. */
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
	static const char *const suffixes[] = {"_v4", "_v3", "_v2", ""};
	void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	API_BEGIN(cuGetProcAddress_v2, symbol, function, version, flags, status);
	*function = NULL;
	for (size_t i = 0; i < 4 && !*function; i++) {
		char name[128];

		(void)snprintf(name, sizeof(name), "%s%s", symbol, suffixes[i]);
		*function = dlsym(self, name);
	}
	if (status)
		*status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
		                    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	API_END(*function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}
