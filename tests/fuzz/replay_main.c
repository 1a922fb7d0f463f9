/* Runs a fuzz target over every file of a corpus directory: how compilers without libFuzzer test it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dirent.h>
#include <stdio.h>

#include "fuzz.h"

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0, capacity = 0;

    if (file == NULL) {
        return -1;
    }
    do {
        if (size == capacity) {
            uint8_t *larger = realloc(data, 2 * capacity + 4096);

            if (larger == NULL) {
                break;
            }
            data = larger;
            capacity = 2 * capacity + 4096;
        }
        size += fread(data + size, 1, capacity - size, file);
    } while (!feof(file) && !ferror(file));
    if (feof(file)) {
        uint8_t *exact = realloc(data, size > 0 ? size : 1); /* so that sanitizers see any overrun */

        data = exact != NULL ? exact : data;
        (void)LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    return fclose(file);
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    size_t count = 0;

    if (directory == NULL) {
        fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
        return 64;
    }
    while ((entry = readdir(directory)) != NULL) {
        char path[4096];

        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        if (replay_file(path) != 0) {
            fprintf(stderr, "cannot read '%s'\n", path);
            return 1;
        }
        count++;
    }
    closedir(directory);
    printf("%zu inputs\n", count);
    return count > 0 ? 0 : 1;
}
