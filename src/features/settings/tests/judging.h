/* What tests of judges share: a node and what was seen on it, put together by hand.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_JUDGING_H
#define IWT_JUDGING_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/settings/judge.h"
#include "support/support.h"

/* A node of eight CPUs of which nothing is known, and a minute on CPUs 2-7 in which nothing happened. */
struct bench {
    struct iwi_node_facts *node;
    struct iwi_observed seen;
    struct iwi_case c;
    iw_mitigation m;
};

static inline iw_cpu_set cpus(const char *text)
{
    char fault[IW_CPU_FAULT_SIZE];
    iw_cpu_set set;

    assert_true(iw_cpu_set_parse(text, &set, fault));
    return set;
}

static inline struct iwi_cpu_fact fact(const char *text)
{
    return (struct iwi_cpu_fact){true, text[0] != '\0' ? cpus(text) : (iw_cpu_set){{0}}};
}

static inline int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof *b);

    assert_non_null(b);
    b->node = calloc(1, sizeof *b->node);
    assert_non_null(b->node);
    iwi_node_init(b->node);
    b->node->online = fact("0-7");
    b->node->isolated = b->node->nohz_full = b->node->rcu_nocbs = fact("");
    for (uint32_t i = 0; i < 8; i++) {
        b->node->core_of[i] = (uint16_t)(i % 4);
    }
    *state = b;
    return 0;
}

static inline int tear_down(void **state)
{
    struct bench *b = *state;

    iwi_observed_release(&b->seen);
    iwi_node_release(b->node);
    free(b->node);
    free(b);
    return 0;
}

/* Watched by a recording that names everything, or by counters. */
static inline void watch(struct bench *b, const char *list, double seconds, enum iwi_seen_by by)
{
    const iw_cpu_set set = cpus(list);

    b->seen = (struct iwi_observed){.by = by, .attribution = IW_ATTRIBUTION_LEVEL_TRACEFS, .cpus = set};
    b->seen.slot_count = (size_t)fmax(1.0, by == IWI_SEEN_BY_RECORDING ? 4.0 * seconds : seconds);
    b->seen.seen_cpus = calloc(8, sizeof *b->seen.seen_cpus);
    assert_non_null(b->seen.seen_cpus);
    for (uint32_t cpu = 0; cpu < 8; cpu++) {
        if (iw_cpu_set_has(&set, cpu)) {
            b->seen.seen_cpus[b->seen.cpu_count++] = (struct iwi_seen_cpu){cpu, seconds, 0.0, NAN, 0};
        }
    }
    for (iw_class kind = 0; kind < IW_CLASSES; kind++) {
        b->seen.tells[kind] = by == IWI_SEEN_BY_RECORDING || kind != IW_CLASS_THREAD;
    }
}

/* On the first CPU that is watched; not closer together than there is room for. */
static inline void happen(struct bench *b, iw_class kind, const char *name, uint64_t count)
{
    struct iwi_seen_row *row = iwi_observed_row(NULL, &b->seen, kind, name, 0);

    assert_non_null(row);
    for (uint64_t i = 0; i < count && 2 * (row->count + i) < b->seen.slot_count; i++) {
        iwi_mark_slot(&b->seen, row, 2 * (row->count + i));
    }
    row->count += count;
    row->busy_ns += 1000.0 * (double)count;
}

static inline bool judge_for(struct bench *b, const struct iwi_mitigation_ops *ops, const char *application)
{
    iw_cpu_set set;

    if (application != NULL) {
        set = cpus(application);
    }
    iwi_case_init(&b->c, b->node, &b->seen, application != NULL ? &set : NULL);
    return iwi_judge(&b->c, ops, &b->m);
}

static inline void assert_judged(struct bench *b, const struct iwi_mitigation_ops *ops,
                                 iw_mitigation_state state)
{
    assert_true(judge_for(b, ops, NULL));
    assert_string_equal(iw_mitigation_state_name(b->m.state), iw_mitigation_state_name(state));
}

static inline void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("'%s' lacks '%s'", text, part);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
