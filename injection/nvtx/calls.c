/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "injection/cupti/cupti.h"
#include "injection/nvtx/nvtx.h"
#include "injection/nvtx/payloads.h"
#include "injection/nvtx/texts.h"
#include "injection/process/thread.h"
#include "injection/session/services.h"
#include "injection/session/session.h"

/*
 * NVTX's calls, on threads of the program. A push and its pop, a start and its end are two records:
 * a range may last for hours, and begin on one thread and end on another. Each record has the
 * thread's count of them, so that their order is known where the clock does not tell, and a missing
 * one is missed; what is pushed and popped has its level besides.
 */

/* Domains whose levels a thread counts. */
#define LEVELS 14

/* One cache line. */
struct own {
	_Alignas(64) uint32_t order;
	uint32_t is_program_s; /* the thread is none of ours; 0: that was not asked yet */
	uint32_t levels[LEVELS];
};

static __thread struct own own __attribute__((tls_model("initial-exec")));

/* The contents of a call. */
struct event {
	uint64_t id;
	uint64_t payload;
	uint32_t kind; /* enum gt_range_step */
	uint32_t domain;
	uint32_t level;
	uint32_t registered;
	uint32_t category;
	uint32_t payload_type;
	uint32_t color;
	struct gt_nvtx_text text;
	const struct nvtxPayloadData_v1 *data;
	size_t data_count;
};

/*
 * Field by field: compilers clear a struct of this size by an instruction that takes longer to
 * begin than all of these.
 */
static inline struct event event_in(uint32_t domain)
{
	struct event event;

	event.id = 0;
	event.payload = 0;
	event.kind = GT_RANGE_STEP_STACK;
	event.domain = domain;
	event.level = GT_LEVEL_UNKNOWN;
	event.registered = 0;
	event.category = 0;
	event.payload_type = 0;
	event.color = 0;
	event.text.narrow = NULL;
	event.text.wide = NULL;
	event.text.size = 0;
	event.text.cut = false;
	event.data = NULL;
	event.data_count = 0;
	return event;
}

/* Our threads say that they are before they do anything, and no thread becomes one later. */
__attribute__((cold, noinline)) static bool ask_whose_thread(void)
{
	own.is_program_s = !gt_thread_is_ours();
	return own.is_program_s;
}

/* The data asked for lies in the cache line that the event touches anyway. */
static inline bool is_recorded(struct gt_session *session, uint32_t domain)
{
	if (domain == GT_DOMAIN_UNWANTED)
		return false;
	if (!gt_session_records(session))
		return false;
	return own.is_program_s || ask_whose_thread();
}

/* Numbers of handles that were given out; anything else is from somewhere else. */
static uint32_t number_of(const struct gt_nvtx_page *page, enum gt_nvtx_handle which,
                          const void *handle)
{
	const uintptr_t number = (uintptr_t)handle & ~(uintptr_t)GT_NVTX_UNWANTED;

	if (number <= atomic_load_explicit(&page->given[which], memory_order_relaxed))
		return (uint32_t)number;
	return GT_DOMAIN_UNKNOWN;
}

static uint32_t domain_of(const struct gt_nvtx_page *page, nvtxDomainHandle_t domain)
{
	if (!domain)
		return page->default_domain;
	if ((uintptr_t)domain & GT_NVTX_UNWANTED)
		return GT_DOMAIN_UNWANTED;
	return number_of(page, GT_NVTX_DOMAIN, domain);
}

static uint32_t give_number(struct gt_nvtx_page *page, enum gt_nvtx_handle which)
{
	return atomic_fetch_add_explicit(&page->given[which], 1, memory_order_relaxed) + 1;
}

static void *handle_of(uint32_t number)
{
	return (void *)(uintptr_t)number; // NOLINT(performance-no-int-to-ptr)
}

/* ---- records ---- */

static void emit_data(struct gt_session *session, const struct event *event, uint64_t time_ns)
{
	const struct gt_nvtx_data data = {
		.all = event->data,
		.count = event->data_count,
		.time_ns = time_ns,
		.order = own.order,
	};

	gt_nvtx_emit_data(session, &data);
}

/* All but the time; NULL: there is no room. */
static inline struct gt_record_range_begin *fill_begin(struct gt_session *session,
                                                       const struct event *event)
{
	const size_t behind = event->text.size ? GT_TEXT_BYTES(event->text.size) : 0;
	struct gt_record_range_begin *record;

	own.order++;
	record = gt_emit_begin(session, GT_RECORD_range_begin, sizeof(*record) + behind);
	if (!record)
		return NULL;
	record->id = event->id;
	record->payload = event->payload;
	record->order = own.order;
	record->domain = event->domain;
	record->level = event->level;
	record->registered = event->registered;
	record->category = event->category;
	record->payload_type = event->payload_type;
	record->color = event->color;
	record->kind = event->kind;
	record->thread = 0;
	record->flags = event->text.cut ? GT_RECORD_CUT : 0;
	record->text = gt_nvtx_put_text(record, sizeof(*record), &event->text);
	return record;
}

__attribute__((hot)) static void emit_begin(struct gt_session *session, const struct event *event)
{
	struct gt_record_range_begin *record = fill_begin(session, event);

	if (!record)
		return;
	record->time_ns = gt_stamp();
	gt_emit_commit();
	if (event->text.cut)
		gt_count(session, GT_LEDGER_nvtx_cut, 1);
	if (event->data)
		emit_data(session, event, record->time_ns);
}

static inline void emit_end_at(struct gt_session *session, const struct event *event, uint64_t now)
{
	struct gt_record_range_end *record;

	own.order++;
	record = gt_emit_begin(session, GT_RECORD_range_end, sizeof(*record));
	if (!record)
		return;
	record->time_ns = now;
	record->id = event->id;
	record->order = own.order;
	record->domain = event->domain;
	record->level = event->level;
	record->kind = event->kind;
	record->thread = 0;
	record->flags = 0;
	gt_emit_commit();
	if (event->data)
		emit_data(session, event, now);
}

__attribute__((hot)) static void emit_end(struct gt_session *session, const struct event *event)
{
	emit_end_at(session, event, gt_stamp());
}

/* ---- attributes ---- */

static void read_payload(struct event *event, const nvtxEventAttributes_t *attributes)
{
	switch (attributes->payloadType) {
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
	case NVTX_PAYLOAD_TYPE_INT64:
	case NVTX_PAYLOAD_TYPE_DOUBLE:
		event->payload = attributes->payload.ullValue;
		break;
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
	case NVTX_PAYLOAD_TYPE_INT32:
	case NVTX_PAYLOAD_TYPE_FLOAT:
		event->payload = attributes->payload.uiValue;
		break;
	case NVTX_PAYLOAD_TYPE_EXT:
		event->data = // NOLINTNEXTLINE(performance-no-int-to-ptr)
			(const nvtxPayloadData_t *)(uintptr_t)attributes->payload.ullValue;
		event->data_count = (size_t)(uint32_t)attributes->reserved0;
		return;
	default: /* any number may stand in a program's struct */
		return;
	}
	event->payload_type = (uint32_t)attributes->payloadType;
}

static void read_message(const struct gt_nvtx_page *page, struct event *event,
                         const nvtxEventAttributes_t *attributes)
{
	uint32_t number;

	switch (attributes->messageType) {
	case NVTX_MESSAGE_TYPE_ASCII:
		event->text = gt_nvtx_narrow(attributes->message.ascii);
		break;
	case NVTX_MESSAGE_TYPE_UNICODE:
		event->text = gt_nvtx_wide(attributes->message.unicode);
		break;
	case NVTX_MESSAGE_TYPE_REGISTERED:
		number = number_of(page, GT_NVTX_STRING, attributes->message.registered);
		event->registered = number == GT_DOMAIN_UNKNOWN ? 0 : number;
		break;
	default:
		break;
	}
}

static void read_all(const struct gt_nvtx_page *page, struct event *event,
                     const nvtxEventAttributes_t *attributes)
{
	event->category = attributes->category;
	if (attributes->colorType == NVTX_COLOR_ARGB)
		event->color = attributes->color;
	read_payload(event, attributes);
	read_message(page, event, attributes);
}

/* A struct of an NVTX that has less in it: what it lacks is as if it were 0. */
__attribute__((cold, noinline)) static void read_short(const struct gt_nvtx_page *page,
                                                       struct event *event,
                                                       const nvtxEventAttributes_t *attributes)
{
	nvtxEventAttributes_t whole = {0};

	memcpy(&whole, attributes, attributes->size);
	read_all(page, event, &whole);
}

static void read_attributes(const struct gt_nvtx_page *page, struct event *event,
                            const nvtxEventAttributes_t *attributes)
{
	if (!attributes)
		return;
	if (attributes->size >= sizeof(*attributes))
		read_all(page, event, attributes);
	else
		read_short(page, event, attributes);
}

/* ---- what they come down to ---- */

static struct gt_nvtx_watched_text text_of(const struct event *event)
{
	return (struct gt_nvtx_watched_text){&event->text, event->registered};
}

/* The level of the new range, which is what NVTX's function returns. */
static int push(struct gt_session *session, struct event *event)
{
	event->level = GT_LEVEL_UNKNOWN;
	if (event->domain < LEVELS)
		event->level = own.levels[event->domain]++;
	if (session->nvtx.watches)
		gt_nvtx_watch_push(&gt_nvtx.watch, text_of(event),
		                   (struct gt_nvtx_level){event->domain, event->level});
	if (is_recorded(session, event->domain))
		emit_begin(session, event);
	return event->level == GT_LEVEL_UNKNOWN ? NVTX_NO_PUSH_POP_TRACKING : (int)event->level;
}

static int pop_event(struct gt_session *session, struct event *event)
{
	const uint32_t domain = event->domain;
	int result = NVTX_NO_PUSH_POP_TRACKING;

	event->level = GT_LEVEL_UNKNOWN;
	if (domain < LEVELS && own.levels[domain] > 0) {
		event->level = --own.levels[domain];
		result = (int)event->level;
	} else if (domain < LEVELS) {
		event->kind = GT_RANGE_STEP_EMPTY;
		result = -1;
	}
	if (is_recorded(session, event->domain))
		emit_end(session, event);
	if (session->nvtx.watches && result >= 0)
		gt_nvtx_watch_pop(&gt_nvtx.watch, (struct gt_nvtx_level){domain, event->level});
	return result;
}

static int pop(struct gt_session *session, uint32_t domain)
{
	struct event event = event_in(domain);

	return pop_event(session, &event);
}

static nvtxRangeId_t start(struct gt_session *session, struct event *event, nvtxRangeId_t wanted)
{
	event->kind = GT_RANGE_STEP_ID;
	event->level = GT_LEVEL_UNKNOWN;
	event->id = wanted;
	if (!event->id)
		event->id = atomic_fetch_add_explicit(&gt_nvtx.ranges, 1, memory_order_relaxed) + 1;
	if (session->nvtx.watches)
		gt_nvtx_watch_start(&gt_nvtx.watch, text_of(event), event->id);
	if (is_recorded(session, event->domain))
		emit_begin(session, event);
	return event->id;
}

static void end(struct gt_session *session, uint32_t domain, nvtxRangeId_t id)
{
	struct event event = event_in(domain);

	event.kind = GT_RANGE_STEP_ID;
	event.id = id;
	if (is_recorded(session, domain))
		emit_end(session, &event);
	if (session->nvtx.watches)
		gt_nvtx_watch_end(&gt_nvtx.watch, id);
}

static void mark(struct gt_session *session, struct event *event)
{
	event->kind = GT_RANGE_STEP_MARK;
	event->level = GT_LEVEL_UNKNOWN;
	if (is_recorded(session, event->domain))
		emit_begin(session, event);
}

static void name(enum gt_named kind, uint64_t number, const char *text, const wchar_t *wide)
{
	const struct gt_nvtx_name given = {
		.kind = kind, .number = number, .text = text, .wide = wide};

	gt_nvtx_give_name(gt_session_get(), &given);
}

/* ---- another library's handles ---- */

#define HANDLES (1u << 20) /* of each kind that are passed on */

/* Calls what another injection library put into this place. */
#define PASS_ON(name, ...)                                                                         \
	do {                                                                                       \
		if (page->others_hear && gt_nvtx.next.slots.name)                                  \
			gt_nvtx.next.slots.name(__VA_ARGS__);                                      \
	} while (0)

static void keep_other(enum gt_nvtx_handle which, uint32_t number, void *handle)
{
	if (gt_nvtx.next.handles[which] && number < HANDLES)
		gt_nvtx.next.handles[which][number] = handle;
}

static void *other_of(const struct gt_nvtx_page *page, enum gt_nvtx_handle which,
                      const void *handle)
{
	const uint32_t number = number_of(page, which, handle);

	return gt_nvtx.next.handles[which] && number < HANDLES ? gt_nvtx.next.handles[which][number]
	                                                       : NULL;
}

static nvtxDomainHandle_t other_domain(const struct gt_nvtx_page *page, nvtxDomainHandle_t domain)
{
	return domain ? other_of(page, GT_NVTX_DOMAIN, domain) : NULL;
}

/* The same attributes with the other library's handle in them. */
static const nvtxEventAttributes_t *other_attributes(const struct gt_nvtx_page *page,
                                                     const nvtxEventAttributes_t *attributes,
                                                     nvtxEventAttributes_t *copy)
{
	if (!attributes || attributes->size < sizeof(*attributes) ||
	    attributes->messageType != NVTX_MESSAGE_TYPE_REGISTERED)
		return attributes;
	*copy = *attributes;
	copy->message.registered = other_of(page, GT_NVTX_STRING, attributes->message.registered);
	return copy;
}

/* ---- NVTX's functions, by name ---- */

#define SESSION                                                                                    \
	struct gt_session *session = gt_session_get();                                             \
	struct gt_nvtx_page *page = &session->nvtx

static void on_MarkA(const char *message)
{
	SESSION;
	struct event event = event_in(page->default_domain);

	event.text = gt_nvtx_narrow(message);

	mark(session, &event);
	PASS_ON(MarkA, message);
}

static void on_MarkW(const wchar_t *message)
{
	SESSION;
	struct event event = event_in(page->default_domain);

	event.text = gt_nvtx_wide(message);

	mark(session, &event);
	PASS_ON(MarkW, message);
}

static void on_DomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	SESSION;
	struct event event = event_in(domain_of(page, domain));
	nvtxEventAttributes_t copy;

	read_attributes(page, &event, attributes);
	mark(session, &event);
	PASS_ON(DomainMarkEx, other_domain(page, domain),
	        other_attributes(page, attributes, &copy));
}

static void on_MarkEx(const nvtxEventAttributes_t *attributes)
{
	SESSION;
	struct event event = event_in(page->default_domain);
	nvtxEventAttributes_t copy;

	read_attributes(page, &event, attributes);
	mark(session, &event);
	PASS_ON(MarkEx, other_attributes(page, attributes, &copy));
}

__attribute__((hot)) static int on_RangePushA(const char *message)
{
	SESSION;
	struct event event = event_in(page->default_domain);

	event.text = gt_nvtx_narrow(message);

	const int level = push(session, &event);

	PASS_ON(RangePushA, message);
	return level;
}

static int on_RangePushW(const wchar_t *message)
{
	SESSION;
	struct event event = event_in(page->default_domain);

	event.text = gt_nvtx_wide(message);

	const int level = push(session, &event);

	PASS_ON(RangePushW, message);
	return level;
}

__attribute__((hot)) static int on_DomainRangePushEx(nvtxDomainHandle_t domain,
                                                     const nvtxEventAttributes_t *attributes)
{
	SESSION;
	struct event event = event_in(domain_of(page, domain));
	nvtxEventAttributes_t copy;
	int level;

	read_attributes(page, &event, attributes);
	level = push(session, &event);
	PASS_ON(DomainRangePushEx, other_domain(page, domain),
	        other_attributes(page, attributes, &copy));
	return level;
}

__attribute__((hot)) static int on_RangePushEx(const nvtxEventAttributes_t *attributes)
{
	SESSION;
	struct event event = event_in(page->default_domain);
	nvtxEventAttributes_t copy;
	int level;

	read_attributes(page, &event, attributes);
	level = push(session, &event);
	PASS_ON(RangePushEx, other_attributes(page, attributes, &copy));
	return level;
}

__attribute__((hot)) static int on_RangePop(void)
{
	SESSION;
	const int level = pop(session, page->default_domain);

	PASS_ON(RangePop, );
	return level;
}

__attribute__((hot)) static int on_DomainRangePop(nvtxDomainHandle_t domain)
{
	SESSION;
	const int level = pop(session, domain_of(page, domain));

	PASS_ON(DomainRangePop, other_domain(page, domain));
	return level;
}

/*
 * The other library's id is the program's then: its end has to find the range, and ours does too,
 * as an id is one of a kind in the process.
 */
#define START_OTHER(name, ...)                                                                     \
	(page->others_hear && gt_nvtx.next.slots.name ? gt_nvtx.next.slots.name(__VA_ARGS__) : 0)

static nvtxRangeId_t on_RangeStartA(const char *message)
{
	SESSION;
	struct event event = event_in(page->default_domain);

	event.text = gt_nvtx_narrow(message);

	return start(session, &event, START_OTHER(RangeStartA, message));
}

static nvtxRangeId_t on_RangeStartW(const wchar_t *message)
{
	SESSION;
	struct event event = event_in(page->default_domain);

	event.text = gt_nvtx_wide(message);

	return start(session, &event, START_OTHER(RangeStartW, message));
}

static nvtxRangeId_t on_RangeStartEx(const nvtxEventAttributes_t *attributes)
{
	SESSION;
	struct event event = event_in(page->default_domain);
	nvtxEventAttributes_t copy;

	read_attributes(page, &event, attributes);
	return start(session, &event,
	             START_OTHER(RangeStartEx, other_attributes(page, attributes, &copy)));
}

static nvtxRangeId_t on_DomainRangeStartEx(nvtxDomainHandle_t domain,
                                           const nvtxEventAttributes_t *attributes)
{
	SESSION;
	struct event event = event_in(domain_of(page, domain));
	nvtxEventAttributes_t copy;

	read_attributes(page, &event, attributes);
	return start(session, &event,
	             START_OTHER(DomainRangeStartEx, other_domain(page, domain),
	                         other_attributes(page, attributes, &copy)));
}

static void on_RangeEnd(nvtxRangeId_t id)
{
	SESSION;

	end(session, page->default_domain, id);
	PASS_ON(RangeEnd, id);
}

static void on_DomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
	SESSION;

	end(session, domain_of(page, domain), id);
	PASS_ON(DomainRangeEnd, other_domain(page, domain), id);
}

/* ---- the same with payloads: injection/nvtx/extension.c ---- */

uint32_t gt_nvtx_domain(nvtxDomainHandle_t domain)
{
	return domain_of(&gt_session_get()->nvtx, domain);
}

int gt_nvtx_push_data(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct event event = {.domain = gt_nvtx_domain(domain), .data = data, .data_count = count};

	return push(gt_session_get(), &event);
}

int gt_nvtx_pop_data(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct event event = {.domain = gt_nvtx_domain(domain), .data = data, .data_count = count};

	return pop_event(gt_session_get(), &event);
}

void gt_nvtx_mark_data(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct event event = {.domain = gt_nvtx_domain(domain), .data = data, .data_count = count};

	mark(gt_session_get(), &event);
}

nvtxRangeId_t gt_nvtx_start_data(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
                                 size_t count)
{
	struct event event = {.domain = gt_nvtx_domain(domain), .data = data, .data_count = count};

	return start(gt_session_get(), &event, 0);
}

void gt_nvtx_end_data(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t *data,
                      size_t count)
{
	struct gt_session *session = gt_session_get();
	const struct event event = {
		.kind = GT_RANGE_STEP_ID,
		.id = id,
		.domain = gt_nvtx_domain(domain),
		.level = GT_LEVEL_UNKNOWN,
		.data = data,
		.data_count = count,
	};

	if (is_recorded(session, event.domain))
		emit_end(session, &event);
}

__attribute__((cold)) void gt_nvtx_later(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
                                         size_t count, const uint64_t times[2])
{
	struct gt_session *session = gt_session_get();
	struct event event = {
		.kind = times[1] ? GT_RANGE_STEP_LATER : GT_RANGE_STEP_LATER_MARK,
		.domain = gt_nvtx_domain(domain),
		.level = GT_LEVEL_UNKNOWN,
		.data = data,
		.data_count = count,
	};
	struct gt_record_range_begin *record;

	if (!is_recorded(session, event.domain))
		return;
	if (times[1])
		event.id = atomic_fetch_add_explicit(&gt_nvtx.ranges, 1, memory_order_relaxed) + 1;
	record = fill_begin(session, &event);
	if (!record)
		return;
	record->time_ns = times[0];
	gt_emit_commit();
	emit_data(session, &event, times[0]);
	event.data = NULL;
	if (times[1])
		emit_end_at(session, &event, times[1]);
}

/* ---- names ---- */

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

static void on_NameCategoryA(uint32_t category, const char *text)
{
	SESSION;

	name_category(page->default_domain, category, text, NULL);
	PASS_ON(NameCategoryA, category, text);
}

static void on_NameCategoryW(uint32_t category, const wchar_t *text)
{
	SESSION;

	name_category(page->default_domain, category, NULL, text);
	PASS_ON(NameCategoryW, category, text);
}

static void on_DomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char *text)
{
	SESSION;

	name_category(domain_of(page, domain), category, text, NULL);
	PASS_ON(DomainNameCategoryA, other_domain(page, domain), category, text);
}

static void on_DomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category,
                                   const wchar_t *text)
{
	SESSION;

	name_category(domain_of(page, domain), category, NULL, text);
	PASS_ON(DomainNameCategoryW, other_domain(page, domain), category, text);
}

static nvtxDomainHandle_t create_domain(const char *text, const wchar_t *wide, void *other)
{
	SESSION;
	const uint32_t number = give_number(page, GT_NVTX_DOMAIN);
	const struct gt_nvtx_text called = wide ? gt_nvtx_wide(wide) : gt_nvtx_narrow(text);

	keep_other(GT_NVTX_DOMAIN, number, other);
	if (!gt_nvtx_is_wanted(&called))
		return handle_of(number | GT_NVTX_UNWANTED);
	name(GT_NAMED_DOMAIN, number, text, wide);
	return handle_of(number);
}

static nvtxDomainHandle_t on_DomainCreateA(const char *text)
{
	SESSION;
	void *other = page->others_hear && gt_nvtx.next.slots.DomainCreateA
	                      ? gt_nvtx.next.slots.DomainCreateA(text)
	                      : NULL;

	(void)session;
	return create_domain(text, NULL, other);
}

static nvtxDomainHandle_t on_DomainCreateW(const wchar_t *text)
{
	SESSION;
	void *other = page->others_hear && gt_nvtx.next.slots.DomainCreateW
	                      ? gt_nvtx.next.slots.DomainCreateW(text)
	                      : NULL;

	(void)session;
	return create_domain(NULL, text, other);
}

static void on_DomainDestroy(nvtxDomainHandle_t domain)
{
	SESSION;

	(void)session;
	if (domain_of(page, domain) != GT_DOMAIN_UNWANTED)
		name(GT_NAMED_DOMAIN_END, domain_of(page, domain), NULL, NULL);
	PASS_ON(DomainDestroy, other_domain(page, domain));
}

static nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char *text,
                                          const wchar_t *wide, void *other)
{
	SESSION;
	const uint32_t number = give_number(page, GT_NVTX_STRING);
	const struct gt_nvtx_name given = {
		.kind = GT_NAMED_STRING,
		.domain = domain_of(page, domain),
		.number = number,
		.text = text,
		.wide = wide,
	};

	gt_nvtx_give_name(session, &given);
	if (page->watches) {
		const struct gt_nvtx_text said = text ? gt_nvtx_narrow(text) : gt_nvtx_wide(wide);

		gt_nvtx_watch_register(&gt_nvtx.watch, &said, number);
	}
	keep_other(GT_NVTX_STRING, number, other);
	return handle_of(number);
}

static nvtxStringHandle_t on_DomainRegisterStringA(nvtxDomainHandle_t domain, const char *text)
{
	SESSION;
	void *other =
		page->others_hear && gt_nvtx.next.slots.DomainRegisterStringA
			? gt_nvtx.next.slots.DomainRegisterStringA(other_domain(page, domain), text)
			: NULL;

	(void)session;
	return register_string(domain, text, NULL, other);
}

static nvtxStringHandle_t on_DomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t *text)
{
	SESSION;
	void *other =
		page->others_hear && gt_nvtx.next.slots.DomainRegisterStringW
			? gt_nvtx.next.slots.DomainRegisterStringW(other_domain(page, domain), text)
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
	static void on_##suffix(type what, const text_type *text)                                  \
	{                                                                                          \
		SESSION;                                                                           \
                                                                                                   \
		(void)session;                                                                     \
		name(GT_NAMED_##kind, (uint64_t)(number), narrow, wide);                           \
		PASS_ON(suffix, what, text);                                                       \
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

static void on_NameCuContextA(nvtx_CUcontext context, const char *text)
{
	SESSION;

	(void)session;
	name_context((uintptr_t)context, text, NULL);
	PASS_ON(NameCuContextA, context, text);
}

static void on_NameCuContextW(nvtx_CUcontext context, const wchar_t *text)
{
	SESSION;

	(void)session;
	name_context((uintptr_t)context, NULL, text);
	PASS_ON(NameCuContextW, context, text);
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

static nvtxResourceHandle_t on_DomainResourceCreate(nvtxDomainHandle_t domain,
                                                    nvtxResourceAttributes_t *attributes)
{
	SESSION;
	const uint32_t number = give_number(page, GT_NVTX_RESOURCE);

	(void)session;
	name_resource(attributes);
	if (page->others_hear && gt_nvtx.next.slots.DomainResourceCreate)
		keep_other(GT_NVTX_RESOURCE, number,
		           gt_nvtx.next.slots.DomainResourceCreate(other_domain(page, domain),
		                                                   attributes));
	return handle_of(number);
}

/* Its name stays true for what there was. */
static void on_DomainResourceDestroy(nvtxResourceHandle_t resource)
{
	SESSION;

	(void)session;
	PASS_ON(DomainResourceDestroy, other_of(page, GT_NVTX_RESOURCE, resource));
}

/* ---- what the program synchronises with ---- */

/*
 * A handle has the number of its domain and that of a registered string, which says that it is
 * acquired; that it is released says the next one.
 */
enum { SYNC_NAME_BYTES = 200 };

/* The range in which this thread tries to acquire something; 0: it does not. */
static __thread uint64_t acquiring __attribute__((tls_model("initial-exec")));

static struct gt_nvtx_text text_of_sync(const nvtxSyncUserAttributes_t *attributes)
{
	struct gt_nvtx_text text = {0};

	if (!attributes || attributes->size < sizeof(*attributes))
		return text;
	if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII)
		text = gt_nvtx_narrow(attributes->message.ascii);
	else if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE)
		text = gt_nvtx_wide(attributes->message.unicode);
	return text;
}

/* A name that is too long is left out, as it cannot be cut inside a character. */
static void name_sync(uint32_t domain, uint32_t number, const char *verb,
                      const struct gt_nvtx_text *name)
{
	char text[16 + SYNC_NAME_BYTES] = "";
	const struct gt_nvtx_name given = {
		.kind = GT_NAMED_STRING, .domain = domain, .number = number, .text = text};
	const size_t length = strlen(verb);

	memcpy(text, verb, length);
	if (name->size > 0 && name->size < SYNC_NAME_BYTES) {
		text[length] = ' ';
		gt_nvtx_copy_text((uint8_t *)text + length + 1, name);
	}
	gt_nvtx_give_name(gt_session_get(), &given);
}

static nvtxSyncUser_t on_DomainSyncUserCreate(nvtxDomainHandle_t domain,
                                              const nvtxSyncUserAttributes_t *attributes)
{
	SESSION;
	const uint32_t number =
		atomic_fetch_add_explicit(&page->given[GT_NVTX_STRING], 2, memory_order_relaxed) +
		1;
	const uint64_t owner = domain_of(page, domain);
	const struct gt_nvtx_text text = text_of_sync(attributes);

	(void)session;
	name_sync((uint32_t)owner, number, "acquire", &text);
	name_sync((uint32_t)owner, number + 1, "release", &text);
	if (page->others_hear && gt_nvtx.next.slots.DomainSyncUserCreate)
		keep_other(GT_NVTX_STRING, number,
		           gt_nvtx.next.slots.DomainSyncUserCreate(other_domain(page, domain),
		                                                   attributes));
	// NOLINTNEXTLINE(performance-no-int-to-ptr)
	return (nvtxSyncUser_t)(uintptr_t)(owner << 32 | number);
}

static struct event event_of_sync(const struct gt_nvtx_page *page, nvtxSyncUser_t handle,
                                  uint32_t which)
{
	const uint64_t number = (uintptr_t)handle;
	const uint64_t given =
		atomic_load_explicit(&page->given[GT_NVTX_STRING], memory_order_relaxed);

	return (struct event){
		.domain = (uint32_t)(number >> 32),
		.registered =
			(uint32_t)number < given ? (uint32_t)number + (number ? which : 0) : 0,
	};
}

static nvtxSyncUser_t other_sync(const struct gt_nvtx_page *page, nvtxSyncUser_t handle)
{
	return other_of(page, GT_NVTX_STRING, handle_of((uint32_t)(uintptr_t)handle));
}

/* Its name stays true for what there was. */
static void on_DomainSyncUserDestroy(nvtxSyncUser_t handle)
{
	SESSION;

	(void)session;
	PASS_ON(DomainSyncUserDestroy, other_sync(page, handle));
}

static void on_DomainSyncUserAcquireStart(nvtxSyncUser_t handle)
{
	SESSION;
	struct event event = event_of_sync(page, handle, 0);

	acquiring = start(session, &event, 0);
	PASS_ON(DomainSyncUserAcquireStart, other_sync(page, handle));
}

static void end_acquiring(struct gt_session *session, nvtxSyncUser_t handle)
{
	if (acquiring)
		end(session, (uint32_t)((uintptr_t)handle >> 32), acquiring);
	acquiring = 0;
}

static void on_DomainSyncUserAcquireFailed(nvtxSyncUser_t handle)
{
	SESSION;

	end_acquiring(session, handle);
	PASS_ON(DomainSyncUserAcquireFailed, other_sync(page, handle));
}

static void on_DomainSyncUserAcquireSuccess(nvtxSyncUser_t handle)
{
	SESSION;

	end_acquiring(session, handle);
	PASS_ON(DomainSyncUserAcquireSuccess, other_sync(page, handle));
}

static void on_DomainSyncUserReleasing(nvtxSyncUser_t handle)
{
	SESSION;
	struct event event = event_of_sync(page, handle, 1);

	mark(session, &event);
	PASS_ON(DomainSyncUserReleasing, other_sync(page, handle));
}

static void on_Initialize(const void *reserved)
{
	SESSION;

	(void)session;
	PASS_ON(Initialize, reserved);
}

/* ---- the list ---- */

static const struct {
	uint32_t module;
	uint32_t entry;
	NvtxFunctionPointer function;
} calls[] = {
#define CALL(module, name, type)                                                                   \
	{NVTX_CB_MODULE_##module, NVTX_CBID_##module##_##name, (NvtxFunctionPointer)on_##name},
#include "injection/nvtx/calls.def"
};

NvtxFunctionPointer gt_nvtx_call(uint32_t module, uint32_t entry)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].module == module && calls[i].entry == entry)
			return calls[i].function;
	return NULL;
}
