/* `idlewave report`: results as a page, in the terminal, as CSV, or as figures for papers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/doc.h>
#include <idlewave/idlewave.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/report_kinds.h"
#include "options/shown_opts.h"
#include "options/verbs.h"
#include "options/window.h"

/* ======== the JSON of any result ======== */

/* A regular file whose first character that is no blank is a brace: opening it says what is wrong. */
static bool is_json(const char *path)
{
    FILE *file = fopen(path, "re");
    int first;

    if (file == NULL) {
        return false;
    }
    do {
        first = fgetc(file);
    } while (first != EOF && isspace(first));
    (void)fclose(file);
    return first == '{';
}

static iw_status load_doc(const iw_log *log, const char *path, void **input_p)
{
    return iw_doc_open(log, path, (iw_doc_file **)input_p);
}

static iw_status write_doc(const iw_log *log, const void *input, const struct report_target *target)
{
    return report_write_doc(log, iw_doc_of(input), target);
}

static void close_doc(void *input)
{
    iw_doc_close(input);
}

const struct report_kind report_doc = {
    .what = "the JSON of a result",
    .has_format = REPORT_DOC_FORMATS,
    .is_it = is_json,
    .load = load_doc,
    .write = write_doc,
    .free = close_doc,
};

/* ======== the verb ======== */

struct report_opts {
    struct opt_origins origins;
    const char *output, *ranks, *time;
    int format;
};

static const char *const formats[] = {
    [REPORT_TEXT] = "text",         [REPORT_HTML] = "html", [REPORT_CSV] = "csv",   [REPORT_JSON] = "json",
    [REPORT_GNUPLOT] = "gnuplot",   [REPORT_PNG] = "png",   [REPORT_SVG] = "svg",   [REPORT_PDF] = "pdf",
    [REPORT_PERFETTO] = "perfetto", [REPORT_OTF2] = "otf2", [REPORT_FORMATS] = NULL};

/* The first that fits. */
/* clang-format off */
static const struct report_kind *const kinds[] = {
#if IW_FEATURE_WAVE
    &report_timeline,
#endif
#if IW_FEATURE_FLEET
    &report_fleet,
#endif
#if IW_FEATURE_STUDY
    &report_study,
#endif
#if IW_FEATURE_RECORDINGS
    &report_noise,
#endif
    &report_doc,
};
/* clang-format on */

#define ROW(...) OPT_ROW(struct report_opts, __VA_ARGS__)
static const struct opt output_rows[] = {
    ROW("output", OPT_STRING, output, "FILE|DIR",
        "where to write: a file, or a folder for gnuplot and otf2 (default the terminal)", .letter = 'o'),
    ROW("format", OPT_CHOICE, format, "",
        "output format (default by the ending of FILE: .html, .txt, .csv, .png, .svg, .pdf, .json "
        "(perfetto); gnuplot for a folder; text in the terminal)",
        .choices = formats),
    ROW("ranks", OPT_STRING, ranks, "A-B",
        "timelines: only these ranks, in text, pictures and exports; 5 means rank 5 only"),
    ROW("time", OPT_STRING, time, "FROM-TO", "timelines: only this time, for example 10ms-250ms"),
};
#undef ROW

static const struct opt_group groups[] = {OPT_GROUP("Output", output_rows, 0)};

static const struct report_opts defaults = {.format = REPORT_TEXT};

static const char *const synopsis[] = {"[options] FILE", NULL};

static const char description[] =
    "Show any result as text, as a page, as CSV, or as figures for papers.\nA study, finished or not: the "
    "number of ranks from which noise takes over on each system, how sure that is, and box plots over ranks. "
    "A noise file: how much noise, from which sources, how long and at which frequencies. A folder of noise "
    "files, one per node: which nodes stand out, and why. The JSON of any verb (--format json): the same as "
    "the verb prints, in every format.\nA timeline (simulate --timeline) or a trace: which ranks work, wait "
    "and are delayed when, and the idle waves among them. Its formats are text, html, csv (fronts of the "
    "waves; of a trace its MPI functions), json, png, svg, pdf, and for other viewers perfetto "
    "(ui.perfetto.dev) and otf2.\nhtml writes a single self-contained page. gnuplot writes plot.gp and its "
    "data to a folder; run 'gnuplot plot.gp' there to make a PDF of each figure.";

static const struct example examples[] = {
    {"In the terminal", "idlewave report four-systems"},
    {"A page for the browser", "idlewave report four-systems -o report.html"},
    {"A page of a noise file", "idlewave report node.h5 -o node.html"},
    {"A page of the noise files of many nodes", "idlewave report noise -o fleet.html"},
    {"One simulation", "idlewave simulate --pattern allreduce --ranks 4Ki --compute 1ms --trials 100 \\\n"
                       "    --explain --noise poisson:100Hz,exp:50us --format json > one.json\n"
                       "  idlewave report one.json -o one.html"},
    {"Where an idle wave goes", "idlewave report run.h5 -o wave.png --ranks 0-63 --time 0s-80ms"},
    {"Figures for a paper", "idlewave report four-systems --format gnuplot -o figures && \\\n"
                            "    (cd figures && gnuplot plot.gp)"},
    {NULL, NULL},
};

/* ---- the format ---- */

static bool is_folder(const char *path)
{
    struct stat facts;
    const size_t length = strlen(path);

    return (length > 0 && path[length - 1] == '/') || (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode));
}

static bool is_folder_format(enum report_format format)
{
    return format == REPORT_GNUPLOT || format == REPORT_OTF2;
}

/* gnuplot goes by the ending of the file. */
static bool is_picture(enum report_format format)
{
    return format == REPORT_PNG || format == REPORT_SVG || format == REPORT_PDF;
}

/* Not written through a stream. */
static bool is_by_path(enum report_format format)
{
    return is_folder_format(format) || is_picture(format);
}

/* By the ending of the file; REPORT_FORMATS: it does not tell. */
static enum report_format format_of(const char *output)
{
    static const struct {
        const char *ending;
        enum report_format format;
    } endings[] = {{".html", REPORT_HTML}, {".htm", REPORT_HTML},     {".txt", REPORT_TEXT},
                   {".csv", REPORT_CSV},   {".png", REPORT_PNG},      {".svg", REPORT_SVG},
                   {".pdf", REPORT_PDF},   {".json", REPORT_PERFETTO}};
    const char *slash = output != NULL ? strrchr(output, '/') : NULL;
    const char *ending = output != NULL ? strrchr(slash != NULL ? slash : output, '.') : NULL;

    if (output == NULL) {
        return REPORT_TEXT;
    }
    if (is_folder(output)) {
        return REPORT_GNUPLOT;
    }
    for (size_t i = 0; ending != NULL && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcmp(ending, endings[i].ending) == 0) {
            return endings[i].format;
        }
    }
    return REPORT_FORMATS;
}

/* UI_DONE, or it has been reported. */
static int choose_format(const struct ui *ui, const struct report_opts *opts, const struct report_kind *kind,
                         enum report_format *format_p)
{
    const enum report_format format =
        opt_given(opts, format) ? (enum report_format)opts->format : format_of(opts->output);

    if (format == REPORT_FORMATS) {
        return ui_usage(
            ui,
            "'%s' has an unknown suffix: use .html, .txt, .csv, .png, .svg, .pdf or .json, or give --format",
            opts->output);
    }
    if (!kind->has_format[format]) {
        return ui_usage(ui, "--format %s is not available for %s", formats[format], kind->what);
    }
    if (is_by_path(format) && opts->output == NULL) {
        return ui_usage(ui, "no %s given; type: --format %s -o %s",
                        is_folder_format(format) ? "folder" : "file", formats[format],
                        is_folder_format(format) ? "DIR" : "FILE");
    }
    if (is_picture(format) && format_of(opts->output) != format) {
        return ui_usage(ui, "--format %s needs a file that ends in .%s, not '%s'", formats[format],
                        formats[format], opts->output);
    }
    if ((opts->ranks != NULL || opts->time != NULL) && !kind->has_window[format]) {
        return ui_usage(ui, "--ranks and --time do not apply to --format %s of %s", formats[format],
                        kind->what);
    }
    if (format == REPORT_HTML && opts->output == NULL && isatty(STDOUT_FILENO)) {
        return ui_usage(ui, "a page needs a file: add -o report.html");
    }
    *format_p = format;
    return UI_DONE;
}

/* ---- the window ---- */

static int parse_window(struct ui *ui, const struct report_opts *opts, enum report_format format,
                        struct window *window)
{
    int code = UI_DONE;

    *window = (struct window){.has_ranks = false};
    if (opts->ranks != NULL) {
        code = window_parse_ranks(ui, "--ranks", opts->ranks, window);
    }
    if (code == UI_DONE && opts->time != NULL) {
        code = window_parse_time(ui, "--time", opts->time, window);
    }
    if (code == UI_DONE && window->last_rank < window->first_rank && format != REPORT_PERFETTO &&
        format != REPORT_OTF2) {
        return ui_usage(ui, "--ranks %s: only exports wrap around the last rank, pictures do not",
                        opts->ranks);
    }
    return code;
}

/* ---- the input ---- */

/* NULL: it has been reported. */
static const struct report_kind *find_kind(const struct ui *ui, const char *path)
{
    const char *ending = strrchr(path, '.');

    if (access(path, F_OK) != 0) {
        ui_error(ui, "cannot open '%s': %s", path, strerror(errno));
        return NULL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i]->is_it(path)) {
            return kinds[i];
        }
    }
    if (is_folder(path)) {
        ui_error(ui, "'%s' is a folder without study.yaml, noise file or trace", path);
        ui_hint(ui, "'idlewave study FILE.yaml -o DIR' creates a folder to show");
        return NULL;
    }
    ui_error(ui, "'%s' is not a recognised result file", path);
    if (ending != NULL && (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0)) {
        ui_hint(ui, "run the study first: idlewave study %s -o DIR", path);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        ui_hint(ui, "supported: %s", kinds[i]->what);
    }
    return NULL;
}

/* ---- writing ---- */

struct report {
    const struct report_kind *kind;
    const void *input;
    struct report_target *target;
};

static iw_status write_stream(const iw_log *log, void *arg, FILE *out)
{
    const struct report *report = arg;

    report->target->out = out;
    return report->kind->write(log, report->input, report->target);
}

static iw_status write_report(struct ui *ui, const struct report_kind *kind, const void *input,
                              struct report_target *target, const char *output)
{
    iw_status status;

    if (is_by_path(target->format)) {
        target->path = output;
        status = kind->write(&ui->log, input, target);
        if (status == IW_OK && target->format == REPORT_GNUPLOT) {
            (void)printf("Wrote plot.gp and its data into '%s'.\nNext: cd %s && gnuplot plot.gp\n", output,
                         output);
        } else if (status == IW_OK) {
            (void)printf("Wrote '%s'.\n", output);
        }
        return status;
    }
    if (output != NULL) {
        struct report report = {kind, input, target};

        status = iw_write_file(&ui->log, output, write_stream, &report);
        if (status == IW_OK) {
            (void)printf("Wrote '%s'.\n", output);
        }
        return status;
    }
    target->out = stdout;
    target->has_colour = shown_look().has_colour;
    return kind->write(&ui->log, input, target);
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct report_opts *opts = values;
    const struct report_kind *kind;
    struct report_target target = {.out = NULL};
    struct window window;
    void *input = NULL;
    iw_status status;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no result given; type: idlewave report DIR, or FILE");
    }
    target.name = args->values[0];
    kind = find_kind(ui, target.name);
    if (kind == NULL) {
        return UI_ERROR;
    }
    code = choose_format(ui, opts, kind, &target.format);
    if (code == UI_DONE) {
        code = parse_window(ui, opts, target.format, &window);
    }
    if (code != UI_DONE) {
        return code;
    }
    target.window = opts->ranks != NULL || opts->time != NULL ? &window : NULL;
    status = kind->load(&ui->log, target.name, &input);
    if (status == IW_OK) {
        status = write_report(ui, kind, input, &target, opts->output);
        kind->free(input);
    }
    return ui_exit_of(status);
}

const struct verb verb_report = {
    .name = "report",
    .group = VERB_FILES,
    .summary = "show results: HTML page, terminal, CSV, figures for papers",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help =
        "folder of a study, a noise file or a folder of them, a timeline, a trace, or the JSON of any result",
    VERB_GROUPS(groups),
    .most_used = "output format ranks time",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
