/* How fast nodes are: from a law or from a file with a factor for each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/node_speed.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/hash.h"
#include "core/base/order.h"
#include "core/base/rng.h"
#include "core/noise/duration.h"
#include "core/noise/spec.h"
#include "core/numeric/numeric.h"

/* No node is faster or slower than this. */
static const double LEAST_FACTOR = 0.1, MOST_FACTOR = 100.0;

enum speed_kind { SPEED_NORMAL, SPEED_SLOW, SPEED_LIST };

struct iw_node_speeds {
    enum speed_kind kind;
    uint32_t ranks_per_node;
    double sigma;        /* SPEED_NORMAL */
    uint64_t slow_count; /* SPEED_SLOW */
    int64_t slow_factor;
    int64_t *list; /* SPEED_LIST */
    size_t count, room;
    char *name; /* the spec, or the path of the file */
};

uint32_t iwi_node_speeds_ranks(const iw_node_speeds *speeds)
{
    return speeds->ranks_per_node;
}

static int64_t whole(double factor)
{
    return llround(fmin(fmax(factor, LEAST_FACTOR), MOST_FACTOR) * IWI_FACTOR_UNIT);
}

bool iwi_node_speed_is_spec(const char *text)
{
    return iwi_spec_arguments(text, "normal") != NULL || iwi_spec_arguments(text, "slow") != NULL;
}

void iwi_node_speeds_digest(const iw_node_speeds *speeds, struct iwi_hash *digest)
{
    iwi_hash_add_u64(digest, (uint64_t)speeds->kind);
    iwi_hash_add_u64(digest, (uint64_t)llround(speeds->sigma * IWI_FACTOR_UNIT));
    iwi_hash_add_u64(digest, speeds->slow_count);
    iwi_hash_add_u64(digest, (uint64_t)speeds->slow_factor);
    for (size_t i = 0; i < speeds->count; i++) {
        iwi_hash_add_u64(digest, (uint64_t)speeds->list[i]);
    }
}

/* ---- reading ---- */

/* False: it is no factor. */
static bool read_factor(const char *text, int64_t *factor_p)
{
    char *end;
    const double factor = strtod(text, &end);

    end += strspn(end, " \t\r\n");
    if (end == text || *end != '\0' || !(factor >= LEAST_FACTOR && factor <= MOST_FACTOR)) {
        return false;
    }
    *factor_p = whole(factor);
    return true;
}

static iw_status parse_slow(const iw_log *log, const char *spec, const char *arguments,
                            iw_node_speeds *speeds)
{
    char fields[2][IWI_FIELD_SIZE];

    IW_TRY(iwi_spec_split(log, spec, arguments, "slow:COUNT,FACTOR", "slow:4,1.2", 2, fields));
    IW_TRY(iw_parse_count(log, fields[0], &speeds->slow_count));
    if (!read_factor(fields[1], &speeds->slow_factor)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': '%s' is not a factor from %g to %g", spec, fields[1],
                        LEAST_FACTOR, MOST_FACTOR);
    }
    speeds->kind = SPEED_SLOW;
    return IW_OK;
}

static iw_status parse_normal(const iw_log *log, const char *spec, const char *arguments,
                              iw_node_speeds *speeds)
{
    const double most = 0.2; /* beyond, factors would often be cut */

    IW_TRY(iwi_spec_share(log, spec, arguments, &speeds->sigma));
    if (speeds->sigma > most) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': the spread must be at most %g %%", spec, most * 100.0);
    }
    speeds->kind = SPEED_NORMAL;
    return IW_OK;
}

static iw_status read_line(const iw_log *log, const char *path, size_t number, char *line,
                           iw_node_speeds *speeds)
{
    line[strcspn(line, "#")] = '\0';
    if (line[strspn(line, " \t\r\n")] == '\0') {
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&speeds->list, &speeds->room, speeds->count + 1, sizeof *speeds->list));
    if (!read_factor(line, &speeds->list[speeds->count])) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%s:%zu': not a factor from %g to %g; write one factor per line: how many times as "
                        "long the node computes",
                        path, number, LEAST_FACTOR, MOST_FACTOR);
    }
    speeds->count++;
    return IW_OK;
}

static iw_status read_file(const iw_log *log, const char *path, iw_node_speeds *speeds)
{
    FILE *file = fopen(path, "r");
    iw_status status = IW_OK;
    size_t room = 0, number = 0;
    char *line = NULL;

    if (file == NULL) {
        return iwi_fail(log, IW_ERR_IO,
                        "cannot read '%s': %s; without a file, use normal:SIGMA or slow:COUNT,FACTOR", path,
                        strerror(errno));
    }
    speeds->kind = SPEED_LIST;
    while (status == IW_OK && getline(&line, &room, file) >= 0) {
        status = read_line(log, path, ++number, line, speeds);
    }
    if (status == IW_OK && ferror(file)) {
        status = iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    free(line);
    (void)fclose(file);
    return status;
}

static iw_status fill(const iw_log *log, const char *spec_or_path, iw_node_speeds *speeds)
{
    const char *normal = iwi_spec_arguments(spec_or_path, "normal");
    const char *slow = iwi_spec_arguments(spec_or_path, "slow");

    speeds->name = strdup(spec_or_path);
    if (speeds->name == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for node speeds");
    }
    return normal != NULL ? parse_normal(log, spec_or_path, normal, speeds)
           : slow != NULL ? parse_slow(log, spec_or_path, slow, speeds)
                          : read_file(log, spec_or_path, speeds);
}

iw_status iw_node_speeds_new(const iw_log *log, const char *spec_or_path, uint32_t ranks_per_node,
                             iw_node_speeds **speeds_p)
{
    iw_node_speeds *speeds = iwi_new_array(log, 1, sizeof *speeds);
    iw_status status;

    if (speeds == NULL) {
        return IW_ERR_NOMEM;
    }
    speeds->ranks_per_node = ranks_per_node > 0 ? ranks_per_node : 1;
    status = fill(log, spec_or_path, speeds);
    if (status != IW_OK) {
        iw_node_speeds_free(speeds);
        return status;
    }
    *speeds_p = speeds;
    return IW_OK;
}

void iw_node_speeds_free(iw_node_speeds *speeds)
{
    if (speeds != NULL) {
        free(speeds->list);
        free(speeds->name);
        free(speeds);
    }
}

/* ---- the nodes of a run ---- */

iw_status iwi_node_speeds_check(const iw_log *log, const iw_node_speeds *speeds, uint32_t nodes)
{
    if (speeds->kind == SPEED_SLOW && speeds->slow_count > nodes) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s' makes %" PRIu64 " slow, but there %s only %" PRIu32 "; use at most %" PRIu32
                        ", or a larger job",
                        speeds->name, speeds->slow_count, nodes == 1 ? "is" : "are", nodes, nodes);
    }
    if (speeds->kind == SPEED_LIST && speeds->count < nodes) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s' has the speeds of %zu node%s, but the job has %" PRIu32
                        "; give the ranks per node, or add the other nodes",
                        speeds->name, speeds->count, speeds->count == 1 ? "" : "s", nodes);
    }
    return IW_OK;
}

/* A node by what orders it: a random number, or its factor. */
struct place {
    uint64_t key;
    uint32_t node;
};

IWI_COMPARE(compare_places, struct place, IWI_RISING(key), IWI_RISING(node))

/* So many nodes get this factor: those with the lowest keys. */
static void change_first(struct place *places, uint32_t nodes, uint64_t count, int64_t factor,
                         int64_t *factors)
{
    iwi_sort(places, nodes, compare_places);
    for (uint32_t i = 0; i < nodes && i < count; i++) {
        factors[places[i].node] = factor;
    }
}

static void fill_factors(const iw_node_speeds *speeds, uint32_t nodes, struct iwi_draw_id draw,
                         struct place *places, int64_t *factors)
{

    for (uint32_t node = 0; node < nodes; node++) {
        struct iwi_draw_id own = draw;

        own.rank = node;
        places[node] = (struct place){iwi_draw(own, 0), node};
        factors[node] = speeds->kind == SPEED_LIST ? speeds->list[node]
                        : speeds->kind == SPEED_SLOW
                            ? IWI_FACTOR_UNIT
                            : whole(1.0 + speeds->sigma * iwi_normal_quantile(iwi_draw_unit(own, 0)));
    }
    if (speeds->kind == SPEED_SLOW) {
        change_first(places, nodes, speeds->slow_count, speeds->slow_factor, factors);
    }
}

/* The slowest are as good as new; of several, those with the lowest numbers. */
static void replace_slowest(uint32_t nodes, uint32_t replaced, struct place *places, int64_t *factors)
{
    for (uint32_t node = 0; node < nodes; node++) {
        places[node] = (struct place){UINT64_MAX - (uint64_t)factors[node], node};
    }
    iwi_sort(places, nodes, compare_places);
    for (uint32_t i = 0; i < nodes && i < replaced; i++) {
        factors[places[i].node] = iwi_min(factors[places[i].node], IWI_FACTOR_UNIT);
    }
}

iw_status iwi_node_factors(const iw_log *log, const iw_node_speeds *speeds, uint32_t ranks, uint64_t seed,
                           uint64_t trial, uint32_t replaced_nodes, int64_t **factors_p)
{
    const struct iwi_draw_id draw = {.seed = seed, .trial = trial, .purpose = IWI_DRAW_SPEED};
    const uint32_t nodes = (ranks - 1) / speeds->ranks_per_node + 1;
    struct place *places;
    int64_t *factors;

    IW_TRY(iwi_node_speeds_check(log, speeds, nodes));
    places = iwi_new_array(log, nodes, sizeof *places);
    factors = iwi_new_array(log, nodes, sizeof *factors);
    if (places == NULL || factors == NULL) {
        free(places);
        free(factors);
        return IW_ERR_NOMEM;
    }
    fill_factors(speeds, nodes, draw, places, factors);
    if (replaced_nodes > 0) {
        replace_slowest(nodes, replaced_nodes, places, factors);
    }
    free(places);
    *factors_p = factors;
    return IW_OK;
}
