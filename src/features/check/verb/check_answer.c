/* Answers a check: a line or a page, files, and the exit code.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/check/verb/check_answer.h"

#include <stdio.h>

struct written {
    iw_doc doc;
    iw_doc_format format;
};

static iw_status write_doc(const iw_log *log, void *arg, FILE *out)
{
    const struct written *written = arg;

    return iw_doc_write(log, written->doc, written->format, NULL, out);
}

static int write_file(struct ui *ui, const char *path, iw_doc doc, iw_doc_format format)
{
    struct written written = {doc, format};

    return path != NULL ? ui_exit_of(iw_write_file(&ui->log, path, write_doc, &written)) : UI_DONE;
}

/* What is learned from a node that is not as it should be would let others pass. */
static int learn(struct ui *ui, const struct answer_opts *opts, const iw_check *check)
{
    iw_profile *profile = NULL;
    int code;

    if (opts->learn == NULL) {
        return UI_DONE;
    }
    if (check->outcome != IW_CHECK_GOOD) {
        ui_error(ui, "'%s' is not written: the node is %s, and a profile is learned from a good one",
                 opts->learn, iw_check_outcome_name(check->outcome));
        if (check->outcome == IW_CHECK_NOISY) {
            ui_hint(ui,
                    "if it is as quiet as it can be, set --limit and --slowdown-limit to what you accept");
        }
        return UI_DONE;
    }
    code = ui_exit_of(iw_profile_learn(&ui->log, check, IW_PROFILE_MARGIN, &profile));
    if (code == UI_DONE) {
        code = write_file(ui, opts->learn, iw_profile_doc(profile), IW_DOC_JSON);
    }
    iw_profile_free(profile);
    return code;
}

int answer_check(struct ui *ui, const struct answer_opts *opts, const iw_check *check)
{
    int code = write_file(ui, opts->html, iw_check_doc(check), IW_DOC_HTML);

    if (code == UI_DONE) {
        code = write_file(ui, opts->json, iw_check_doc(check), IW_DOC_JSON);
    }
    if (code == UI_DONE) {
        code = learn(ui, opts, check);
    }
    if (code == UI_DONE && opts->is_quiet && opts->shown.format == OUTPUT_TEXT) {
        (void)printf("%s\n", check->line);
    } else if (code == UI_DONE) {
        code = shown_write(ui, &opts->shown, iw_check_doc(check));
    }
    return code == UI_DONE ? iw_check_exit_code(check->outcome) : code;
}
