/* Cuts the text of a configuration file into lines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/ui.h"

enum { SHOWN = 40 }; /* bytes of a line in messages */

static bool fail(struct config_fault *fault, size_t number, const char *format, ...) IW_PRINTF(3, 4);

static bool fail(struct config_fault *fault, size_t number, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    fault->number = number;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The text without blanks at both ends, cut in place. */
static char *trim(char *text)
{
    size_t length;

    while (is_blank(*text)) {
        text++;
    }
    length = strlen(text);
    while (length > 0 && is_blank(text[length - 1])) {
        length--;
    }
    text[length] = '\0';
    return text;
}

/* "[noise show]" */
static bool read_section(char *line, size_t number, const char **section_p, struct config_fault *fault)
{
    const size_t length = strlen(line);

    if (line[length - 1] != ']') {
        return fail(fault, number, "'%.*s' lacks its ']'", SHOWN, line);
    }
    line[length - 1] = '\0';
    *section_p = trim(line + 1);
    return (*section_p)[0] != '\0' ||
           fail(fault, number, "'[]' names no verb: write [simulate], or leave it out for all verbs");
}

static const struct config_line *find_same(const struct config_lines *lines, const struct config_line *line)
{
    for (size_t i = 0; i < lines->count; i++) {
        if (strcmp(lines->all[i].section, line->section) == 0 && strcmp(lines->all[i].key, line->key) == 0) {
            return &lines->all[i];
        }
    }
    return NULL;
}

/* "net = chic" */
static bool read_setting(char *text, const char *section, size_t number, struct config_lines *lines,
                         struct config_fault *fault)
{
    char *equals = strchr(text, '=');
    struct config_line line = {.section = section, .number = number};
    const struct config_line *same;

    if (equals == NULL || equals == text) {
        return fail(fault, number, "'%.*s' is not a setting: write option = value", SHOWN, text);
    }
    *equals = '\0';
    line.key = trim(text);
    line.value = trim(equals + 1);
    if (line.value[0] == '\0') {
        return fail(fault, number, "'%.*s' has no value", SHOWN, line.key);
    }
    same = find_same(lines, &line);
    if (same != NULL) {
        return fail(fault, number, "'%.*s' is already set in line %zu", SHOWN, line.key, same->number);
    }
    lines->all = ui_grow(lines->all, lines->count + 1, sizeof *lines->all);
    lines->all[lines->count++] = line;
    return true;
}

bool config_lines_read(char *text, size_t size, struct config_lines *lines, struct config_fault *fault)
{
    const char *section = "";
    size_t number = 0;
    char *end = text + size;

    *lines = (struct config_lines){NULL, 0};
    *end = '\0';
    for (char *line = text; line < end; number++) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *next = newline != NULL ? newline + 1 : end;
        bool is_good = true;

        if (newline != NULL) {
            *newline = '\0';
        }
        if (strlen(line) != (size_t)((newline != NULL ? newline : end) - line)) {
            is_good = fail(fault, number + 1, "a zero byte: the file is not text");
        } else {
            line = trim(line);
        }
        if (is_good && line[0] == '[') {
            is_good = read_section(line, number + 1, &section, fault);
        } else if (is_good && line[0] != '\0' && line[0] != '#') {
            is_good = read_setting(line, section, number + 1, lines, fault);
        }
        if (!is_good) {
            config_lines_release(lines);
            return false;
        }
        line = next;
    }
    return true;
}

void config_lines_release(struct config_lines *lines)
{
    free(lines->all);
    *lines = (struct config_lines){NULL, 0};
}
