/* The table of all algorithms, and how they are found by name.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/program/collectives/list.h"

#define ADDRESS(name) &iwi_##name,
static const struct iwi_algorithm *const algorithms[] = {IWI_ALGORITHMS(ADDRESS)};
#undef ADDRESS

enum { ALGORITHM_COUNT = sizeof algorithms / sizeof algorithms[0] };

const char *const iwi_op_kind_names[IWI_OP_KINDS] = {
    [IWI_BARRIER] = "barrier",     [IWI_BCAST] = "bcast",       [IWI_REDUCE] = "reduce",
    [IWI_ALLREDUCE] = "allreduce", [IWI_GATHER] = "gather",     [IWI_SCATTER] = "scatter",
    [IWI_ALLGATHER] = "allgather", [IWI_ALLTOALL] = "alltoall", [IWI_REDUCE_SCATTER] = "reduce_scatter",
    [IWI_SCAN] = "scan",           [IWI_EXSCAN] = "exscan",     [IWI_PINGPONG] = "pingpong",
    [IWI_RING] = "ring",           [IWI_HALO1D] = "halo1d",     [IWI_HALO2D] = "halo2d",
    [IWI_HALO3D] = "halo3d",       [IWI_SWEEP2D] = "sweep2d",
};

bool iw_algorithm_info(size_t index, const char **op_p, const char **algorithm_p, const char **summary_p)
{
    if (index >= ALGORITHM_COUNT) {
        return false;
    }
    *op_p = iwi_op_kind_names[algorithms[index]->kind];
    *algorithm_p = algorithms[index]->name;
    *summary_p = algorithms[index]->summary;
    return true;
}

static bool is_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* "a, b, c" as far as it fits. */
static void append_name(char *list, size_t size, const char *name)
{
    const size_t used = strlen(list);

    snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

static iw_status unknown_operation(const iw_log *log, const char *text, size_t length)
{
    char known[256] = "";

    for (size_t kind = 0; kind < IWI_OP_KINDS; kind++) {
        append_name(known, sizeof known, iwi_op_kind_names[kind]);
    }
    return iwi_fail(log, IW_ERR_USAGE, "unknown operation '%.*s'; known are %s", (int)length, text, known);
}

static iw_status unknown_algorithm(const iw_log *log, size_t kind, const char *text, size_t length)
{
    char known[256] = "";

    for (size_t i = 0; i < ALGORITHM_COUNT; i++) {
        if (algorithms[i]->kind == kind) {
            append_name(known, sizeof known, algorithms[i]->name);
        }
    }
    return iwi_fail(log, IW_ERR_USAGE, "unknown algorithm '%.*s' of %s; known are %s", (int)length, text,
                    iwi_op_kind_names[kind], known);
}

iw_status iwi_algorithm_find(const iw_log *log, const char *name, size_t name_length,
                             const struct iwi_algorithm **algorithm_p)
{
    const char *colon = memchr(name, ':', name_length);
    const size_t op_length = colon == NULL ? name_length : (size_t)(colon - name);
    const char *wanted = colon == NULL ? NULL : colon + 1;
    const size_t wanted_length = colon == NULL ? 0 : name_length - op_length - 1;
    size_t kind = 0;

    while (kind < IWI_OP_KINDS && !is_name(iwi_op_kind_names[kind], name, op_length)) {
        kind++;
    }
    if (kind == IWI_OP_KINDS) {
        return unknown_operation(log, name, op_length);
    }
    for (size_t i = 0; i < ALGORITHM_COUNT; i++) {
        if (algorithms[i]->kind == kind &&
            (wanted == NULL || is_name(algorithms[i]->name, wanted, wanted_length))) {
            *algorithm_p = algorithms[i];
            return IW_OK;
        }
    }
    return unknown_algorithm(log, kind, wanted, wanted_length);
}

const struct iwi_algorithm *iwi_algorithm_default(enum iwi_op_kind kind)
{
    size_t i = 0;

    while (algorithms[i]->kind != kind) { /* every operation has one */
        i++;
    }
    return algorithms[i];
}
