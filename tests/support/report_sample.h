/* A result made by hand, and what a writer makes of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_SAMPLE_H
#define IWT_SAMPLE_H

#include <idlewave/result.h>

enum { SAMPLE_MOST_TRIALS = 16, SAMPLE_TEXT_SIZE = 1 << 18 };

struct sample {
    iw_sim_result result;
    iw_origin origin;
    iw_net net;
    iw_noise *noise;
    iw_time makespan_ps[SAMPLE_MOST_TRIALS];
    iw_path path, paths[10];
    iw_explain explain;
    char text[SAMPLE_TEXT_SIZE]; /* what the last writer wrote */
};

/* An allreduce on 8 ranks: one trial of 130.2 us, no noise. */
void sample_init(struct sample *s);
void sample_release(struct sample *s);

/* Noise 'periodic:10Hz,1us'; `count` trials whose makespans are these multiples of the noiseless time. */
void sample_set_trials(struct sample *s, const double *factors, size_t count);
void sample_add_noise(struct sample *s, const char *spec);

/* Fills sample.explain: 100 us of computation, 30 us of latency, the rest of 130.2 us noise. */
void sample_add_explain(struct sample *s);

/* After that: ten paths of 1000 ns: 900 of work, 100 of noise, of which 80 by a detour of rank 6 in the
 * fourth tenth. */
void sample_add_paths(struct sample *s);

/* Writes it into sample.text; asserts success. */
void sample_write(struct sample *s, iw_doc_format format);

/* The same from a file of its JSON. */
void sample_report(struct sample *s, iw_doc_format format);

#endif
