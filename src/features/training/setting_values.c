/* Reads the values of settings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/base.h"
#include "core/base/prefix_log.h"

static iw_status read_number(const iw_log *log, const struct iwi_setting *s, const char *text,
                             uint64_t *value)
{
    struct iwi_prefix_log prefix;

    iwi_prefix_log_init(&prefix, log, s->key);
    return iw_parse_count(&prefix.log, text, value);
}

static iw_status read_time(const iw_log *log, const struct iwi_setting *s, const char *text, iw_time *value)
{
    struct iwi_prefix_log prefix;

    iwi_prefix_log_init(&prefix, log, s->key);
    return iw_parse_time(&prefix.log, text, value);
}

static iw_status read_count(const iw_log *log, const struct iwi_setting *s, const char *text, uint32_t *value)
{
    uint64_t count;

    IW_TRY(read_number(log, s, text, &count));
    if (count < s->min || count > s->max) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is %" PRIu64 ": it has to be from %" PRIu64 " to %" PRIu64,
                        s->key, count, s->min, s->max);
    }
    *value = (uint32_t)count;
    return IW_OK;
}

static iw_status read_switch(const iw_log *log, const struct iwi_setting *s, const char *text, bool *value)
{
    const bool is_on = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;

    if (!is_on && strcmp(text, "no") != 0 && strcmp(text, "false") != 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is '%.60s': write yes or no", s->key, text);
    }
    *value = is_on;
    return IW_OK;
}

static iw_status read_choice(const iw_log *log, const struct iwi_setting *s, const char *text, int *value)
{
    char known[128] = "";

    for (int i = 0; s->choices[i] != NULL; i++) {
        const size_t used = strlen(known);

        if (strcmp(s->choices[i], text) == 0) {
            *value = i;
            return IW_OK;
        }
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", s->choices[i]);
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' is '%.60s': it has to be one of %s", s->key, text, known);
}

static iw_status read_real(const iw_log *log, const struct iwi_setting *s, const char *text, double *value)
{
    char *end;
    const double number = strtod(text, &end);

    if (end == text || *end != '\0' || !isfinite(number) || number < 0 || number > 1e15) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is '%.60s': write a number that is not negative", s->key,
                        text);
    }
    *value = number;
    return IW_OK;
}

static iw_status read_flop_rate(const iw_log *log, const struct iwi_setting *s, const char *text,
                                double *value)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15},
                 {"GFLOPS", 1e9},  {"TFLOPS", 1e12},  {"PFLOPS", 1e15}};
    char *end;
    const double number = strtod(text, &end);

    end += strspn(end, " ");
    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
        if (strcasecmp(end, units[i].unit) == 0 && isfinite(number) && number > 0 && number < 1e6) {
            *value = number * units[i].factor;
            return IW_OK;
        }
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' is '%.60s': write it like 400TFLOP/s", s->key, text);
}

static iw_status read_bandwidth(const iw_log *log, const struct iwi_setting *s, const char *text,
                                double *value)
{
    struct iwi_prefix_log prefix;
    uint64_t bytes_per_s;

    iwi_prefix_log_init(&prefix, log, s->key);
    IW_TRY(iw_parse_throughput(&prefix.log, text, &bytes_per_s));
    *value = (double)bytes_per_s;
    return IW_OK;
}

static iw_status read_text(const iw_log *log, const struct iwi_setting *s, const char *text, char *value)
{
    if (strlen(text) >= s->max) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is too long: at most %" PRIu64 " bytes", s->key, s->max - 1);
    }
    snprintf(value, s->max, "%s", text);
    return IW_OK;
}

/* ---- lists, separated by commas ---- */

struct list {
    uint32_t count;
    iw_time *times; /* or */
    uint32_t *counts;
};

static iw_status read_item(const iw_log *log, const struct iwi_setting *s, const char *item,
                           struct list *list)
{
    uint64_t count;

    if (s->kind == IWI_SET_TIMES) {
        return read_time(log, s, item, &list->times[list->count++]);
    }
    IW_TRY(read_number(log, s, item, &count));
    if (count > 10000) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': %" PRIu64 " is more than 10000", s->key, count);
    }
    list->counts[list->count++] = (uint32_t)count;
    return IW_OK;
}

static iw_status read_items(const iw_log *log, const struct iwi_setting *s, const char *text,
                            struct list *list)
{
    char item[32];

    for (;;) {
        const size_t blanks = strspn(text, " "), length = strcspn(text + blanks, ",");

        if (list->count == IW_TRAINING_CHUNKS_MAX || length >= sizeof item) {
            return iwi_fail(log, IW_ERR_RANGE, "'%s' has too many values, or one is too long", s->key);
        }
        memcpy(item, text + blanks, length);
        item[length] = '\0';
        for (size_t i = length; i > 0 && item[i - 1] == ' '; i--) {
            item[i - 1] = '\0';
        }
        IW_TRY(read_item(log, s, item, list));
        text += blanks + length;
        if (*text == '\0') {
            return IW_OK;
        }
        text++;
    }
}

static iw_status read_list(const iw_log *log, const struct iwi_setting *s, const char *text, char *base)
{
    const size_t size = s->kind == IWI_SET_TIMES ? sizeof(iw_time) : sizeof(uint32_t);
    void *values = iwi_new_array(log, IW_TRAINING_CHUNKS_MAX, size);
    struct list list = {.times = values, .counts = values};
    void **target = (void **)(void *)(base + s->offset);
    iw_status status = values != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        status = read_items(log, s, text, &list);
    }
    if (status != IW_OK) {
        free(values);
        return status;
    }
    free(*target);
    *target = values;
    *(uint32_t *)(void *)(base + s->count_offset) = list.count;
    return IW_OK;
}

iw_status iwi_setting_read(const iw_log *log, const struct iwi_setting *s, const char *text,
                           iw_training *spec)
{
    char *base = (char *)spec;
    void *target = base + s->offset;

    switch (s->kind) {
    case IWI_SET_COUNT: return read_count(log, s, text, target);
    case IWI_SET_SWITCH: return read_switch(log, s, text, target);
    case IWI_SET_TIME: return read_time(log, s, text, target);
    case IWI_SET_CHOICE: return read_choice(log, s, text, target);
    case IWI_SET_REAL: return read_real(log, s, text, target);
    case IWI_SET_FLOP_RATE: return read_flop_rate(log, s, text, target);
    case IWI_SET_BANDWIDTH: return read_bandwidth(log, s, text, target);
    case IWI_SET_TEXT: return read_text(log, s, text, target);
    default: return read_list(log, s, text, base);
    }
}
