/* Messages on stderr, and exit codes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/ui.h"

#include <idlewave/time.h>

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/opt.h"
#include "process/progress.h"

/* ======== settings that messages of the library name ======== */

enum { MOST_LETTERS = 40 };

/* Where an option is not called as the library's setting is; '_' is '-' in all others. */
static const struct {
    const char *setting, *option;
} renamed[] = {{"import.format", "from"}, {"export.format", "to"},   {"length_ns", "length"},
               {"gap_ps", "step-gap"},    {"compute_ps", "compute"}, {"drops_collectives", "no-collectives"}};

static void option_name(const char *setting, char option[MOST_LETTERS])
{
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        if (strcmp(setting, renamed[i].setting) == 0) {
            (void)snprintf(option, MOST_LETTERS, "%s", renamed[i].option);
            return;
        }
    }
    (void)snprintf(option, MOST_LETTERS, "%s", setting);
    for (char *c = option; *c != '\0'; c++) {
        *c = (char)(*c == '_' ? '-' : *c);
    }
}

static bool has_option(const struct opt_group *groups, size_t group_count, const char *name)
{
    for (size_t g = 0; g < group_count; g++) {
        for (size_t i = 0; i < groups[g].count; i++) {
            if (strcmp(groups[g].rows[i].name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The letters of the setting that begins behind a backquote; 0 if none does. */
static size_t setting_length(const char *behind)
{
    const size_t length = strspn(behind, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");

    return length < MOST_LETTERS && behind[length] == '`' ? length : 0;
}

void setting_names_write(const struct opt_group *groups, size_t group_count, const char *text, FILE *out)
{
    while (*text != '\0') {
        const size_t length = *text == '`' ? setting_length(text + 1) : 0;
        char setting[MOST_LETTERS], option[MOST_LETTERS];

        if (length == 0) {
            (void)fputc(*text++, out);
            continue;
        }
        (void)snprintf(setting, sizeof setting, "%.*s", (int)length, text + 1);
        option_name(setting, option);
        if (has_option(groups, group_count, option)) {
            (void)fprintf(out, "--%s", option);
        } else {
            (void)fprintf(out, "'%s'", setting);
        }
        text += length + 2;
    }
}

/* ======== messages ======== */

static void write_prefix(const struct ui *ui)
{
    if (ui->progress != NULL) {
        progress_wipe(ui->progress);
    }
    (void)fputs("idlewave: ", stderr);
    if (ui->verb != NULL) {
        (void)fprintf(stderr, "%s: ", ui->verb);
    }
    if (ui->option != NULL) {
        (void)fprintf(stderr, "%s: ", ui->option);
    }
}

/* In place, for paths and names of others: control characters, which terminals obey, become '?'. In UTF-8
 * those from 0x80 on are two bytes. */
static char *make_plain(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++) {
        if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) {
            *c++ = '?';
            *c = '?';
        } else if (*c < ' ' || *c == 0x7f) {
            *c = '?';
        }
    }
    return text;
}

static void write_message(void *arg, iw_log_level level, const char *text)
{
    static const char *const words[] = {
        [IW_LOG_ERROR] = "", [IW_LOG_WARN] = "warning: ", [IW_LOG_INFO] = "note: "};

    const struct ui *ui = arg;

    char *plain = strdup(text);

    write_prefix(ui);
    (void)fputs(words[level], stderr);
    if (plain != NULL) {
        setting_names_write(ui->groups, ui->group_count, make_plain(plain), stderr);
    }
    (void)fputc('\n', stderr);
    free(plain);
}

void ui_init(struct ui *ui, const char *verb, const char *command)
{
    *ui = (struct ui){.log = {write_message, ui}, .verb = verb, .command = command};
}

static void write_line(const struct ui *ui, const char *format, va_list args) IW_PRINTF(2, 0);

static void write_line(const struct ui *ui, const char *format, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) < 0) {
        return;
    }
    if (ui->log.write != write_message) {
        ui->log.write(ui->log.arg, IW_LOG_ERROR, text); /* whoever took the log knows who says it */
    } else {
        write_prefix(ui);
        (void)fprintf(stderr, "%s\n", make_plain(text));
    }
    free(text);
}

void ui_error(const struct ui *ui, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line(ui, format, args);
    va_end(args);
}

void ui_hint(const struct ui *ui, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    if (ui != NULL && ui->is_heard != NULL && !*ui->is_heard) {
        return;
    }
    va_start(args, format);
    if (vasprintf(&text, format, args) >= 0) {
        (void)fprintf(stderr, "hint: %s\n", make_plain(text));
        free(text);
    }
    va_end(args);
}

void ui_see_help(const struct ui *ui)
{
    if (ui->verb != NULL) {
        ui_hint(ui, "'idlewave %s --help-all' lists all options", ui->verb);
    } else {
        ui_hint(ui, "'idlewave --help' lists all verbs");
    }
}

int ui_usage(const struct ui *ui, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_line(ui, format, args);
    va_end(args);
    ui_see_help(ui);
    return UI_USAGE;
}

int ui_lacks(const struct ui *ui, const char *what, const char *feature)
{
    ui_error(ui, "%s: this build of idlewave lacks the feature '%s'", what, feature);
    ui_hint(ui, "install an idlewave that has it, or build one with -DIW_FEATURES=all");
    return UI_ERROR;
}

int ui_exit_of(iw_status status)
{
    switch (status) {
    case IW_OK: return UI_DONE;
    case IW_ERR_DEADLOCK: return UI_NEGATIVE;
    case IW_ERR_USAGE: return UI_USAGE;
    default: return UI_ERROR;
    }
}

int ui_exit_of_value(const struct ui *ui, iw_status status)
{
    if (status == IW_ERR_FORMAT || status == IW_ERR_RANGE || status == IW_ERR_USAGE) {
        ui_see_help(ui);
        return UI_USAGE;
    }
    return ui_exit_of(status);
}

int ui_parse_share(struct ui *ui, const char *option, const char *text, double *share_p)
{
    iw_status status;

    ui->option = option;
    status = iw_parse_share(&ui->log, text, share_p);
    ui->option = NULL;
    return ui_exit_of_value(ui, status);
}

void *ui_grow(void *array, size_t count, size_t element_size)
{
    void *grown = count <= SIZE_MAX / element_size ? realloc(array, count * element_size) : NULL;

    if (grown == NULL) {
        (void)fputs("idlewave: out of memory\n", stderr);
        exit(UI_ERROR);
    }
    return grown;
}

const char *ui_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

bool ui_ends_with(const char *path, const char *end)
{
    return strlen(path) >= strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0;
}

void ui_write_json_string(const char *text, FILE *out)
{
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\') {
            (void)fprintf(out, "\\%c", c);
        } else if (c < 0x20) {
            (void)fprintf(out, "\\u%04x", c);
        } else {
            (void)fputc(c, out);
        }
    }
    (void)fputc('"', out);
}
