/* Proof by symbolic execution that each collective does what its name says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "dataflow_run.h"
#include "rounds_support.h"

#include <stdio.h>
#include <string.h>

static void prove(const struct iwt_model *model, uint32_t ranks, uint32_t root, uint64_t bytes)
{
    iw_pattern pattern = IW_PATTERN_INIT;

    pattern.ranks = ranks;
    pattern.root = root;
    pattern.bytes = bytes;
    iwt_prove(model, &pattern);
}

static void every_collective_reaches_its_postcondition(void **state)
{
    (void)state;
    for (const struct iwt_model *model = iwt_models; model->name != NULL; model++) {
        const bool is_large = model->items == iwt_item_per_pair;
        const bool is_cut = model->item_bytes != NULL || model->items == iwt_item_per_rank;

        for (size_t p = 0; iwt_rank_counts[p] != 0; p++) {
            const uint32_t ranks = iwt_rank_counts[p];

            if (model->is_apart || (is_large && ranks > 21)) {
                continue;
            }
            prove(model, ranks, 0, 2 * ranks + 1); /* odd, and no multiple of the ranks */
            if (ranks <= 40 || !is_cut) {
                prove(model, ranks, ranks / 3, 1021);
                prove(model, ranks, ranks - 1, 2 * ranks + 1);
            }
        }
    }
}

static void fewer_bytes_than_ranks_still_reach_everyone(void **state)
{
    const uint32_t counts[] = {5, 7, 8, 12, 16, 21};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (const struct iwt_model *model = iwt_models; model->name != NULL; model++) {
            /* rings and halves send empty blocks; the broadcast skips some of them */
            if (model->item_bytes != NULL && !model->is_apart) {
                prove(model, counts[i], counts[i] / 2, 3);
            }
        }
    }
}

static void long_broadcasts_use_the_ring(void **state)
{
    const uint32_t counts[] = {2, 4, 8, 16};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (const struct iwt_model *model = iwt_models; model->name != NULL; model++) {
            if (strcmp(model->name, "bcast:scatter-allgather") == 0) {
                prove(model, counts[i], 1, 524289);
                prove(model, counts[i], 1, 1048576);
            }
        }
    }
}

static void every_registered_collective_is_proven(void **state)
{
    const char *op;
    const char *algorithm;
    const char *summary;
    char name[80];

    (void)state;
    for (size_t i = 0; iw_algorithm_info(i, &op, &algorithm, &summary); i++) {
        bool is_known = strstr("scan exscan pingpong ring halo1d halo2d halo3d sweep2d", op) != NULL;

        snprintf(name, sizeof name, "%s:%s", op, algorithm);
        for (const struct iwt_model *model = iwt_models; model->name != NULL; model++) {
            is_known |= strcmp(model->name, name) == 0;
        }
        if (!is_known) {
            fail_msg("no model of %s", name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_collective_reaches_its_postcondition),
        cmocka_unit_test(fewer_bytes_than_ranks_still_reach_everyone),
        cmocka_unit_test(long_broadcasts_use_the_ring),
        cmocka_unit_test(every_registered_collective_is_proven),
    };

    return cmocka_run_group_tests_name("dataflow", tests, NULL, NULL);
}
