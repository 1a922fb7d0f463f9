/* Runs one test of the program's table: `noise_tests finish_test [ARGUMENT...]`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/test_program.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    for (const struct iwt_test *test = iwt_tests; test->name != NULL; test++) {
        if (argc > 1 && strcmp(argv[1], test->name) == 0) {
            return test->main != NULL ? test->main() : test->main_with_arguments(argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "usage: %s TEST [ARGUMENT...], where TEST is one of\n", argv[0]);
    for (const struct iwt_test *test = iwt_tests; test->name != NULL; test++) {
        fprintf(stderr, "  %s\n", test->name);
    }
    return 2;
}
