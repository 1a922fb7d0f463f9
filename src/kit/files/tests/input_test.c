/* Whole input files: what is in them, and under the address sanitizer nothing readable behind their end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/files/io/input.h"
#include "support/support.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

static void expect(const char *path, const char *text, size_t size)
{
    struct iwt_log l;
    struct iwi_input input;

    iwt_log_init(&l);
    assert_ok(iwi_input_open(&l.log, path, &input));
    assert_int_equal(input.size, size);
    assert_memory_equal(input.data, text, size);
#if defined(__SANITIZE_ADDRESS__)
    assert_true(size == 0 || __asan_address_is_poisoned(input.data + size));
#endif
    iwi_input_close(&input);
}

static void files_are_read_to_the_byte(void **state)
{
    static char text[4096];
    const size_t sizes[] = {0, 1, 13, sizeof text};
    char path[] = "/tmp/iw_input_XXXXXX";
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(pwrite(fd, text, sizes[i], 0), sizes[i]);
        expect(path, text, sizes[i]);
    }
    (void)close(fd);
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_to_the_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
