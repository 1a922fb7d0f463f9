/* SPDX-License-Identifier: BSD-3-Clause */
#include "noise_sample.h"

#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

iw_recording *noise_sample(void)
{
    iw_recording *recording = iwt_recording(2, INT64_C(60000000000));
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer");
    const uint32_t cron = iwt_source(recording, IW_CLASS_THREAD, "cron");

    iwt_attribute(recording, "host", "node07");
    recording->cpus[1].cpu = 5;
    iwt_detour(recording, 0, 1000000, 2000, tick);
    iwt_detour(recording, 0, 30000000000, 10000000, cron);
    iwt_detour(recording, 1, 45000000000, 5000, cron);
    return recording;
}

char *noise_written(const iw_recording *recording, bool has_spectrum, iw_doc_format format)
{
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iw_noise_report report;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_non_null(out);
    opts.name = "node.h5";
    opts.has_spectrum = has_spectrum;
    assert_ok(iw_noise_report_init(&l.log, recording, &opts, &report));
    assert_ok(iw_doc_write(&l.log, iw_noise_doc(&report), format, NULL, out));
    iw_noise_report_release(&report);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(l.text, "");
    return text;
}

static char *unwrapped(const iw_recording *recording)
{
    char *text = noise_written(recording, false, IW_DOC_TEXT), *to = text;

    for (const char *from = text; *from != '\0'; from++) {
        const char c = *from == '\n' ? ' ' : *from;

        if (c != ' ' || to == text || to[-1] != ' ') {
            *to++ = c;
        }
    }
    *to = '\0';
    return text;
}

void noise_assert_says(const iw_recording *recording, const char *part)
{
    char *text = unwrapped(recording);

    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
    free(text);
}

void noise_assert_silent(const iw_recording *recording, const char *part)
{
    char *text = unwrapped(recording);

    if (strstr(text, part) != NULL) {
        fail_msg("'%s' should not be in:\n%s", part, text);
    }
    free(text);
}
