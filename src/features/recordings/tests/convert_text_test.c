/* netgauge, sysjitter and CSV: what is read, what is written, and that both agree.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "convert_testing.h"

static const char netgauge[] = "# Time [ns]\tduration [ns]\n"
                               "0.00\t1234.56\n"
                               "5000.40\t100.20\n"
                               "# Measurement period: 0.00 s\n";

static const char sysjitter[] = "# cpu_mhz: 2000\n"
                                "# threshold: 200ns\n"
                                "# n_interruptions: 2\n"
                                "# interruption: 0.3%\n"
                                "# total_interruption: 6000 cycles\n"
                                "# total_runtime: 2000000 cycles\n"
                                "# total_interruption: 0.000003000 seconds\n"
                                "# total_runtime: 0.001000000 seconds\n"
                                "#\n"
                                "#      Timestamp      delta   <== interruption =>\n"
                                "#         (nsec)     (usec)   (cycles)     (nsec)\n"
                                "            5000          0       4000       2000\n"
                                "           90000         85       2000       1000\n";

static const char csv[] = "# rows: 3\n"
                          "# rung: tracefs\n"
                          "# cpu 0: length_ns 1000000, t_min_ns 20.25, threshold_ns 184, dropped 7\n"
                          "# cpu 5: length_ns 1000000, t_min_ns 21, threshold_ns 190, dropped 0\n"
                          "# origin host: node17\n"
                          "cpu,start_ns,duration_ns,class,source\n"
                          "0,100,2000,irq,local_timer\n"
                          "0,5000,300,thread,\"cron, \"\"daily\"\"\"\n"
                          "5,250,1000,unknown,\n";

/* Two CPUs, touching detours, a name that needs quotes, one of no length. */
static iw_recording *make_recording(void)
{
    iw_recording *recording = iwt_recording(2, 1000000);
    const uint32_t timer = iwt_source(recording, IW_CLASS_IRQ, "local_timer");
    const uint32_t odd = iwt_source(recording, IW_CLASS_THREAD, "a,\"b\" c");
    const uint32_t formula = iwt_source(recording, IW_CLASS_THREAD, "=1+1");

    iwt_attribute(recording, "host", "node17");
    recording->cpus[1].cpu = 5;
    recording->cpus[1].t_min_ns = 0.1;
    recording->cpus[1].dropped = 3;
    iwt_detour(recording, 0, 0, 10, timer);
    iwt_detour(recording, 0, 10, 500, odd);
    iwt_detour(recording, 0, 900000, 100000, 0);
    iwt_detour(recording, 1, 77, 1, odd);
    iwt_detour(recording, 1, 99, 1, formula);
    return recording;
}

/* ---- netgauge ---- */

static void netgauge_is_rounded_to_nanoseconds_at_both_ends(void **state)
{
    iw_recording *recording = import_text(&iwi_convert_netgauge, netgauge);
    const iw_detours *cpu = &recording->cpus[0];

    (void)state;
    assert_int_equal(recording->cpu_count, 1);
    assert_int_equal(cpu->count, 2);
    assert_int_equal(cpu->duration_ns[0], 1235);
    assert_int_equal(cpu->start_ns[1], 5000);
    assert_int_equal(cpu->duration_ns[1], 101); /* 5100.6 rounds to 5101 */
    assert_int_equal(cpu->length_ns, 5101);
    assert_string_equal(iw_recording_get(recording, "imported_from"), "netgauge text");
    iw_recording_free(recording);
}

static void netgauge_detours_that_overlap_are_one(void **state)
{
    iw_recording *recording =
        import_text(&iwi_convert_netgauge, "# length_ns: 999\n50 10\n0 20\n10 20\n30 5\n70 0\n");
    const iw_detours *cpu = &recording->cpus[0];

    (void)state;
    assert_int_equal(cpu->count, 3); /* [0, 30), [30, 35), [50, 60) */
    assert_int_equal(cpu->duration_ns[0], 30);
    assert_int_equal(cpu->start_ns[1], 30);
    assert_int_equal(cpu->start_ns[2], 50);
    assert_int_equal(cpu->length_ns, 999);
    iw_recording_free(recording);
}

static void netgauge_length_before_the_last_detour_is_refused(void **state)
{
    (void)state;
    expect_refused(&iwi_convert_netgauge, "# length_ns: 10\n5 20\n", IW_ERR_FORMAT, "after the length");
}

/* As `netgauge -x noise` writes it when a file of an earlier run is there. */
static void netgauge_runs_of_a_node_are_one_recording(void **state)
{
    iw_recording *recording =
        import_text(&iwi_convert_netgauge, "# Benchmark Method: selfish\n"
                                           "# Nodename: n1\n"
                                           "# Minimal cycle length [ns]: 20.0 \n"
                                           "# Threshold: [% minimal cycle length]: 900 \n"
                                           "0.00\t500.00\n70000.00\t400.00\n"
                                           "# Benchmark Method: selfish\n"
                                           "# Nodename: n1\n"
                                           "# Minimal cycle length [ns]: 25.5 \n"
                                           "# Threshold: [% minimal cycle length]: 900 \n"
                                           "0.00\t300.00\n10000.00\t600.00\n");
    const iw_detours *cpu = &recording->cpus[0];

    (void)state;
    assert_int_equal(cpu->count, 3);
    assert_int_equal(cpu->start_ns[1], 70000);
    assert_int_equal(cpu->duration_ns[1], 300);
    assert_int_equal(cpu->start_ns[2], 80000);
    assert_int_equal(cpu->length_ns, 80600);
    assert_true(cpu->t_min_ns == 25.5); /* of the blunter run */
    assert_true(cpu->threshold_ns == 9 * 25.5);
    assert_string_equal(iw_recording_get(recording, "host"), "n1");
    iw_recording_free(recording);
}

/* LogGOPSim takes an empty last line for a detour. */
static void netgauge_ends_without_a_newline(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000);
    char *text;

    (void)state;
    iwt_detour(recording, 0, 3, 4, 0);
    iwt_detour(recording, 0, 20, 5, 0);
    text = export_text(&iwi_convert_netgauge, recording);
    assert_string_equal(text, "# length_ns: 1000\n# Time [ns]\tduration [ns]\n3\t4\n20\t5");
    free(text);
    iw_recording_free(recording);
}

/* ---- sysjitter ---- */

static void sysjitter_stamps_are_ends(void **state)
{
    iw_recording *recording = import_text(&iwi_convert_sysjitter, sysjitter);
    const iw_detours *cpu = &recording->cpus[0];

    (void)state;
    assert_int_equal(cpu->count, 2);
    assert_int_equal(cpu->start_ns[0], 3000);
    assert_int_equal(cpu->duration_ns[0], 2000);
    assert_int_equal(cpu->start_ns[1], 89000);
    assert_int_equal(cpu->length_ns, 1000000); /* 2000000 cycles of 0.5 ns */
    assert_true(cpu->threshold_ns == 200.0);
    iw_recording_free(recording);
}

static void sysjitter_sorted_by_length_is_read_too(void **state)
{
    iw_recording *recording =
        import_text(&iwi_convert_sysjitter, "# cpu_mhz: 1000\n# n_interruptions: 2\n"
                                            "# total_runtime: 9000 cycles\n800 10 10\n500 30 30\n");

    (void)state;
    assert_int_equal(recording->cpus[0].start_ns[0], 470);
    assert_int_equal(recording->cpus[0].start_ns[1], 790);
    iw_recording_free(recording);
}

static void sysjitter_with_rows_missing_ends_early(void **state)
{
    (void)state;
    expect_refused(&iwi_convert_sysjitter, "# cpu_mhz: 1000\n# n_interruptions: 2\n800 10 10\n",
                   IW_ERR_TRUNCATED, "states 2 interruptions, but has 1");
}

static void sysjitter_rows_must_make_sense(void **state)
{
    static const char *const rows[] = {"800 10\n", "800 10 10 10 10\n", "800 10 x\n", "8 10 10\n",
                                       "9999999999999999 1 1\n"};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[128];

        snprintf(text, sizeof text, "# cpu_mhz: 1000\n# n_interruptions: 1\n%s", rows[i]);
        expect_refused(&iwi_convert_sysjitter, text, IW_ERR_FORMAT, "'in:3'");
    }
}

/* ---- CSV ---- */

static void csv_gives_facts_and_sources(void **state)
{
    iw_recording *recording = import_text(&iwi_convert_csv, csv);
    const iw_detours *cpu = &recording->cpus[0];

    (void)state;
    assert_int_equal(recording->cpu_count, 2);
    assert_int_equal(recording->attribution, IW_ATTRIBUTION_LEVEL_TRACEFS);
    assert_string_equal(iw_recording_get(recording, "host"), "node17");
    assert_true(cpu->t_min_ns == 20.25 && cpu->threshold_ns == 184.0);
    assert_int_equal(cpu->dropped, 7);
    assert_string_equal(recording->sources[cpu->source[1]].name, "cron, \"daily\"");
    assert_int_equal(recording->cpus[1].cpu, 5);
    assert_int_equal(recording->cpus[1].source[0], 0);
    iw_recording_free(recording);
}

/* As `noise show --format csv` writes it, and in another order. */
static void csv_needs_no_comments(void **state)
{
    iw_recording *recording = import_text(&iwi_convert_csv, "cpu,start_ns,duration_ns,class,source\r\n"
                                                            "3,500,20,irq,x\r\n"
                                                            "1,10,5,nmi,\r\n"
                                                            "3,100,20,irq,x");

    (void)state;
    assert_int_equal(recording->cpus[0].cpu, 1);
    assert_int_equal(recording->cpus[1].start_ns[0], 100);
    assert_int_equal(recording->cpus[1].start_ns[1], 500);
    assert_int_equal(recording->cpus[0].length_ns, 520);
    assert_int_equal(recording->source_count, 3);
    iw_recording_free(recording);
}

static void csv_that_overlaps_or_is_malformed_is_refused(void **state)
{
    static const char head[] = "cpu,start_ns,duration_ns,class,source\n";
    static const char *const rows[] = {"0,1,2,irq\n",        "0,1,2,what,x\n",
                                       "0,-1,2,irq,x\n",     "0,1,2,irq,\"x\n",
                                       "0,1,2,irq,\"x\"y\n", "0,1,9999999999999999,irq,x\n"};
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "%s%s", head, rows[i]);
        expect_refused(&iwi_convert_csv, text, IW_ERR_FORMAT, "'in:2'");
    }
    snprintf(text, sizeof text, "%s0,1,10,irq,x\n0,5,1,irq,x\n", head);
    expect_refused(&iwi_convert_csv, text, IW_ERR_FORMAT,
                   "'in:3': this detour of CPU 0 starts before the end of that of line 2");
    snprintf(text, sizeof text, "%s0,5,1,irq,x\n1,7,1,irq,\"a\nb\nc\"\n0,1,10,irq,x\n", head);
    expect_refused(&iwi_convert_csv, text, IW_ERR_FORMAT,
                   "'in:2': this detour of CPU 0 starts before the end of that of line 6");
    expect_refused(&iwi_convert_csv, head, IW_ERR_FORMAT, "has no rows");
}

static void csv_names_with_control_characters_need_quotes(void **state)
{
    static const char head[] = "cpu,start_ns,duration_ns,class,source\n";
    static const char in_name[] = "cpu,start_ns,duration_ns,class,source\n0,1,2,irq,a\0b\n";
    static const char in_quotes[] = "cpu,start_ns,duration_ns,class,source\n0,1,2,irq,\"a\nb\0c\"\n";
    iw_recording *recording = NULL;
    struct iwt_log log;
    char text[256];

    (void)state;
    assert_status(import_bytes(&log, &iwi_convert_csv, in_name, sizeof in_name - 1, &recording),
                  IW_ERR_FORMAT);
    iwt_assert_logged(&log, "'in:2': zero byte:");
    assert_status(import_bytes(&log, &iwi_convert_csv, in_quotes, sizeof in_quotes - 1, &recording),
                  IW_ERR_FORMAT);
    iwt_assert_logged(&log, "'in:3': the name of the source has a zero byte");
    snprintf(text, sizeof text, "%s0,1,2,irq,a\033[31mb\n", head);
    expect_refused(&iwi_convert_csv, text, IW_ERR_FORMAT, "'in:2': the name of the source has");
    snprintf(text, sizeof text, "%s0,1,2,irq,\"a\033[31mb\"\n", head);
    recording = import_text(&iwi_convert_csv, text);
    assert_string_equal(recording->sources[1].name, "a\033[31mb");
    iw_recording_free(recording);
}

/* Threads choose their names: spreadsheets and terminals get nothing to obey. */
static void csv_is_harmless(void **state)
{
    static const char *const names[] = {"=1+1", "+1", "-1", "@x", "-", "a-b", "\033[31mred\t\xc2\x9b",
                                        "=a,b"};
    static const char expected[] =
        "0,0,1,thread,'=1+1\n0,10,1,thread,'+1\n0,20,1,thread,'-1\n0,30,1,thread,'@x\n"
        "0,40,1,thread,-\n0,50,1,thread,a-b\n0,60,1,thread,?[31mred??\n"
        "0,70,1,thread,\"'=a,b\"\n";
    iw_recording *recording = iwt_recording(1, 1000), *again;
    char *text;

    (void)state;
    iwt_attribute(recording, "host", "a\033[31mb");
    for (int i = 0; i < 8; i++) {
        iwt_detour(recording, 0, 10 * i, 1, iwt_source(recording, IW_CLASS_THREAD, names[i]));
    }
    text = export_text(&iwi_convert_csv, recording);
    assert_non_null(strstr(text, expected));
    assert_null(strchr(text, '\033'));
    again = import_text(&iwi_convert_csv, text);
    assert_string_equal(again->sources[1].name, "=1+1");
    assert_string_equal(again->sources[8].name, "=a,b");
    free(text);
    iw_recording_free(recording);
    iw_recording_free(again);
}

static void csv_cut_off_between_rows_is_noticed(void **state)
{
    struct iwt_log log;
    iw_recording *recording;
    const size_t size = (size_t)(strstr(csv, "5,250") - csv);

    (void)state;
    assert_status(import_bytes(&log, &iwi_convert_csv, csv, size, &recording), IW_ERR_TRUNCATED);
    assert_status(import_bytes(&log, &iwi_convert_csv, csv, sizeof csv - 2, &recording), IW_ERR_TRUNCATED);
}

/* ---- both ways ---- */

static void csv_keeps_all_but_parts(void **state)
{
    iw_recording *recording = make_recording(), *again;
    char *text = export_text(&iwi_convert_csv, recording);

    (void)state;
    again = import_text(NULL, text);
    expect_same_detours(recording, again, true);
    assert_int_equal(again->attribution, recording->attribution);
    assert_string_equal(iw_recording_get(again, "host"), "node17");
    assert_int_equal(again->attribute_count, 1);
    assert_true(again->cpus[1].t_min_ns == 0.1);
    assert_int_equal(again->cpus[1].dropped, 3);
    free(text);
    iw_recording_free(again);
    iw_recording_free(recording);
}

static void csv_keeps_quanta(void **state)
{
    const iw_probe probes[] = {IW_PROBE_FWQ, IW_PROBE_FTQ};

    (void)state;
    for (size_t p = 0; p < 2; p++) {
        iw_recording *recording = iwt_recording(1, 3000), *again;
        char *text;

        recording->probe = probes[p];
        recording->quantum_ns = 1000;
        iwt_sample(recording, 0, 0, 1000.125);
        iwt_sample(recording, 0, 1500, 0.1);
        text = export_text(&iwi_convert_csv, recording);
        again = import_text(NULL, text);
        assert_int_equal(again->probe, probes[p]);
        assert_int_equal(again->quantum_ns, 1000);
        assert_int_equal(again->cpus[0].sample_count, 2);
        assert_int_equal(again->cpus[0].sample_start_ns[1], 1500);
        assert_true(again->cpus[0].sample[0] == 1000.125 && again->cpus[0].sample[1] == 0.1);
        free(text);
        iw_recording_free(again);
        iw_recording_free(recording);
    }
}

static void netgauge_and_sysjitter_keep_detours_and_length(void **state)
{
    const struct iwi_convert_ops *const formats[] = {&iwi_convert_netgauge, &iwi_convert_sysjitter};
    iw_recording *recording = make_recording(), one = *recording;

    (void)state;
    one.cpu_count = 1;
    for (size_t i = 0; i < 2; i++) {
        char *text = export_text(formats[i], &one);
        iw_recording *again = import_text(NULL, text);

        expect_same_detours(&one, again, false);
        free(text);
        iw_recording_free(again);
    }
    iw_recording_free(recording);
}

static void cut_at_every_byte_nothing_breaks(void **state)
{
    (void)state;
    cut_short(&iwi_convert_netgauge, netgauge, sizeof netgauge - 1, 1);
    cut_short(&iwi_convert_sysjitter, sysjitter, sizeof sysjitter - 1, 1);
    cut_short(&iwi_convert_csv, csv, sizeof csv - 1, 1);
    cut_short(NULL, csv, sizeof csv - 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(netgauge_is_rounded_to_nanoseconds_at_both_ends),
        cmocka_unit_test(netgauge_detours_that_overlap_are_one),
        cmocka_unit_test(netgauge_length_before_the_last_detour_is_refused),
        cmocka_unit_test(netgauge_runs_of_a_node_are_one_recording),
        cmocka_unit_test(netgauge_ends_without_a_newline),
        cmocka_unit_test(sysjitter_stamps_are_ends),
        cmocka_unit_test(sysjitter_sorted_by_length_is_read_too),
        cmocka_unit_test(sysjitter_with_rows_missing_ends_early),
        cmocka_unit_test(sysjitter_rows_must_make_sense),
        cmocka_unit_test(csv_gives_facts_and_sources),
        cmocka_unit_test(csv_needs_no_comments),
        cmocka_unit_test(csv_that_overlaps_or_is_malformed_is_refused),
        cmocka_unit_test(csv_names_with_control_characters_need_quotes),
        cmocka_unit_test(csv_is_harmless),
        cmocka_unit_test(csv_cut_off_between_rows_is_noticed),
        cmocka_unit_test(csv_keeps_all_but_parts),
        cmocka_unit_test(csv_keeps_quanta),
        cmocka_unit_test(netgauge_and_sysjitter_keep_detours_and_length),
        cmocka_unit_test(cut_at_every_byte_nothing_breaks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
