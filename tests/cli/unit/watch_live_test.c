/* What `watch --live` draws of two moments.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/watch/verb/watch_live.h"
#include "support/support.h"

static char *drawn(struct watch_live *live, const iw_watch_result *so_far)
{
    FILE *const usual = stdout;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    stdout = out;
    watch_live_draw(live, so_far);
    stdout = usual;
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_draws(struct watch_live *live, const iw_watch_result *so_far, const char *const *lines)
{
    char *text = drawn(live, so_far);
    const char *at = text;

    for (size_t i = 0; lines[i] != NULL; i++) { /* in this order */
        const char *found = strstr(at, lines[i]);

        if (found == NULL) {
            fail_msg("no '%s' behind what came before in:\n%s", lines[i], text);
        }
        at = found + strlen(lines[i]);
    }
    free(text);
}

/* 4 s of 2 CPUs, of which the job lost a quarter to cron; in the next 2 s a tenth, to the tick. */
static void each_second_shows_what_is_new_and_what_is_in_all(void **state)
{
    static char job[] = "process 42";
    iw_watch_source sources[] = {
        {.source = {.kind = IW_CLASS_THREAD, .name = "cron"}, .count = 1000, .time_ns = 2000000000},
        {.source = {.kind = IW_CLASS_IRQ, .name = "tick"}, .count = 0, .time_ns = 0}};
    iw_watch_result result = {.job = job,
                              .watched_ns = 4000000000,
                              .totals = {.wanted_ns = 8000000000,
                                         .lost_ns = 2000000000,
                                         .run_ns = 6000000000,
                                         .wait_ns = 1000000000,
                                         .wait_own_ns = 600000000,
                                         .wait_waking_ns = 200000000,
                                         .throttled_ns = 400000000},
                              .source_count = 2,
                              .sources = sources};
    struct watch_live live = {.is_on = true};

    (void)state;
    sources[0].slots[20] = 1000;
    assert_draws(&live, &result,
                 (const char *const[]){
                     "process 42, watched for 4 s", "lost 25.00 % of the CPU time that it wanted (25.00 %",
                     "wanted 2.00, used 1.50, waited 0.25 (own 0.15, waking 0.05), quota 0.10", "thread cron",
                     "  25.00 %   25.00 %       250   2.000 ms", "irq tick", NULL});
    result.watched_ns += 2000000000;
    result.totals.wanted_ns += 4000000000;
    result.totals.lost_ns += 400000000;
    sources[1].time_ns = 400000000;
    sources[1].count = 2000;
    assert_draws(&live, &result,
                 (const char *const[]){
                     "watched for 6 s", "lost 10.00 % of the CPU time that it wanted (20.00 %",
                     "wanted 2.00, used 0.00", "irq tick", "  10.00 %    3.33 %      1000   200.0 us",
                     "thread cron", "   0.00 %   16.67 %         0 ", NULL});
    watch_live_end(&live);
}

static void sources_that_took_as_much_are_ordered_by_all_that_they_took(void **state)
{
    static char job[] = "process 42";
    iw_watch_source sources[] = {{.source = {.kind = IW_CLASS_IRQ, .name = "less"}, .time_ns = 1000},
                                 {.source = {.kind = IW_CLASS_IRQ, .name = "more"}, .time_ns = 5000}};
    iw_watch_result result = {.job = job, .watched_ns = 1000000000, .source_count = 2, .sources = sources};
    struct watch_live live = {.is_on = true};

    (void)state;
    free(drawn(&live, &result));
    result.watched_ns += 1000000000; /* nothing is new */
    assert_draws(&live, &result, (const char *const[]){"irq more", "irq less", NULL});
    watch_live_end(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_second_shows_what_is_new_and_what_is_in_all),
        cmocka_unit_test(sources_that_took_as_much_are_ordered_by_all_that_they_took),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
