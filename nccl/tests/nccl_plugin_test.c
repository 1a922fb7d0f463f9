/* The plugin for NCCL, loaded and called as NCCL's documentation says: in order, out of order, without room.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <unistd.h>

#include "nccl/tests/nccl_calls.h"

static void a_collective_has_the_times_of_its_kernel(void **state)
{
    void *context = open_comm(0xabc, 3);
    const int64_t before_us = (int64_t)(gpu_ns() + GPU_AHEAD_NS) / 1000;
    json_t *all, *line;

    (void)state;
    run_coll(context, "AllReduce", 5000000);
    assert_int_equal(v5->finalize(context), IWI_NCCL_SUCCESS);
    all = lines();
    assert_int_equal(json_array_size(all), 1);
    line = json_array_get(all, 0);
    assert_string_equal(json_string_value(json_object_get(json_object_get(line, "header"), "id")), "0xabc");
    assert_string_equal(json_string_value(json_object_get(json_object_get(line, "header"), "comm_name")),
                        "dp \"0\"");
    assert_int_equal(number(line, "header", "rank"), 3);
    assert_int_equal(number(line, "header", "n_ranks"), 4);
    assert_int_equal(number(line, "metadata", "pid"), getpid());
    assert_int_equal(number(line, "metadata", "lost"), 0);
    assert_int_equal(number(line, "coll_perf", "coll_sn"), 0);
    assert_int_equal(number(line, "coll_perf", "coll_msg_size_bytes"), 2000);
    assert_int_equal(number(line, "coll_perf", "coll_exec_time_us"), 5000);
    /* by the wall clock: it ended when it was seen, within what the test took */
    assert_in_range(kernel_time(line, "coll_perf", "kernel_stop_ts"), before_us, before_us + 10000000);
    json_decref(all);
}

static void messages_have_their_peer_and_numbers_of_their_own(void **state)
{
    struct iwi_nccl_event_v5 event = {.type = IWI_NCCL_P2P};
    void *context = open_comm(1, 0), *message = NULL, *kernel;
    json_t *all;

    (void)state;
    run_coll(context, "AllGather", 1000);
    event.p2p.func = "Send";
    event.p2p.datatype = "ncclFloat32";
    event.p2p.count = 10;
    event.p2p.peer = 2;
    event.p2p.channels = 1;
    assert_int_equal(v5->start_event(context, &message, &event), IWI_NCCL_SUCCESS);
    kernel = start_kernel(context, message, 9, gpu_ns());
    stop_kernel(kernel, gpu_ns() + 1);
    assert_int_equal(v5->stop_event(message), IWI_NCCL_SUCCESS); /* enqueued after its kernel was seen */
    assert_int_equal(v5->finalize(context), IWI_NCCL_SUCCESS);
    all = lines();
    assert_int_equal(json_array_size(all), 2);
    assert_int_equal(number(json_array_get(all, 1), "p2p_perf", "p2p_sn"), 0);
    assert_int_equal(number(json_array_get(all, 1), "p2p_perf", "p2p_peer"), 2);
    assert_int_equal(number(json_array_get(all, 1), "p2p_perf", "p2p_msg_size_bytes"), 40);
    json_decref(all);
}

/* Version 4: other order of arguments, other layout. */
static void older_nccl_is_understood(void **state)
{
    struct iwi_nccl_event_v4 event = {.type = IWI_NCCL_COLL};
    union iwi_nccl_state_args args;
    void *context = NULL, *coll = NULL, *kernel = NULL;
    int mask = 0;
    json_t *all;

    (void)state;
    assert_int_equal(v4->init(&context, &mask, NULL, 77, 1, 8, 5, log_line), IWI_NCCL_SUCCESS);
    event.coll.func = "ReduceScatter";
    event.coll.datatype = "ncclFloat8e4m3";
    event.coll.count = 9;
    event.coll.channels = 1;
    assert_int_equal(v4->start_event(context, &coll, &event), IWI_NCCL_SUCCESS);
    event = (struct iwi_nccl_event_v4){.type = IWI_NCCL_KERNEL_CH, .parent = coll};
    event.kernel.gpu_ns = 1000000;
    assert_int_equal(v4->start_event(context, &kernel, &event), IWI_NCCL_SUCCESS);
    args.gpu_ns = 4000000;
    (void)v4->record_state(kernel, IWI_NCCL_KERNEL_CH_STOP, &args);
    (void)v4->stop_event(kernel);
    (void)v4->stop_event(coll);
    (void)v4->finalize(context);
    all = lines();
    assert_int_equal(json_array_size(all), 1);
    assert_int_equal(number(json_array_get(all, 0), "coll_perf", "coll_msg_size_bytes"), 9);
    assert_int_equal(number(json_array_get(all, 0), "coll_perf", "coll_exec_time_us"), 3000);
    assert_int_equal(number(json_array_get(all, 0), "header", "rank"), 5);
    json_decref(all);
}

static void without_a_gpu_timer_the_host_must_do(void **state)
{
    void *context = open_comm(1, 0), *coll = start_coll(context, "AllReduce", 1, 1), *kernel;
    void *enqueued;
    json_t *all;

    (void)state;
    kernel = start_kernel(context, coll, 0, 0);
    stop_kernel(kernel, 0);
    (void)v5->stop_event(coll);
    enqueued = start_coll(context, "Broadcast", 1, 0); /* nothing is known of its kernel */
    (void)v5->stop_event(enqueued);
    (void)v5->finalize(context);
    all = lines();
    assert_int_equal(json_array_size(all), 2);
    assert_string_equal(json_string_value(json_object_get(
                            json_object_get(json_array_get(all, 0), "coll_perf"), "coll_timing_source")),
                        "kernel_cpu");
    assert_string_equal(json_string_value(json_object_get(
                            json_object_get(json_array_get(all, 1), "coll_perf"), "coll_timing_source")),
                        "collective_cpu");
    json_decref(all);
}

/* Handles that are stale, made up or nothing; events that were not asked for. */
static void what_makes_no_sense_does_no_harm(void **state)
{
    struct iwi_nccl_event_v5 event = {.type = IWI_NCCL_GROUP_API};
    void *context = open_comm(1, 0), *coll, *kernel, *handle = context;
    json_t *all;

    (void)state;
    for (uint64_t type = 1; type < UINT64_C(1) << 16; type *= 2) {
        event.type = type == IWI_NCCL_COLL || type == IWI_NCCL_P2P ? IWI_NCCL_GROUP : type;
        handle = context;
        assert_int_equal(v5->start_event(context, &handle, &event), IWI_NCCL_SUCCESS);
        assert_null(handle);
    }
    coll = start_coll(context, "AllReduce", 1, 1);
    kernel = start_kernel(context, coll, 0, gpu_ns());
    stop_kernel(kernel, gpu_ns() + 1);
    stop_kernel(kernel, gpu_ns() + 2); /* twice */
    (void)v5->stop_event(coll);
    (void)v5->stop_event(coll);
    stop_kernel(kernel, gpu_ns()); /* it is done */
    assert_null(start_kernel(context, coll, 0, 1));
    assert_null(start_kernel(context, NULL, 0, 1));
    assert_null(start_kernel(context, (void *)(uintptr_t)0xfffffffffffffff1, 0, 1));
    assert_null(start_coll(NULL, "AllReduce", 1, 1));
    (void)v5->stop_event(NULL);
    (void)v5->stop_event(context);
    (void)v5->stop_event((void *)(uintptr_t)0x7fffffffff2);
    (void)v5->record_state(NULL, IWI_NCCL_KERNEL_CH_STOP, NULL);
    (void)v5->start_event(context, NULL, &event);
    (void)v5->start_event(context, &handle, NULL);
    (void)v5->finalize(context);
    (void)v5->finalize(context);
    (void)v5->finalize(NULL);
    all = lines();
    assert_int_equal(json_array_size(all), 1);
    json_decref(all);
}

static void what_finds_no_room_is_counted(void **state)
{
    enum { MANY = 9000 }; /* more than there are slots */
    void *context = open_comm(1, 0), *other = open_comm(2, 1), *kept[MANY];
    size_t room = 0;
    json_t *all, *last;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        kept[i] = start_coll(context, "AllReduce", 1, 0);
        room += kept[i] != NULL;
    }
    assert_true(room > 8000 && room < MANY);
    for (size_t i = 0; i < MANY; i++) {
        (void)v5->stop_event(kept[i]);
    }
    run_coll(context, "AllGather", 1000);
    (void)start_coll(context, "Reduce", 1, 1); /* never ends */
    (void)v5->finalize(context);
    run_coll(other, "AllGather", 1000);
    (void)v5->finalize(other);
    all = lines();
    assert_int_equal(json_array_size(all), room + 2);
    last = json_array_get(all, json_array_size(all) - 1);
    assert_int_equal(number(last, "metadata", "lost"), MANY - room + 1);
    assert_int_equal(number(json_array_get(all, room), "coll_perf", "coll_sn"),
                     MANY); /* counted all the same */
    assert_int_equal(notes, 1);
    json_decref(all);
}

static size_t count_lines(void)
{
    char command[128];
    size_t count = 0;
    FILE *counted;

    (void)snprintf(command, sizeof command, "cat %s/* | wc -l", folder);
    counted = popen(command, "r");
    assert_non_null(counted);
    assert_int_equal(fscanf(counted, "%zu", &count), 1);
    (void)pclose(counted);
    return count;
}

/* Done faster than any thread could write them: the ring has room for 16,384. */
static void what_is_done_too_fast_is_counted(void **state)
{
    enum { MANY = 20000 };
    void *context = open_comm(1, 0);

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        (void)v5->stop_event(start_coll(context, "AllReduce", 1, 0));
    }
    (void)v5->finalize(context);
    assert_true(count_lines() >= 8000);
    assert_int_equal(count_lines() + told_lost, MANY);
    assert_int_equal(warnings, 0);
}

static void a_file_has_a_limit(void **state)
{
    void *context;
    json_t *all;

    (void)state;
    (void)setenv("IDLEWAVE_NCCL_MAX_BYTES", "2000", 1);
    context = open_comm(1, 0);
    for (int i = 0; i < 100; i++) {
        run_coll(context, "AllReduce", 1000);
    }
    (void)v5->finalize(context);
    all = lines();
    assert_in_range(json_array_size(all), 2, 5);
    assert_int_equal(warnings, 1);
    json_decref(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_collective_has_the_times_of_its_kernel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_have_their_peer_and_numbers_of_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(older_nccl_is_understood, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_gpu_timer_the_host_must_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_makes_no_sense_does_no_harm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_finds_no_room_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_done_too_fast_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_has_a_limit, set_up, tear_down),
    };

    return load_plugin() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
