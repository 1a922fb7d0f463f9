/* The colours of all pictures.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Series: blue, green, purple, olive, red-brown, indigo, sky; grey is the rest. Each has at least 3:1 against
 * its ground, and no two neighbours differ in red against green alone. Orange is noise and nothing else; it
 * differs from the red of waiting in lightness too. Signs and dashes tell series apart as well.
 */
#include "kit/figure/figure.h"

#include <string.h>

static const struct {
    const char *css;
    uint32_t light, dark;
    unsigned terminal, faint; /* of 256 colours */
} palette[IWI_INKS] = {
    [IWI_INK_SERIES + 0] = {"--series-0", 0x0067ad, 0x5db5f0, 32, 32},
    [IWI_INK_SERIES + 1] = {"--series-1", 0x007d59, 0x3ccaa0, 36, 36},
    [IWI_INK_SERIES + 2] = {"--series-2", 0xa33f8f, 0xe591cf, 133, 133},
    [IWI_INK_SERIES + 3] = {"--series-3", 0x766400, 0xd7c64b, 100, 100},
    [IWI_INK_SERIES + 4] = {"--series-4", 0x8a3f2b, 0xbd7d63, 131, 131},
    [IWI_INK_SERIES + 5] = {"--series-5", 0x4b3fa8, 0xb3a8ff, 99, 99},
    [IWI_INK_SERIES + 6] = {"--series-6", 0x2f94cf, 0xa5dcff, 74, 74},
    [IWI_INK_NOISE] = {"--noise", 0xd97700, 0xffb454, 178, 222},
    [IWI_INK_TEXT] = {"--ink", 0x1b1f24, 0xe7eaee, 7, 7},
    [IWI_INK_FAINT] = {"--faint", 0x56606b, 0xa7b1bc, 8, 8},
    [IWI_INK_RULE] = {"--rule", 0xd3d9df, 0x39424d, 8, 8},
    [IWI_INK_GROUND] = {"--ground", 0xffffff, 0x14181d, 0, 0},
    [IWI_INK_CARD] = {"--card", 0xf5f7f9, 0x1d232a, 0, 0},
    [IWI_INK_LINK] = {"--link", 0x0a55a8, 0x83bdff, 4, 4},
    [IWI_INK_COMPUTE] = {"--compute", 0xffffff, 0x20262d, 0, 0},
    [IWI_INK_WAIT] = {"--wait", 0xd42020, 0xe84842, 160, 174},
    [IWI_INK_DELAY] = {"--delay", 0x1f5fc4, 0x5ea0ff, 26, 26},
    [IWI_INK_COMM] = {"--comm", 0x8fb0ac, 0x5c7875, 109, 152},
};

enum iwi_ink iwi_series_ink(size_t index)
{
    return (enum iwi_ink)(IWI_INK_SERIES + index % IWI_SERIES_INKS);
}

uint32_t iwi_ink_rgb(enum iwi_ink ink)
{
    return palette[ink].light;
}

const char *iwi_ink_css(enum iwi_ink ink)
{
    return palette[ink].css;
}

unsigned iwi_ink_terminal(enum iwi_ink ink, bool is_faint)
{
    return is_faint ? palette[ink].faint : palette[ink].terminal;
}

/* ---- sources of noise ---- */

/* What most nodes have, so that these never meet. */
static const char *const usual[IWI_SERIES_INKS] = {"local_timer", "TIMER", "hardware", "RCU",
                                                   "kworker",     "NMI",   "SCHED"};

/* FNV-1a, of the name without the numbers of CPUs and threads: "kworker/3:1" is "kworker". */
static size_t favourite(const char *name)
{
    const size_t length = strcspn(name, "/:0123456789");
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < IWI_SERIES_INKS; i++) {
        if (strlen(usual[i]) == length && strncmp(usual[i], name, length) == 0) {
            return i;
        }
    }
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    }
    return hash % IWI_SERIES_INKS;
}

void iwi_source_inks(const char *const *names, size_t count, enum iwi_ink *inks)
{
    bool is_taken[IWI_SERIES_INKS] = {false};

    for (size_t i = 0; i < count; i++) {
        size_t ink = favourite(names[i]);

        for (size_t tries = 0; tries < IWI_SERIES_INKS && is_taken[ink]; tries++) {
            ink = (ink + 1) % IWI_SERIES_INKS;
        }
        is_taken[ink] = true;
        inks[i] = iwi_series_ink(ink);
    }
}

/* ---- style sheets ---- */

static void write_variables(FILE *out, bool is_dark)
{
    (void)fputs(is_dark ? ":root:not(.paper){" : ":root{", out); /* web/timeline.js draws for paper */
    for (size_t i = 0; i < IWI_INKS; i++) {
        const uint32_t rgb = is_dark ? palette[i].dark : palette[i].light;

        (void)fprintf(out, "%s:#%06x;", palette[i].css, (unsigned)rgb);
    }
    (void)fputc('}', out);
}

void iwi_palette_write_css(FILE *out)
{
    write_variables(out, false);
    (void)fputs("\n@media screen and (prefers-color-scheme:dark){", out);
    write_variables(out, true);
    (void)fputs("}\n", out);
}
