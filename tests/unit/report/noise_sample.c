/* SPDX-License-Identifier: BSD-3-Clause */
#include "noise_sample.h"

#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

static const double LONG_NS = 20000.0;

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

enum kind { TEXT, JSON, CSV };

static char *written(const iw_recording *recording, enum kind kind)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iw_noise_facts *facts = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_non_null(out);
    assert_ok(iw_noise_facts_new(&l.log, recording, LONG_NS, &facts));
    switch (kind) {
    case TEXT: assert_ok(iw_noise_write_text(&l.log, recording, facts, "node.h5", out)); break;
    case JSON: assert_ok(iw_noise_write_json(&l.log, recording, facts, "node.h5", out)); break;
    case CSV: assert_ok(iw_noise_write_csv(&l.log, recording, out)); break;
    }
    iw_noise_facts_free(facts);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(l.text, "");
    return text;
}

char *noise_text(const iw_recording *recording)
{
    return written(recording, TEXT);
}

char *noise_json(const iw_recording *recording)
{
    return written(recording, JSON);
}

char *noise_csv(const iw_recording *recording)
{
    return written(recording, CSV);
}

static char *unwrapped(const iw_recording *recording)
{
    char *text = noise_text(recording), *to = text;

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
