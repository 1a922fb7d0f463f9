/* Small in-order programs for tests, rank by rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_BUILDER_H
#define IWT_BUILDER_H

#include <idlewave/sim.h>

#include "core/program/program.h"

enum { IWT_MOST_RANKS = 64 };

struct iwt_builder {
    uint32_t ranks;
    struct iwi_node *nodes[IWT_MOST_RANKS];
    uint64_t *first_dep[IWT_MOST_RANKS]; /* per node: first of its requests */
    uint32_t *requests[IWT_MOST_RANKS];
    size_t node_count[IWT_MOST_RANKS], request_count[IWT_MOST_RANKS];
    size_t open[IWT_MOST_RANKS]; /* nodes before this are waited for */
};

void iwt_builder_init(struct iwt_builder *b, uint32_t ranks);
void iwt_builder_release(struct iwt_builder *b);

void iwt_calc(struct iwt_builder *b, uint32_t rank, iw_time ps); /* a compute phase */
void iwt_send(struct iwt_builder *b, uint32_t rank, uint32_t to, uint64_t bytes, uint32_t tag);
void iwt_recv(struct iwt_builder *b, uint32_t rank, uint32_t from, uint64_t bytes, uint32_t tag);
void iwt_isend(struct iwt_builder *b, uint32_t rank, uint32_t to, uint64_t bytes, uint32_t tag);
void iwt_irecv(struct iwt_builder *b, uint32_t rank, uint32_t from, uint64_t bytes, uint32_t tag);
void iwt_wait(struct iwt_builder *b, uint32_t rank); /* for everything nonblocking since the last wait */

/* The program; the builder can be used again. */
iw_program *iwt_program(const struct iwt_builder *b);

/* L = 10, o = 2, g = 5, G = 1 per byte, O = 0, S = 100: the network of docs/explanation/semantics.md, in
 * nanoseconds. */
iw_net iwt_example_net(void);

/* Runs one trial with end times; fails the test unless it works. */
iw_sim_result *iwt_run(const iw_program *program, const iw_net *net, const iw_noise *noise,
                       const iw_sim_opts *opts);

/* Runs what was built, without noise of the system, and compares when ranks 0 and 1 end. */
void iwt_expect_ends(const struct iwt_builder *b, const iw_net *net, const iw_sim_opts *opts,
                     const iw_time end_ns[2]);

/* Detours on all ranks at the same times. Synchronised noise starts at one random offset, so the trace is
 * turned by it; for seed 1, up to 8 of them. */
struct iwt_detour {
    iw_time start_ns, end_ns;
};
iw_noise *iwt_noise_at(const struct iwt_detour *detours, size_t count);

/* One detour in a millisecond, on that rank at that time; on others at some other time. */
iw_noise *iwt_noise_on_rank(uint32_t rank, iw_time start_ns, iw_time end_ns);

#define IWT_NS(x) ((iw_time)(x)*1000)

#endif
