/* Fuzzes what people write on command lines: times, counts, rates, shares, noise and operations.
 * The first byte chooses which; the rest is the text.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include <idlewave/noise.h>
#include <idlewave/program.h>

#include "fuzz.h"

/* Always a spec, never a path: a target must not open what its input names. */
static iw_status add_noise(const iw_log *log, const char *source, const char *text)
{
    char spec[300];
    iw_noise *noise;
    iw_status status;

    iwt_fuzz_require(iw_noise_new(NULL, &noise) == IW_OK);
    snprintf(spec, sizeof spec, "%s:%s", source, text);
    status = iw_noise_add(log, noise, spec);
    iwt_fuzz_require(iw_noise_source_count(noise) == (status == IW_OK));
    iw_noise_free(noise);
    return status;
}

static iw_status make_program(const iw_log *log, const char *text)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program;

    pattern.ranks = 12;
    pattern.bytes = 100;
    IW_TRY(iw_program_from_pattern(log, text, &pattern, &program));
    iwt_fuzz_require(iw_program_ranks(program) == 12);
    (void)iw_program_messages(program);
    iw_program_free(program);
    return IW_OK;
}

static iw_status parse(const iw_log *log, unsigned char which, const char *text)
{
    iw_time time;
    iw_fs_per_byte per_byte;
    uint64_t count;
    double share;

    switch (which % 11) {
    case 0: return iw_parse_time(log, text, &time);
    case 1: return iw_parse_count(log, text, &count);
    case 2: return iw_parse_rate(log, text, &time);
    case 3: return iw_parse_share(log, text, &share);
    case 4: return iw_parse_per_byte(log, text, &per_byte);
    case 5: return add_noise(log, "periodic", text);
    case 6: return add_noise(log, "poisson", text);
    case 7: return add_noise(log, "phase-exp", text);
    case 8: return add_noise(log, "bernoulli", text);
    case 9: return add_noise(log, "phase-pareto", text);
    default: return make_program(log, text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    char text[256];
    iw_status status;

    if (size == 0 || size > sizeof text) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    status = parse(&log, data[0], text);
    iwt_fuzz_check_log(status, errors);
    return 0;
}
