/* Results of studies made up for tests of reports: smooth curves with known inflections.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_STUDY_SAMPLE_H
#define IW_STUDY_SAMPLE_H

#include <idlewave/study.h>

struct study_sample {
    size_t systems, works, sizes, syncs, nets; /* of each dimension so many values; at least 1 */
    size_t points;                             /* 2, 4, 8, ... ranks */
    uint64_t trials;
};

#define STUDY_SAMPLE_INIT                                                                         \
    {                                                                                             \
        .systems = 4, .works = 2, .sizes = 1, .syncs = 1, .nets = 1, .points = 20, .trials = 1000 \
    }

/* Systems chic, altix, xt4, zeptoos, then "system 4", ...: the slowdown of the first work passes 1 at 512,
 * 4,096, 8,192 ranks, never, and so on; further works are hit less. To be freed by iw_study_results_free().
 */
iw_study_results *study_sample_new(const struct study_sample *sample);

/* One cell takes another text: field is one of system, work, noise, net of any cell, or title, name, text of
 * the results. */
void study_sample_rename(char **field, const char *text);

#endif
