/* Traced runs: the verdict, the functions, why no waves are shown; and the same from a file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/doc.h>
#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include "support/support.h"

static iw_trace_function functions[] = {
    {"MPI_Waitall", 12, 0, 3 * IW_PS_PER_S}, {"MPI_Send", 8, 1536, IW_PS_PER_S}, {"MPI_Init", 4, 0, 1000}};

static iw_trace_summary summary_of(uint32_t ranks)
{
    return (iw_trace_summary){.origin = "idlewave",
                              .ranks = ranks,
                              .run_ps = 2 * IW_PS_PER_S,
                              .mpi_share = 0.5,
                              .mpi_least = 0.25,
                              .mpi_most = 0.75,
                              .compute_mean_ps = IW_PS_PER_S,
                              .compute_most_ps = 3 * IW_PS_PER_S / 2,
                              .most_rank = 1,
                              .functions = functions,
                              .function_count = 3};
}

static char *shown(iw_doc doc, iw_doc_format format)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct iwt_log l;

    iwt_log_init(&l);
    assert_non_null(out);
    assert_ok(iw_doc_write(&l.log, doc, format, NULL, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_shows(const iw_traced_run *run, iw_doc_format format, const char *part)
{
    char *text = shown(iw_traced_run_doc(run), format);

    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
    free(text);
}

static void the_verdict_says_what_took_the_time(void **state)
{
    const iw_trace_summary summary = summary_of(8), one = summary_of(1);

    (void)state;
    assert_shows(&(iw_traced_run){&summary, NULL}, IW_DOC_TEXT,
                 "8 ranks ran for 2.000 s and spent 50.0 % of it in MPI (ranks: 25.0 % to 75.0 %),\n"
                 "most of that in MPI_Waitall. Load imbalance: the longest computation, 1.500 s on\n"
                 "rank 1, is 1.500 times the mean, 1.000 s.\n");
    assert_shows(&(iw_traced_run){&one, NULL}, IW_DOC_TEXT,
                 "1 rank ran for 2.000 s and spent 50.0 % of it in MPI, most of that in\nMPI_Waitall.\n");
}

static void why_no_waves_are_shown_is_told(void **state)
{
    const iw_waves none = {.delay_count = 2};
    iw_trace_summary summary = summary_of(8);

    (void)state;
    assert_shows(&(iw_traced_run){&summary, NULL}, IW_DOC_TEXT, "too few steps");
    assert_shows(&(iw_traced_run){&summary, &none}, IW_DOC_TEXT,
                 "No idle wave extends over 3 ranks or more; 'idlewave wave' shows how far the 2\n"
                 "delays get.");
    summary.ranks = 3;
    assert_shows(&(iw_traced_run){&summary, &none}, IW_DOC_TEXT, "Idle waves need at least");
    (void)snprintf(summary.origin, sizeof summary.origin, "liballprof");
    assert_shows(&(iw_traced_run){&summary, NULL}, IW_DOC_TEXT, "have separate clocks");
}

static void functions_are_a_table_and_a_picture(void **state)
{
    iw_trace_summary summary = summary_of(8);
    const iw_traced_run run = {&summary, NULL};
    char *page;

    (void)state;
    assert_shows(&run, IW_DOC_TEXT, "\nMPI_Send         8  1.50 KiB   1.000 s  25.0 %\n");
    assert_shows(&run, IW_DOC_CSV, "name,calls,bytes,time_ns\nMPI_Waitall,12,0,3000000000\n");
    page = shown(iw_traced_run_doc(&run), IW_DOC_HTML);
    assert_non_null(strstr(page, ">Time in MPI functions<"));
    assert_non_null(strstr(page, ">MPI_Send</text>"));
    assert_null(strstr(page, ">MPI_Init</text>")); /* too short to be seen */
    free(page);
    summary.function_count = 0;
    page = shown(iw_traced_run_doc(&run), IW_DOC_HTML);
    assert_null(strstr(page, "MPI functions"));
    free(page);
}

static void threads_are_told(void **state)
{
    iw_trace_summary summary = summary_of(8);

    (void)state;
    summary.threaded_ranks = 2;
    summary.threaded_rank = 3;
    summary.threads = 4;
    assert_shows(&(iw_traced_run){&summary, NULL}, IW_DOC_TEXT,
                 "Rank 3 called MPI from 4 threads, others from several too");
}

static void a_file_says_the_same_again(void **state)
{
    iw_front fronts[3] = {{.rank = 1, .distance = 1}, {.rank = 2, .distance = 2}, {.rank = 3, .distance = 3}};
    iw_wave wave = {.direction = 1, .fronts = fronts, .front_count = 3, .met = -1, .end = IW_WAVE_BORDER};
    const iw_waves waves = {.waves = &wave, .wave_count = 1, .delay_count = 1, .exact_ranks = 8};
    const iw_trace_summary summary = summary_of(8);
    const iw_traced_run run = {&summary, &waves};
    char *text = shown(iw_traced_run_doc(&run), IW_DOC_TEXT), *again;
    char *json = shown(iw_traced_run_doc(&run), IW_DOC_JSON);
    iw_doc_file *file = NULL;

    (void)state;
    assert_non_null(strstr(text, "\nWaves:\n"));
    assert_ok(iw_doc_read(NULL, "run.json", json, strlen(json), &file));
    again = shown(iw_doc_of(file), IW_DOC_TEXT);
    assert_string_equal(again, text);
    iw_doc_close(file);
    free(again);
    free(json);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_says_what_took_the_time),
        cmocka_unit_test(why_no_waves_are_shown_is_told),
        cmocka_unit_test(functions_are_a_table_and_a_picture),
        cmocka_unit_test(threads_are_told),
        cmocka_unit_test(a_file_says_the_same_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
