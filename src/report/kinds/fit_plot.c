/* Distributions with their fits, drawn with characters: the share of detours that last longer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/figure/fit_figure.h"

void iwi_write_fit_plot(FILE *out, const iw_recording *recording, const iw_noise_fit *fit)
{
    struct iwi_figure *figure;

    if (iwi_fit_figure(NULL, recording, fit, 0, true, &figure) == IW_OK && figure != NULL) {
        (void)fputs("\nShare of detours that last longer (", out);
        iwi_figure_write_legend(figure, out);
        (void)fputs(")\n", out);
        iwi_figure_write_text(figure, NULL, out);
        iwi_figure_free(figure);
    }
}
