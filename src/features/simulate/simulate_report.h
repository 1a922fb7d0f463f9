/* Between the files on one simulation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SIMULATE_REPORT_H
#define IWI_SIMULATE_REPORT_H

#include <idlewave/noise_set.h>
#include <idlewave/result.h>

#include "kit/doc/doc.h"

/* Trials whose times JSON has one by one. */
enum { IWI_MOST_TRIAL_TIMES = 1000 };

/* Of the quantiles of iw_ends: 0 to 100. */
double iwi_end_percent(size_t index);

/* Of a file: what the table cannot say. */
extern const struct iwi_schema iwi_simulation_schema; /* iw_simulation */
IW_NODISCARD iw_status iwi_simulation_check(const iw_log *log, const char *name, const void *subject);

/* Of an iw_sim_result; NaN after a restart: the seconds are those since then, the messages all. */
double iwi_messages_per_second(const void *object);

/* What result->explain says. Lives in the arena, and borrows the names of sources from the noise. */
IW_NODISCARD iw_status iwi_explained_find(const iw_log *log, const iw_sim_result *result,
                                          const iw_origin *origin, struct iwi_arena *arena,
                                          const iw_explained **explained_p);

extern const struct iwi_schema iwi_explained_schema; /* iw_explained */
IW_NODISCARD iw_status iwi_explained_check(const iw_log *log, const char *name,
                                           const iw_explained *explained);

/* Its trials differ: there is noise of the system or of the network. */
static inline bool iwi_is_noisy(const iw_simulation *simulation)
{
    return simulation->noise_count > 0 || iw_net_is_noisy(simulation->net);
}

/* Whether there is noise or a delay, so that the noiseless time is another one. */
static inline bool iwi_is_disturbed(const iw_simulation *simulation)
{
    return iwi_is_noisy(simulation) || simulation->delays > 0;
}

/* A device moves messages at all levels, so that none waits for a CPU that noise has. */
bool iwi_is_moved_by_device(const iw_net *net);

/* ---- words ---- */

/* "takes 2.887 times as long ..."; how sure that is, as items. */
void iwi_say_simulation_verdict(struct iwi_document *doc, const iw_simulation *simulation);

/* What the slowdown would be with independent nodes; what aligning them rests on, as items. */
void iwi_say_independence(struct iwi_document *doc, const iw_independence *independence);
void iwi_say_alignment(struct iwi_document *doc, const iw_independence *independence);

/* The other answer of a job whose ranks meet copies of one recorded CPU. */
void iwi_say_node_wide(struct iwi_document *doc, iw_estimate node_wide);
void iwi_say_simulation_certainty(struct iwi_document *doc, const iw_simulation *simulation);

/* Rows of a table with two columns: how long the traced run took, what of it is in the prediction, what
 * replicas can and cannot show. Nothing for programs that are no traces. */
void iwi_say_traced(struct iwi_document *doc, const iw_traced *traced);

/* Rows of the same table: nodes, network, memory. */
void iwi_say_machine(struct iwi_document *doc, const iw_simulation *simulation);

/* Where the time goes; nothing if that was not asked for. */
void iwi_say_explained(struct iwi_document *doc, const iw_simulation *simulation);

/* "latency (L)" for "L"; a source of noise is "noise ...". */
const char *iwi_part_words(struct iwi_document *doc, const iw_explained_part *part);

/* ---- figures ---- */

/* When its trials end, or the ranks of a single one. */
IW_NODISCARD iw_status iwi_ends_figure(const iw_log *log, const iw_simulation *simulation,
                                       struct iwi_figure **figure_p);

/* What the critical path is made of: of the last rank, of an average one, and on average over trials where
 * that is known. */
IW_NODISCARD iw_status iwi_path_figure(struct iwi_document *doc, const iw_explained *explained,
                                       struct iwi_figure **figure_p);

#endif
