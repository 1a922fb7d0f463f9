/* liballprof traces: lines, requests by their addresses, members of communicators.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>

#include "kit/files/trace/trace_allprof.h"

#define WORLD(rank) "7000," #rank ",2"

static struct iwt_log log_;

static iw_status read_two(const char *first, const char *second, struct iw_trace **trace_p)
{
    const struct iwi_allprof_text texts[] = {{"run-0.txt", first, strlen(first)},
                                             {"run-1.txt", second, strlen(second)}};

    iwt_log_init(&log_);
    return iwi_trace_allprof(&log_.log, "run-0.txt", texts, 2, trace_p);
}

static struct iw_trace *must_read(const char *first, const char *second)
{
    struct iw_trace *trace = NULL;

    if (read_two(first, second, &trace) != IW_OK) {
        fail_msg("%s", log_.text);
    }
    return trace;
}

static void assert_refused(const char *line, iw_status status, const char *message)
{
    char text[1024];
    struct iw_trace *trace;

    (void)snprintf(text, sizeof text, "# a comment\n\n%s", line);
    assert_status(read_two(text, "", &trace), status);
    assert_int_equal(log_.errors, 1);
    iwt_assert_logged(&log_, message);
}

static void a_message_is_read_with_its_times(void **state)
{
    struct iw_trace *trace =
        must_read("MPI_Init:-:1:2:1000\nMPI_Send:1010:64:3:10,8,8:1:5:" WORLD(0) ":1012\n"
                                                                                 "MPI_Finalize:9000:-\n",
                  "MPI_Init:-:1:2:50\nMPI_Recv:60:64:30:10,8,8:0:5:" WORLD(1) ":99:64\n"
                                                                              "MPI_Finalize:9000:-\n");
    const struct iwi_call *send = &trace->ranks[0].calls[0], *recv = &trace->ranks[1].calls[0];

    (void)state;
    assert_int_equal(trace->ranks[0].call_count, 1);
    assert_int_equal(send->kind, IWI_CALL_SEND);
    assert_int_equal(send->bytes, 24);
    assert_int_equal(send->compute_wall_ps, 10 * IW_PS_PER_US);
    assert_int_equal(send->call_ps, 2 * IW_PS_PER_US);
    assert_int_equal(trace->ranks[0].last_compute_wall_ps, 0);
    assert_int_equal(recv->peer, 0);
    assert_int_equal(recv->bytes, 24); /* of the message, not of the buffer */
    assert_int_equal(log_.warnings, 0);
    iw_trace_free(trace);
}

/* The first time is whole: 10.375 us later the call begins, and takes 0.128 us. */
static void times_have_fractions(void **state)
{
    struct iw_trace *trace =
        must_read("MPI_Init:-:1:2:1000\nMPI_Send:1010.375:64:3:10,8,8:1:5:" WORLD(0) ":1010.503\n",
                  "MPI_Recv:60:64:30:10,8,8:0:5:" WORLD(1) ":99:64\n");
    const struct iwi_call *send = &trace->ranks[0].calls[0];

    (void)state;
    assert_int_equal(send->compute_wall_ps, 10375000);
    assert_int_equal(send->call_ps, 128000);
    iw_trace_free(trace);
}

static void wildcards_mean_what_the_mpi_means(void **state)
{
    /* Open MPI: any source is -1, nobody -2; MPICH, known by its handle, the other way round */
    struct iw_trace *trace =
        must_read("MPI_Send:1:64:1:1,4,4:-2:5:" WORLD(0) ":2\nMPI_Send:3:64:1:1,4,4:1:5:" WORLD(0) ":4\n",
                  "MPI_Recv:1:64:1:1,4,4:-1:-1:" WORLD(1) ":99:2\n");

    (void)state;
    assert_int_equal(trace->ranks[0].call_count, 1);
    assert_int_equal(trace->ranks[1].calls[0].peer, 0);
    assert_int_equal(trace->ranks[1].calls[0].tag, 5);
    iwt_assert_logged(&log_, "receives without their source in the trace: 1 (first: rank 1, MPI call 1)");
    iw_trace_free(trace);
    trace =
        must_read("MPI_Send:1:64:1:1,4,4:-1:5:1140850688,0,2:2\nMPI_Send:3:64:1:1,4,4:1:5:1140850688,0,2:4\n",
                  "MPI_Recv:1:64:1:1,4,4:-2:-1:1140850688,1,2:99:2\n");
    assert_int_equal(trace->ranks[0].call_count, 1);
    assert_int_equal(trace->ranks[1].calls[0].peer, 0);
    iw_trace_free(trace);
}

#define ISEND(address) "MPI_Isend:1:64:1:1,4,4:1:5:" WORLD(0) ":" #address ":1\n"
#define RECV "MPI_Recv:1:64:1:1,4,4:0:5:" WORLD(1) ":99:1\n"

static void waits_complete_the_requests_at_their_addresses(void **state)
{
    struct iw_trace *trace = must_read(ISEND(1000) ISEND(1008) ISEND(2000) "MPI_Wait:3:2000:0:4\n"
                                                                           "MPI_Waitall:5:2:1000:0:6\n",
                                       RECV RECV RECV);
    const struct iwi_trace_rank *rank = &trace->ranks[0];

    (void)state;
    assert_int_equal(rank->call_count, 5);
    assert_int_equal(rank->completed[rank->calls[3].request], 2);
    assert_int_equal(rank->calls[4].request_count, 2);
    assert_int_equal(log_.warnings, 0);
    iw_trace_free(trace);
}

static void requests_of_four_bytes_are_told_by_their_addresses(void **state)
{
    struct iw_trace *trace =
        must_read(ISEND(1000) ISEND(1004) ISEND(1008) "MPI_Waitall:5:2:1000:0:6\n", RECV RECV RECV);

    (void)state;
    assert_int_equal(trace->ranks[0].calls[3].request_count, 2);
    iwt_assert_logged(&log_, "requests that are never completed in the trace: 1");
    iw_trace_free(trace);
}

static void the_last_test_before_an_address_is_used_again_succeeded(void **state)
{
    struct iw_trace *trace = must_read(
        ISEND(1000) "MPI_Test:3:1000:50:0:4\nMPI_Test:6:1000:50:0:7\n" ISEND(1000) "MPI_Wait:8:1000:0:9\n",
        RECV RECV);

    (void)state;
    assert_int_equal(trace->ranks[0].call_count, 4);
    assert_int_equal(trace->ranks[0].calls[1].kind, IWI_CALL_WAIT);
    assert_int_equal(trace->ranks[0].calls[1].request_count, 1);
    iwt_assert_logged(&log_, "waits and tests without the requests that they completed: 1");
    iw_trace_free(trace);
}

static void persistent_requests_send_at_each_start(void **state)
{
    struct iw_trace *trace = must_read(
        "MPI_Send_init:1:64:1:1,4,4:1:5:" WORLD(0) ":1000:2\n"
                                                   "MPI_Start:3:1000:4\nMPI_Wait:5:1000:0:6\n"
                                                   "MPI_Startall:7:1:1000:8\nMPI_Waitany:9:1:1000:40:0:10\n"
                                                   "MPI_Request_free:11:1000:12\n"
                                                   "MPI_Start:13:1000:14\n",
        RECV RECV);

    (void)state;
    assert_int_equal(trace->ranks[0].call_count, 4);
    assert_int_equal(trace->ranks[0].calls[2].kind, IWI_CALL_ISEND);
    assert_int_equal(trace->ranks[0].calls[3].request_count, 1);
    iwt_assert_logged(&log_, "completions of requests that the trace does not create: 1 (first: rank 0");
    iw_trace_free(trace);
}

static void sizes_of_collectives_are_read(void **state)
{
    static const char calls[] =
        "MPI_Bcast:1:64:5:1,4,4:1:7000,%d,2:2\n"
        "MPI_Gather:3:64:2:1,4,4:64:9:1,4,4:0:7000,%d,2:4\n"
        "MPI_Scatterv:5:64:64:1,2:64:0,1:1,4,4:64:2:1,4,4:0:7000,%d,2:6\n"
        "MPI_Allgather:7:1:9:1,4,4:64:3:1,4,4:7000,%d,2:8\n"
        "MPI_Alltoallv:9:64:64:3,6:64:0,1:1,4,4:64:64:1,2:64:0,1:1,4,4:7000,%d,2:10\n"
        "MPI_Reduce_scatter:11:64:64:64:1,2:1,4,4:3:7000,%d,2:12\n"
        "MPI_Alltoallw:13:64:64:3,6:64:0,1:64:64:64:1,2:64:0,1:64:7000,%d,2:14\n"
        "MPI_Iallreduce:15:64:64:8:1,4,4:3:7000,%d,2:1000:16\nMPI_Wait:17:1000:0:18\n";
    const uint64_t bytes[] = {20, 8, 8, 12, 18, 6, 0, 32};
    char texts[2][sizeof calls + 80]; /* room for any number in place of the eight "%d" */
    struct iw_trace *trace;

    (void)state;
    for (int r = 0; r < 2; r++) {
        (void)snprintf(texts[r], sizeof texts[r], calls, r, r, r, r, r, r, r, r);
    }
    trace = must_read(texts[0], texts[1]);
    assert_int_equal(trace->ranks[0].call_count, 9);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(trace->ranks[0].calls[i].bytes, bytes[i]);
    }
    assert_int_equal(trace->ranks[1].calls[0].peer, 1);
    assert_int_equal(trace->ranks[0].calls[7].kind, IWI_CALL_ICOLLECTIVE);
    iwt_assert_logged(&log_, "collective calls without their sizes in the trace: 2");
    iw_trace_free(trace);
}

static void a_split_is_followed_by_colour_and_key(void **state)
{
    /* one colour, keys turn the order round: rank 1 becomes 0. The handles differ. */
    struct iw_trace *trace =
        must_read("MPI_Comm_split:1:" WORLD(0) ":4:9:64:2\n"
                                               "MPI_Send:3:64:1:1,4,4:0:5:8000,1,2:4\n",
                  "MPI_Comm_split:1:" WORLD(1) ":4:3:64:2\n"
                                               "MPI_Recv:3:64:1:1,4,4:1:5:9000,0,2:99:4\n");

    (void)state;
    assert_int_equal(trace->comm_count, 2);
    assert_int_equal(trace->comms[1].members[0], 1);
    assert_int_equal(trace->comms[1].members[1], 0);
    assert_int_equal(trace->ranks[0].calls[0].op, IWI_TRACE_COMM_CREATE);
    assert_int_equal(trace->ranks[0].calls[1].peer, 1);
    assert_int_equal(trace->ranks[1].calls[1].peer, 0);
    assert_int_equal(log_.warnings, 0);
    iw_trace_free(trace);
}

static void other_communicators_are_followed_by_the_ranks_they_give(void **state)
{
    struct iw_trace *trace =
        must_read("MPI_Cart_create:1:" WORLD(0) ":1:64:64:1:64:2\nMPI_Barrier:3:8000,1,2:4\n",
                  "MPI_Cart_create:1:" WORLD(1) ":1:64:64:1:64:2\nMPI_Barrier:3:9000,0,2:4\n");

    (void)state;
    assert_int_equal(trace->comm_count, 2);
    assert_int_equal(trace->comms[1].members[0], 1);
    assert_int_equal(trace->ranks[0].calls[1].comm, 1);
    assert_int_equal(trace->ranks[1].calls[1].comm, 1);
    iw_trace_free(trace);
}

static void a_communicator_that_nobody_made_is_named(void **state)
{
    struct iw_trace *trace = must_read("MPI_Barrier:1:" WORLD(0) ":2\nMPI_Barrier:3:8000,1,2:4\n",
                                       "MPI_Barrier:1:" WORLD(1) ":2\nMPI_Barrier:3:8000,0,2:4\n");

    (void)state;
    assert_int_equal(trace->ranks[0].calls[1].kind, IWI_CALL_OPAQUE);
    iwt_assert_logged(&log_, "communicators with unknown members: 2 (first: rank 0, MPI call 2);");
    iw_trace_free(trace);
}

static void files_of_missing_ranks_are_noticed(void **state)
{
    struct iw_trace *trace;

    (void)state;
    assert_status(read_two("MPI_Barrier:1:7000,0,4:2\n", "MPI_Barrier:1:7000,1,4:2\n", &trace),
                  IW_ERR_TRUNCATED);
    iwt_assert_logged(&log_,
                      "the trace has the files of 2 ranks, but rank 0 uses a communicator of 4 (line 1)");
}

static void wrong_lines_are_refused_with_their_place(void **state)
{
    (void)state;
    assert_refused("hello\n", IW_ERR_FORMAT, "'run-0.txt:3': the line does not begin with the name");
    assert_refused("MPI_Send\n", IW_ERR_FORMAT, "'run-0.txt:3': MPI_Send has no time after the name,");
    assert_refused("MPI_Send:12\n", IW_ERR_FORMAT, "MPI_Send has no time at its end");
    assert_refused("MPI_Barrier:12:7000,0,2:11\n", IW_ERR_FORMAT, "MPI_Barrier ends before it begins");
    assert_refused("MPI_Barrier:12:7000,2,2:13\n", IW_ERR_FORMAT, "invalid arguments");
    assert_refused("MPI_Barrier:12:7000,0,2:99999999999999\n", IW_ERR_FORMAT, "no time at its end");
    assert_refused("MPI_Send:1:64:1:1,4,4:2:5:7000,0,2:2\n", IW_ERR_FORMAT,
                   "a partner that is not in its comm");
    assert_refused("MPI_Send:1:64:1:1,4,4:-1:5:7000,0,2:2\n", IW_ERR_FORMAT, "sends to anyone");
    assert_refused("MPI_Send:1:64:-1:1,4,4:1:5:7000,0,2:2\n", IW_ERR_FORMAT, "invalid arguments");
    assert_refused("MPI_Bcast:1:64:1:1,4,4:2:7000,0,2:2\n", IW_ERR_FORMAT, "a root that is not in its comm");
    assert_refused("MPI_Barrier:12:7000,0,2:1", IW_ERR_TRUNCATED,
                   "'run-0.txt:3': the file ends within a line");
}

/* ---- files ---- */

static void check_fixture(const char *name)
{
    char path[512];
    iw_trace_info info;
    iw_trace *trace;

    iwt_log_init(&log_);
    (void)snprintf(path, sizeof path, IW_TEST_DATA "/traces/%s", name);
    assert_true(iw_trace_is_trace(path));
    assert_ok(iw_trace_open(&log_.log, path, &trace));
    iw_trace_describe(trace, &info);
    assert_string_equal(info.origin, "liballprof");
    assert_int_equal(info.ranks, 4);
    assert_int_equal(info.sends,
                     30); /* tests/mpi/programs/eztrace_calls.c: 4 x 6, 2 x 2 of pairs, 2 of halves */
    assert_int_equal(info.receives, 30);
    assert_int_equal(info.collectives, 28); /* 4 x 7: that version of liballprof has no Iallreduce */
    assert_int_equal(info.opaque, 0);
    assert_int_equal(info.communicators, 3);
    assert_false(info.has_cpu_time);
    assert_int_equal(trace->comms[1].members[0], 2); /* even ranks, in reverse order */
    assert_int_equal(trace->comms[1].members[1], 0);
    assert_int_equal(trace->comms[2].members[0], 3);
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(trace->ranks[r].calls[0].kind, IWI_CALL_IRECV);
        assert_int_equal(trace->ranks[r].calls[0].peer, (r + 3) % 4);
        assert_int_equal(trace->ranks[r].calls[9].peer, (r + 3) % 4); /* was MPI_ANY_SOURCE */
        assert_int_equal(trace->ranks[r].calls[9].bytes, 80);
        assert_in_range(trace->ranks[r].calls[2].compute_wall_ps, IW_PS_PER_MS,
                        IW_PS_PER_S); /* usleep(1000) */
    }
    iw_trace_free(trace);
}

static void traces_of_both_mpis_are_read(void **state)
{
    (void)state;
    check_fixture("liballprof-openmpi");
    check_fixture("liballprof-mpich");
    check_fixture("liballprof-mpich/pmpi-trace-rank-2.txt");
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *folder, const char *name)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static void a_missing_file_is_named(void **state)
{
    char folder[] = "/tmp/iw-allprof-XXXXXX";
    iw_trace *trace;

    (void)state;
    iwt_log_init(&log_);
    assert_non_null(mkdtemp(folder));
    write_file(folder, "notes.txt", "nothing of interest\n");
    assert_false(iw_trace_is_trace(folder));
    assert_status(iw_trace_open(&log_.log, folder, &trace), IW_ERR_FORMAT);
    iwt_assert_logged(&log_, "has no trace of an MPI program");
    write_file(folder, "run-0.txt", "MPI_Barrier:1:7000,0,3:2\n");
    write_file(folder, "run-2.txt", "MPI_Barrier:1:7000,2,3:2\n");
    assert_true(iw_trace_is_trace(folder));
    assert_status(iw_trace_open(&log_.log, folder, &trace), IW_ERR_TRUNCATED);
    iwt_assert_logged(&log_, "is one of 3 files, but the file of rank 1 is missing");
    write_file(folder, "run-1.txt", "MPI_Barrier:1:7000,1,3:2\n");
    assert_ok(iw_trace_open(&log_.log, folder, &trace));
    iw_trace_free(trace);
    remove_file(folder, "notes.txt");
    remove_file(folder, "run-0.txt");
    remove_file(folder, "run-1.txt");
    remove_file(folder, "run-2.txt");
    assert_int_equal(rmdir(folder), 0);
    assert_status(iw_trace_open(&log_.log, folder, &trace), IW_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_read_with_its_times),
        cmocka_unit_test(times_have_fractions),
        cmocka_unit_test(wildcards_mean_what_the_mpi_means),
        cmocka_unit_test(waits_complete_the_requests_at_their_addresses),
        cmocka_unit_test(requests_of_four_bytes_are_told_by_their_addresses),
        cmocka_unit_test(the_last_test_before_an_address_is_used_again_succeeded),
        cmocka_unit_test(persistent_requests_send_at_each_start),
        cmocka_unit_test(sizes_of_collectives_are_read),
        cmocka_unit_test(a_split_is_followed_by_colour_and_key),
        cmocka_unit_test(other_communicators_are_followed_by_the_ranks_they_give),
        cmocka_unit_test(a_communicator_that_nobody_made_is_named),
        cmocka_unit_test(files_of_missing_ranks_are_noticed),
        cmocka_unit_test(wrong_lines_are_refused_with_their_place),
        cmocka_unit_test(traces_of_both_mpis_are_read),
        cmocka_unit_test(a_missing_file_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
