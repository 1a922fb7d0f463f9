/* The table of all algorithms, and how they are found by name.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/program/collectives/list.h"
#include "core/program/rules.h"

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
    return iwi_fail(log, IW_ERR_USAGE, "unknown operation '%.*s': use %s", (int)length, text, known);
}

static iw_status unknown_algorithm(const iw_log *log, size_t kind, const char *text, size_t length)
{
    char known[256] = "";

    for (size_t i = 0; i < ALGORITHM_COUNT; i++) {
        if (algorithms[i]->kind == kind) {
            append_name(known, sizeof known, algorithms[i]->name);
        }
    }
    return iwi_fail(log, IW_ERR_USAGE, "unknown algorithm '%.*s' of %s: use %s", (int)length, text,
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

/* What users want of single operations: "allreduce=ring", "bcast>64KiB=chain/8KiB". */

enum { NAME_SIZE = 64 };

static iw_status fail_form(const iw_log *log, const char *text)
{
    return iwi_fail(log, IW_ERR_USAGE,
                    "'%s' names no algorithm: write OP=ALGORITHM or OP>SIZE=ALGORITHM, for instance "
                    "'bcast>64KiB=chain/8KiB' (segments of 8 KiB)",
                    text);
}

/* Operations have underscores in their names, algorithms hyphens; people mix them up. */
static void copy_name(const char *from, size_t length, char wrong, char right, char *name)
{
    for (size_t i = 0; i < length; i++) {
        name[i] = from[i] == wrong ? right : from[i];
    }
    name[length] = '\0';
}

/* Open MPI calls some algorithms differently. */
static const char *own_name(const char *op, const char *name)
{
    static const char *const others[][2] = {
        {"pipeline", "chain"},      {"split-binary", "binary"},
        {"knomial", "binomial"},    {"nonoverlapping", "reduce-bcast"},
        {"segmented-ring", "ring"},
    };

    if (strcmp(op, "barrier") == 0 && strcmp(name, "bruck") == 0) {
        return "dissemination";
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(name, others[i][0]) == 0) {
            return others[i][1];
        }
    }
    return name;
}

static iw_status parse_count(const iw_log *log, const char *text, size_t length, uint64_t *count_p)
{
    char number[NAME_SIZE];

    (void)snprintf(number, sizeof number, "%.*s", (int)length, text);
    return iw_parse_count(log, number, count_p) == IW_OK ? IW_OK : IW_ERR_USAGE;
}

static iw_status find_algorithm(const iw_log *log, const char *text, size_t op_length, const char *algorithm,
                                size_t algorithm_length, struct iwi_rule *rule)
{
    char op[NAME_SIZE], name[NAME_SIZE], both[2 * NAME_SIZE + 1];

    if (op_length == 0 || op_length >= NAME_SIZE || algorithm_length == 0 || algorithm_length >= NAME_SIZE) {
        return fail_form(log, text);
    }
    copy_name(text, op_length, '-', '_', op);
    copy_name(algorithm, algorithm_length, '_', '-', name);
    (void)snprintf(both, sizeof both, "%s:%s", op, own_name(op, name));
    IW_TRY(iwi_algorithm_find(log, both, strlen(both), &rule->algorithm));
    if (rule->algorithm->kind > IWI_EXSCAN) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s' is not a collective operation of MPI", op);
    }
    return IW_OK;
}

static iw_status parse_wish(const iw_log *log, const char *text, struct iwi_rule *rule)
{
    const char *equals = strchr(text, '=');
    const size_t op_length = strcspn(text, ">=");
    const char *algorithm = equals == NULL ? NULL : equals + 1;
    size_t algorithm_length;

    *rule = (struct iwi_rule){.algorithm = NULL};
    if (equals == NULL) {
        return fail_form(log, text);
    }
    algorithm_length = strcspn(algorithm, "/");
    IW_TRY(find_algorithm(log, text, op_length, algorithm, algorithm_length, rule));
    if (text[op_length] == '>') {
        IW_TRY(parse_count(log, text + op_length + 1, (size_t)(equals - text) - op_length - 1,
                           &rule->from_bytes));
        rule->from_bytes += rule->from_bytes < UINT64_MAX; /* larger than, not from */
    }
    if (algorithm[algorithm_length] == '/') {
        const char *segment = algorithm + algorithm_length + 1;

        IW_TRY(parse_count(log, segment, strlen(segment), &rule->segment_bytes));
    }
    return IW_OK;
}

iw_status iwi_algorithm_overrides_parse(const iw_log *log, const char *const *texts,
                                        struct iwi_algorithm_overrides *overrides_p)
{
    size_t count = 0;
    struct iwi_rule *rules;

    while (texts != NULL && texts[count] != NULL) {
        count++;
    }
    rules = iwi_new_array(log, count, sizeof *rules);
    if (rules == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const iw_status status = parse_wish(log, texts[i], &rules[i]);

        if (status != IW_OK) {
            free(rules);
            return status;
        }
    }
    *overrides_p = (struct iwi_algorithm_overrides){rules, count};
    return IW_OK;
}

void iwi_algorithm_overrides_release(struct iwi_algorithm_overrides *overrides)
{
    free(overrides->rules);
    *overrides = (struct iwi_algorithm_overrides){NULL, 0};
}
