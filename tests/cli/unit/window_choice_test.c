/* Windows of ranks around a delay: its rank is always among them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/window.h"
#include "support/support.h"

static iw_timeline_opts opts_of(uint32_t ranks, bool is_periodic)
{
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;

    opts.about.ranks = ranks;
    opts.about.is_periodic = is_periodic;
    return opts;
}

static void assert_inside(const iw_timeline_opts *opts, uint32_t rank, uint32_t most_before)
{
    const uint32_t ranks = opts->about.ranks, count = opts->rank_count != 0 ? opts->rank_count : ranks;
    const uint32_t place = (rank + ranks - opts->first_rank) % ranks;

    assert_true(opts->first_rank < ranks && place < count && place <= most_before);
}

static void known_windows_have_the_delay_in_their_middle(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 20; rank++) {
        for (uint64_t fitting = 0; fitting < 20; fitting++) {
            iw_timeline_opts ring = opts_of(20, true), chain = opts_of(20, false);

            window_centre_on(rank, fitting, &ring);
            assert_int_equal(ring.rank_count, fitting > 0 ? fitting : 1);
            assert_int_equal((ring.first_rank + ring.rank_count / 2) % 20, rank);
            window_centre_on(rank, fitting, &chain);
            assert_inside(&chain, rank, 20);
            assert_true(chain.first_rank + chain.rank_count <= 20); /* not around the end */
        }
    }
}

static void unknown_windows_begin_a_little_before_the_delay(void **state)
{
    const uint32_t ranks[] = {1, 15, 16, 100, 1 << 20, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const uint32_t places[] = {0, ranks[i] / 50, ranks[i] / 2, ranks[i] - 1};

        for (size_t j = 0; j < 8; j++) {
            iw_timeline_opts opts = opts_of(ranks[i], j < 4);

            window_begin_before(places[j % 4], &opts);
            assert_true(opts.first_rank < ranks[i] && opts.rank_count == 0);
            assert_true(j < 4 || opts.first_rank <= places[j % 4]);
            assert_in_range(((uint64_t)places[j % 4] + ranks[i] - opts.first_rank) % ranks[i], 0,
                            ranks[i] / 16 < 1024 ? ranks[i] / 16 : 1024);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_windows_have_the_delay_in_their_middle),
        cmocka_unit_test(unknown_windows_begin_a_little_before_the_delay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
