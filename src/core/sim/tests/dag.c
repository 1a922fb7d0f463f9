/* Small GOAL graphs for tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "dag.h"

#include "support/support.h"

void iwt_dag_rank(struct iwt_dag *d)
{
    assert_true(d->ranks + 1 < IWT_MOST_DAG);
    d->first_node[d->ranks++] = d->node_count;
}

static void add(struct iwt_dag *d, struct iwi_node node)
{
    assert_true(d->node_count + 1 < IWT_MOST_DAG);
    d->nodes[d->node_count] = node;
    d->first_dep[d->node_count++] = d->dep_count;
}

void iwt_dag_calc(struct iwt_dag *d, iw_time ps)
{
    add(d, (struct iwi_node){.kind = IWI_CALC, .flags = IWI_NODE_PHASE, .amount = (uint64_t)ps});
}

void iwt_dag_empty(struct iwt_dag *d)
{
    add(d, (struct iwi_node){.kind = IWI_CALC});
}

void iwt_dag_send(struct iwt_dag *d, uint32_t to, uint64_t bytes, uint32_t tag)
{
    add(d, (struct iwi_node){.kind = IWI_SEND, .peer = to, .tag = tag, .amount = bytes});
}

void iwt_dag_recv(struct iwt_dag *d, uint32_t from, uint64_t bytes, uint32_t tag)
{
    add(d, (struct iwi_node){.kind = IWI_RECV, .peer = from, .tag = tag, .amount = bytes});
}

void iwt_dag_on_cpu(struct iwt_dag *d, uint8_t cpu)
{
    d->nodes[d->node_count - 1].cpu = cpu;
}

static void depend(struct iwt_dag *d, struct iwi_dep dep)
{
    assert_true(d->dep_count < IWT_MOST_DAG);
    d->deps[d->dep_count++] = dep;
}

void iwt_dag_requires(struct iwt_dag *d, uint32_t other)
{
    depend(d, (struct iwi_dep){.node = other, .is_start = false});
}

void iwt_dag_irequires(struct iwt_dag *d, uint32_t other)
{
    depend(d, (struct iwi_dep){.node = other, .is_start = true});
}

void iwt_dag_end(struct iwt_dag *d)
{
    uint8_t cpu_count = 1;

    d->first_node[d->ranks] = d->node_count;
    d->first_dep[d->node_count] = d->dep_count;
    for (uint64_t n = 0; n < d->node_count; n++) {
        cpu_count = d->nodes[n].cpu >= cpu_count ? (uint8_t)(d->nodes[n].cpu + 1) : cpu_count;
    }
    d->schedule = (struct iwi_schedule){.ranks = d->ranks,
                                        .cpu_count = cpu_count,
                                        .nic_count = 1,
                                        .first_node = d->first_node,
                                        .nodes = d->nodes,
                                        .first_dep = d->first_dep,
                                        .deps = d->deps};
    d->program = (iw_program){.schedule = &d->schedule, .ranks = d->ranks};
}
