/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/report_sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

void sample_init(struct sample *s)
{
    memset(s, 0, sizeof *s);
    s->net = (iw_net){.name = "quick",
                      .L_ps = 5330000,
                      .o_send_ps = 770000,
                      .o_recv_ps = 770000,
                      .g_ps = 1560500,
                      .G = 1250000,
                      .S_bytes = 65536};
    assert_ok(iw_noise_new(NULL, &s->noise));
    s->makespan_ps[0] = 130200 * IW_PS_PER_NS;
    s->result = (iw_sim_result){.ranks = 8,
                                .trials = 1,
                                .seed = 7,
                                .engine = IW_ENGINE_FLOW,
                                .lanes = 1,
                                .threads = 1,
                                .messages = 24,
                                .noiseless_ps = 130200 * IW_PS_PER_NS,
                                .makespan_ps = s->makespan_ps,
                                .engine_seconds = 0.5,
                                .peak_rss_bytes = 4 << 20};
    s->origin = (iw_origin){
        .what = "allreduce", .command = "idlewave simulate 'it''s'", .net = &s->net, .noise = s->noise};
}

void sample_release(struct sample *s)
{
    iw_noise_free(s->noise);
}

void sample_add_noise(struct sample *s, const char *spec)
{
    assert_ok(iw_noise_add(NULL, s->noise, spec));
}

void sample_set_trials(struct sample *s, const double *factors, size_t count)
{
    s->result.trials = count;
    for (size_t i = 0; i < count; i++) {
        s->makespan_ps[i] = (iw_time)llround(factors[i] * (double)s->result.noiseless_ps);
    }
}

void sample_add_explain(struct sample *s)
{
    s->path = (iw_path){
        .trial = 3,
        .last_rank = 5,
        .makespan_ps = 130200 * IW_PS_PER_NS,
        .split = {.hops = 6,
                  .part_ps = {[IW_PART_COMPUTE] = 100 * IW_PS_PER_US,
                              [IW_PART_LATENCY] = 30 * IW_PS_PER_US,
                              [IW_PART_NOISE] = 200 * IW_PS_PER_NS},
                  .worst = {{.at_ps = 50 * IW_PS_PER_US, .lost_ps = 150 * IW_PS_PER_NS, .rank = 2}}}};
    s->explain = (iw_explain){.median = s->path,
                              .mean_ps = {[IW_PART_COMPUTE] = 1e8, [IW_PART_LATENCY] = 2.5e7},
                              .mean_hops = 5.5,
                              .path_count = 1,
                              .paths = &s->path};
    s->result.explain = &s->explain;
}

void sample_add_paths(struct sample *s)
{
    for (size_t i = 0; i < 10; i++) {
        s->paths[i] = (iw_path){.trial = i, .makespan_ps = 1000000};
        s->paths[i].split.part_ps[IW_PART_COMPUTE] = 900000;
        s->paths[i].split.part_ps[IW_PART_NOISE] = 100000;
        s->paths[i].split.worst[0] = (iw_hit){.at_ps = 350000, .lost_ps = 80000, .rank = 6};
    }
    s->explain.paths = s->paths;
    s->explain.path_count = 10;
}

static void write_doc(struct sample *s, iw_doc doc, iw_doc_format format)
{
    FILE *out = fmemopen(s->text, sizeof s->text, "w");
    struct iwt_log l;

    assert_non_null(out);
    iwt_log_init(&l);
    assert_ok(iw_doc_write(&l.log, doc, format, NULL, out));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(l.text, "");
}

void sample_write(struct sample *s, iw_doc_format format)
{
    iw_simulation *simulation;

    assert_ok(iw_simulation_new(NULL, &s->result, &s->origin, &simulation));
    write_doc(s, iw_simulation_doc(simulation), format);
    iw_simulation_free(simulation);
}

void sample_report(struct sample *s, iw_doc_format format)
{
    char path[] = "/tmp/iw-result-XXXXXX";
    const int fd = mkstemp(path);
    iw_doc_file *file;

    sample_write(s, IW_DOC_JSON);
    assert_int_equal(write(fd, s->text, strlen(s->text)), strlen(s->text));
    assert_int_equal(close(fd), 0);
    assert_ok(iw_doc_open(NULL, path, &file));
    assert_int_equal(unlink(path), 0);
    write_doc(s, iw_doc_of(file), format);
    iw_doc_close(file);
}
