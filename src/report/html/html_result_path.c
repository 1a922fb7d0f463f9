/* What hurt most on the critical path of a simulation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "base/base.h"
#include "report/html/html_result.h"

void iwi_html_result_worst(FILE *out, const json_t *explain)
{
    const json_t *worst = json_object_get(explain, "worst");
    char largest[IWI_PARAGRAPH_SIZE] = "", share[IWI_PARAGRAPH_SIZE] = "";

    if (json_array_size(worst) == 0) {
        return;
    }
    iwi_html_section(out, "worst", "What hurt most");
    iwi_html_paragraph(out, NULL,
                       "The largest detours on the critical path of the trial with the median time:");
    (void)fputs("<ul>\n", out);
    for (size_t i = 0; i < json_array_size(worst); i++) {
        char words[IWI_PARAGRAPH_SIZE] = "";

        iwi_hit_words(json_array_get(worst, i), words);
        (void)fputs("<li>", out);
        iwi_html_prose(out, words);
        (void)fputs("</li>\n", out);
    }
    (void)fputs("</ul>\n", out);
    iwi_largest_words(json_object_get(explain, "average"), largest);
    if (largest[0] != '\0') {
        iwi_html_paragraph(out, NULL, "%s", largest);
    }
    iwi_share_words(explain, share);
    if (share[0] != '\0') {
        iwi_html_paragraph(out, NULL, "%s", share);
    }
}
