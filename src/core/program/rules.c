/* The table of rule sets, and how a rule is chosen.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/rules.h"

#include <idlewave/program.h>

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

static const struct iwi_rule_set *const sets[] = {
    &iwi_rules_paper, &iwi_rules_ompi_4_1,  &iwi_rules_ompi_5,
    &iwi_rules_mpich, &iwi_rules_nccl_ring, &iwi_rules_nccl,
};

enum { SET_COUNT = sizeof sets / sizeof sets[0] };

const char *iw_rules_name(size_t index)
{
    return index < SET_COUNT ? sets[index]->name : NULL;
}

const struct iwi_rule_set *iwi_rules_find(const char *name)
{
    for (size_t i = 0; i < SET_COUNT; i++) {
        if (strcmp(sets[i]->name, name) == 0) {
            return sets[i];
        }
    }
    return NULL;
}

void iwi_rules_list(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < SET_COUNT && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", sets[i]->name);
    }
}

static bool is_for(const struct iwi_rule *rule, enum iwi_op_kind kind, const struct iwi_operation *op)
{
    const uint32_t ranks = op->ranks;
    const bool is_power_of_two = (ranks & (ranks - 1)) == 0;

    return rule->algorithm->kind == kind && rule->from_ranks <= ranks &&
           (!rule->algorithm->uses_nodes || op->nodes.ranks > 0) &&
           (rule->ranks_are == IWI_RANKS_ANY ||
            (rule->ranks_are == IWI_RANKS_POWER_OF_TWO) == is_power_of_two);
}

/* The best of `rules`, or NULL. Of equal ones the last counts: a later wish replaces an earlier one. */
static const struct iwi_rule *best(const struct iwi_rule *rules, size_t count, enum iwi_op_kind kind,
                                   const struct iwi_operation *op, uint64_t bytes)
{
    const struct iwi_rule *found = NULL;
    uint32_t band = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_for(&rules[i], kind, op) && rules[i].from_ranks > band) {
            band = rules[i].from_ranks;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (is_for(&rules[i], kind, op) && rules[i].from_ranks == band && rules[i].from_bytes <= bytes &&
            (found == NULL || rules[i].from_bytes >= found->from_bytes)) {
            found = &rules[i];
        }
    }
    return found;
}

/* The product, or as much as fits. */
static uint64_t total_of(uint64_t bytes, uint32_t ranks)
{
    uint64_t total;

    return __builtin_mul_overflow(bytes, ranks, &total) ? UINT64_MAX : total;
}

static const struct iwi_rule *best_of_set(const struct iwi_rule_set *set, enum iwi_op_kind kind,
                                          const struct iwi_operation *op)
{
    const bool is_total = (set->total_kinds >> kind & 1U) != 0;
    const uint64_t bytes = is_total ? total_of(op->bytes, op->ranks) : op->bytes;
    const bool has_nodes = op->nodes.ranks > 1 && op->nodes.ranks < op->ranks;
    const struct iwi_rule *rule = has_nodes ? best(set->node_rules, set->node_count, kind, op, bytes) : NULL;

    if (has_nodes && set->choose_on_nodes != NULL) {
        rule = set->choose_on_nodes(kind, op);
    }
    if (rule == NULL || rule->is_open) {
        rule = best(set->rules, set->count, kind, op, bytes);
    }
    return rule != NULL && rule->is_open ? NULL : rule;
}

void iwi_rules_choose(const struct iwi_rule_set *set, const struct iwi_algorithm_overrides *overrides,
                      enum iwi_op_kind kind, struct iwi_operation *op)
{
    const struct iwi_rule *rule = best(overrides->rules, overrides->count, kind, op, op->bytes);

    for (; rule == NULL && set != NULL; set = set->otherwise) {
        rule = best_of_set(set, kind, op);
    }
    op->algorithm = rule != NULL ? rule->algorithm : iwi_algorithm_default(kind);
    op->segment_bytes = rule != NULL ? rule->segment_bytes : 0;
}
