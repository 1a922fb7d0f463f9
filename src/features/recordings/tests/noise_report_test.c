/* Reports of recordings with their spectrum: as text and as a page; recordings too short for one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

#include "noise_sample.h"

static const int64_t SECOND_NS = 1000000000;

/* 10 us every millisecond, for so long. */
static iw_recording *ticking(int64_t length_ns)
{
    iw_recording *recording = iwt_recording(1, length_ns);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer");

    for (int64_t start_ns = 1000; start_ns < length_ns - 20000; start_ns += 1000000) {
        iwt_detour(recording, 0, start_ns, 10000, tick);
    }
    return recording;
}

static char *written(const iw_recording *recording, bool is_page)
{
    return noise_written(recording, true, is_page ? IW_DOC_HTML : IW_DOC_TEXT);
}

static void assert_says(iw_recording *recording, bool is_page, const char *part)
{
    char *text = written(recording, is_page);

    for (char *c = text; *c != '\0'; c++) {
        *c = (char)(*c == '\n' ? ' ' : *c);
    }
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
    free(text);
}

static void the_text_has_the_spectrum(void **state)
{
    iw_recording *recording = ticking(10 * SECOND_NS);

    (void)state;
    assert_says(recording, false, "node.h5 loses 1.00 % of its CPU");
    assert_says(recording, false, "The strongest periodic noise of node.h5 is at 1000.0 Hz (+ 3 harmonics)");
    assert_says(recording, false, "1.00 %  irq local_timer");
    iw_recording_free(recording);
}

static void the_page_has_lines_plot_and_table(void **state)
{
    iw_recording *recording = ticking(10 * SECOND_NS);

    (void)state;
    assert_says(recording, true,
                "<p>The strongest periodic noise of node.h5 is at 1000.0 Hz (+ 3 harmonics)");
    assert_says(recording, true, "<td class=\"words\">irq local_timer</td></tr> </tbody>");
    assert_says(recording, true, "<h3>Spectrum</h3>");
    assert_says(recording, true, "<summary>Table: Spectrum</summary>");
    assert_says(recording, true, ">1000.0 Hz</text>");
    iw_recording_free(recording);
}

static void too_short_is_a_sentence(void **state)
{
    static const char sentence[] = "Its frequencies are unknown: too short for a spectrum up to ";
    iw_recording *recording = ticking(5000000);

    (void)state;
    assert_says(recording, false, sentence);
    assert_says(recording, true, sentence);
    iw_recording_free(recording);
}

static void silence_has_no_plot(void **state)
{
    iw_recording *recording = iwt_recording(1, SECOND_NS);
    char *page;

    (void)state;
    assert_says(recording, false, "node.h5 shows no noise");
    assert_says(recording, true, "node.h5 shows no noise");
    page = written(recording, true);
    assert_null(strstr(page, "<figure>"));
    free(page);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_has_the_spectrum),
        cmocka_unit_test(the_page_has_lines_plot_and_table),
        cmocka_unit_test(too_short_is_a_sentence),
        cmocka_unit_test(silence_has_no_plot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
