/* Runs of pipelines whose truth is known, as visits.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank t + tp (d + dp s) is stage s of pipeline d. In each step it does its micro-batches forward and back,
 * by 1F1B or GPipe; ranks t of a stage meet after each of them, ranks d at the end of the step, and then all.
 * Sends are beside computation and end when the receiver has come.
 */
#ifndef IWT_MADE_PIPELINE_H
#define IWT_MADE_PIPELINE_H

#include "features/explain/arrivals/visits.h"

enum made_law {
    MADE_EVEN,    /* each computation varies by up to 2 % */
    MADE_OFTEN,   /* exponential, 3 % in the mean */
    MADE_RARE,    /* in one of 50 steps a rank pauses: Pareto, index 1.2 */
    MADE_NODES,   /* eight neighbours pause together, in one of 20 steps, for a third of it */
    MADE_LASTING, /* a rank is a tenth slower for three steps, now and then */
    MADE_DRIFT,   /* all become a fifth slower in the course of the run, each swings by 0.3 % */
    MADE_LAWS
};

struct made_pipeline {
    uint64_t seed;
    uint32_t tp, dp, pp, microbatches, steps;
    bool is_gpipe;
    enum made_law law;
    uint32_t slow_rank; /* UINT32_MAX: none */
    double slower;      /* share of its computation */
};

const char *made_law_name(enum made_law law);

/* `visits` is made and finished. */
void made_pipeline_run(const struct made_pipeline *made, struct iwi_visits *visits);

#endif
