/* Members of several processes: messages between them, and what the processes tell each other first.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The processes are threads here, and the link between them is memory.
 */
#include <pthread.h>

#include "core/team/team.h"
#include "support/made_link.h"
#include "support/support.h"
#include "team_work.h"

enum { PROCESSES = 3 };

/* Process p has p + 1 threads: 6 in all. */
struct process {
    pthread_t thread;
    struct iwt_end end;
    iw_link link;
    iwi_member_work work;
    iw_status status;
    uint32_t size, first;
};

static void *live(void *arg)
{
    struct process *p = arg;
    struct iwi_team *team = NULL;

    p->status = iwi_team_new(NULL, &p->link, p->link.rank + 1, &team);
    if (p->status == IW_OK) {
        p->size = iwi_team_size(team);
        p->first = iwi_team_first(team);
        p->status = iwi_team_run(team, NULL, p->work, NULL);
    }
    iwi_team_free(team);
    return NULL;
}

static void run(struct process *all, iwi_member_work work)
{
    struct iwt_post_office office;

    iwt_open_office(&office);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        all[i] = (struct process){.work = work};
        all[i].link = iwt_link(&office, &all[i].end, i, PROCESSES);
        assert_int_equal(pthread_create(&all[i].thread, NULL, live, &all[i]), 0);
    }
    for (uint32_t i = 0; i < PROCESSES; i++) {
        assert_int_equal(pthread_join(all[i].thread, NULL), 0);
        assert_ok(all[i].status);
    }
    assert_null(office.first);
}

static void members_are_numbered_through_the_processes(void **state)
{
    static const uint32_t first[PROCESSES] = {0, 1, 3};
    struct process all[PROCESSES];

    (void)state;
    run(all, iwt_talk_to_all);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        assert_int_equal(all[i].size, 6);
        assert_int_equal(all[i].first, first[i]);
    }
}

static void messages_of_all_sizes_pass_between_processes(void **state)
{
    struct process all[PROCESSES];

    (void)state;
    run(all, iwt_send_sizes);
    run(all, iwt_take_sizes);
    run(all, iwt_find_largest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_numbered_through_the_processes),
        cmocka_unit_test(messages_of_all_sizes_pass_between_processes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
