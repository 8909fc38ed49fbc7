/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <nvtx3/nvToolsExtSync.h>

#include "fakes/apps/app_clone.h"

/*
 * Calls NVTX, the real one, and says how often it did: app_nvtx WORD... in this order.
 *
 *   basics     each function of NVTX's core once or more, in two domains
 *   loop N     N pushes, each popped
 *   threads N  the same 1000 times on each of N threads
 *   deep N     N pushes, then as many pops
 *   unique N   N ranges of which each has a text of its own
 *   levels     what push and pop return
 *   odd        what is no proper use: a pop too many, texts that are missing, short structs
 *   long       texts longer than a record takes
 *   payloads   structs, enums, arrays and texts as extended payloads
 *   counters   a counter, and a group of two
 *   later      events and samples with times of their own
 *   memory     a heap and regions
 *   lock       what a lock of the program's own does
 *   cuda       starts CUDA, names what it has and launches two kernels in ranges
 *   load FILE  loads a library that calls NVTX itself (nvtx_library.c)
 *   fork       a child that pushes too; after counters it registers a counter without numbers
 *   child-cuda a child that starts CUDA, likewise
 *   clone, clone-cuda  the same of a child that the system call clone makes
 *   open WORD  leaves two ranges open and then: exit, _exit, abort, kill, exec, return
 */

static atomic_ullong calls;

#define CALL(...) (atomic_fetch_add(&calls, 1), __VA_ARGS__)

static void fail(const char *what)
{
	(void)fprintf(stderr, "app_nvtx: %s\n", what);
	exit(99);
}

static void report(void)
{
	printf("{\"calls\": %llu}\n", atomic_load(&calls));
	(void)fflush(stdout);
}

static nvtxEventAttributes_t attributes(const char *text)
{
	nvtxEventAttributes_t event = {0};

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = text;
	return event;
}

static void payloads(nvtxDomainHandle_t domain)
{
	static const char *const names[] = {"",       "uint64", "int64", "double",
	                                    "uint32", "int32",  "float"};

	for (int32_t type = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64; type <= NVTX_PAYLOAD_TYPE_FLOAT;
	     type++) {
		nvtxEventAttributes_t event = attributes(names[type]);

		event.payloadType = type;
		event.payload.ullValue = UINT64_MAX;
		if (type == NVTX_PAYLOAD_TYPE_DOUBLE)
			event.payload.dValue = 1.5;
		else if (type == NVTX_PAYLOAD_TYPE_UNSIGNED_INT32)
			event.payload.uiValue = 7;
		else if (type == NVTX_PAYLOAD_TYPE_INT32)
			event.payload.iValue = -7;
		else if (type == NVTX_PAYLOAD_TYPE_FLOAT)
			event.payload.fValue = 0.5f;
		CALL(nvtxDomainMarkEx(domain, &event));
	}
}

static void basics(void)
{
	nvtxDomainHandle_t domain = CALL(nvtxDomainCreateA("library"));
	nvtxDomainHandle_t wide = CALL(nvtxDomainCreateW(L"Bibliothek \u00fc"));
	nvtxStringHandle_t text = CALL(nvtxDomainRegisterStringA(domain, "registered"));
	nvtxStringHandle_t euro = CALL(nvtxDomainRegisterStringW(domain, L"wide \u20ac"));
	nvtxEventAttributes_t event = attributes("with attributes");
	nvtxRangeId_t ids[4];

	CALL(nvtxNameCategoryA(1, "first"));
	CALL(nvtxNameCategoryW(2, L"second"));
	CALL(nvtxDomainNameCategoryA(domain, 1, "first of library"));
	CALL(nvtxDomainNameCategoryW(domain, 2, L"second of library"));
	CALL(nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "the main thread"));
	event.category = 1;
	event.colorType = NVTX_COLOR_ARGB;
	event.color = 0xff102030;
	CALL(nvtxRangePushA("narrow"));
	CALL(nvtxRangePushW(L"wide \U0001f600"));
	CALL(nvtxRangePushEx(&event));
	CALL(nvtxDomainRangePushEx(domain, &event));
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = text;
	CALL(nvtxDomainRangePushEx(domain, &event));
	ids[0] = CALL(nvtxRangeStartA("started narrow"));
	ids[1] = CALL(nvtxRangeStartW(L"started wide"));
	ids[2] = CALL(nvtxRangeStartEx(&event));
	event.message.registered = euro;
	event.category = 3;
	ids[3] = CALL(nvtxDomainRangeStartEx(domain, &event));
	CALL(nvtxMarkA("mark narrow"));
	CALL(nvtxMarkW(L"mark wide"));
	CALL(nvtxMarkEx(&event));
	CALL(nvtxDomainMarkEx(wide, &event));
	payloads(domain);
	for (int i = 0; i < 3; i++)
		CALL(nvtxRangeEnd(ids[i]));
	CALL(nvtxDomainRangeEnd(domain, ids[3]));
	CALL(nvtxDomainRangePop(domain));
	CALL(nvtxDomainRangePop(domain));
	for (int i = 0; i < 3; i++)
		CALL(nvtxRangePop());
	CALL(nvtxDomainDestroy(wide));
}

static void loop(long count)
{
	for (long i = 0; i < count; i++) {
		CALL(nvtxRangePushA("loop"));
		CALL(nvtxRangePop());
	}
}

static void *in_thread(void *context)
{
	(void)context;
	loop(1000);
	return NULL;
}

static void threads(long count)
{
	pthread_t all[64];

	if (count > 64)
		fail("too many threads");
	for (long i = 0; i < count; i++)
		if (pthread_create(&all[i], NULL, in_thread, NULL))
			fail("no thread");
	for (long i = 0; i < count; i++)
		pthread_join(all[i], NULL);
}

static void deep(long count)
{
	for (long i = 0; i < count; i++)
		CALL(nvtxRangePushA("deep"));
	for (long i = 0; i < count; i++)
		CALL(nvtxRangePop());
}

static void unique(long count)
{
	char text[64];

	for (long i = 0; i < count; i++) {
		(void)snprintf(text, sizeof(text), "a text of its own for range number %ld", i);
		CALL(nvtxRangePushA(text));
		CALL(nvtxRangePop());
		if (i % 1000 == 999)
			usleep(5000); /* a machine that is busy has to write them, too */
	}
}

static void levels(void)
{
	nvtxDomainHandle_t domain = CALL(nvtxDomainCreateA("levels"));
	nvtxEventAttributes_t event = attributes("level");

	for (int i = 0; i < 3; i++)
		if (CALL(nvtxDomainRangePushEx(domain, &event)) != i)
			fail("a push says another level");
	if (CALL(nvtxRangePushA("of the default domain")) != 0)
		fail("levels are each domain's own");
	for (int i = 3; i-- > 0;)
		if (CALL(nvtxDomainRangePop(domain)) != i)
			fail("a pop says another level");
	if (CALL(nvtxDomainRangePop(domain)) >= 0)
		fail("there was nothing to pop");
	CALL(nvtxRangePop());
}

static void odd(void)
{
	nvtxEventAttributes_t event = attributes(NULL);
	nvtxEventAttributes_t small = attributes("not read");

	small.size = offsetof(nvtxEventAttributes_t, messageType);
	small.category = 5;
	CALL(nvtxRangePop());
	CALL(nvtxRangePushA(NULL));
	CALL(nvtxRangePushA(""));
	CALL(nvtxRangePushW(NULL));
	CALL(nvtxRangePushEx(&event));
	CALL(nvtxRangePushEx(NULL));
	CALL(nvtxRangePushEx(&small));
	event.messageType = 99;
	event.payloadType = 99;
	CALL(nvtxRangePushEx(&event));
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = (nvtxStringHandle_t)(uintptr_t)0x7fff12345678;
	CALL(nvtxDomainRangePushEx((nvtxDomainHandle_t)(uintptr_t)0x7fff12345678, &event));
	CALL(nvtxMarkW(L"\xd800 is no character"));
	CALL(nvtxMarkA("bytes \xff\xfe that are no UTF-8"));
	CALL(nvtxRangeEnd(123456789));
	CALL(nvtxDomainRangePop((nvtxDomainHandle_t)(uintptr_t)0x7fff12345678));
	for (int i = 0; i < 7; i++)
		CALL(nvtxRangePop());
}

static void long_texts(void)
{
	static char narrow[100001];
	static wchar_t wide[100001];

	for (int i = 0; i < 100000; i++) {
		narrow[i] = (char)('a' + i % 26);
		wide[i] = L'\u20ac';
	}
	CALL(nvtxRangePushA(narrow));
	CALL(nvtxRangePushW(wide));
	CALL(nvtxRangePop());
	CALL(nvtxRangePop());
	CALL((void)nvtxDomainCreateA(narrow));
}

struct tensor {
	int32_t rank;
	uint64_t shape[3];
	float scale;
	uint32_t layout;
	char kind[8];
	const char *name;
	nvtxStringHandle_t label;
};

#define ENTRY(entry_flags, entry_type, member, entry_detail)                                       \
	{                                                                                          \
		.flags = (entry_flags), .type = (entry_type), .name = #member,                     \
		.arrayOrUnionDetail = (entry_detail), .offset = offsetof(struct tensor, member)    \
	}

static uint64_t register_layouts(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadEnum_t values[] = {{"rows", 0, 0}, {"columns", 1, 0}};
	const nvtxPayloadEnumAttr_t layouts = {
		.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME |
	                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
	                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
	                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
		.name = "layout",
		.entries = values,
		.numEntries = 2,
		.sizeOfEnum = sizeof(uint32_t),
	};

	return CALL(nvtxPayloadEnumRegister(domain, &layouts));
}

static uint64_t register_tensor(nvtxDomainHandle_t domain)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		ENTRY(0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, rank, 0),
		ENTRY(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_UINT64,
	              shape, 3),
		ENTRY(0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, scale, 0),
		ENTRY(0, register_layouts(domain), layout, 0),
		ENTRY(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, kind, 8),
		ENTRY(0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, name, 0),
		ENTRY(NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
	              NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, label, 0),
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.name = "tensor",
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = sizeof(entries) / sizeof(entries[0]),
		.payloadStaticSize = sizeof(struct tensor),
	};

	return CALL(nvtxPayloadSchemaRegister(domain, &schema));
}

/* Offsets that are left to be found, a schema inside another, and an id of the program's own. */
static uint64_t register_pair(nvtxDomainHandle_t domain, uint64_t tensor)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT8, .name = "small"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, .name = "real"},
		{.type = tensor, .name = "inner"},
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = 3,
		.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5,
	};

	return CALL(nvtxPayloadSchemaRegister(domain, &schema));
}

/* A struct that ends with the pointer to a text, and one that is nothing else. */
struct remark {
	int32_t number;
	const char *words;
};

static uint64_t register_remark(nvtxDomainHandle_t domain, const char *member, uint64_t offset,
                                uint64_t bytes)
{
	const nvtxPayloadSchemaEntry_t entries[] = {
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, .name = member, .offset = offset},
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = 1,
		.payloadStaticSize = bytes,
	};

	return CALL(nvtxPayloadSchemaRegister(domain, &schema));
}

static void remarks(nvtxDomainHandle_t domain)
{
	const struct remark remark = {7, "at the end"};
	const char *words = "nothing else";
	const uint64_t schema =
		register_remark(domain, "words", offsetof(struct remark, words), sizeof(remark));
	const nvtxPayloadData_t data[] = {
		{schema, sizeof(remark), &remark},
		{register_remark(domain, "text", 0, sizeof(words)), sizeof(words), &words},
		{schema, sizeof(remark) - 1, &remark},
	};

	CALL(nvtxMarkPayload(domain, data, 3));
}

static void payload_events(void)
{
	nvtxDomainHandle_t domain = CALL(nvtxDomainCreateA("payloads"));
	nvtxStringHandle_t label = CALL(nvtxDomainRegisterStringA(domain, "the label"));
	char name[] = "on the stack";
	const uint64_t schema = register_tensor(domain);
	const uint64_t pair = register_pair(domain, schema);
	struct tensor tensor = {2, {3, 4, 0}, 0.5f, 1, "float", name, label};
	struct {
		uint8_t small;
		double real;
		struct tensor inner;
	} both = {200, -1.25, tensor};
	const int32_t number = -5;
	const nvtxPayloadData_t data[] = {
		{schema, sizeof(tensor), &tensor},
		{NVTX_PAYLOAD_ENTRY_TYPE_INT32, sizeof(number), &number},
		{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, "a \"text\""},
		{987654321, 3, "\x01\x02\xff"},
	};
	const nvtxPayloadData_t of_pair = {pair, sizeof(both), &both};
	nvtxEventAttributes_t event = attributes("with a payload");
	nvtxRangeId_t id;

	if (!nvtxDomainIsEnabled(domain))
		fail("the domain is not enabled");
	CALL(nvtxRangePushPayload(domain, data, 1));
	name[0] = 'O';
	CALL(nvtxMarkPayload(domain, data + 1, 3));
	CALL(nvtxRangePopPayload(domain, data + 1, 1));
	id = CALL(nvtxRangeStartPayload(domain, &of_pair, 1));
	event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	event.reserved0 = 1;
	event.payload.ullValue = (uint64_t)(uintptr_t)(data + 1);
	CALL(nvtxDomainMarkEx(domain, &event));
	CALL(nvtxRangeEndPayload(domain, id, data + 3, 1));
	remarks(domain);
}

static void counters(void)
{
	nvtxDomainHandle_t domain = CALL(nvtxDomainCreateA("counters"));
	const nvtxSemanticsCounter_t semantics = {
		.header = {.structSize = sizeof(semantics),
	                   .semanticId = NVTX_SEMANTIC_ID_COUNTERS_V1,
	                   .version = NVTX_COUNTER_SEMANTIC_VERSION},
		.unit = "requests",
	};
	const nvtxPayloadSchemaEntry_t entries[] = {
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_INT32, .name = "used"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, .name = "share"},
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = 2,
	};
	nvtxCounterAttr_t attr = {
		.structSize = sizeof(attr),
		.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64,
		.name = "queue",
		.description = "what waits",
		.semantics = &semantics.header,
	};
	struct {
		int32_t used;
		double share;
	} group = {-3, 0.25};
	const uint64_t queue = nvtxCounterRegister(domain, &attr);
	uint64_t memory;

	attr.schemaId = CALL(nvtxPayloadSchemaRegister(domain, &schema));
	attr.name = "memory";
	attr.semantics = NULL;
	memory = nvtxCounterRegister(domain, &attr);
	for (int64_t i = 0; i < 5; i++) {
		nvtxCounterSampleInt64(domain, queue, i);
		nvtxCounterSample(domain, memory, &group, sizeof(group));
	}
	nvtxCounterSampleNoValue(domain, queue, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
}

/* ---- what is told later ---- */

struct told {
	int64_t begin;
	int64_t end;
	uint64_t text; /* an offset, not a pointer */
	int32_t number;
};

static uint64_t register_told(nvtxDomainHandle_t domain, uint64_t clock, int times)
{
	const nvtxSemanticsTime_t semantics = {
		.header = {.structSize = sizeof(semantics),
	                   .semanticId = NVTX_SEMANTIC_ID_TIME_V1,
	                   .version = NVTX_TIME_SEMANTIC_VERSION},
		.timeDomainId = clock,
	};
	nvtxPayloadSchemaEntry_t entries[] = {
		{.flags = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN,
	         .type = NVTX_PAYLOAD_ENTRY_TYPE_INT64,
	         .name = "begin",
	         .semantics = &semantics.header},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64, .name = "end"},
		{.flags = NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE,
	         .type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
	         .name = "text"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_INT32, .name = "number"},
	};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
	                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.name = times > 1 ? "told range" : "told mark",
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = sizeof(entries) / sizeof(entries[0]),
		.payloadStaticSize = sizeof(struct told),
	};

	if (times > 1) {
		entries[1].flags =
			NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END;
		entries[1].semantics = &semantics.header;
	}
	return CALL(nvtxPayloadSchemaRegister(domain, &schema));
}

static int64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sample_later(nvtxDomainHandle_t domain, int64_t first, int64_t second)
{
	const nvtxSemanticsTime_t semantics = {
		.header = {.structSize = sizeof(semantics),
	                   .semanticId = NVTX_SEMANTIC_ID_TIME_V1,
	                   .version = NVTX_TIME_SEMANTIC_VERSION},
		.timeDomainId = NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED,
	};
	const nvtxCounterAttr_t attr = {
		.structSize = sizeof(attr),
		.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT32,
		.name = "later",
		.semantics = &semantics.header,
	};
	const uint64_t counter = nvtxCounterRegister(domain, &attr);
	const int64_t times[] = {first, second};
	const int32_t values[] = {11, 22};
	const nvtxCounterBatch_t batch = {
		.counterId = counter,
		.counters = values,
		.countersSize = sizeof(values),
		.timestamps = times,
		.timestampsSize = sizeof(times),
	};

	nvtxCounterBatchSubmit(domain, &batch);
}

/* Between two ranges that are told at once: what was between them is told afterwards. */
static void told_later(void)
{
	nvtxDomainHandle_t domain = CALL(nvtxDomainCreateA("later"));
	const nvtxTimeDomainAttr_t attr = {.timestampTypeId =
	                                           NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC};
	const uint64_t clock = nvtxTimeDomainRegister(domain, &attr);
	const uint64_t ranges = register_told(domain, clock, 2);
	const uint64_t marks = register_told(domain, NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED, 1);
	const uint64_t strange = register_told(domain, NVTX_TIMESTAMP_TYPE_GPU_GLOBALTIMER, 1);
	struct told told[3] = {{.number = 7}, {.number = 8}, {.number = 9}};
	struct told mark = {.number = 1};
	const nvtxPayloadData_t of_mark = {marks, sizeof(mark), &mark};
	const nvtxPayloadData_t of_strange = {strange, sizeof(mark), &mark};
	const nvtxEventBatch_t batch = {
		.eventSchemaId = ranges, .events = told, .size = sizeof(told)};
	int64_t first;

	CALL(nvtxRangePushA("before"));
	CALL(nvtxRangePop());
	first = nvtxTimestampGet();
	mark.begin = nvtxTimestampGet();
	for (int i = 0; i < 3; i++) {
		told[i].begin = monotonic();
		told[i].end = monotonic() + 1;
	}
	CALL(nvtxRangePushA("after"));
	sample_later(domain, first, nvtxTimestampGet());
	CALL(nvtxEventSubmit(domain, &of_mark, 1));
	CALL(nvtxEventBatchSubmit(domain, &batch));
	calls += 5; /* each range in it is two */
	CALL(nvtxEventSubmit(domain, &of_strange, 1));
	CALL(nvtxRangePop());
}

/* A pool with three regions of it, one of which is named, grows and goes; and one in no heap. */
static void memory(void)
{
	nvtxDomainHandle_t domain = CALL(nvtxDomainCreateA("memory"));
	const nvtxMemVirtualRangeDesc_t whole = {4096, (void *)0x10000};
	const nvtxMemVirtualRangeDesc_t parts[] = {
		{100, (void *)0x10000}, {200, (void *)0x10100}, {300, (void *)0x10400}};
	const nvtxMemVirtualRangeDesc_t larger = {500, (void *)0x10100};
	const nvtxMemVirtualRangeDesc_t other = {7, (void *)0x90000};
	const nvtxMemHeapDesc_t heap = {.extCompatID = NVTX_EXT_COMPATID_MEM,
	                                .structSize = sizeof(heap),
	                                .usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR,
	                                .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
	                                .typeSpecificDescSize = sizeof(whole),
	                                .typeSpecificDesc = &whole,
	                                .messageType = NVTX_MESSAGE_TYPE_ASCII,
	                                .message.ascii = "the pool"};
	const nvtxMemHeapDesc_t odd = {.extCompatID = 1, .message.ascii = (void *)1};
	nvtxMemHeapHandle_t pool = CALL(nvtxMemHeapRegister(domain, &heap));
	nvtxMemRegionsRegisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
	                                       .structSize = sizeof(batch),
	                                       .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
	                                       .heap = pool,
	                                       .regionCount = 3,
	                                       .regionDescElementSize = sizeof(parts[0]),
	                                       .regionDescElements = parts};
	const nvtxMemRegionsResizeBatch_t resize = {.extCompatID = NVTX_EXT_COMPATID_MEM,
	                                            .structSize = sizeof(resize),
	                                            .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
	                                            .regionDescCount = 1,
	                                            .regionDescElementSize = sizeof(larger),
	                                            .regionDescElements = &larger};
	const nvtxMemRegionNameDesc_t name = {.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER,
	                                      .nameType = NVTX_MESSAGE_TYPE_ASCII,
	                                      .region.pointer = parts[1].ptr,
	                                      .name.ascii = "weights"};
	const nvtxMemRegionsNameBatch_t names = {.extCompatID = NVTX_EXT_COMPATID_MEM,
	                                         .structSize = sizeof(names),
	                                         .regionCount = 1,
	                                         .regionElementSize = sizeof(name),
	                                         .regionElements = &name};
	const nvtxMemRegionRef_t gone = {.pointer = parts[0].ptr};
	const nvtxMemRegionsUnregisterBatch_t unregister = {
		.extCompatID = NVTX_EXT_COMPATID_MEM,
		.structSize = sizeof(unregister),
		.refType = NVTX_MEM_REGION_REF_TYPE_POINTER,
		.refCount = 1,
		.refElementSize = sizeof(gone),
		.refElements = &gone};

	if (nvtxMemHeapRegister(domain, &odd) || nvtxMemHeapRegister(domain, NULL))
		fail("what is no heap has a handle");
	nvtxMemRegionsRegister(domain, &batch);
	atomic_fetch_add(&calls, 3); /* one for each */
	CALL(nvtxMemRegionsName(domain, &names));
	CALL(nvtxMemRegionsResize(domain, &resize));
	CALL(nvtxMemRegionsUnregister(domain, &unregister));
	CALL(nvtxMemHeapUnregister(domain, pool));
	batch.heap = NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE;
	batch.regionCount = 1;
	batch.regionDescElements = &other;
	CALL(nvtxMemRegionsRegister(domain, &batch));
}

/* A lock of the program's own: a failed and a successful attempt, inside a range. */
static void lock(void)
{
	nvtxDomainHandle_t domain = CALL(nvtxDomainCreateA("locks"));
	const nvtxSyncUserAttributes_t attr = {.version = NVTX_VERSION,
	                                       .size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE,
	                                       .messageType = NVTX_MESSAGE_TYPE_ASCII,
	                                       .message.ascii = "the queue"};
	nvtxSyncUser_t named;
	nvtxSyncUser_t nameless;

	named = CALL(nvtxDomainSyncUserCreate(domain, &attr));
	nameless = CALL(nvtxDomainSyncUserCreate(domain, NULL));
	atomic_fetch_add(&calls, 2); /* both have two names */
	CALL(nvtxRangePushA("around"));
	CALL(nvtxDomainSyncUserAcquireStart(named));
	CALL(nvtxDomainSyncUserAcquireFailed(named));
	CALL(nvtxDomainSyncUserAcquireStart(named));
	CALL(nvtxDomainSyncUserAcquireSuccess(named));
	CALL(nvtxDomainSyncUserReleasing(named));
	CALL(nvtxDomainSyncUserAcquireStart(nameless));
	CALL(nvtxDomainSyncUserAcquireSuccess(nameless));
	nvtxDomainSyncUserAcquireSuccess(nameless); /* of nothing */
	CALL(nvtxRangePop());
	nvtxDomainSyncUserDestroy(named);
	nvtxDomainSyncUserDestroy(NULL);
}

static void must(CUresult result)
{
	if (result != CUDA_SUCCESS)
		fail("CUDA");
}

static void cuda(void)
{
	CUcontext context;
	CUstream stream;
	CUevent event;
	CUmodule module;
	CUfunction kernel;

	CALL(nvtxRangePushA("before CUDA"));
	must(cuInit(0));
	must(cuCtxCreate(&context, NULL, 0, 0));
	must(cuStreamCreate(&stream, 0));
	must(cuEventCreate(&event, 0));
	CALL(nvtxNameCuDeviceA(0, "the device"));
	CALL(nvtxNameCuContextA(context, "the context"));
	CALL(nvtxNameCuStreamA(stream, "the stream"));
	CALL(nvtxNameCuEventA(event, "the event"));
	CALL(nvtxNameCudaStreamA(NULL, "the default stream"));
	must(cuModuleLoadData(&module, "fake image"));
	must(cuModuleGetFunction(&kernel, module, "work"));
	CALL(nvtxRangePushA("launch"));
	must(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
	must(cuEventRecord(event, stream));
	CALL(nvtxRangePop());
	must(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	CALL(nvtxRangePop());
	must(cuEventSynchronize(event));
	must(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	must(cuCtxSynchronize());
}

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*call)(void) = NULL;

	if (library)
		*(void **)&call = dlsym(library, "nvtx_library_call");
	if (!call)
		fail("no library");
	atomic_fetch_add(&calls, (unsigned)call());
}

/* gputrace can only say that it is not recorded. */
static void register_counter_without_numbers(void)
{
	const nvtxCounterAttr_t attr = {.structSize = sizeof(attr), .name = "no number"};

	nvtxCounterRegister(nvtxDomainCreateA("counters"), &attr);
}

static void fork_child(pid_t (*split)(void), bool starts_cuda, bool has_counters)
{
	int status = 0;
	pid_t child;

	CALL(nvtxRangePushA("around the fork"));
	(void)fflush(stdout);
	child = split();
	if (child == 0) {
		atomic_store(&calls, 0);
		CALL(nvtxRangePop());
		if (has_counters)
			register_counter_without_numbers();
		if (starts_cuda)
			cuda();
		CALL(nvtxRangePushA("in the child"));
		CALL(nvtxRangePop());
		exit(0);
	}
	waitpid(child, &status, 0);
	if (status)
		fail("the child did not end well");
	CALL(nvtxRangePop());
}

static void leave_open(const char *how, char **argv)
{
	char *again[] = {argv[0], (char *)(uintptr_t) "loop", (char *)(uintptr_t) "3", NULL};

	CALL(nvtxRangePushA("closed"));
	CALL(nvtxRangePop());
	CALL(nvtxRangePushA("open"));
	(void)CALL(nvtxRangeStartA("started"));
	report();
	if (strcmp(how, "exit") == 0)
		exit(0);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "exec") == 0)
		execv("/proc/self/exe", again);
	if (strcmp(how, "return") != 0)
		fail("how should it end?");
	exit(0);
}

/* A word with its argument; how many words that were. */
static int run_pair(char **words)
{
	if (strcmp(words[0], "loop") == 0)
		loop(atol(words[1]));
	else if (strcmp(words[0], "threads") == 0)
		threads(atol(words[1]));
	else if (strcmp(words[0], "deep") == 0)
		deep(atol(words[1]));
	else if (strcmp(words[0], "unique") == 0)
		unique(atol(words[1]));
	else if (strcmp(words[0], "load") == 0)
		load(words[1]);
	else
		return 0;
	return 2;
}

static int run_word(const char *word)
{
	static bool has_counters;

	if (strcmp(word, "basics") == 0)
		basics();
	else if (strcmp(word, "levels") == 0)
		levels();
	else if (strcmp(word, "odd") == 0)
		odd();
	else if (strcmp(word, "long") == 0)
		long_texts();
	else if (strcmp(word, "payloads") == 0)
		payload_events();
	else if (strcmp(word, "counters") == 0)
		has_counters = (counters(), true);
	else if (strcmp(word, "later") == 0)
		told_later();
	else if (strcmp(word, "lock") == 0)
		lock();
	else if (strcmp(word, "memory") == 0)
		memory();
	else if (strcmp(word, "cuda") == 0)
		cuda();
	else if (strcmp(word, "fork") == 0)
		fork_child(fork, false, has_counters);
	else if (strcmp(word, "child-cuda") == 0)
		fork_child(fork, true, has_counters);
	else if (strcmp(word, "clone") == 0)
		fork_child(app_clone, false, false);
	else if (strcmp(word, "clone-cuda") == 0)
		fork_child(app_clone, true, false);
	else
		fail("which word?");
	return 1;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc;) {
		int words = i + 1 < argc ? run_pair(argv + i) : 0;

		if (words == 0 && i + 1 < argc && strcmp(argv[i], "open") == 0)
			leave_open(argv[i + 1], argv);
		i += words ? words : run_word(argv[i]);
	}
	report();
	return 0;
}
