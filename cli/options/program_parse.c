/* Joined patterns, dimensions and delays.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/program_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_SIZE = 64 };

char *program_join(const struct opt_list *items, const char *separator)
{
    size_t size = 1, used = 0;
    char *joined;

    for (size_t i = 0; i < items->count; i++) {
        size += strlen(items->items[i]) + strlen(separator);
    }
    joined = ui_grow(NULL, size, 1);
    joined[0] = '\0';
    for (size_t i = 0; i < items->count; i++) {
        used += (size_t)snprintf(joined + used, size - used, "%s%s", i > 0 ? separator : "", items->items[i]);
    }
    return joined;
}

int program_parse_dims(struct ui *ui, const char *text, uint32_t dims[IW_MAX_DIMS])
{
    const char *s = text;

    if (text == NULL) {
        return UI_DONE;
    }
    for (size_t i = 0; i < IW_MAX_DIMS; i++) {
        char *end;
        const unsigned long long value = strtoull(s, &end, 10);

        if (*s < '0' || *s > '9' || value == 0 || value > UINT32_MAX || (*end != 'x' && *end != '\0')) {
            break;
        }
        dims[i] = (uint32_t)value;
        if (*end == '\0') {
            return UI_DONE;
        }
        s = end + 1;
    }
    return ui_usage(ui, "--dims: '%s' is not a list of dimensions: write 16x16 or 8x8x4", text);
}

/* Reads "name=value" up to the next comma into `value`; NULL: the text does not begin so. */
static const char *take_field(const char *text, const char *name, char value[WORD_SIZE])
{
    const size_t name_length = strlen(name), length = strcspn(text, ",");

    if (length >= WORD_SIZE || strncmp(text, name, name_length) != 0 || text[name_length] != '=') {
        return NULL;
    }
    snprintf(value, WORD_SIZE, "%.*s", (int)(length - name_length - 1), text + name_length + 1);
    return text + length + (text[length] == ',');
}

static bool read_rank(struct ui *ui, const char *value, uint32_t *rank_p)
{
    uint64_t rank;

    if (iw_parse_count(&ui->log, value, &rank) != IW_OK) {
        return false;
    }
    if (rank > UINT32_MAX) {
        ui_error(ui, "'%s' is too large for a rank", value);
        return false;
    }
    *rank_p = (uint32_t)rank;
    return true;
}

static bool read_step(struct ui *ui, const char *value, uint64_t *step_p)
{
    if (iw_parse_count(&ui->log, value, step_p) != IW_OK) {
        return false;
    }
    if (*step_p == 0) {
        ui_error(ui, "steps are counted from 1");
        return false;
    }
    return true;
}

/* Fields may come in any order; all but the step are needed. */
static bool read_delay(struct ui *ui, const char *text, iw_delay *delay)
{
    bool is_good = true, has_rank = false, has_time = false;
    char value[WORD_SIZE];
    const char *rest;

    for (; is_good && *text != '\0'; text = rest) {
        if ((rest = take_field(text, "rank", value)) != NULL) {
            is_good = read_rank(ui, value, &delay->rank);
            has_rank = true;
        } else if ((rest = take_field(text, "step", value)) != NULL) {
            is_good = read_step(ui, value, &delay->step);
        } else if ((rest = take_field(text, "time", value)) != NULL) {
            is_good = iw_parse_time(&ui->log, value, &delay->time_ps) == IW_OK;
            has_time = true;
        } else {
            break;
        }
    }
    if (is_good && (*text != '\0' || !has_rank || !has_time)) {
        ui_error(ui, "write rank=5,step=1,time=13.5ms (step may be left out: 1)");
        return false;
    }
    return is_good;
}

int program_parse_delays(struct ui *ui, const struct opt_list *texts, iw_delay **delays_p, size_t *count_p)
{
    iw_delay *delays;

    if (texts->count == 0) {
        return UI_DONE;
    }
    delays = ui_grow(NULL, texts->count, sizeof *delays);
    *delays_p = delays;
    *count_p = texts->count;
    for (size_t i = 0; i < texts->count; i++) {
        bool is_good;
        char option[2 * WORD_SIZE + 16];

        delays[i] = (iw_delay){.step = 1};
        snprintf(option, sizeof option, "--delay %.*s", 2 * WORD_SIZE, texts->items[i]);
        ui->option = option;
        is_good = read_delay(ui, texts->items[i], &delays[i]);
        ui->option = NULL;
        if (!is_good) {
            ui_see_help(ui);
            return UI_USAGE;
        }
    }
    return UI_DONE;
}
