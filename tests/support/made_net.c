/* A measured network made up by hand.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_net.h"

#include <stdio.h>

static iw_estimate around(double ns)
{
    return (iw_estimate){ns, 0.9 * ns, 1.2 * ns};
}

static void make_levels(struct iwt_made_net *made)
{
    made->levels[0] = (iw_net_level){.name = "node",
                                     .ranks = {0, 1},
                                     .eager_computing = {256, true, 70},
                                     .eager_inside = {4040, true, 75}};
    made->levels[1] = (iw_net_level){.name = "network",
                                     .ranks = {0, 2},
                                     .eager_computing = {4 << 20, false, 5},
                                     .eager_inside = {4 << 20, false, 5}};
    made->levels[0].net = (iw_net){.name = "node",
                                   .L_ps = 213456,
                                   .o_send_ps = 100000,
                                   .o_recv_ps = 250000,
                                   .g_ps = 170000,
                                   .G = 58824,
                                   .O = 1,
                                   .S_bytes = 256,
                                   .segment_count = 2,
                                   .segments = {{257, 1000000, 90000, 240000, 500000, 60000, 20000},
                                                {1 << 20, 1000000000, 0, 0, 800000000, 123456789, 0}}};
    made->levels[1].net = (iw_net){.name = "network",
                                   .L_ps = 5000000,
                                   .o_send_ps = 2000000,
                                   .o_recv_ps = 3000000,
                                   .g_ps = 2500000,
                                   .G = 800000};
    made->levels[1].net.S_bytes = 4 << 20;
    for (size_t i = 0; i < 2; i++) {
        iw_net_level *level = &made->levels[i];

        level->L = around((double)level->net.L_ps / 1e3);
        level->o_send = around((double)level->net.o_send_ps / 1e3);
        level->o_recv = around((double)level->net.o_recv_ps / 1e3);
        level->gap = around((double)level->net.g_ps / 1e3);
        level->half_round_trip =
            around((double)(level->net.L_ps + level->net.o_send_ps + level->net.o_recv_ps) / 1e3);
        level->fit_error = 0.021;
        level->least_overlap = 1;
        level->points = &made->points[i];
        level->point_count = 1;
        made->points[i] = (iw_net_point){.bytes = 1,
                                         .samples = 1200,
                                         .half_round_trip = level->half_round_trip,
                                         .gap = level->gap,
                                         .o_send = level->o_send,
                                         .o_recv = level->o_recv};
    }
}

void iwt_made_net_init(struct iwt_made_net *made)
{
    *made = (struct iwt_made_net){.slow = {{1, 2}, 40000, 162000, 2.0, 1.0125}};
    for (size_t i = 0; i < 3; i++) {
        snprintf(made->hosts[i], sizeof made->hosts[i], "%s", i < 2 ? "alpha" : "beta");
    }
    make_levels(made);
    made->measured = (iw_net_measured){.launches = 1,
                                       .ranks = 3,
                                       .hosts = 2,
                                       .host_names = made->hosts,
                                       .mpi_version = "Open MPI v4.1.4",
                                       .clock = "CLOCK_MONOTONIC, 25.0 ns a reading",
                                       .large_bytes = 65536,
                                       .link_count = 3,
                                       .pair_count = 3,
                                       .seconds = 9.75,
                                       .level_count = 2,
                                       .levels = made->levels,
                                       .slow_count = 1,
                                       .slow = &made->slow};
}
