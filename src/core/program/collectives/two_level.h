/* Collectives of two levels: inside each node up to its leader, over the leaders, inside down again.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Inside a node data takes a binomial tree, short distances first on the way up. Over the leaders runs any
 * other algorithm, among as many ranks as there are nodes. The first rank of a node leads it; in rooted
 * operations the root leads its own.
 */
#ifndef IWI_TWO_LEVEL_H
#define IWI_TWO_LEVEL_H

#include "core/program/collectives/nodes.h"

/* One way inside the nodes. */
struct iwi_inside {
    bool exists;
    bool is_personal; /* an edge carries `bytes` for each rank below it */
    bool is_reducing; /* receivers combine */
    uint64_t bytes;
};

struct iwi_two_level {
    struct iwi_node_map map;
    uint32_t root_node, root_seat; /* 0, 0 where nobody is the root */
    uint32_t inside_rounds;        /* of one way */
    struct iwi_inside up, down;
    /* Over the leaders, whose ranks are numbers of nodes; its root is root_node. */
    struct iwi_operation across;
    uint64_t across_rounds;
};

/* All but what the operation sets: up, down, across.algorithm and .bytes; then iwi_two_level_ready(). In
 * place: roles are hot. */
void iwi_two_level_init(struct iwi_two_level *two, const struct iwi_operation *op, bool is_rooted);
void iwi_two_level_ready(struct iwi_two_level *two);

uint64_t iwi_two_level_rounds(const struct iwi_two_level *two);
uint64_t iwi_two_level_messages(const struct iwi_two_level *two);
void iwi_two_level_round(const struct iwi_two_level *two, uint64_t index, struct iwi_round *round);
void iwi_two_level_role(const struct iwi_two_level *two, uint64_t index, uint32_t rank,
                        struct iwi_role *role);

/* The functions of a struct iwi_algorithm whose file has `plan(op, &two)`. */
#define IWI_TWO_LEVEL_FUNCTIONS(plan)                                                                    \
    static uint64_t two_level_rounds(const struct iwi_operation *op)                                     \
    {                                                                                                    \
        struct iwi_two_level two;                                                                        \
                                                                                                         \
        plan(op, &two);                                                                                  \
        return iwi_two_level_rounds(&two);                                                               \
    }                                                                                                    \
    static uint64_t two_level_messages(const struct iwi_operation *op)                                   \
    {                                                                                                    \
        struct iwi_two_level two;                                                                        \
                                                                                                         \
        plan(op, &two);                                                                                  \
        return iwi_two_level_messages(&two);                                                             \
    }                                                                                                    \
    static void two_level_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round) \
    {                                                                                                    \
        struct iwi_two_level two;                                                                        \
                                                                                                         \
        plan(op, &two);                                                                                  \
        iwi_two_level_round(&two, index, round);                                                         \
    }                                                                                                    \
    static void two_level_role(const struct iwi_operation *op, uint64_t index, uint32_t rank,            \
                               struct iwi_role *role)                                                    \
    {                                                                                                    \
        struct iwi_two_level two;                                                                        \
                                                                                                         \
        plan(op, &two);                                                                                  \
        iwi_two_level_role(&two, index, rank, role);                                                     \
    }

#endif
