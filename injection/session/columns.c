/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/columns.h"

#include <stddef.h>
#include <string.h>

#include "injection/session/services.h"

/* A text behind a record that has some already; moves the end of what there is. */
static uint32_t add_text(void *record, size_t *bytes, const char *text)
{
	const size_t size = strlen(text);
	const uint32_t place = gt_emit_text(record, *bytes, text, size);

	*bytes += GT_TEXT_BYTES(size);
	return place;
}

void gt_column_announce(struct gt_session *session, const struct gt_column_words *words,
                        struct gt_column_place place)
{
	const size_t texts = GT_TEXT_BYTES(strlen(words->name)) +
	                     GT_TEXT_BYTES(strlen(words->unit)) +
	                     GT_TEXT_BYTES(strlen(words->help));
	size_t bytes = sizeof(struct gt_record_counter);
	struct gt_record_counter *record = gt_emit_begin(session, GT_RECORD_counter, bytes + texts);

	if (!record)
		return;
	*record = (struct gt_record_counter){
		.series = place.series,
		.place = place.place,
		.kind = words->kind,
		.device = place.device,
		.pool = place.pool,
	};
	record->name = add_text(record, &bytes, words->name);
	record->unit = add_text(record, &bytes, words->unit);
	record->help = add_text(record, &bytes, words->help);
	gt_emit_commit();
}
