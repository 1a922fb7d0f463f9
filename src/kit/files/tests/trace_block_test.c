/* Blocks in which another process leaves a trace: what they say of their own size is not believed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/files/otf2/trace_otf2.h"
#include "support/support.h"

static iw_status taken(const struct iwi_otf2_rank *rank)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct iwi_otf2_head head = {.rank_count = 1};
    struct iw_trace *trace = NULL;
    struct iwt_log l;
    char *bytes = NULL, *pages, *block;
    size_t size = 0, room;
    iw_status status;
    FILE *out = open_memstream(&bytes, &size);

    assert_non_null(out);
    iwi_otf2_put_head(out, &head);
    iwi_otf2_put(out, rank, sizeof *rank);
    assert_int_equal(fclose(out), 0);
    room = (size + page - 1) / page * page;
    pages = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + room, page, PROT_NONE), 0); /* nobody can read on */
    block = pages + room - size;
    memcpy(block, bytes, size);
    free(bytes);
    iwt_log_init(&l);
    status = iwi_otf2_take(&l.log, "made", block, size, &trace);
    assert_int_equal(l.errors, 1);
    assert_int_equal(munmap(pages, room + page), 0);
    return status;
}

/* So many calls take 2^64 bytes, completed requests too: cut to 64 bits that is nothing. */
static void counts_whose_bytes_overflow_are_refused(void **state)
{
    const uint64_t calls = (UINT64_MAX / sizeof(struct iwi_call) + 1);

    (void)state;
    assert_status(taken(&(struct iwi_otf2_rank){.call_count = calls}), IW_ERR_FORMAT);
    assert_status(taken(&(struct iwi_otf2_rank){.completed_count = UINT64_C(1) << 62, .request_count = 1}),
                  IW_ERR_FORMAT);
}

static void more_than_there_is_is_refused(void **state)
{
    (void)state;
    assert_status(taken(&(struct iwi_otf2_rank){.call_count = 1}), IW_ERR_FORMAT);
    assert_status(taken(&(struct iwi_otf2_rank){.completed_count = 3, .request_count = 3}), IW_ERR_FORMAT);
}

static void a_node_whose_name_has_no_end_is_not_read_on(void **state)
{
    struct iwi_otf2_rank rank = {.call_count = 1};

    (void)state;
    memset(rank.node, 'x', sizeof rank.node);
    assert_status(taken(&rank), IW_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_whose_bytes_overflow_are_refused),
        cmocka_unit_test(more_than_there_is_is_refused),
        cmocka_unit_test(a_node_whose_name_has_no_end_is_not_read_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
