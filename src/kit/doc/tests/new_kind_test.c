/* A new kind of result as an exercise: a table, some sentences and one figure, and every medium has it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/doc/doc.h"
#include "support/support.h"

/* ---- the kind: all that a new one needs, its line in features/tables.c apart ---- */

struct tide {
    double time_h, level_m;
};

struct tides {
    const char *place;
    iw_estimate mean_m;
    struct tide *tides;
    size_t tide_count;
};

static const struct iwi_field tide_fields[] = {
    IWI_VALUE(struct tide, time_h),
    IWI_VALUE(struct tide, level_m),
};
static const struct iwi_schema tide_schema = IWI_SCHEMA(struct tide, tide_fields);

static const struct iwi_field tides_fields[] = {
    IWI_VALUE(struct tides, place),
    IWI_ESTIMATE(struct tides, mean_m),
    IWI_OBJECTS(struct tides, tides, tide_count, tide_schema, .is_row = true),
};
static const struct iwi_schema tides_schema = IWI_SCHEMA(struct tides, tides_fields);

static void draw(struct iwi_document *doc, const struct tides *tides)
{
    struct iwi_figure *figure = NULL;
    const iw_status made = iwi_figure_new(doc->log, "Level over time", &figure);

    if (made == IW_OK) {
        struct iwi_mark *line = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(0), "level");

        figure->message = "The water rises and falls.";
        for (size_t i = 0; i < tides->tide_count; i++) {
            iwi_mark_add(figure, line, (double[]){tides->tides[i].time_h, tides->tides[i].level_m});
        }
        figure->table.caption = "Levels by hour";
        iwi_figure_head(figure, true, "hour");
        iwi_figure_head(figure, false, "m");
        iwi_figure_cell(figure, "first");
        iwi_figure_cell(figure, "%.1f", tides->tides[0].level_m);
    }
    iwi_show_figure(doc, made, figure);
}

static void say_tides(struct iwi_document *doc, const void *subject)
{
    const struct tides *tides = subject;

    iwi_title(doc, "Tides of %s", tides->place);
    iwi_verdict(doc, "The mean level at %s is %s m.", tides->place, iwi_factor(doc, tides->mean_m.value));
    draw(doc, tides);
    iwi_section(doc, "levels", "Levels");
    IWI_TABLE(doc, "Levels", {"hour", IWI_NUMBER}, {"m", IWI_NUMBER}, {"", IWI_BAR});
    for (size_t i = 0; i < tides->tide_count; i++) {
        const struct tide *tide = &tides->tides[i];

        iwi_row(doc, iwi_factor(doc, tide->time_h), iwi_factor(doc, tide->level_m));
        iwi_bar(doc, (iw_estimate){tide->level_m, tide->level_m, tide->level_m});
    }
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc, "Each level was read %d times.", 3);
}

static const struct iwi_kind tides_kind = {
    .name = "tides",
    .schema_id = "idlewave.tides/1",
    .about = "Levels of the sea at a place",
    .schema = &tides_schema,
    .write_doc = say_tides,
};

/* ---- all media ---- */

static struct tide levels[] = {{0, 1},   {1, 1.5}, {2, 2},   {3, 1.5}, {4, 1},    {5, 0.5},
                               {6, 0.1}, {7, 0.5}, {8, 1.1}, {9, 1.6}, {10, 2.1}, {11, 1.4}};
static const struct tides sample = {"Cuxhaven", {1.25, 1.1, 1.4}, levels, sizeof levels / sizeof levels[0]};

static char *written(iw_doc_format format, const iw_doc_style *look)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, (iw_doc){&tides_kind, &sample}, format, look, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_in(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL) {
        fail_msg("no '%s' in:\n%s", piece, text);
    }
}

static void text_has_verdict_plot_table_and_notes(void **state)
{
    char *text = written(IW_DOC_TEXT, NULL);

    (void)state;
    assert_int_equal(strncmp(text, "The mean level at Cuxhaven is 1.250 m.\n\nLevel over time\n", 56), 0);
    assert_in(text, "\nLevels:\n hour      m\n0.000  1.000  \xe2\x96\x88");
    assert_in(text, "\nand 2 more\n\nHow sure:\n- Each level was read 3 times.\n");
    free(text);
}

static void terminals_without_utf8_get_ascii(void **state)
{
    char *text = written(IW_DOC_TEXT, &(iw_doc_style){.is_ascii = true});

    (void)state;
    assert_in(text, "\n0.000  1.000  ####");
    for (const char *c = text; *c != '\0'; c++) {
        assert_true((unsigned char)*c < 0x80);
    }
    free(text);
}

static void narrow_terminals_wrap(void **state)
{
    char *text = written(IW_DOC_TEXT, &(iw_doc_style){.columns = 40});

    (void)state;
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t columns = 0;

        for (const char *c = line; *c != '\n'; c++) {
            columns += ((unsigned char)*c & 0xc0) != 0x80;
        }
        assert_true(columns <= 40);
    }
    free(text);
}

static void pages_fold_what_is_behind_ten_rows(void **state)
{
    char *text = written(IW_DOC_HTML, NULL);

    (void)state;
    assert_in(text, "<title>Tides of Cuxhaven</title>");
    assert_in(text, "<section class=\"verdict\"");
    assert_in(text, "<svg");
    assert_in(text, "<details><summary>2 more</summary>");
    assert_in(text, "<th scope=\"col\" class=\"words\">hour</th><th scope=\"col\">m</th>");
    assert_in(text, "<li>Each level was read 3 times.</li>");
    free(text);
}

static void programs_get_json_and_csv(void **state)
{
    char *json = written(IW_DOC_JSON, NULL), *csv = written(IW_DOC_CSV, NULL);

    (void)state;
    assert_in(json, "\"schema\": \"idlewave.tides/1\"");
    assert_in(json, "\"verdict\": \"The mean level at Cuxhaven is 1.250 m.\"");
    assert_in(json, "\"notes\": [\n    \"Each level was read 3 times.\"\n  ]");
    assert_int_equal(strncmp(csv, "time_h,level_m\n0,1\n1,1.5\n", 24), 0);
    free(json);
    free(csv);
}

static void it_is_drawn_into_files(void **state)
{
    char path[] = "/tmp/idlewave-tides-XXXXXX.svg";
    const int fd = mkstemps(path, 4);
    struct iwt_log log;

    (void)state;
    assert_true(fd >= 0);
    assert_ok(iw_doc_plot(NULL, (iw_doc){&tides_kind, &sample}, path));
    assert_true(lseek(fd, 0, SEEK_END) > 0 || access(path, R_OK) == 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
    iwt_log_init(&log);
    assert_status(iw_doc_plot(&log.log, (iw_doc){&tides_kind, &sample}, "tides.jpeg"), IW_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_verdict_plot_table_and_notes),
        cmocka_unit_test(terminals_without_utf8_get_ascii),
        cmocka_unit_test(narrow_terminals_wrap),
        cmocka_unit_test(pages_fold_what_is_behind_ten_rows),
        cmocka_unit_test(programs_get_json_and_csv),
        cmocka_unit_test(it_is_drawn_into_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
