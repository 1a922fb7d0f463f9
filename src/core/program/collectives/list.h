/* Every algorithm, one line each; the first of an operation is its default. Order: that of enum iwi_op_kind.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COLLECTIVES_LIST_H
#define IWI_COLLECTIVES_LIST_H

#include "core/program/program.h"

#define IWI_ALGORITHMS(X)               \
    X(barrier_dissemination)            \
    X(barrier_recursive_doubling)       \
    X(barrier_tree)                     \
    X(barrier_linear)                   \
    X(barrier_two_level)                \
    X(bcast_binomial)                   \
    X(bcast_binary)                     \
    X(bcast_chain)                      \
    X(bcast_scatter_allgather)          \
    X(bcast_linear)                     \
    X(bcast_two_level)                  \
    X(bcast_han)                        \
    X(reduce_binomial)                  \
    X(reduce_binary)                    \
    X(reduce_chain)                     \
    X(reduce_rabenseifner)              \
    X(reduce_linear)                    \
    X(reduce_two_level)                 \
    X(reduce_han)                       \
    X(allreduce_recursive_doubling)     \
    X(allreduce_dissemination)          \
    X(allreduce_ring)                   \
    X(allreduce_rabenseifner)           \
    X(allreduce_reduce_bcast)           \
    X(allreduce_double_tree)            \
    X(allreduce_two_level)              \
    X(allreduce_han)                    \
    X(allreduce_node_rings)             \
    X(allreduce_node_double_tree)       \
    X(allreduce_nvls)                   \
    X(gather_binomial)                  \
    X(gather_linear)                    \
    X(scatter_binomial)                 \
    X(scatter_linear)                   \
    X(allgather_bruck)                  \
    X(allgather_recursive_doubling)     \
    X(allgather_ring)                   \
    X(allgather_two_level)              \
    X(alltoall_linear)                  \
    X(alltoall_pairwise)                \
    X(alltoall_bruck)                   \
    X(alltoall_two_level)               \
    X(reduce_scatter_recursive_halving) \
    X(reduce_scatter_ring)              \
    X(reduce_scatter_pairwise)          \
    X(scan_recursive_doubling)          \
    X(scan_linear)                      \
    X(exscan_recursive_doubling)        \
    X(exscan_linear)                    \
    X(pingpong_pairs)                   \
    X(ring_shift)                       \
    X(ring_token)                       \
    X(halo1d_neighbours)                \
    X(halo2d_neighbours)                \
    X(halo3d_neighbours)                \
    X(sweep2d_wavefront)

#define IWI_ALGORITHM_DECLARE(name) extern const struct iwi_algorithm iwi_##name;
IWI_ALGORITHMS(IWI_ALGORITHM_DECLARE)
#undef IWI_ALGORITHM_DECLARE

#endif
