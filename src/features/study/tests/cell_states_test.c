/* What becomes of cells: those that others hold wait again a few at a time, in turn; ids are found.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/pool.h"

#include <stdio.h>

#include "support/support.h"

enum { CELLS = 5 };

struct made {
    iw_cell cells[CELLS];
    struct iwi_task items[CELLS];
    iw_study study;
    struct iwi_tasks tasks;
    struct iwi_cell_states states;
};

/* The ids descend; each cell takes 2 s. */
static void make(struct made *made)
{
    *made = (struct made){.study = {.cells = made->cells, .cell_count = CELLS},
                          .tasks = {.items = made->items, .count = CELLS}};
    for (size_t i = 0; i < CELLS; i++) {
        (void)snprintf(made->cells[i].id, sizeof made->cells[i].id, "%016zx", CELLS - i);
        made->items[i] = (struct iwi_task){.cell = i, .seconds = 2.0};
    }
    assert_ok(iwi_cell_states_init(NULL, &made->study, &made->tasks, &made->states));
}

static void set_all(struct iwi_cell_states *states, enum iwi_cell_state state)
{
    for (size_t i = 0; i < states->count; i++) {
        iwi_cell_states_set(states, &states->items[i], state);
    }
}

static void held_cells_wait_again_a_few_at_a_time(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    set_all(&made.states, IWI_HELD);
    made.states.first_waiting = CELLS;
    iwi_cell_states_retry_held(&made.states, 2);
    assert_int_equal(made.states.in[IWI_WAITING], 2);
    assert_int_equal(made.states.in[IWI_HELD], 3);
    assert_int_equal(made.states.first_waiting, 0);
    set_all(&made.states, IWI_HELD);
    iwi_cell_states_retry_held(&made.states, 2); /* not the same ones again */
    assert_int_equal(made.states.items[0].state, IWI_HELD);
    assert_int_equal(made.states.items[2].state, IWI_WAITING);
    assert_int_equal(made.states.items[3].state, IWI_WAITING);
    iwi_cell_states_retry_held(&made.states, 100);
    assert_int_equal(made.states.in[IWI_WAITING], CELLS);
    iwi_cell_states_release(&made.states);
}

static void what_another_process_ran_is_done(void **state)
{
    struct made made;

    (void)state;
    make(&made);
    iwi_cell_states_set(&made.states, &made.states.items[0], IWI_RUNNING);
    iwi_cell_states_note_found(&made.states, made.cells[0].id); /* runs here: it ends here */
    iwi_cell_states_note_found(&made.states, made.cells[4].id);
    iwi_cell_states_note_found(&made.states, "0000000000000009");
    assert_int_equal(made.states.items[0].state, IWI_RUNNING);
    assert_true(made.states.items[0].is_found);
    assert_int_equal(made.states.items[4].state, IWI_FOUND);
    assert_int_equal(made.states.in[IWI_FOUND], 1);
    assert_int_equal(made.states.in[IWI_WAITING], CELLS - 2);
    assert_true(iwi_cell_states_work_done(&made.states) == 2.0);
    assert_true(made.states.all_seconds == 10.0);
    iwi_cell_states_release(&made.states);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(held_cells_wait_again_a_few_at_a_time),
        cmocka_unit_test(what_another_process_ran_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
