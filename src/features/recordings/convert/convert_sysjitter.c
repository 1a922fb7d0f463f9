/* Raw files of sysjitter, one a core: time of the end and length of each interruption.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "features/recordings/convert/convert.h"
#include "features/recordings/convert/convert_rows.h"
#include "kit/files/io/convert_text.h"

enum { MOST_NUMBERS = 4 };

struct reader {
    const struct iwi_import *in;
    struct iwi_lines lines;
    struct iwi_rows rows;
    struct iwi_cpu_facts facts;
    uint64_t mhz, said_count, runtime_cycles;
};

static bool matches(const char *data, size_t size)
{
    struct iwi_lines lines = iwi_lines_of(data, size);
    struct iwi_piece line;

    return iwi_next_line(&lines, &line) && iwi_take_prefix(&line, "#") && iwi_take_key(&line, "cpu_mhz");
}

static iw_status fail(const struct reader *r, const char *problem)
{
    return iwi_fail(r->in->log, r->lines.has_newline ? IW_ERR_FORMAT : IW_ERR_TRUNCATED, "'%s:%zu': %s",
                    r->in->path, r->lines.number, problem);
}

/* "200ns" */
static bool read_threshold(struct iwi_piece text, double *threshold_ns_p)
{
    if (iwi_piece_size(text) < 2 || text.end[-2] != 'n' || text.end[-1] != 's') {
        return false;
    }
    text.end -= 2;
    return iwi_read_real(text, threshold_ns_p);
}

static iw_status read_comment(struct reader *r, struct iwi_piece text)
{
    bool is_good = true;

    if (iwi_take_key(&text, "cpu_mhz")) {
        is_good = iwi_read_u64(text, &r->mhz) && r->mhz > 0 && r->mhz < 1000000;
    } else if (iwi_take_key(&text, "threshold")) {
        is_good = read_threshold(text, &r->facts.threshold_ns);
    } else if (iwi_take_key(&text, "n_interruptions")) {
        is_good = iwi_read_u64(text, &r->said_count);
    } else if (iwi_take_key(&text, "total_runtime")) {
        struct iwi_piece number = iwi_next_word(&text);

        /* the line in seconds has only seven digits */
        is_good = !iwi_piece_is(iwi_trim_blanks(text), "cycles") || iwi_read_u64(number, &r->runtime_cycles);
    }
    return is_good ? IW_OK : fail(r, "not a comment of sysjitter --raw");
}

/* Timestamp, [time since the one before,] cycles, nanoseconds; the timestamp is that of the end. */
static iw_status read_data(struct reader *r, struct iwi_piece text)
{
    int64_t numbers[MOST_NUMBERS] = {0};
    size_t count = 0;
    struct iwi_piece word = iwi_next_word(&text);
    bool is_good = true;

    for (; word.at != word.end && is_good; word = iwi_next_word(&text)) {
        uint64_t number;

        is_good = count < MOST_NUMBERS && iwi_read_u64(word, &number) && number <= INT64_MAX;
        if (is_good) {
            numbers[count++] = (int64_t)number;
        }
    }
    if (!is_good || count < 3) {
        return fail(r, "expected three or four numbers: timestamp, [delta,] cycles, nanoseconds");
    }
    if (numbers[count - 1] > numbers[0] || numbers[0] > IW_TIME_INPUT_MAX / IW_PS_PER_NS) {
        return fail(r, "the interruption begins before the recording, or ends after 240h");
    }
    return iwi_rows_add(
        r->in->log, &r->rows,
        &(struct iwi_row){.start_ns = numbers[0] - numbers[count - 1], .duration_ns = numbers[count - 1]});
}

static iw_status read_lines(struct reader *r)
{
    struct iwi_piece line;

    while (iwi_next_line(&r->lines, &line)) {
        struct iwi_piece text = iwi_trim_blanks(line);

        if (iwi_take_prefix(&text, "#")) {
            IW_TRY(read_comment(r, text));
        } else if (text.at != text.end) {
            IW_TRY(read_data(r, text));
        }
    }
    if (r->rows.count != r->said_count) {
        return iwi_fail(r->in->log, IW_ERR_TRUNCATED, "'%s' states %" PRIu64 " interruptions, but has %zu",
                        r->in->path, r->said_count, r->rows.count);
    }
    if (r->said_count > 0 && !r->lines.has_newline) {
        return fail(r, "the file ends within a line");
    }
    return IW_OK;
}

static iw_status find_length(struct reader *r)
{
    /* below 240 h at up to 1 THz: no overflow */
    if (r->mhz > 0 && r->runtime_cycles / r->mhz <= IW_TIME_INPUT_MAX / IW_PS_PER_US) {
        const unsigned __int128 product = (unsigned __int128)r->runtime_cycles * 1000;

        r->facts.length_ns = (int64_t)(product / r->mhz);
        return IW_OK;
    }
    return r->mhz == 0 ? fail(r, "missing comment '# cpu_mhz'") : fail(r, "the runtime is above 240h");
}

static iw_status fill(struct reader *r, iw_recording *recording)
{
    char mhz[24];

    IW_TRY(read_lines(r));
    IW_TRY(find_length(r));
    if (r->rows.count == 0 && r->facts.length_ns == 0) {
        iwi_warn(r->in->log, "'%s' has no interruptions and does not state its length: give it (`length_ns`)",
                 r->in->path);
    }
    snprintf(mhz, sizeof mhz, "%" PRIu64, r->mhz);
    IW_TRY(iw_recording_set(r->in->log, recording, "cpu_mhz", mhz));
    IW_TRY(iwi_rows_add_facts(r->in->log, &r->rows, &r->facts));
    return iwi_rows_fill(r->in->log, &r->rows, recording);
}

static iw_status read_sysjitter(const struct iwi_import *in, iw_recording **recording_p)
{
    struct reader r = {.in = in, .lines = iwi_lines_of(in->data, in->size)};
    iw_recording *recording;
    iw_status status;

    IW_TRY(iw_recording_new(in->log, 0, &recording));
    status = fill(&r, recording);
    iwi_rows_release(&r.rows);
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}

/* At 1000 MHz a cycle is a nanosecond. */
static void write_sysjitter(const iw_recording *recording, struct iwi_out *out)
{
    const iw_detours *cpu = &recording->cpus[0];
    const double length_ns = (double)iwi_max(cpu->length_ns, 1);
    int64_t total_ns = 0, last_ns = cpu->count > 0 ? cpu->start_ns[0] + cpu->duration_ns[0] : 0;

    for (size_t i = 0; i < cpu->count; i++) {
        total_ns += cpu->duration_ns[i];
    }
    iwi_out_print(out, "# cpu_mhz: 1000\n# threshold: %.0fns\n# n_interruptions: %zu\n", cpu->threshold_ns,
                  cpu->count);
    iwi_out_print(out, "# interruption: %f%%\n# total_interruption: %" PRId64 " cycles\n",
                  100.0 * (double)total_ns / length_ns, total_ns);
    iwi_out_print(out, "# total_runtime: %" PRId64 " cycles\n# total_interruption: %.9f seconds\n",
                  cpu->length_ns, (double)total_ns / 1e9);
    iwi_out_print(out, "# total_runtime: %.9f seconds\n#\n", (double)cpu->length_ns / 1e9);
    iwi_out_print(out, "#      Timestamp      delta   <== interruption =>\n"
                       "#         (nsec)     (usec)   (cycles)     (nsec)\n");
    for (size_t i = 0; i < cpu->count; i++) {
        const int64_t end_ns = cpu->start_ns[i] + cpu->duration_ns[i];

        iwi_out_print(out, "%16" PRId64 " %10" PRId64 " %10" PRId64 " %10" PRId64 "\n", end_ns,
                      (end_ns - last_ns) / 1000, cpu->duration_ns[i], cpu->duration_ns[i]);
        last_ns = end_ns;
    }
}

const struct iwi_convert_ops iwi_convert_sysjitter = {
    .about = {.name = "sysjitter",
              .summary = "a file of --raw",
              .can_read = true,
              .can_write = true,
              .is_of_one_cpu = true},
    .in_words = "sysjitter's raw text",
    .is_foreign = true,
    .losses = IWI_LOSES_SOURCES | IWI_LOSES_PARTS | IWI_LOSES_QUANTA | IWI_LOSES_FACTS,
    .matches = matches,
    .read = read_sysjitter,
    .write = write_sysjitter,
};
