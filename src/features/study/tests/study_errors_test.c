/* What is wrong with a study is told with file and line, and with what to do.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study_testing.h"

struct fault {
    const char *text;
    iw_status status;
    const char *message;
};

static void assert_faults(const struct fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct iwt_log l;
        iw_study *study = NULL;

        if (iwt_read_study(&l, faults[i].text, &study) != faults[i].status) {
            fail_msg("fault %zu has another status; the log is:\n%s", i, l.text);
        }
        iwt_assert_logged(&l, faults[i].message);
        assert_int_equal(l.errors, 1);
        assert_null(study);
    }
}

#define ASSERT_FAULTS(table) assert_faults(table, sizeof(table) / sizeof(table)[0])
#define AT(line) "'/nowhere/s.yaml:" #line "': "

static void faults_of_the_whole_are_told(void **state)
{
    static const struct fault faults[] = {
        {"", IW_ERR_TRUNCATED, AT(1) "the file is empty"},
        {"- a\n", IW_ERR_FORMAT, AT(1) "expected a mapping such as 'systems: ...'"},
        {IWT_PARTS "ranks: 2\n---\na: 1\n", IW_ERR_FORMAT, AT(6) "more than one YAML document"},
        {IWT_PARTS "ranks: {2\n", IW_ERR_FORMAT, AT(6)},
        {IWT_PARTS "rank: 2\n", IW_ERR_FORMAT,
         AT(5) "unknown key 'rank'; did you mean 'ranks'? keys are format, bytes, sync, net-scale, ranks, "
               "trials, systems, patterns, schedules, seed, threshold, name, title"},
        {IWT_PARTS "colour: 2\n", IW_ERR_FORMAT, AT(5) "unknown key 'colour'; keys are format, bytes"},
        {IWT_PARTS "ranks: 2\nranks: 4\n", IW_ERR_FORMAT, AT(6) "key 'ranks' is already in line 5"},
        {IWT_PATTERNS "ranks: 2\n", IW_ERR_FORMAT,
         AT(1) "key 'systems' is missing; a study needs systems, and patterns or schedules"},
        {IWT_SYSTEMS "ranks: 2\n", IW_ERR_FORMAT, AT(1) "key 'patterns' is missing"},
        {"systems: chic\n" IWT_PATTERNS, IW_ERR_FORMAT,
         AT(1) "key 'systems' needs a list of 1 to 1000 items"},
        {"systems: []\n" IWT_PATTERNS, IW_ERR_FORMAT, AT(1) "key 'systems' needs a list of 1 to 1000 items"},
        {IWT_SYSTEMS "patterns: {a: b}\n", IW_ERR_FORMAT, AT(3) "key 'patterns' needs a list"},
        {"format: idlewave.study/2\n", IW_ERR_FORMAT,
         AT(1) "format 'idlewave.study/2' is not 'idlewave.study/1'"},
        {"title: ''\n", IW_ERR_RANGE, AT(1) "key 'title' needs one line of 1 to 200 bytes"},
        {"name: [a]\n", IW_ERR_FORMAT, AT(1) "key 'name' needs a single value"},
        {"name: \"a\\nb\"\n", IW_ERR_RANGE, AT(1) "key 'name' needs one line of 1 to 63 bytes"},
        {"seed: -1\n", IW_ERR_RANGE, AT(1) "key 'seed': '-1' is negative"},
        {"seed: 2^63\n", IW_ERR_RANGE, AT(1) "key 'seed': '2^63' is not between 0 and 9223372036854775807"},
        {"trials: 0\n", IW_ERR_RANGE, AT(1) "key 'trials': '0' is not between 1 and"},
        {"trials: many\n", IW_ERR_FORMAT, AT(1) "key 'trials': 'many' is not a count"},
        {"trials: [1, 2]\n", IW_ERR_FORMAT, AT(1) "key 'trials' needs a single value"},
        {"threshold: 0%\n", IW_ERR_RANGE, AT(1) "key 'threshold' must be above zero"},
        {"threshold: half\n", IW_ERR_FORMAT, AT(1) "key 'threshold': 'half' is not a share"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

static void faults_of_lists_are_told(void **state)
{
    static const struct fault faults[] = {
        {IWT_PARTS, IW_ERR_FORMAT,
         AT(4) "'allreduce:dissemination' has no numbers of ranks: add 'ranks: 2^1..2^10' to it or to the "
               "study"},
        {"ranks: []\n", IW_ERR_FORMAT, AT(1) "key 'ranks': the list is empty"},
        {"ranks:\n  - 2\n  - [4]\n", IW_ERR_FORMAT, AT(3) "key 'ranks' needs a single value"},
        {"ranks: {a: b}\n", IW_ERR_FORMAT, AT(1) "key 'ranks' needs a single value"},
        {"ranks: 0\n", IW_ERR_RANGE, AT(1) "key 'ranks': '0' is too small; the minimum is 1"},
        {"ranks:\n - 2\n - 2^31\n", IW_ERR_RANGE,
         AT(3) "key 'ranks': '2^31' is too large; at most 2^30 is possible"},
        {"ranks: 2.5\n", IW_ERR_FORMAT, AT(1) "key 'ranks': '2.5' is not a whole number"},
        {"ranks: [2, 4, 2]\n", IW_ERR_FORMAT, AT(1) "key 'ranks' has a value twice"},
        {"ranks: [2^1..2^4, 16]\n", IW_ERR_FORMAT, AT(1) "key 'ranks' has a value twice"},
        {"ranks: 2..16\n", IW_ERR_FORMAT,
         AT(1) "key 'ranks': '2..16' has no step: write '2..16 step x2' to double, '2..16 step 2' to count"},
        {"ranks: 2^1..4^2\n", IW_ERR_FORMAT, AT(1) "key 'ranks': '2^1..4^2' has no step"},
        {"ranks: 16..2 step x2\n", IW_ERR_RANGE, AT(1) "key 'ranks': '16..2 step x2' never reaches its end"},
        {"ranks: 2..16 step x1\n", IW_ERR_RANGE,
         AT(1) "key 'ranks': the steps of '2..16 step x1' do not advance"},
        {"ranks: 2..16 step 0\n", IW_ERR_RANGE,
         AT(1) "key 'ranks': the steps of '2..16 step 0' do not advance"},
        {"ranks: 1^1..1^2\n", IW_ERR_RANGE, AT(1) "key 'ranks': the steps of '1^1..1^2' do not advance"},
        {"ranks: 2..16 step xx\n", IW_ERR_FORMAT, AT(1) "key 'ranks': 'x' is not a count"},
        {"ranks: 1..1Mi step 1\n", IW_ERR_RANGE,
         AT(1) "key 'ranks': '1..1Mi step 1' has more than 10000 values; use larger"},
        {"ranks: ..8 step 2\n", IW_ERR_FORMAT, AT(1) "key 'ranks': '' is not a count"},
        {"ranks: 1111111111111111111111111111111111111111111111111111111111111111111..2\n", IW_ERR_FORMAT,
         "is too long for a range"},
        {"bytes: 0..8 step x2\n", IW_ERR_RANGE, AT(1) "key 'bytes': '0..8 step x2' never reaches its end"},
        {"bytes: 2TiB\n", IW_ERR_RANGE, AT(1) "key 'bytes': '2TiB' is too large; at most 2^40 is possible"},
        {"sync: [none, stat]\n", IW_ERR_FORMAT,
         AT(1) "key 'sync': unknown value 'stat': use none, start, phase; did you mean 'start'?"},
        {"net-scale: fast\n", IW_ERR_RANGE,
         AT(1) "key 'net-scale': 'fast' is not a factor: write 10 for a network ten times faster"},
        {"net-scale: 0\n", IW_ERR_RANGE, AT(1) "key 'net-scale': '0' is not a factor"},
        {"net-scale: 10%\n", IW_ERR_RANGE, AT(1) "key 'net-scale': '10%' is not a factor"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

#define SYSTEM(keys) "systems:\n  - {" keys "}\n" IWT_PATTERNS "ranks: 2\n"

static void faults_of_systems_are_told(void **state)
{
    static const struct fault faults[] = {
        {"systems: [chic]\n" IWT_PATTERNS, IW_ERR_FORMAT, AT(1) "a system is a mapping such as '{name: chic"},
        {SYSTEM("name: a"), IW_ERR_FORMAT, AT(2) "the system has no network: add 'net: hdr-fat-tree'"},
        {SYSTEM("net: chic, nosie: none"), IW_ERR_FORMAT, AT(2) "unknown key 'nosie'; did you mean 'noise'?"},
        {SYSTEM("net: chik"), IW_ERR_FORMAT,
         AT(2) "network 'chik' is neither one of chic, altix, cnl, zeptoos, xt4, hdr-fat-tree, ndr-fat-tree, "
               "slingshot-dragonfly, gpu-node-nvlink nor a file in the folder of the study, nor a name of a "
               "collection; did you mean 'chic'?"},
        {SYSTEM("net: [chic]"), IW_ERR_FORMAT, AT(2) "key 'net' needs a single value"},
        {SYSTEM("net: ''"), IW_ERR_FORMAT, AT(2) "network '' is neither"},
        {"systems:\n  - name: a\n    net:\n      L: 1us\n      oo: 1us\n" IWT_PATTERNS, IW_ERR_FORMAT,
         AT(5) "unknown key 'oo'"},
        {"systems:\n  - name: a\n    net:\n      L: 1us\n" IWT_PATTERNS, IW_ERR_FORMAT,
         AT(4) "key 'g' is missing"},
        {SYSTEM("net: {L: 2h, o: 0, g: 0, G: 0}"), IW_ERR_RANGE, AT(2) "network 'net': L is more than 1 h"},
        {SYSTEM("net: chic, noise: 'peroidic:10Hz,1us'"), IW_ERR_FORMAT,
         AT(2) "noise 'peroidic:10Hz,1us' is neither 'none', nor a SPEC such as 'periodic:10Hz,100us', nor a "
               "file in the folder of the study, nor a name of a collection; did you mean 'periodic'?"},
        {"systems:\n  - net: chic\n    noise:\n      - none\n      - periodic:10Hz\n" IWT_PATTERNS,
         IW_ERR_FORMAT, AT(5) "noise: 'periodic:10Hz' is incomplete"},
        {SYSTEM("net: chic, noise: periodic:10Hz,100us"), IW_ERR_FORMAT,
         AT(2) "'100us' has no key; a comma within {} ends a value: put it in quotes"},
        {SYSTEM("net: chic, noise: [periodic:10Hz,100us]"), IW_ERR_FORMAT,
         "for example 'periodic:10Hz,220us'; a comma within [] ends a value: use quotes"},
        {SYSTEM("net: chic, noise: 'periodic:10Hz,1s'"), IW_ERR_RANGE, AT(2) "noise: "},
        {SYSTEM("net: chic, noise: [a, a, a, a, a, a, a, a, a]"), IW_ERR_RANGE,
         AT(2) "9 noise sources: at most 8 are possible"},
        {SYSTEM("net: chic, noise: {a: b}"), IW_ERR_FORMAT, AT(2) "key 'noise' needs a single value"},
        {SYSTEM("net: chic, noise: "), IW_ERR_FORMAT, AT(2) "noise '' is neither"},
        {SYSTEM("net: chic, noise: 'periodic:1Hz,1us', extrapolate: true"), IW_ERR_FORMAT,
         AT(2) "nothing to extrapolate: the noise is not recorded"},
        {SYSTEM("net: chic, extrapolate: yes"), IW_ERR_FORMAT,
         AT(2) "key 'extrapolate': unknown value 'yes': use"},
        {SYSTEM("net: chic, noise-cpus: 3-"), IW_ERR_FORMAT, AT(2) "noise-cpus: "},
        {SYSTEM("net: chic, ranks-per-node: 0"), IW_ERR_RANGE,
         AT(2) "key 'ranks-per-node': '0' is not between"},
        {SYSTEM("net: chic, skew: 5"), IW_ERR_FORMAT, AT(2) "key 'skew': '5' has no unit"},
        {SYSTEM("net: chic, skew: 5us"), IW_ERR_FORMAT,
         AT(2) "skew shifts synchronised noise, but system 'chic' has no cells with 'sync: start'"},
        {"systems:\n  - {name: a, net: chic, sync: start}\n  - {name: b, net: chic, sync: none, skew: "
         "5us}\n" IWT_PATTERNS "ranks: 8\n",
         IW_ERR_FORMAT,
         AT(3) "skew shifts synchronised noise, but system 'b' has no cells with 'sync: start'"},
        {"systems:\n  - {name: a, net: chic}\n  - {name: a, net: altix}\n" IWT_PATTERNS, IW_ERR_FORMAT,
         AT(3) "system 'a' is already in line 2; give it another name"},
        {SYSTEM("net: {L: 1h, o: 0, g: 0, G: 0}, net-scale: 0.5"), IW_ERR_RANGE,
         AT(2) "with net-scale 0.5: network 'net': L is more than 1 h"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

#define PATTERN(keys) IWT_SYSTEMS "patterns:\n  - {" keys "}\nranks: [2, 8]\n"

static void faults_of_patterns_are_told(void **state)
{
    static const struct fault faults[] = {
        {IWT_SYSTEMS "patterns:\n  - barrier\n  - [bcast]\n", IW_ERR_FORMAT,
         AT(5) "key 'pattern' needs a single value"},
        {IWT_SYSTEMS "patterns:\n  - alreduce:ring\nranks: 2\n", IW_ERR_FORMAT,
         AT(4) "unknown operation 'alreduce'; did you mean 'allreduce'? for all, type: idlewave schedule"},
        {IWT_SYSTEMS "patterns:\n  - barrier+allreduce:rnig\nranks: 2\n", IW_ERR_FORMAT,
         AT(4) "unknown algorithm 'rnig'; did you mean 'ring'? for all, type: idlewave schedule"},
        {IWT_SYSTEMS "patterns:\n  - barrier+\nranks: 2\n", IW_ERR_FORMAT,
         AT(4) "'barrier+' is not a pattern"},
        {PATTERN("name: a"), IW_ERR_FORMAT, AT(4) "the pattern has no operations: add 'pattern: "},
        {PATTERN("pattern: bcast, rooot: 1"), IW_ERR_FORMAT,
         AT(4) "unknown key 'rooot'; did you mean 'root'?"},
        {PATTERN("pattern: bcast, root: 4"), IW_ERR_RANGE,
         AT(4) "'bcast' on 2 ranks with 1 bytes: root 4: ranks are 0 to 1"},
        {PATTERN("pattern: bcast, compute: 1"), IW_ERR_FORMAT, AT(4) "key 'compute': '1' has no unit"},
        {PATTERN("pattern: bcast, repeat: 0"), IW_ERR_RANGE, AT(4) "key 'repeat': '0' is not between 1 and"},
        {PATTERN("pattern: bcast, segment: 0"), IW_ERR_RANGE,
         AT(4) "key 'segment': '0' is not between 1 and"},
        {PATTERN("pattern: bcast, reduce-cost: 1h"), IW_ERR_FORMAT, AT(4) "key 'reduce-cost': "},
        {PATTERN("pattern: bcast, dims: 2x4"), IW_ERR_FORMAT,
         AT(4) "key 'dims' is for halo and sweep patterns, not for 'bcast'"},
        {PATTERN("pattern: halo2d, dims: 2x4"), IW_ERR_RANGE, AT(4) "'halo2d' on 2 ranks with 1 bytes: "},
        {PATTERN("pattern: halo2d, dims: 2y4"), IW_ERR_FORMAT,
         AT(4) "key 'dims': '2y4' is not a list of dimensions: write 16x16"},
        {PATTERN("pattern: halo2d, boundary: opne"), IW_ERR_FORMAT,
         AT(4) "key 'boundary': unknown value 'opne': use open, periodic; did you mean 'open'?"},
        {PATTERN("pattern: halo2d, direction: up"), IW_ERR_FORMAT,
         AT(4) "key 'direction': unknown value 'up': use bi, uni"},
        {PATTERN("pattern: halo2d, exchange: both"), IW_ERR_FORMAT,
         AT(4) "key 'exchange': unknown value 'both': use joint, split"},
        {PATTERN("pattern: halo1d, distance: 0"), IW_ERR_RANGE, AT(4) "key 'distance': '0' is not between"},
        {IWT_SYSTEMS "patterns:\n  - barrier\n  - {name: barrier, pattern: bcast}\n", IW_ERR_FORMAT,
         AT(5) "'barrier' is already in line 4; give it another name"},
        {IWT_SYSTEMS "patterns:\n  - {pattern: alltoall, bytes: 1TiB}\nranks: [2, 1Mi]\n", IW_ERR_RANGE,
         AT(4) "'alltoall' on 1048576 ranks with 1099511627776 bytes: "},
        {IWT_SYSTEMS "schedules:\n  - app.goal\n", IW_ERR_IO,
         AT(4) "schedule 'app.goal': no such file in the folder of the study"},
        {IWT_SYSTEMS "schedules:\n  - {name: a}\n", IW_ERR_FORMAT,
         AT(4) "the schedule has no file: add 'file: "},
        {IWT_SYSTEMS "schedules:\n  - file: a\n    ranks: 2\n", IW_ERR_FORMAT,
         AT(5) "a schedule has ranks and bytes of its own; remove 'ranks'"},
        {IWT_SYSTEMS "schedules:\n  - {file: a, unit: 0}\n", IW_ERR_IO, AT(4) "schedule 'a'"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

static void faults_of_the_grid_are_told(void **state)
{
    static const struct fault faults[] = {
        {"systems:\n  - {net: chic, ranks: 2}\npatterns:\n  - {pattern: bcast, ranks: 4}\n", IW_ERR_FORMAT,
         AT(2) "system 'chic' has no cells: its lists and those of the patterns have no value in common"},
        {"systems:\n  - {net: chic, ranks: 2}\npatterns:\n  - barrier\n  - {pattern: bcast, ranks: 4}\n",
         IW_ERR_FORMAT,
         AT(5) "'bcast' has no cells: its lists and those of the systems have no value in common"},
        {IWT_PARTS "ranks: 1..1000 step 1\nbytes: 1..1001 step 1\n", IW_ERR_RANGE,
         AT(4) "with 'allreduce:dissemination' on 'one' the study has more than 1000000 cells"},
        {"systems:\n  - {name: a, net: chic}\n  - {name: b, net: chic, noise: none}\n" IWT_PATTERNS
         "ranks: 2\n",
         IW_ERR_FORMAT,
         AT(3) "'allreduce:dissemination' on 'b' equals 'allreduce:dissemination' on 'a' except for the "
               "names"},
        {IWT_SYSTEMS "patterns:\n  - bcast\n  - bcast:binomial\nranks: 2\n", IW_ERR_FORMAT,
         AT(5) "'bcast:binomial' on 'one' equals 'bcast' on 'one' except for the names"},
    };

    (void)state;
    ASSERT_FAULTS(faults);
}

static void lists_have_up_to_a_thousand_items(void **state)
{
    (void)state;
    for (int count = 1000; count <= 1001; count++) {
        iw_study *study = NULL;
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        struct iwt_log l;

        assert_non_null(out);
        (void)fputs("systems:\n", out);
        for (int i = 0; i < count; i++) {
            (void)fprintf(out, "  - {name: s%d, net: chic, noise: 'periodic:10Hz,%dns'}\n", i, i + 1);
        }
        (void)fputs(IWT_PATTERNS "ranks: 2\n", out);
        assert_int_equal(fclose(out), 0);
        assert_status(iwt_read_study(&l, text, &study), count == 1000 ? IW_OK : IW_ERR_FORMAT);
        if (count > 1000) {
            iwt_assert_logged(&l, AT(2) "key 'systems' needs a list of 1 to 1000 items");
        }
        iw_study_free(study);
        free(text);
    }
}

static void a_fault_in_another_file_is_told_with_that_file(void **state)
{
    struct iwt_scratch scratch;
    struct iwt_log l;
    iw_study *study = NULL;

    (void)state;
    iwt_scratch_make(&scratch);
    iwt_log_init(&l);
    (void)iwt_scratch_write(&scratch, "my.yaml", "L: 1us\nlatency: 1\n");
    assert_status(
        iw_study_load(&l.log, iwt_scratch_write(&scratch, "s.yaml", SYSTEM("net: my.yaml")), &study),
        IW_ERR_FORMAT);
    iwt_assert_logged(&l, "/my.yaml:2': unknown key 'latency'");
    iwt_log_init(&l);
    (void)iwt_scratch_write(&scratch, "app.goal", "num_ranks 1\nrank 0 {\ncalk 5\n}\n");
    assert_status(
        iw_study_load(&l.log, iwt_scratch_write(&scratch, "s.yaml", IWT_SYSTEMS "schedules:\n  - app.goal\n"),
                      &study),
        IW_ERR_FORMAT);
    iwt_assert_logged(&l, "/app.goal:3");
    iwt_log_init(&l);
    (void)iwt_scratch_write(&scratch, "tick.txt", "5 6 7\n");
    assert_status(iw_study_load(&l.log,
                                iwt_scratch_write(&scratch, "s.yaml", SYSTEM("net: chic, noise: tick.txt")),
                                &study),
                  IW_ERR_FORMAT);
    iwt_assert_logged(&l, "/s.yaml:2': noise: ");
    iwt_assert_logged(&l, "/tick.txt:1");
    iwt_log_init(&l);
    assert_status(iw_study_load(&l.log, "/nowhere/s.yaml", &study), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot read '/nowhere/s.yaml'");
    iwt_scratch_remove(&scratch);
}

static void a_study_cut_at_any_byte_is_survived(void **state)
{
    static const char text[] =
        "title: \"cut\"\nseed: 1\ntrials: 10\nthreshold: 100%\n"
        "systems:\n  - name: chic\n    net: {L: 5us, o: 1us, g: 1us, G: 1ns}\n    noise: [periodic:10Hz,1us, "
        "none]\n"
        "    skew: 1us\npatterns:\n  - allreduce:dissemination\n"
        "  - {name: tree, pattern: bcast:binomial, root: 0, ranks: [2, 4]}\n"
        "ranks: 2^1..2^4\nbytes: [1, 1MiB]\nsync: [none, start]\nnet-scale: [0.1, 1]\n";

    (void)state;
    for (size_t size = 0; size < sizeof text; size++) {
        struct iwt_log l;
        iw_study *study = NULL;
        bool has_name;
        iw_status status;

        iwt_log_init(&l);
        status = iwi_study_read_memory(&l.log, "/nowhere/s.yaml", text, size, true, &has_name, &study);
        assert_int_equal(l.errors, status == IW_OK ? 0 : 1);
        assert_true((status == IW_OK) == (study != NULL));
        iw_study_free(study);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_of_the_whole_are_told),
        cmocka_unit_test(faults_of_lists_are_told),
        cmocka_unit_test(faults_of_systems_are_told),
        cmocka_unit_test(faults_of_patterns_are_told),
        cmocka_unit_test(faults_of_the_grid_are_told),
        cmocka_unit_test(lists_have_up_to_a_thousand_items),
        cmocka_unit_test(a_fault_in_another_file_is_told_with_that_file),
        cmocka_unit_test(a_study_cut_at_any_byte_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
