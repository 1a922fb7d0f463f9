/* The tests of one folder as one program: its table, which cmake writes (cmake/IdlewaveHelpers.cmake,
 * iw_tests()).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_TEST_PROGRAM_H
#define IWT_TEST_PROGRAM_H

#include <stddef.h>

struct iwt_test {
    const char *name; /* NULL ends the table */
    int (*main)(void);
    int (*main_with_arguments)(int argc, char **argv); /* one of the two */
};

extern const struct iwt_test iwt_tests[];

#endif
