/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "injection/nvtx/calls.h"
#include "injection/nvtx/events.h"
#include "injection/nvtx/handles.h"
#include "injection/nvtx/payloads.h"
#include "injection/nvtx/texts.h"
#include "injection/session/session.h"

/* NVTX's functions that begin and end ranges and set marks. */

/* ---- attributes ---- */

static void read_payload(struct gt_nvtx_event *event, const nvtxEventAttributes_t *attributes)
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

static void read_message(const struct gt_nvtx_page *page, struct gt_nvtx_event *event,
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
		number = gt_nvtx_number_of(page, GT_NVTX_STRING, attributes->message.registered);
		event->registered = number == GT_DOMAIN_UNKNOWN ? 0 : number;
		break;
	default:
		break;
	}
}

static void read_all(const struct gt_nvtx_page *page, struct gt_nvtx_event *event,
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
                                                       struct gt_nvtx_event *event,
                                                       const nvtxEventAttributes_t *attributes)
{
	nvtxEventAttributes_t whole = {0};

	memcpy(&whole, attributes, attributes->size);
	read_all(page, event, &whole);
}

static void read_attributes(const struct gt_nvtx_page *page, struct gt_nvtx_event *event,
                            const nvtxEventAttributes_t *attributes)
{
	if (!attributes)
		return;
	if (attributes->size >= sizeof(*attributes))
		read_all(page, event, attributes);
	else
		read_short(page, event, attributes);
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
	copy->message.registered =
		gt_nvtx_other_of(page, GT_NVTX_STRING, attributes->message.registered);
	return copy;
}

/* ---- the functions ---- */

void gt_nvtx_on_MarkA(const char *message)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(page->default_domain);

	event.text = gt_nvtx_narrow(message);

	gt_nvtx_mark(session, &event);
	GT_NVTX_PASS_ON(MarkA, message);
}

void gt_nvtx_on_MarkW(const wchar_t *message)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(page->default_domain);

	event.text = gt_nvtx_wide(message);

	gt_nvtx_mark(session, &event);
	GT_NVTX_PASS_ON(MarkW, message);
}

void gt_nvtx_on_DomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(gt_nvtx_domain_of(page, domain));
	nvtxEventAttributes_t copy;

	read_attributes(page, &event, attributes);
	gt_nvtx_mark(session, &event);
	GT_NVTX_PASS_ON(DomainMarkEx, gt_nvtx_other_domain(page, domain),
	                other_attributes(page, attributes, &copy));
}

void gt_nvtx_on_MarkEx(const nvtxEventAttributes_t *attributes)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(page->default_domain);
	nvtxEventAttributes_t copy;

	read_attributes(page, &event, attributes);
	gt_nvtx_mark(session, &event);
	GT_NVTX_PASS_ON(MarkEx, other_attributes(page, attributes, &copy));
}

__attribute__((hot)) int gt_nvtx_on_RangePushA(const char *message)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(page->default_domain);

	event.text = gt_nvtx_narrow(message);

	const int level = gt_nvtx_push(session, &event);

	GT_NVTX_PASS_ON(RangePushA, message);
	return level;
}

int gt_nvtx_on_RangePushW(const wchar_t *message)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(page->default_domain);

	event.text = gt_nvtx_wide(message);

	const int level = gt_nvtx_push(session, &event);

	GT_NVTX_PASS_ON(RangePushW, message);
	return level;
}

__attribute__((hot)) int gt_nvtx_on_DomainRangePushEx(nvtxDomainHandle_t domain,
                                                      const nvtxEventAttributes_t *attributes)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(gt_nvtx_domain_of(page, domain));
	nvtxEventAttributes_t copy;
	int level;

	read_attributes(page, &event, attributes);
	level = gt_nvtx_push(session, &event);
	GT_NVTX_PASS_ON(DomainRangePushEx, gt_nvtx_other_domain(page, domain),
	                other_attributes(page, attributes, &copy));
	return level;
}

__attribute__((hot)) int gt_nvtx_on_RangePushEx(const nvtxEventAttributes_t *attributes)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(page->default_domain);
	nvtxEventAttributes_t copy;
	int level;

	read_attributes(page, &event, attributes);
	level = gt_nvtx_push(session, &event);
	GT_NVTX_PASS_ON(RangePushEx, other_attributes(page, attributes, &copy));
	return level;
}

__attribute__((hot)) int gt_nvtx_on_RangePop(void)
{
	GT_NVTX_SESSION;
	const int level = gt_nvtx_pop(session, page->default_domain);

	GT_NVTX_PASS_ON(RangePop, );
	return level;
}

__attribute__((hot)) int gt_nvtx_on_DomainRangePop(nvtxDomainHandle_t domain)
{
	GT_NVTX_SESSION;
	const int level = gt_nvtx_pop(session, gt_nvtx_domain_of(page, domain));

	GT_NVTX_PASS_ON(DomainRangePop, gt_nvtx_other_domain(page, domain));
	return level;
}

/*
 * The other library's id is the program's then: its end has to find the range, and ours does too,
 * as an id is one of a kind in the process.
 */
#define START_OTHER(name, ...)                                                                     \
	(page->others_hear && gt_nvtx.next.slots.name ? gt_nvtx.next.slots.name(__VA_ARGS__) : 0)

nvtxRangeId_t gt_nvtx_on_RangeStartA(const char *message)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(page->default_domain);

	event.text = gt_nvtx_narrow(message);

	return gt_nvtx_start_range(session, &event, START_OTHER(RangeStartA, message));
}

nvtxRangeId_t gt_nvtx_on_RangeStartW(const wchar_t *message)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(page->default_domain);

	event.text = gt_nvtx_wide(message);

	return gt_nvtx_start_range(session, &event, START_OTHER(RangeStartW, message));
}

nvtxRangeId_t gt_nvtx_on_RangeStartEx(const nvtxEventAttributes_t *attributes)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(page->default_domain);
	nvtxEventAttributes_t copy;

	read_attributes(page, &event, attributes);
	return gt_nvtx_start_range(session, &event,
	                           START_OTHER(RangeStartEx,
	                                       other_attributes(page, attributes, &copy)));
}

nvtxRangeId_t gt_nvtx_on_DomainRangeStartEx(nvtxDomainHandle_t domain,
                                            const nvtxEventAttributes_t *attributes)
{
	GT_NVTX_SESSION;
	struct gt_nvtx_event event = gt_nvtx_event_in(gt_nvtx_domain_of(page, domain));
	nvtxEventAttributes_t copy;

	read_attributes(page, &event, attributes);
	return gt_nvtx_start_range(session, &event,
	                           START_OTHER(DomainRangeStartEx,
	                                       gt_nvtx_other_domain(page, domain),
	                                       other_attributes(page, attributes, &copy)));
}

void gt_nvtx_on_RangeEnd(nvtxRangeId_t id)
{
	GT_NVTX_SESSION;

	gt_nvtx_end_range(session, page->default_domain, id);
	GT_NVTX_PASS_ON(RangeEnd, id);
}

void gt_nvtx_on_DomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
	GT_NVTX_SESSION;

	gt_nvtx_end_range(session, gt_nvtx_domain_of(page, domain), id);
	GT_NVTX_PASS_ON(DomainRangeEnd, gt_nvtx_other_domain(page, domain), id);
}
