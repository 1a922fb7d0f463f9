/* What users want of single operations: "allreduce=ring", "bcast>64KiB=chain/8KiB".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/program/rules.h"

enum { NAME_SIZE = 64 };

static iw_status fail_form(const iw_log *log, const char *text)
{
    return iwi_fail(log, IW_ERR_USAGE,
                    "'%s' says no algorithm: write OP=ALGORITHM or OP>SIZE=ALGORITHM, for instance "
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
        return iwi_fail(log, IW_ERR_USAGE, "'%s' is no collective operation of MPI", op);
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
