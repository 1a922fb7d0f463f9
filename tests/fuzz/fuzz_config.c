/* Fuzzes the reader of configuration files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/config.h"

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct config_fault fault = {.number = 0};
    struct config_lines lines;

    iwt_fuzz_require(text != NULL);
    memcpy(text, data, size);
    if (config_lines_read(text, size, &lines, &fault)) {
        for (size_t i = 0; i < lines.count; i++) {
            iwt_fuzz_require(lines.all[i].key[0] != '\0' && lines.all[i].value[0] != '\0');
            iwt_fuzz_require(i == 0 || lines.all[i].number > lines.all[i - 1].number);
        }
    } else {
        iwt_fuzz_require(fault.number > 0 && fault.text[0] != '\0' && lines.count == 0);
    }
    config_lines_release(&lines);
    free(text);
    return 0;
}
