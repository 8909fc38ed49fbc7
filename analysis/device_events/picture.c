/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_events/picture.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/device_events/phases.h"
#include "model/work/time_bins.h"
#include "model/work/timed.h"

/* Phases that have a letter of their own; the others share one. */
enum { LETTERED = 40, OTHERS = '+' };

struct drawing {
	struct gt_device_picture *picture;
	const struct gt_device_phases *phases;
	const struct gt_device_launch *launch;
	uint8_t *phase_of; /* by name of phases: its phase; LETTERED where it shares one */
	double *weights;   /* of the strip at hand: phase after phase, by column */
	double column_ns;
};

/* ---- phases ---- */

static int by_time(const void *a, const void *b)
{
	const struct gt_device_phase *left = a;
	const struct gt_device_phase *right = b;

	if (left->own_ns != right->own_ns)
		return left->own_ns > right->own_ns ? -1 : 1;
	return (left->name > right->name) - (left->name < right->name);
}

static bool is_free(const struct gt_device_picture *picture, size_t count, char letter)
{
	for (size_t i = 0; i < count; i++)
		if (picture->phases.rows[i].letter == letter)
			return false;
	return isalnum((unsigned char)letter) != 0;
}

/* A letter of the name, the first that no other phase has; else any. */
static char letter_for(const struct gt_device_picture *picture, size_t count, const char *name)
{
	static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (const char *at = name; *at; at++)
		if (is_free(picture, count, *at))
			return *at;
	for (const char *at = all; *at; at++)
		if (is_free(picture, count, *at))
			return *at;
	return OTHERS;
}

static void share_letter(struct gt_device_picture *picture)
{
	struct gt_device_phase others = {.name = UINT32_MAX, .letter = OTHERS};

	if (picture->phases.count <= LETTERED)
		return;
	for (size_t i = LETTERED; i < picture->phases.count; i++)
		others.own_ns += picture->phases.rows[i].own_ns;
	picture->phases.count = LETTERED;
	*gt_array_push(&picture->phases) = others;
}

static void find_phases(struct drawing *drawing)
{
	const struct gt_device_phases *phases = drawing->phases;
	struct gt_device_picture *picture = drawing->picture;
	const struct gt_device_writer *writer = phases->writers.rows.rows + drawing->launch->first;
	uint64_t *own_ns = gt_allocate_zeroed(phases->names.count + 1, sizeof(*own_ns));

	for (size_t i = 0; i < drawing->launch->count; i++, writer++)
		for (size_t e = 0; e < writer->count; e++) {
			const gt_id row = phases->writers.order[writer->first + e];

			own_ns[phases->names_of[row]] += phases->own_ns[row];
		}
	for (uint32_t i = 0; i < phases->names.count; i++)
		if (own_ns[i] > 0)
			*gt_array_push(&picture->phases) =
				(struct gt_device_phase){.name = i, .own_ns = own_ns[i]};
	gt_array_free(own_ns);
	if (picture->phases.count > 1)
		qsort(picture->phases.rows, picture->phases.count, sizeof(*picture->phases.rows),
		      by_time);
	memset(drawing->phase_of, LETTERED, phases->names.count + 1);
	for (size_t i = 0; i < picture->phases.count && i < LETTERED; i++) {
		struct gt_device_phase *phase = &picture->phases.rows[i];

		phase->letter = letter_for(picture, i,
		                           gt_trace_text(phases->trace,
		                                         phases->names.rows[phase->name].name));
		drawing->phase_of[phase->name] = (uint8_t)i;
	}
	share_letter(picture);
}

/* ---- strips ---- */

/* Adds the time between two moments, or takes it away, to the columns that it lies in. */
static void weigh(struct drawing *drawing, uint8_t phase, const struct gt_device_event *event,
                  double sign)
{
	const struct gt_device_picture *picture = drawing->picture;
	const double from = (double)(event->start_ns - picture->start_ns) / drawing->column_ns;
	const double to = (double)(event->end_ns - picture->start_ns) / drawing->column_ns;
	double *weights = drawing->weights + phase * picture->columns;

	gt_time_bins_add(weights, picture->columns, from, to, sign);
}

static void weigh_event(struct drawing *drawing, gt_id row)
{
	const struct gt_device_phases *phases = drawing->phases;
	const struct gt_device_event *rows = phases->trace->device_events.rows;
	const struct gt_device_event *event = &rows[row];

	if (!gt_device_is_timed(event) || event->start_ns < drawing->picture->start_ns)
		return;
	weigh(drawing, drawing->phase_of[phases->names_of[row]], event, 1);
	if (event->parent < phases->trace->device_events.count &&
	    gt_device_is_timed(&rows[event->parent]))
		weigh(drawing, drawing->phase_of[phases->names_of[event->parent]], event, -1);
}

static uint8_t heaviest(const struct drawing *drawing, size_t column)
{
	const struct gt_device_picture *picture = drawing->picture;
	double most = 1e-9; /* what is left of differences is nothing */
	uint8_t found = 0;

	for (size_t phase = 0; phase < picture->phases.count; phase++) {
		const double weight = drawing->weights[phase * picture->columns + column];

		if (weight > most) {
			most = weight;
			found = (uint8_t)(phase + 1);
		}
	}
	return found;
}

static void clear(struct drawing *drawing)
{
	const size_t count = (LETTERED + 1) * drawing->picture->columns;

	for (size_t i = 0; i < count; i++)
		drawing->weights[i] = 0;
}

static void end_strip(struct drawing *drawing)
{
	struct gt_device_picture *picture = drawing->picture;
	uint8_t *cells = picture->cells + (picture->strips.count - 1) * picture->columns;

	for (size_t c = 0; c < picture->columns; c++)
		cells[c] = heaviest(drawing, c);
	clear(drawing);
}

static void add_writer(struct drawing *drawing, const struct gt_device_writer *writer)
{
	struct gt_device_picture *picture = drawing->picture;
	struct gt_device_strip *strip = &picture->strips.rows[picture->strips.count - 1];

	if (strip->blocks == 0 || writer->start_ns < strip->start_ns)
		strip->start_ns = writer->start_ns;
	if (strip->blocks == 0 || writer->end_ns > strip->end_ns)
		strip->end_ns = writer->end_ns;
	strip->last_sm = writer->sm;
	for (size_t i = 0; i < writer->count; i++)
		weigh_event(drawing, drawing->phases->writers.order[writer->first + i]);
}

/* Writers come by multiprocessor, and of one by block. */
static void draw(struct drawing *drawing)
{
	struct gt_device_picture *picture = drawing->picture;
	const struct gt_device_writer *writers =
		drawing->phases->writers.rows.rows + drawing->launch->first;

	for (size_t i = 0; i < drawing->launch->count; i++) {
		const bool new_sm = i == 0 || writers[i].sm != writers[i - 1].sm;
		const bool new_block = new_sm || writers[i].block != writers[i - 1].block;

		if (i == 0 || (new_sm && picture->strips.rows[picture->strips.count - 1].sms ==
		                                 picture->folded)) {
			if (i > 0)
				end_strip(drawing);
			*gt_array_push(&picture->strips) =
				(struct gt_device_strip){.first_sm = writers[i].sm};
		}
		add_writer(drawing, &writers[i]);
		picture->strips.rows[picture->strips.count - 1].sms += new_sm;
		picture->strips.rows[picture->strips.count - 1].blocks += new_block;
	}
	end_strip(drawing);
}

/* ---- */

static void find_window(struct drawing *drawing, const struct gt_device_launch_facts *facts)
{
	struct gt_device_picture *picture = drawing->picture;
	const struct gt_trace *trace = drawing->phases->trace;
	const gt_id row = drawing->launch->kernel;
	const struct gt_kernel *kernel =
		row < trace->kernels.count ? &trace->kernels.rows[row] : NULL;

	picture->start_ns = facts->start_ns;
	picture->end_ns = facts->end_ns;
	if (kernel && gt_timed(GT_TIMES_ANY, kernel->flags, kernel->start_ns, kernel->end_ns)) {
		picture->start_ns =
			kernel->start_ns < picture->start_ns ? kernel->start_ns : picture->start_ns;
		picture->end_ns =
			kernel->end_ns > picture->end_ns ? kernel->end_ns : picture->end_ns;
	}
	if (picture->end_ns <= picture->start_ns)
		picture->end_ns = picture->start_ns + 1;
	drawing->column_ns =
		(double)(picture->end_ns - picture->start_ns) / (double)picture->columns;
}

void gt_device_picture_init(struct gt_device_picture *picture,
                            const struct gt_device_phases *phases, size_t launch, size_t columns,
                            size_t rows)
{
	const struct gt_device_launch_facts *facts = &phases->facts[launch];
	struct drawing drawing = {.picture = picture,
	                          .phases = phases,
	                          .launch = &phases->writers.launches.rows[launch]};

	*picture = (struct gt_device_picture){.columns = columns};
	picture->folded = (facts->sms + rows - 1) / rows;
	find_window(&drawing, facts);
	drawing.phase_of = gt_allocate(phases->names.count + 1);
	find_phases(&drawing);
	drawing.weights = gt_allocate((LETTERED + 1) * columns * sizeof(*drawing.weights));
	clear(&drawing);
	picture->cells = gt_allocate((facts->sms / picture->folded + 1) * columns);
	draw(&drawing);
	gt_array_free(drawing.weights);
	gt_array_free(drawing.phase_of);
}

void gt_device_picture_release(struct gt_device_picture *picture)
{
	gt_array_free(picture->cells);
	picture->cells = NULL;
	gt_array_release(&picture->phases);
	gt_array_release(&picture->strips);
}
