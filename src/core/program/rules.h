/* Which algorithm a collective of a trace runs by: rule sets, and what the user wants instead.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A rule set is one const struct iwi_rule_set and its line in rules.c.
 */
#ifndef IWI_RULES_H
#define IWI_RULES_H

#include "core/program/program.h"

enum iwi_rule_ranks { IWI_RANKS_ANY, IWI_RANKS_POWER_OF_TWO, IWI_RANKS_NO_POWER_OF_TWO };

/* From so many ranks and bytes on, up to the next rule of the same operation (algorithm->kind). */
struct iwi_rule {
    const struct iwi_algorithm *algorithm;
    uint32_t from_ranks;
    uint64_t from_bytes;
    enum iwi_rule_ranks ranks_are;
    uint64_t segment_bytes; /* 0: not cut */
    bool is_open;           /* left to the set's `otherwise` */
};

/* Among the rules of an operation whose `ranks_are` fits, those with the largest from_ranks not above the
 * number of ranks count; among these the one with the largest from_bytes not above the size. */
struct iwi_rule_set {
    const char *name, *summary;
    const struct iwi_rule *rules;
    size_t count;
    /* Before these, where nodes are known and there is more than one, of more than one rank. */
    const struct iwi_rule *node_rules;
    size_t node_count;
    /* The same for what no table says; NULL: there is none. Returns NULL where it has no opinion. */
    const struct iwi_rule *(*choose_on_nodes)(enum iwi_op_kind kind, const struct iwi_operation *op);
    const struct iwi_rule_set *otherwise; /* where no rule fits; NULL: the operation's default algorithm */
    uint32_t total_kinds;                 /* bit (1 << kind): sizes count the blocks of all ranks together */
};

extern const struct iwi_rule_set iwi_rules_paper, iwi_rules_ompi_4_1, iwi_rules_ompi_5, iwi_rules_mpich,
    iwi_rules_nccl_ring, iwi_rules_nccl;

/* NULL if there is no set of that name. */
const struct iwi_rule_set *iwi_rules_find(const char *name);

/* "paper, ompi-4.1, ...", for messages. */
void iwi_rules_list(char *text, size_t size);

/* What the user wants before any rule set: rules for exactly these sizes. */
struct iwi_algorithm_overrides {
    struct iwi_rule *rules;
    size_t count;
};

/* Reads "OP=ALGORITHM", "OP>SIZE=ALGORITHM", each with "/SEGMENT" behind it if wanted; `texts` ends with NULL
 * or is NULL. Underscores and hyphens are the same; Open MPI's names of algorithms are known too.
 * IW_ERR_USAGE. */
IW_NODISCARD iw_status iwi_algorithm_overrides_parse(const iw_log *log, const char *const *texts,
                                                     struct iwi_algorithm_overrides *overrides_p);
void iwi_algorithm_overrides_release(struct iwi_algorithm_overrides *overrides);

/* `bytes` as in struct iwi_operation. Sets algorithm and segment_bytes of `op`, whose ranks and bytes are
 * set. */
void iwi_rules_choose(const struct iwi_rule_set *set, const struct iwi_algorithm_overrides *overrides,
                      enum iwi_op_kind kind, struct iwi_operation *op);

/* ---- Open MPI's numbers ---- */

enum { IWI_OMPI_COLLECTIVES = 22 }; /* numbers of collectives in its rules files */

/* The operation that collective `number` is; IWI_OP_KINDS: one that traces do not tell apart (v- and w-forms,
 * neighbour collectives). */
enum iwi_op_kind iwi_ompi_kind(uint32_t number);

/* The nearest that idlewave has to algorithm `id` of that operation; NULL: no such id. */
const struct iwi_algorithm *iwi_ompi_algorithm(enum iwi_op_kind kind, uint32_t id);

#endif
