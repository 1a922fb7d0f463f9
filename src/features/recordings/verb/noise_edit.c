/* Writes noise files that were made from others, and says what they hold.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/verb/noise_edit.h"

#include <stdio.h>
#include <stdlib.h>

const struct opt edit_output_rows[EDIT_OUTPUT_ROWS] = {
    SHOWN_OUTPUT_ROW(struct edit_output_opts, path, "FILE", "noise file to write, HDF5"),
};

int edit_check_output(const struct ui *ui, const struct edit_output_opts *opts)
{
    if (opts->path == NULL) {
        return ui_usage(ui, "no output file given: add -o FILE");
    }
    return UI_DONE;
}

/* "OLD; COMMAND" */
static iw_status add_command(struct ui *ui, iw_recording *recording, const char *attribute)
{
    const char *old = iw_recording_get(recording, attribute);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iw_status status;

    if (out != NULL) {
        (void)fprintf(out, "%s%s%s", old != NULL ? old : "", old != NULL ? "; " : "", ui->command);
    }
    if (out == NULL || fclose(out) != 0) {
        free(text);
        ui_error(ui, "out of memory");
        return IW_ERR_NOMEM;
    }
    status = iw_recording_set(&ui->log, recording, attribute, text);
    free(text);
    return status;
}

int edit_write(struct ui *ui, const struct edit_output_opts *opts, const iw_edit *edit,
               iw_recording *recording, const char *attribute)
{
    iw_noise_report_opts wanted = IW_NOISE_REPORT_OPTS_INIT;
    iw_edit_report report = {.file = opts->path, .edit = *edit};
    iw_status status = add_command(ui, recording, attribute);
    int code;

    if (status == IW_OK) {
        status = iw_recording_save(&ui->log, recording, opts->path);
    }
    if (status == IW_OK) {
        wanted.name = ui_file_name(opts->path);
        status = iw_noise_report_init(&ui->log, recording, &wanted, &report.noise);
    }
    code = ui_exit_of(status);
    if (code == UI_DONE) {
        code = shown_write(ui, &opts->shown, iw_edit_doc(&report));
        iw_noise_report_release(&report.noise);
    }
    return code;
}
