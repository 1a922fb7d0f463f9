/* Between the files on one simulation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SIMULATE_REPORT_H
#define IWI_SIMULATE_REPORT_H

#include <idlewave/noise_set.h>
#include <idlewave/result.h>
#include <idlewave/sim.h>

#include "kit/doc/doc.h"

/* Trials whose times JSON has one by one. */
enum { IWI_MOST_TRIAL_TIMES = 1000 };

/* Of the quantiles of iw_ends: 0 to 100. */
double iwi_end_percent(size_t index);

/* Of a file: what the table cannot say. */
extern const struct iwi_schema iwi_simulation_schema; /* iw_simulation */

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

/* ---- words ---- */

/* "takes 2.887x as long ..."; how sure that is, as items. */
void iwi_say_simulation_verdict(struct iwi_document *doc, const iw_simulation *simulation);

/* What the slowdown would be with independent nodes; what aligning them rests on, as items. */
void iwi_say_independence(struct iwi_document *doc, const iw_independence *independence);

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

/* ======== critical paths of several trials ======== */

struct iwi_path_means {
    iw_estimate part_ps[IW_PARTS], makespan_ps;               /* means, with their intervals */
    iw_estimate level_ps[IW_NET_INNER_MAX + 1][IW_NET_PARTS]; /* of parts of a network; the last: outermost */
    double hops;
    double worst_share; /* of all noise on these paths, what the detours that they keep took; NaN: no noise */
    uint64_t hit_count; /* paths that any noise is on */
};

/* What of a part of the network was at a level; IW_NET_INNER_MAX: at the outermost. */
iw_time iwi_path_at_level(const iw_split *split, iw_part part, uint32_t level);

IW_NODISCARD iw_status iwi_path_means(const iw_log *log, const iw_path *paths, size_t count,
                                      struct iwi_path_means *means_p);

enum { IWI_MOST_PLACES = 8 };

#define IWI_NO_PLACE UINT32_MAX

/* The number of the place of the largest detour of a path, or IWI_NO_PLACE. */
typedef uint32_t (*iwi_path_place_fn)(const iw_path *path, uint32_t arg);

uint32_t iwi_path_place_rank(const iw_path *path, uint32_t unused);
uint32_t iwi_path_place_source(const iw_path *path, uint32_t unused);
uint32_t iwi_path_place_seat(const iw_path *path, uint32_t ranks_per_node);

/* 0 to 9. Detours that are all alike have no place: the first of them is the largest by definition. */
uint32_t iwi_path_place_tenth(const iw_path *path, uint32_t unused);

/* The places that most trials have in common, the most first; ties: the lowest number. A place stands out if,
 * by chance, any of `place_count` equally likely ones would have as many with a probability below 1 %. Each
 * path counts once, by its largest detour: those of one path are not independent of each other. */
IW_NODISCARD iw_status iwi_count_places(const iw_log *log, const iw_path *paths, size_t count,
                                        iwi_path_place_fn place_of, uint32_t arg, uint32_t place_count,
                                        iw_hit_place places[IWI_MOST_PLACES], size_t *found_p);

#endif
