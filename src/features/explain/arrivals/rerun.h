/* The run again, with some of its pauses left out: when would everything have happened?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a rank does on one stream is a lane of *activities*: stretches of computation and visits. An activity
 * begins when the last thing that it needed was there, and that is found in the trace: of
 *
 *   - the end of the activity before it on its lane,
 *   - the end of its launch on the host, where the file has launches,
 *   - for a visit, the computation that was launched before it (where the file does not say which: the point
 *     that computation had come to, unless one of the two above happened at most 20 us before),
 *   - what ended last on the other lanes of its rank,
 *
 * all of them also if they ended up to a microsecond after it had begun,
 * the latest one *binds* it, and the time between the two is kept. The first three also hold where they do
 * not bind, without that time; so does the last for computation that stood still when the other thing ended.
 * The host begins with its first step, launches one thing after the other, and goes on after a wait for its
 * device when that has ended what it waited for. A visit ends when all who had come before its end have come,
 * and its transfer has passed:
 *
 *     leave of r = max over q with traced enter of q <= traced leave of r: enter of q
 *                  + (traced leave of r - the same maximum of traced times)
 *
 * Those who only wait for a root wait for that one, and one that went on with other things meanwhile also
 * until it waited. All of this is max-plus. With nothing left out each time is the traced one, to the
 * picosecond.
 *
 * A pause on the host that is left out lets the host launch earlier by its length; what the device had in
 * its queue meanwhile had absorbed it, and nothing is gained. Where the file has no launches, or the rank has
 * no device, it shortens the computation and the gaps that it overlaps. A pause on the device shortens these
 * always. Late launches (gaps of the device) shorten what the host did in the gap, but for the part of it
 * that has another name.
 */
#ifndef IWI_RERUN_H
#define IWI_RERUN_H

#include "features/explain/arrivals/visits.h"

struct iwi_rerun;

/* Of visits that are finished and aligned, which are borrowed. IW_ERR_NOMEM, IW_ERR_RANGE (logged). */
IW_NODISCARD iw_status iwi_rerun_new(const struct iwi_visits *visits, struct iwi_rerun **rerun_p);
void iwi_rerun_free(struct iwi_rerun *rerun);

/* Steps: all numbers that activities have, ascending; activities of no step belong to none. Where the file
 * has no steps: the time between two collectives of the largest group of a rank, numbered from 0. */
size_t iwi_rerun_step_count(const struct iwi_rerun *rerun);
uint32_t iwi_rerun_step_number(const struct iwi_rerun *rerun, size_t step);

/* Without the pauses i with is_left_out[i] (NULL: all stay). steps_ps[k], if not NULL: from the end of step
 * k - 1 on its last rank (for the first: from the start of the run) to the end of step k on its last rank. */
IW_NODISCARD iw_status iwi_rerun_run(struct iwi_rerun *rerun, const bool *is_left_out, iw_time *steps_ps);

/* What held it back: the launch of a stretch; for a visit, another one on its stream. */
bool iwi_rerun_waits_for_launch(const struct iwi_rerun *rerun, size_t stretch);
bool iwi_rerun_waits_for_stream(const struct iwi_rerun *rerun, size_t visit);

/* When visit or stretch `index` began and ended in the last run. */
void iwi_rerun_visit(const struct iwi_rerun *rerun, size_t index, iw_time *enter_ps_p, iw_time *leave_ps_p);
void iwi_rerun_stretch(const struct iwi_rerun *rerun, size_t index, iw_time *begin_ps_p, iw_time *end_ps_p);

#endif
