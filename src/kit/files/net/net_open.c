/* Networks by name or from files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "kit/files/io/convert_text.h"
#include "kit/files/net/net_yaml.h"

static const char FREE[] = "none"; /* messages cost nothing */

static iw_status unknown_name(const iw_log *log, const char *name)
{
    char known[256] = "";
    size_t used = 0;

    for (size_t i = 0; iw_net_builtin_name(i) != NULL && used < sizeof known; i++) {
        used += (size_t)snprintf(known + used, sizeof known - used, "%s, ", iw_net_builtin_name(i));
    }
    return iwi_fail(log, IW_ERR_USAGE,
                    "'%s' is neither a file nor one of %s%s, nor a name that 'idlewave get' lists", name,
                    known, FREE);
}

/* A built-in network costs between all ranks what it costs within or between groups of `level`. */
static iw_status take_level(const iw_log *log, const char *level, iw_net *net)
{
    uint32_t index = 0;

    if (net->inner_count == 0) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s' has no levels: use a file of 'idlewave net'", net->name);
    }
    while (index < net->inner_count && strcmp(net->inner[index].name, level) != 0) {
        index++;
    }
    if (index < net->inner_count) {
        net->costs = net->inner[index].costs;
    } else if (strcmp(level, iw_net_level_name(net, index)) != 0) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s' has no level '%s'", net->name, level);
    }
    net->inner_count = 0;
    net->nics = (iw_net_nics){.count = 0};
    return IW_OK;
}

static iw_status fill(const iw_log *log, const char *name_or_path, const char *level, iw_net *net)
{
    const iw_net *known = iw_net_builtin(name_or_path);

    if (known != NULL) {
        *net = *known;
        return level == NULL ? IW_OK : take_level(log, level, net);
    }
    if (strcmp(name_or_path, FREE) == 0) {
        *net = (iw_net){.S_bytes = UINT64_MAX};
        (void)snprintf(net->name, sizeof net->name, "%s", FREE);
        return level == NULL ? IW_OK : take_level(log, level, net);
    }
    return access(name_or_path, F_OK) == 0 ? iwi_net_load(log, name_or_path, level, net)
                                           : unknown_name(log, name_or_path);
}

iw_status iw_net_open(const iw_log *log, const char *name_or_path, const char *level, iw_net **net_p)
{
    iw_net *net;
    iw_status status;

    IW_TRY(iw_net_new(log, &net));
    status = fill(log, name_or_path, level, net);
    if (status == IW_OK) {
        *net_p = net;
    } else {
        iw_net_free(net);
    }
    return status;
}

/* Reads single messages of netgauge: size and half a round trip, one line a message. */

#define HEAD "#size"
#define PS_PER_US 1e6
#define LONGEST_US 3.6e9 /* an hour, as in network files */

enum { MOST_SIZES = 256 };

struct found {
    struct iwi_ping_times times;
    size_t capacity, run_capacity;
    size_t run; /* of the file, in which the last message was */
};

struct reader {
    const iw_log *log;
    const char *path;
    struct iwi_lines lines;
    struct found *found;
    size_t count, capacity;
    size_t last; /* the size of the line before */
    size_t runs;
};

static iw_status fail(const struct reader *r, iw_status status, const char *problem)
{
    return iwi_fail(r->log, r->lines.has_newline ? status : IW_ERR_TRUNCATED, "'%s:%zu': %s", r->path,
                    r->lines.number, problem);
}

/* ---- lines ---- */

/* Lines of one size stand together. */
static iw_status find_size(struct reader *r, uint64_t bytes, struct found **found_p)
{
    size_t at = r->last;

    if (at >= r->count || r->found[at].times.bytes != bytes) {
        for (at = 0; at < r->count && r->found[at].times.bytes != bytes;) {
            at++;
        }
    }
    if (at == r->count) {
        if (r->count == MOST_SIZES) {
            return fail(r, IW_ERR_RANGE, "there are more than 256 sizes");
        }
        IW_TRY(iwi_grow(r->log, (void **)&r->found, &r->capacity, r->count + 1, sizeof *r->found));
        r->found[r->count++] = (struct found){.times = {.bytes = bytes}};
    }
    r->last = at;
    *found_p = &r->found[at];
    return IW_OK;
}

static iw_status add(struct reader *r, uint64_t bytes, iw_time half_trip_ps)
{
    struct iwi_ping_times *times;
    struct found *found = NULL;

    IW_TRY(find_size(r, bytes, &found));
    times = &found->times;
    IW_TRY(
        iwi_grow(r->log, (void **)&times->half_trip_ps, &found->capacity, times->count + 1, sizeof(iw_time)));
    if (times->run_count == 0 || found->run != r->runs) {
        IW_TRY(iwi_grow(r->log, (void **)&times->run_first, &found->run_capacity, times->run_count + 1,
                        sizeof(size_t)));
        times->run_first[times->run_count++] = times->count;
        found->run = r->runs;
    }
    times->half_trip_ps[times->count++] = half_trip_ps;
    return IW_OK;
}

static iw_status read_line(struct reader *r, struct iwi_piece line)
{
    const struct iwi_piece size = iwi_next_word(&line), time = iwi_next_word(&line),
                           rest = iwi_trim_blanks(line);
    uint64_t bytes;
    double us;

    if (!iwi_read_u64(size, &bytes) || !iwi_read_real(time, &us) || rest.at != rest.end) {
        return fail(r, IW_ERR_FORMAT, "expected two numbers: bytes, and half a round trip in us");
    }
    if (us * PS_PER_US < 1 || us > LONGEST_US) {
        return fail(r, IW_ERR_RANGE, "half a round trip is not between 1 ps and 1 h");
    }
    return add(r, bytes, llround(us * PS_PER_US));
}

/* Each run begins with a head. */
static iw_status read_lines(struct reader *r)
{
    struct iwi_piece line;

    while (iwi_next_line(&r->lines, &line)) {
        struct iwi_piece text = iwi_trim_blanks(line);

        if (text.at == text.end) {
            continue;
        }
        if (*text.at == '#') {
            r->runs += iwi_take_prefix(&text, HEAD) ? 1 : 0;
            continue;
        }
        if (!r->lines.has_newline) {
            return fail(r, IW_ERR_TRUNCATED, "the last line is cut off");
        }
        IW_TRY(read_line(r, text));
    }
    return r->count > 0
               ? IW_OK
               : iwi_fail(r->log, IW_ERR_FORMAT, "'%s' has no lines of bytes and half a round trip", r->path);
}

/* ---- what they say ---- */

static size_t run_end(const struct iwi_ping_times *times, size_t run)
{
    return run + 1 < times->run_count ? times->run_first[run + 1] : times->count;
}

/* Over all pairs of neighbours in a run, against the means of firsts and of seconds. */
static double correlate(const struct iwi_ping_times *times)
{
    double pairs = 0, first_sum = 0, second_sum = 0, xx = 0, yy = 0, xy = 0;
    const double middle = (double)iwi_pings_quantile(times, 0.5);

    for (size_t run = 0; run < times->run_count; run++) {
        for (size_t i = times->run_first[run]; i + 1 < run_end(times, run); i++) {
            const double x = (double)times->half_trip_ps[i] - middle,
                         y = (double)times->half_trip_ps[i + 1] - middle;

            pairs++;
            first_sum += x;
            second_sum += y;
            xx += x * x;
            yy += y * y;
            xy += x * y;
        }
    }
    if (pairs < 2) {
        return 0;
    }
    xx -= first_sum * first_sum / pairs;
    yy -= second_sum * second_sum / pairs;
    xy -= first_sum * second_sum / pairs;
    return xx > 0 && yy > 0 ? fmax(fmin(xy / sqrt(xx * yy), 1), -1) : 0;
}

IWI_COMPARE(by_bytes, struct iwi_ping_times, IWI_RISING(bytes))

static iw_status finish(const struct reader *r, struct iwi_pings *pings)
{
    pings->sizes = iwi_new_array(r->log, r->count, sizeof *pings->sizes);
    if (pings->sizes == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < r->count; i++) {
        struct iwi_ping_times *times = &pings->sizes[pings->size_count++];

        *times = r->found[i].times;
        r->found[i].times = (struct iwi_ping_times){.bytes = 0}; /* what it held has another owner */
        times->sorted_ps = iwi_new_array(r->log, times->count, sizeof *times->sorted_ps);
        if (times->sorted_ps == NULL) {
            return IW_ERR_NOMEM;
        }
        memcpy(times->sorted_ps, times->half_trip_ps, times->count * sizeof *times->sorted_ps);
        iwi_sort(times->sorted_ps, times->count, iwi_compare_i64);
        times->lag1 = correlate(times);
    }
    iwi_sort(pings->sizes, pings->size_count, by_bytes);
    return IW_OK;
}

/* ---- all of it ---- */

static void release_times(struct iwi_ping_times *times)
{
    free(times->half_trip_ps);
    free(times->sorted_ps);
    free(times->run_first);
}

void iwi_pings_release(struct iwi_pings *pings)
{
    for (size_t i = 0; i < pings->size_count; i++) {
        release_times(&pings->sizes[i]);
    }
    free(pings->sizes);
    *pings = (struct iwi_pings){.size_count = 0};
}

iw_status iwi_pings_read(const iw_log *log, const char *path, const char *data, size_t size,
                         struct iwi_pings *pings_p)
{
    struct reader r = {.log = log, .path = path, .lines = iwi_lines_of(data, size)};
    struct iwi_pings pings = {.size_count = 0};
    iw_status status = read_lines(&r);

    status = status == IW_OK ? finish(&r, &pings) : status;
    for (size_t i = 0; i < r.count; i++) {
        release_times(&r.found[i].times);
    }
    free(r.found);
    if (status != IW_OK) {
        iwi_pings_release(&pings);
        return status;
    }
    *pings_p = pings;
    return IW_OK;
}

iw_time iwi_pings_quantile(const struct iwi_ping_times *times, double q)
{
    const double rank = ceil(q * (double)times->count);
    const size_t at = rank < 1 ? 0 : (size_t)rank - 1;

    return times->sorted_ps[at < times->count ? at : times->count - 1];
}
