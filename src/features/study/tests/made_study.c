/* Makes studies in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "made_study.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "support/support.h"

enum { MOST_RANK_COUNTS = 64, SIZES = 3 };

static char tick[] = "periodic:1kHz,50us", daemon_noise[] = "poisson:100Hz,exp:30us";
static char *noise_a[] = {tick}, *noise_b[] = {tick, daemon_noise};
static char name_a[] = "alpha", name_b[] = "beta";
static char allreduce[] = "allreduce:dissemination", bcast[] = "bcast:binomial", halo[] = "halo2d";
static char path[] = "made.yaml", name[] = "made", title[] = "";
static char text[] = "# made by a test\nsystems: [alpha, beta]\n";

static iw_study_system systems[2];
static iw_study_work works[3];
static iw_cell cells[2 * 3 * MOST_RANK_COUNTS * SIZES];
static iw_study made;

static void make_parts(void)
{
    const iw_pattern pattern = IW_PATTERN_INIT;

    systems[0] = (iw_study_system){.name = name_a, .noise = noise_a, .noise_count = 1, .ranks_per_node = 1};
    systems[1] = (iw_study_system){.name = name_b, .noise = noise_b, .noise_count = 2, .ranks_per_node = 1};
    systems[0].net = *iw_net_builtin("chic");
    systems[1].net = *iw_net_builtin("xt4");
    works[0] = (iw_study_work){.name = allreduce, .operations = allreduce, .pattern = pattern};
    works[1] = (iw_study_work){.name = bcast, .operations = bcast, .pattern = pattern};
    works[2] = (iw_study_work){.name = halo, .operations = halo, .pattern = pattern};
    works[2].pattern.compute_ps = 20 * IW_PS_PER_US;
    works[2].pattern.repeat = 3;
}

iw_study *iwt_made_study(size_t rank_counts, uint64_t trials)
{
    size_t count = 0;

    make_parts();
    for (size_t s = 0; s < 2; s++) {
        for (size_t w = 0; w < 3; w++) {
            for (size_t b = 0; b < SIZES; b++) {
                for (size_t r = 0; r < rank_counts; r++) {
                    iw_cell *cell = &cells[count++];

                    *cell = (iw_cell){.system = s,
                                      .work = w,
                                      .ranks = UINT32_C(2) << r,
                                      .bytes = UINT64_C(8) << (8 * b),
                                      .sync = b == 1 ? IW_SYNC_START : IW_SYNC_NONE,
                                      .net_scale = 1.0,
                                      .trials = trials,
                                      .seed = 1};
                    snprintf(cell->id, sizeof cell->id, "%016" PRIx64,
                             UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(count + trials));
                }
            }
        }
    }
    made = (iw_study){.path = path, .name = name, .title = title, .text = text, .threshold = 1.0};
    made.systems = systems;
    made.works = works;
    made.cells = cells;
    made.system_count = 2;
    made.work_count = 3;
    made.cell_count = count;
    return &made;
}

iw_study iwt_part_of_study(const iw_study *study, size_t first, size_t count)
{
    iw_study part = *study;

    part.cells = study->cells + first;
    part.cell_count = count;
    return part;
}

/* ---- folders ---- */

void iwt_folder_make(char folder[64])
{
    snprintf(folder, 64, "/tmp/iw-study-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

void iwt_folder_remove(const char *folder)
{
    char command[200];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a folder that this test made */
}

char *iwt_read_file(const char *dir, const char *file_name)
{
    char full[300], *content = NULL;
    size_t size = 0;
    FILE *file, *out;
    int c;

    snprintf(full, sizeof full, "%s/%s", dir, file_name);
    file = fopen(full, "re");
    if (file == NULL) {
        return NULL;
    }
    out = open_memstream(&content, &size);
    assert_non_null(out);
    while ((c = fgetc(file)) != EOF) {
        (void)fputc(c, out);
    }
    (void)fclose(file);
    assert_int_equal(fclose(out), 0);
    return content;
}

void iwt_write_file(const char *dir, const char *file_name, const char *content)
{
    char full[300];
    FILE *file;

    snprintf(full, sizeof full, "%s/%s", dir, file_name);
    file = fopen(full, "we");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int is_results(const struct dirent *entry)
{
    return strncmp(entry->d_name, "results", 7) == 0;
}

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void add_lines(char *content, char **lines, size_t *count, size_t most)
{
    char *rest = content, *line;

    while ((line = strsep(&rest, "\n")) != NULL) {
        if (line[0] != '\0') {
            assert_true(*count < most);
            lines[(*count)++] = line;
        }
    }
}

char *iwt_sorted_results(const char *dir)
{
    enum { MOST_LINES = 4096, MOST_FILES = 64 };
    static char *lines[MOST_LINES];
    struct dirent **names = NULL;
    const int files = scandir(dir, &names, is_results, alphasort);
    char *contents[MOST_FILES], *sorted = NULL;
    size_t count = 0, size = 0;
    FILE *out = open_memstream(&sorted, &size);

    assert_non_null(out);
    assert_in_range(files, 0, MOST_FILES);
    for (int i = 0; i < files; i++) {
        contents[i] = iwt_read_file(dir, names[i]->d_name);
        add_lines(contents[i], lines, &count, MOST_LINES);
        free(names[i]);
    }
    free(names);
    iwi_sort(lines, count, compare_lines);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "%s\n", lines[i]);
    }
    for (int i = 0; i < files; i++) {
        free(contents[i]);
    }
    assert_int_equal(fclose(out), 0);
    return sorted;
}
