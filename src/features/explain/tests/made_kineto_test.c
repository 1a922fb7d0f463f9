/* The generator of PyTorch profiles: valid JSON, the same for the same seed, pauses that cost what max-plus
 * says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "features/explain/json/json_value.h"
#include "support/made_kineto.h"
#include "support/support.h"

static unsigned parsed_items(const char *text, size_t size)
{
    struct iwi_json_items items;
    struct iwi_json_item item;
    struct iwi_json_tree tree;
    struct iwt_log l;
    unsigned count = 0;

    iwt_log_init(&l);
    iwi_json_tree_init(&tree, &l.log);
    assert_ok(iwi_json_open_memory(&l.log, "f", text, size, IWI_JSON_ONE_ROOT, &items));
    for (;;) {
        assert_ok(iwi_json_next(&items, &item));
        if (item.text == NULL) {
            break;
        }
        assert_ok(iwi_json_parse(&tree, &items, &item));
        count++;
    }
    iwi_json_close(&items);
    iwi_json_tree_release(&tree);
    return count;
}

static void all_styles_are_valid_and_the_same_again(void **state)
{
    (void)state;
    for (int style = IWT_KINETO_NEW; style <= IWT_KINETO_BARE; style++) {
        struct iwt_kineto made = iwt_kineto_default();
        struct iwt_kineto_run run, again;
        size_t size, size_again;
        char *text, *text_again;

        made.style = (enum iwt_kineto_style)style;
        made.padding = 2;
        made.is_info_last = style == IWT_KINETO_MID;
        iwt_kineto_run(&made, &run);
        iwt_kineto_run(&made, &again);
        text = iwt_kineto_text(&run, 5, &size);
        text_again = iwt_kineto_text(&again, 5, &size_again);
        assert_true(parsed_items(text, size) > 400);
        assert_int_equal(size, size_again);
        assert_memory_equal(text, text_again, size);
        free(text);
        free(text_again);
        iwt_kineto_release(&run);
        iwt_kineto_release(&again);
    }
}

static int64_t end_with(const struct iwt_kineto_pause *pauses, size_t count)
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_run run;
    int64_t end_ns;

    made.pauses = pauses;
    made.pause_count = count;
    iwt_kineto_run(&made, &run);
    end_ns = run.step_end_ns[made.steps - 1];
    iwt_kineto_release(&run);
    return end_ns;
}

/* A step begins without any lead: the loader delays all by its length,
 * less what rank 1 came earlier than others. Before the middle of the forward
 * pass of a first stage 8 kernels of about 200 us have been launched at 6 us each: half a millisecond is
 * absorbed, of 50 ms less than 3. */
static void pauses_cost_what_the_lead_does_not_absorb(void **state)
{
    const int64_t ms = 1000000, end = end_with(NULL, 0);
    const struct iwt_kineto_pause loader = {1, 2, IWT_KINETO_LOADER, 7 * ms},
                                  short_gc = {1, 2, IWT_KINETO_GC, ms / 2},
                                  long_gc = {1, 2, IWT_KINETO_GC, 50 * ms};

    (void)state;
    assert_in_range(end_with(&loader, 1) - end, 7 * ms - ms / 20, 7 * ms);
    assert_int_equal(end_with(&short_gc, 1) - end, 0);
    assert_in_range(end_with(&long_gc, 1) - end, 47 * ms, 50 * ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_styles_are_valid_and_the_same_again),
        cmocka_unit_test(pauses_cost_what_the_lead_does_not_absorb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
