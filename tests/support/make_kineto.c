/* Writes a run of training of known truth as files of PyTorch's profiler, one a rank, and truth.json:
 * iw_make_kineto FOLDER [seed=1 tp=2 dp=2 pp=2 steps=4 layers=3 microbatches=2 style=new|mid|old|bare
 * kernel_us=200 launch_us=6 jitter=0.02 clock_us=0 drift_ppm=0 padding=0 rank=N (only that one) ranks=N (so
 * many) batched=1 without=steps|info|launches info=last format=kineto|inspector|inspector-brief
 * pause=RANK:STEP:gc|loader|launch|slow|malloc:MS ...]
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_chakra.h"
#include "support/made_inspector.h"

enum { PAUSES_MAX = 1024 };

struct asked {
    struct iwt_kineto made;
    struct iwt_kineto_pause pauses[PAUSES_MAX];
    uint32_t first, end;
    int format; /* of formats */
};

static const char formats[] = "kineto inspector inspector-brief chakra chakra-brief";

/* The index of a word in a list "a b c", or -1. */
static int word(const char *list, const char *text)
{
    const size_t size = strlen(text);
    int index = 0;

    for (const char *at = list; *at != '\0'; index++) {
        const size_t length = strcspn(at, " ");

        if (length == size && strncmp(at, text, size) == 0) {
            return index;
        }
        at += length + strspn(at + length, " ");
    }
    return -1;
}

static int take_pause(struct asked *a, const char *text)
{
    struct iwt_kineto_pause *pause = &a->pauses[a->made.pause_count];
    char cause[16];
    double ms;
    int kind;

    if (a->made.pause_count == PAUSES_MAX ||
        sscanf(text, "%" SCNu32 ":%" SCNu32 ":%15[a-z]:%lf", &pause->rank, &pause->step, cause, &ms) != 4 ||
        (kind = word("gc loader launch slow malloc", cause)) < 0) {
        return 0;
    }
    pause->cause = (enum iwt_kineto_cause)kind;
    pause->length_ns = (int64_t)(ms * 1e6);
    a->made.pauses = a->pauses;
    a->made.pause_count++;
    return 1;
}

static int take_word(struct asked *a, const char *key, const char *value)
{
    const int style = word("new mid old bare", value), without = word("steps info launches", value);

    if (strcmp(key, "style") == 0 && style >= 0) {
        a->made.style = (enum iwt_kineto_style)style;
    } else if (strcmp(key, "without") == 0 && without >= 0) {
        a->made.is_without_steps |= without == 0;
        a->made.is_without_info |= without == 1;
        a->made.is_without_launches |= without == 2;
    } else if (strcmp(key, "info") == 0 && strcmp(value, "last") == 0) {
        a->made.is_info_last = true;
    } else if (strcmp(key, "format") == 0) {
        a->format = word(formats, value);
        return a->format >= 0;
    } else {
        return strcmp(key, "pause") == 0 && take_pause(a, value);
    }
    return 1;
}

static int take_number(struct asked *a, const char *key, double value)
{
    switch (word(
        "seed tp dp pp steps layers microbatches kernel_us launch_us jitter clock_us drift_ppm padding rank "
        "ranks batched",
        key)) {
    case 0: a->made.seed = (uint64_t)value; break;
    case 1: a->made.tp = (uint32_t)value; break;
    case 2: a->made.dp = (uint32_t)value; break;
    case 3: a->made.pp = (uint32_t)value; break;
    case 4: a->made.steps = (uint32_t)value; break;
    case 5: a->made.layers = (uint32_t)value; break;
    case 6: a->made.microbatches = (uint32_t)value; break;
    case 7: a->made.kernel_ns = (int64_t)(1000 * value); break;
    case 8: a->made.launch_ns = (int64_t)(1000 * value); break;
    case 9: a->made.jitter = value; break;
    case 10: a->made.clock_us = value; break;
    case 11: a->made.drift_ppm = value; break;
    case 12: a->made.padding = (unsigned)value; break;
    case 13:
        a->first = (uint32_t)value;
        a->end = a->first + 1;
        break;
    case 14: a->end = (uint32_t)value; break;
    case 15: a->made.is_batched = value > 0; break;
    default: return 0;
    }
    return 1;
}

static int take(struct asked *a, const char *text)
{
    const char *equal = strchr(text, '=');
    char key[16] = "", *end;
    double value;

    if (equal == NULL || equal == text || (size_t)(equal - text) >= sizeof key) {
        return 0;
    }
    memcpy(key, text, (size_t)(equal - text));
    value = strtod(equal + 1, &end);
    return *end == '\0' && end != equal + 1 ? take_number(a, key, value) : take_word(a, key, equal + 1);
}

static void print(const struct asked *a, const struct iwt_kineto_run *run, uint32_t rank, FILE *out)
{
    if (a->format == 0) {
        iwt_kineto_print(run, rank, out);
    } else if (a->format <= 2) {
        iwt_inspector_print(run, &(struct iwt_inspector){.is_verbose = a->format == 1}, rank, out);
    } else {
        iwt_chakra_print(run,
                         &(struct iwt_chakra){.has_times = a->format == 3,
                                              .has_groups = true,
                                              .has_peers = a->format == 3,
                                              .has_records = a->format == 4},
                         rank, out);
    }
}

static int write_file(const struct asked *a, const struct iwt_kineto_run *run, const char *folder,
                      uint32_t rank, int is_truth)
{
    static const char *const names[] = {"%s/rank%" PRIu32 ".pt.trace.json", "%s/rank%" PRIu32 ".log",
                                        "%s/rank%" PRIu32 ".log", "%s/rank.%" PRIu32 ".et",
                                        "%s/rank.%" PRIu32 ".et"};
    char path[4096];
    FILE *out;
    int is_bad;

    if (is_truth) {
        (void)snprintf(path, sizeof path, "%s/truth.json", folder);
    } else {
        (void)snprintf(path, sizeof path, names[a->format], folder, rank);
    }
    out = fopen(path, "w");
    if (out == NULL) {
        perror(path);
        return 0;
    }
    if (is_truth) {
        iwt_kineto_print_truth(run, out);
    } else {
        print(a, run, rank, out);
    }
    is_bad = ferror(out);
    return fclose(out) == 0 && !is_bad;
}

int main(int argc, char **argv)
{
    static struct asked asked = {.end = UINT32_MAX};
    struct iwt_kineto_run run;
    int is_ok = 1;

    asked.made = iwt_kineto_default();
    for (int i = 2; i < argc; i++) {
        if (!take(&asked, argv[i])) {
            (void)fprintf(stderr, "iw_make_kineto: what is '%s'?\n", argv[i]);
            return 2;
        }
    }
    if (argc < 2) {
        (void)fputs("iw_make_kineto FOLDER [KEY=VALUE ...]\n", stderr);
        return 2;
    }
    iwt_kineto_run(&asked.made, &run);
    for (uint32_t r = asked.first; is_ok && r < run.ranks && r < asked.end; r++) {
        is_ok = write_file(&asked, &run, argv[1], r, 0);
    }
    is_ok = is_ok && write_file(&asked, &run, argv[1], 0, 1);
    iwt_kineto_release(&run);
    return is_ok ? 0 : 1;
}
