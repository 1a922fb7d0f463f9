/* Critical paths of several trials: their average, and where the largest detours of each were.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PATH_STATS_H
#define IWI_PATH_STATS_H

#include <idlewave/result.h>
#include <idlewave/sim.h>

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
