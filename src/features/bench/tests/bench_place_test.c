/* Tests of where ranks of a benchmark are: hosts are numbered in the order of their lowest ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "mpi/net_place.h"
#include "support/support.h"

enum { MOST = 8 };

/* `hosts`: a letter for each rank; `numbers`: the digit that is expected. */
static void check(const char *hosts, const char *numbers, uint32_t count)
{
    struct iwi_process_place places[MOST] = {0};
    const uint32_t ranks = (uint32_t)strlen(hosts);

    for (uint32_t rank = 0; rank < ranks; rank++) {
        snprintf(places[rank].host, sizeof places[rank].host, "host-%c", hosts[rank]);
    }
    assert_int_equal(iwi_process_place_hosts(places, ranks), count);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        assert_int_equal(iwi_process_place_host_number(places, rank), numbers[rank] - '0');
    }
}

static void hosts_are_numbered_by_their_lowest_ranks(void **state)
{
    (void)state;
    check("A", "0", 1);
    check("AABB", "0011", 2);
    check("ABA", "010", 2); /* ranks are dealt out to hosts by turns */
    check("BABCAC", "010212", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hosts_are_numbered_by_their_lowest_ranks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
