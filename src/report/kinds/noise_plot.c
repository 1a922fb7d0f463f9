/* Detours drawn with characters, and the axes that all pictures of them have.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/figure/noise_figure.h"

bool iwi_detour_axes(const iw_recording *detours, struct iwi_detour_axes *axes)
{
    double shortest_ns = INFINITY, longest_ns = 0.0;

    axes->length_ns = 0.0;
    for (size_t c = 0; c < detours->cpu_count; c++) {
        const iw_detours *cpu = &detours->cpus[c];

        axes->length_ns = fmax(axes->length_ns, (double)cpu->length_ns);
        for (size_t i = 0; i < cpu->count; i++) {
            axes->length_ns = fmax(axes->length_ns, (double)cpu->start_ns[i]);
            longest_ns = fmax(longest_ns, (double)cpu->duration_ns[i]);
            if (cpu->duration_ns[i] > 0) {
                shortest_ns = fmin(shortest_ns, (double)cpu->duration_ns[i]);
            }
        }
    }
    if (longest_ns <= 0.0 || axes->length_ns <= 0.0) {
        return false;
    }
    axes->low_decade = floor(log10(shortest_ns));
    axes->high_decade = fmax(ceil(log10(longest_ns)), axes->low_decade + 1.0);
    return true;
}

void iwi_write_scatter(FILE *out, const iw_recording *detours)
{
    struct iwi_figure *figure;

    if (iwi_noise_scatter_figure(NULL, detours, NULL, 0, &figure) == IW_OK && figure != NULL) {
        iwi_figure_write_text(figure, NULL, out);
        iwi_figure_free(figure);
    }
}
