/* Real archives of EZTrace, with its mistakes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdio.h>

#include <idlewave/files.h>

#include "kit/files/trace/trace_read.h"

static struct iwt_log log_;

static void assert_call(const struct iw_trace *trace, uint32_t rank, uint64_t i, uint8_t kind, uint32_t peer,
                        int32_t tag, uint64_t bytes)
{
    const struct iwi_call *call = &trace->ranks[rank].calls[i];

    assert_true(i < trace->ranks[rank].call_count);
    assert_int_equal(call->kind, kind);
    assert_int_equal(call->peer, peer);
    assert_int_equal(call->tag, tag);
    assert_int_equal(call->bytes, bytes);
}

/* tests/mpi/programs/eztrace_calls.c tells what the numbers must be. */
static void check_eztrace(const char *name)
{
    char path[512];
    iw_trace_info info;
    struct iw_trace *trace;

    iwt_log_init(&log_);
    (void)snprintf(path, sizeof path, IW_TEST_DATA "/traces/%s", name);
    assert_true(iw_trace_is_trace(path));
    assert_ok(iw_trace_open(&log_.log, path, &trace));
    iw_trace_describe(trace, &info);
    assert_string_equal(info.origin, "eztrace");
    assert_int_equal(info.ranks, 4);
    assert_int_equal(info.sends, 26); /* 4 x 5, 2 x 2 of pairs, 2 of halves; those of Sendrecv are lost */
    assert_int_equal(info.receives, 26);
    assert_int_equal(info.collectives, 24); /* 4 x 6 */
    assert_int_equal(info.opaque, 12);      /* 4 x Sendrecv, Comm_split, Iallreduce */
    for (uint32_t r = 0; r < 4; r++) {
        const struct iwi_trace_rank *rank = &trace->ranks[r];

        for (size_t i = 0; i < 3; i++) { /* three rounds in a ring */
            assert_call(trace, r, 3 * i, IWI_CALL_IRECV, (r + 3) % 4, 5, 40);
            assert_call(trace, r, 3 * i + 1, IWI_CALL_ISEND, (r + 1) % 4, 5, 40);
            assert_int_equal(rank->calls[3 * i + 2].kind, IWI_CALL_WAIT);
            assert_int_equal(rank->calls[3 * i + 2].request_count, 2);
            assert_in_range(rank->calls[3 * i + 2].compute_wall_ps, IW_PS_PER_MS,
                            IW_PS_PER_S); /* usleep(1000) */
        }
        assert_call(trace, r, 9, IWI_CALL_IRECV, (r + 3) % 4, 6, 80); /* was MPI_ANY_SOURCE */
        for (uint64_t i = 0; i < rank->call_count; i++) {
            const struct iwi_call *call = &rank->calls[i];

            if (call->kind == IWI_CALL_COLLECTIVE && call->op == IWI_TRACE_ALLREDUCE) {
                assert_int_equal(trace->comms[call->comm].size, 2);
                assert_int_equal(trace->comms[call->comm].members[0], 2 + r % 2);
                assert_int_equal(call->bytes, 16);
            } else if (call->kind == IWI_CALL_COLLECTIVE && call->op == IWI_TRACE_ALLGATHER) {
                assert_int_equal(call->bytes, 10); /* 4 ... 16 bytes, their mean */
            }
        }
    }
    iwt_assert_logged(&log_,
                      "point-to-point calls without a message in the trace: 4 (first: rank 0, MPI call 20, "
                      "MPI_Sendrecv)");
    iwt_assert_logged(&log_, "collective calls without their communicator in the trace: 8");
    iwt_assert_logged(&log_, "receives without their source in the trace: 20 (first: rank 0, MPI call 1)");
    iwt_assert_logged(&log_, "with a size for each rank, which the trace lacks");
    assert_int_equal(log_.warnings, 5);
    iw_trace_free(trace);
}

static void archives_of_eztrace_are_completed(void **state)
{
    (void)state;
    check_eztrace("eztrace-openmpi");
    check_eztrace("eztrace-mpich");
    check_eztrace("eztrace-mpich/eztrace_log.otf2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_of_eztrace_are_completed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
