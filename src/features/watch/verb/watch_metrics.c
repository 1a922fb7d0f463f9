/* Publishes each snapshot of a watching.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/verb/watch_metrics.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A file must reach the disk each time; a page costs nothing until it is asked for. */
static const int64_t FILE_NS = 15000000000;

static int begin_file(const struct ui *ui, const char *path, struct watch_metrics *to)
{
    if (!ui_ends_with(path, ".prom")) {
        return ui_usage(ui,
                        "--metrics '%s': a port (9913), an address with one (192.0.2.7:9913), or a file that "
                        "ends in .prom, as node_exporter reads them",
                        path);
    }
    to->file = path;
    return ui_exit_of(iw_output_check(&ui->log, path, true));
}

int watch_metrics_begin(const struct ui *ui, const char *where, struct watch_metrics *to)
{
    struct sockaddr_storage address;
    socklen_t size;
    int code;

    *to = (struct watch_metrics){
        .ui = ui,
        .page.server = {.path = "/metrics",
                        .forms = {{"application/openmetrics-text; version=1.0.0; charset=utf-8", NULL},
                                  {"text/plain; version=0.0.4; charset=utf-8", NULL}}}};
    if (http_address(where, &address, &size)) {
        code = http_page_begin(ui, &to->page, where, &address, size);
    } else {
        code = begin_file(ui, where, to);
    }
    if (code != UI_DONE) {
        return code;
    }
    to->is_begun = true;
    return ui_exit_of(iw_watch_metrics_new(&ui->log, &to->metrics));
}

static iw_status write_text(const iw_log *log, void *arg, FILE *out)
{
    (void)log;
    (void)fputs(arg, out);
    return IW_OK;
}

static iw_status publish(struct watch_metrics *to)
{
    char *texts[HTTP_FORMS] = {NULL, NULL};
    iw_status status = iw_watch_metrics_text(to->metrics, IW_METRICS_PROMETHEUS, &texts[1]);

    if (status == IW_OK && to->file != NULL) {
        status = iw_write_file(&to->ui->log, to->file, write_text, texts[1]);
        free(texts[1]);
        return status;
    }
    if (status == IW_OK) {
        status = iw_watch_metrics_text(to->metrics, IW_METRICS_OPENMETRICS, &texts[0]);
    }
    if (status == IW_OK) {
        http_page_show(&to->page, texts);
    } else {
        free(texts[1]);
    }
    return status;
}

void watch_metrics_take(struct watch_metrics *to, const iw_watch_result *so_far)
{
    struct timespec now;
    iw_status status;

    if (to->file != NULL && so_far->watched_ns < to->due_ns) {
        return;
    }
    to->due_ns = so_far->watched_ns + FILE_NS;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    status = iw_watch_metrics_update(to->metrics, so_far, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    if (status == IW_OK) {
        status = publish(to);
    }
    (void)status; /* has been told; the next snapshot may find a place */
}

void watch_metrics_end(struct watch_metrics *to)
{
    if (to->is_begun && to->file != NULL) {
        (void)unlink(to->file);
    } else if (to->is_begun) {
        http_page_end(&to->page);
    }
    iw_watch_metrics_free(to->metrics);
}
