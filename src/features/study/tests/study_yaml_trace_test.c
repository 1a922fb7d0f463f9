/* Traces as works of studies: which cells they have, what identifies these, what is wrong with them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study_testing.h"

#define SYSTEM "systems:\n  - {name: one, net: chic}\n"

/* Two ranks: a message, an allreduce; `before_us` of work on rank 0 before the message. */
static void write_trace(struct iwt_scratch *scratch, unsigned before_us)
{
    char text[512];

    snprintf(text, sizeof text,
             "MPI_Init:-:1:2:1000\nMPI_Send:%u:64:3:10,8,8:1:5:7000,0,2:%u\n"
             "MPI_Allreduce:3000:64:65:1:10,8,8:1:7000,0,2:3010\nMPI_Finalize:9000:-\n",
             1000 + before_us, 1002 + before_us);
    (void)iwt_scratch_write(scratch, "run-0.txt", text);
    (void)iwt_scratch_write(scratch, "run-1.txt",
                            "MPI_Init:-:1:2:50\nMPI_Recv:60:64:30:10,8,8:0:5:7000,1,2:99:64\n"
                            "MPI_Allreduce:2500:64:65:1:10,8,8:1:7000,1,2:3010\nMPI_Finalize:9000:-\n");
}

static iw_study *load(struct iwt_scratch *scratch, const char *text)
{
    iw_study *study = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    if (iw_study_load(&l.log, iwt_scratch_write(scratch, "s.yaml", text), &study) != IW_OK) {
        fail_msg("%s", l.text);
    }
    return study;
}

static void setup(struct iwt_scratch *scratch)
{
    iwt_scratch_make(scratch);
    write_trace(scratch, 10);
}

static void a_trace_runs_on_the_ranks_of_the_study(void **state)
{
    struct iwt_scratch scratch;
    iw_study *study;

    (void)state;
    setup(&scratch);
    study = load(&scratch,
                 SYSTEM "patterns:\n"
                        "  - {name: app, trace: run-0.txt}\n"
                        "  - {name: half, trace: run-0.txt, compute-scale: 0.5, compute-clock: wall,"
                        " collectives: ompi-4.1, algorithms: [allreduce=ring, 'bcast>64KiB=chain/8KiB'],"
                        " no-p2p: true, no-collectives: false, reduce-cost: 1ns}\n"
                        "  - barrier\n"
                        "ranks: [2, 8]\nbytes: [1, 64]\n");
    assert_int_equal(study->cell_count, 2 + 2 + 4); /* sizes are for the barrier only */
    assert_int_equal(study->cells[0].bytes, 0);
    assert_int_equal(study->cells[0].ranks, 2);
    assert_int_equal(study->cells[1].ranks, 8);
    assert_true(study->works[0].is_trace && !study->works[2].is_trace);
    assert_int_equal(study->trace_count, 1); /* opened once */
    assert_ptr_equal(study->works[0].trace, study->works[1].trace);
    assert_string_equal(study->works[0].trace_opts.rules, "paper");
    assert_string_equal(study->works[1].trace_opts.rules, "ompi-4.1");
    assert_string_equal(study->works[1].trace_opts.algorithms[1], "bcast>64KiB=chain/8KiB");
    assert_null(study->works[1].trace_opts.algorithms[2]);
    assert_true(study->works[1].trace_opts.drops_p2p && !study->works[1].trace_opts.drops_collectives);
    assert_true(study->works[1].trace_opts.compute_scale == 0.5);
    assert_int_equal(study->works[1].trace_opts.clock, IW_COMPUTE_WALL);
    assert_int_equal(study->works[1].trace_opts.reduce, 1000000);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void without_numbers_of_ranks_a_trace_runs_as_it_was(void **state)
{
    struct iwt_scratch scratch;
    iw_study *study;

    (void)state;
    setup(&scratch);
    study = load(&scratch, SYSTEM "patterns:\n  - {trace: run-0.txt}\n");
    assert_int_equal(study->cell_count, 1);
    assert_int_equal(study->cells[0].ranks, 2);
    assert_string_equal(study->works[0].name, "run-0");
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void load_id(struct iwt_scratch *scratch, const char *options, char id[IW_CELL_ID_SIZE])
{
    char text[512];
    iw_study *study;

    snprintf(text, sizeof text, SYSTEM "patterns:\n  - {trace: run-0.txt%s}\nranks: 4\n", options);
    study = load(scratch, text);
    memcpy(id, study->cells[0].id, IW_CELL_ID_SIZE);
    iw_study_free(study);
}

static void another_trace_or_other_options_are_another_cell(void **state)
{
    static const char *const options[] = {
        ", no-p2p: true",        ", no-collectives: true",  ", compute-scale: 2",
        ", compute-clock: wall", ", collectives: mpich",    ", algorithms: [allreduce=ring]",
        ", reduce-cost: 1ns",    ", replica-compute: copy", ", async: thread"};
    char first[IW_CELL_ID_SIZE], other[IW_CELL_ID_SIZE];
    struct iwt_scratch scratch;

    (void)state;
    setup(&scratch);
    load_id(&scratch, "", first);
    load_id(&scratch, ", name: renamed, collectives: paper, compute-scale: 1, no-p2p: false", other);
    assert_string_equal(first, other);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        load_id(&scratch, options[i], other);
        assert_string_not_equal(first, other);
    }
    write_trace(&scratch, 11);
    load_id(&scratch, "", other);
    assert_string_not_equal(first, other);
    write_trace(&scratch, 10);
    load_id(&scratch, "", other);
    assert_string_equal(first, other);
    iwt_scratch_remove(&scratch);
}

static void a_file_of_rules_counts_by_what_is_in_it(void **state)
{
    static const char one[] = "1\n2\n1\n2\n1\n0 3 0 0\n", two[] = "1\n2\n1\n2\n1\n0 4 0 0\n";
    char first[IW_CELL_ID_SIZE], second[IW_CELL_ID_SIZE];
    struct iwt_scratch scratch;

    (void)state;
    setup(&scratch);
    (void)iwt_scratch_write(&scratch, "rules.conf", one);
    load_id(&scratch, ", collectives: rules.conf", first);
    (void)iwt_scratch_write(&scratch, "rules.conf", two);
    load_id(&scratch, ", collectives: rules.conf", second);
    assert_string_not_equal(first, second);
    iwt_scratch_remove(&scratch);
}

static void a_study_can_be_read_without_its_trace(void **state)
{
    static const char text[] =
        SYSTEM "patterns:\n  - {name: app, trace: gone, collectives: gone.conf, ranks: [2, 4]}\n"
               "  - {trace: runs/pop/traces.otf2}\n";
    iw_study *study = NULL;
    struct iwt_log l;
    bool has_name;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iwi_study_read_memory(&l.log, "s.yaml", text, strlen(text), false, &has_name, &study));
    assert_int_equal(study->cell_count, 3);
    assert_string_equal(study->cells[0].id, "");
    assert_int_equal(study->cells[1].ranks, 4);
    assert_int_equal(study->cells[2].ranks, 0);
    assert_null(study->works[0].trace);
    assert_string_equal(study->works[1].name, "pop");
    iw_study_free(study);
}

static void faults_are_told_with_their_lines(void **state)
{
    static const struct {
        const char *item; /* from line 4 on */
        iw_status status;
        const char *message;
    } faults[] = {
        {"{trace: nothing}", IW_ERR_IO,
         "/s.yaml:4': trace 'nothing': no such file or folder in the folder of the study"},
        {"{trace: s.yaml}", IW_ERR_FORMAT, "/s.yaml:4': trace: "},
        {"{trace: run-0.txt, ranks: [2, 7]}", IW_ERR_RANGE,
         "/s.yaml:4': 'run-0' was traced on 2 ranks, which can be replicated to multiples only, not to 7"},
        {"trace: run-0.txt\n    ranks: 5", IW_ERR_RANGE, "/s.yaml:5': 'run-0' was traced on 2 ranks"},
        {"trace: run-0.txt\n    bytes: 5", IW_ERR_FORMAT, "/s.yaml:5': a trace has sizes of its own"},
        {"{trace: run-0.txt, dims: 2x2}", IW_ERR_FORMAT, "/s.yaml:4': unknown key 'dims'"},
        {"{trace: run-0.txt, collectives: ompi}", IW_ERR_FORMAT, "/s.yaml:4': 'run-0': '"},
        {"{trace: run-0.txt, algorithms: allreduce=rnig}", IW_ERR_FORMAT, "/s.yaml:4': 'run-0': "},
        {"{trace: run-0.txt, compute-scale: 10%}", IW_ERR_RANGE,
         "key 'compute-scale': '10%' is not a factor:"},
        {"{trace: run-0.txt, compute-scale: 0}", IW_ERR_RANGE,
         "/s.yaml:4': key 'compute-scale': '0' is not a factor"},
        {"{trace: run-0.txt, compute-clock: cup}", IW_ERR_FORMAT,
         "/s.yaml:4': key 'compute-clock': unknown value 'cup': use auto, wall, cpu; did you mean 'cpu'?"},
        {"{trace: run-0.txt, replica-compute: copies}", IW_ERR_FORMAT,
         "/s.yaml:4': key 'replica-compute': unknown value 'copies': use resample, copy"},
        {"{trace: run-0.txt, compute-clock: cpu}", IW_ERR_FORMAT,
         "/s.yaml:4': 'run-0': the trace has no CPU times"},
        {"{trace: run-0.txt, async: never}", IW_ERR_FORMAT,
         "/s.yaml:4': key 'async': unknown value 'never': use wait, calls, thread"},
        {"{trace: run-0.txt, no-p2p: maybe}", IW_ERR_FORMAT,
         "/s.yaml:4': key 'no-p2p': unknown value 'maybe': use false, true"},
    };
    struct iwt_scratch scratch;

    (void)state;
    setup(&scratch);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        iw_study *study = NULL;
        struct iwt_log l;
        char text[512];

        iwt_log_init(&l);
        snprintf(text, sizeof text, SYSTEM "patterns:\n  - %s\n", faults[i].item);
        assert_status(iw_study_load(&l.log, iwt_scratch_write(&scratch, "s.yaml", text), &study),
                      faults[i].status);
        iwt_assert_logged(&l, faults[i].message);
        assert_int_equal(l.errors, 1);
    }
    iwt_scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_runs_on_the_ranks_of_the_study),
        cmocka_unit_test(without_numbers_of_ranks_a_trace_runs_as_it_was),
        cmocka_unit_test(another_trace_or_other_options_are_another_cell),
        cmocka_unit_test(a_file_of_rules_counts_by_what_is_in_it),
        cmocka_unit_test(a_study_can_be_read_without_its_trace),
        cmocka_unit_test(faults_are_told_with_their_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
