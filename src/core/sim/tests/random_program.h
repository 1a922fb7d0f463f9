/* Random programs that cannot deadlock, and random noise, for property tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_RANDOM_PROGRAM_H
#define IWT_RANDOM_PROGRAM_H

#include "builder.h"

struct iwt_random {
    uint64_t seed, index;
};

uint64_t iwt_below(struct iwt_random *random, uint64_t n);

enum iwt_sizes {
    IWT_MIXED_SIZES, /* 0 to 300 bytes: eager and rendezvous under the example network */
    IWT_ONE_SIZE     /* all messages alike: waits are monotone then (docs/explanation/semantics.md, 9) */
};

/* Messages in one global order, each added to both its ranks: blocking or not, waits now and then. */
void iwt_random_program(struct iwt_random *random, enum iwt_sizes sizes, struct iwt_builder *b);

/* The same program with rank r renamed to name[r]. */
void iwt_rename(const struct iwt_builder *b, const uint32_t *name, struct iwt_builder *renamed);

/* Three repetitions of a pattern of one or two operations, with some work. */
iw_program *iwt_random_pattern(struct iwt_random *random, uint32_t ranks);

/* One to three sources that hit programs of this size often. */
iw_noise *iwt_random_noise(struct iwt_random *random);

/* Detours alone: nothing that counts compute phases. */
iw_noise *iwt_random_clock_noise(struct iwt_random *random);

/* Noise of the network: some messages are not delayed, or all are by the same time. */
void iwt_add_net_noise(struct iwt_random *random, uint64_t most_ps, iw_net *net);

/* Half of all networks with noise get a recorded series instead; iwi_net_release(). */
void iwt_make_series(struct iwt_random *random, uint64_t most_ps, iw_net *net);

/* Takes it away where messages of the program go by rendezvous: only the event engine runs them with it. */
void iwt_quiet_unless_eager(const iw_program *program, iw_net *net);

/* Parameters of the order of the example network's, fractions of G and O included; half of them with up to
 * three levels inside, which often share NICs and narrow links, a quarter with noise and without rendezvous;
 * or none of them with levels and noise. */
iw_net iwt_random_net(struct iwt_random *random);
iw_net iwt_random_flat_net(struct iwt_random *random);

/* Places so many ranks by a list, on nodes of any size; iwi_net_release(). The network has levels. */
void iwt_place_randomly(struct iwt_random *random, uint32_t ranks, iw_net *net);

/* The same with up to three segments below 500 bytes. */
iw_net iwt_random_segmented_net(struct iwt_random *random);

iw_program *iwt_pattern_program(const char *operations, const iw_pattern *pattern);

/* The event engine and the flow engine with a random number of lanes end all ranks at the same times, in
 * three trials, on a random network, with random noise. */
void iwt_compare_engines(const char *operations, const iw_pattern *pattern, struct iwt_random *random);

#endif
