/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/session/columns.h"

#include <stddef.h>
#include <string.h>

#include "injection/session/services.h"

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
	record->name = gt_emit_add_text(record, &bytes, words->name);
	record->unit = gt_emit_add_text(record, &bytes, words->unit);
	record->help = gt_emit_add_text(record, &bytes, words->help);
	gt_emit_commit();
}
