/* Spool files: what is stored in windows is in the file; failures are told, not thrown.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/trace/spool.h"

#define WINDOW ((size_t)1 << 16)

static char folder[] = "/tmp/iw_spool_XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/iw_spool_XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)rmdir(folder);
    return 0;
}

static void store(struct iwi_spool *spool, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        uint64_t *room = iwi_spool_room(spool, sizeof *room);
        assert_non_null(room);
        *room = i;
    }
}

static void check_file(uint64_t count)
{
    struct stat info;
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    assert_true((uint64_t)info.st_size >= count * 8);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t word = 0;
        assert_int_equal(fread(&word, sizeof word, 1, file), 1);
        assert_int_equal(word, i);
    }
    (void)fclose(file);
}

static void many_windows_make_one_file(void **state)
{
    struct iwi_spool spool;
    const uint64_t count = 10 * WINDOW / 8 + 17;
    struct stat info;

    (void)state;
    assert_int_equal(iwi_spool_open(&spool, path, WINDOW), 0);
    store(&spool, 0, count);
    assert_int_equal(iwi_spool_used(&spool), count * 8);
    iwi_spool_close(&spool);
    iwi_spool_close(&spool);
    check_file(count);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, count * 8);
}

static void records_larger_than_a_window_fit(void **state)
{
    struct iwi_spool spool;

    (void)state;
    assert_int_equal(iwi_spool_open(&spool, path, WINDOW), 0);
    store(&spool, 0, 3);
    unsigned char *room = iwi_spool_room(&spool, 5 * WINDOW);
    assert_non_null(room);
    memset(room, 1, 5 * WINDOW);
    assert_int_equal(iwi_spool_used(&spool), 24 + 5 * WINDOW);
    iwi_spool_close(&spool);
    check_file(3);
}

/* The pages belong to the file, not to the process. */
static void what_was_stored_is_there_before_closing(void **state)
{
    struct iwi_spool spool;

    (void)state;
    assert_int_equal(iwi_spool_open(&spool, path, WINDOW), 0);
    store(&spool, 0, 100);
    check_file(100);
    iwi_spool_close(&spool);
}

static void a_file_that_exists_is_refused(void **state)
{
    struct iwi_spool spool;

    (void)state;
    (void)close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(iwi_spool_open(&spool, path, WINDOW), EEXIST);
    iwi_spool_close(&spool);
}

/* Without a signal: SIGXFSZ would end this test. */
static void a_limit_on_file_sizes_ends_it(void **state)
{
    struct iwi_spool spool;
    struct rlimit before;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {3 * WINDOW, before.rlim_max};
    assert_int_equal(iwi_spool_open(&spool, path, WINDOW), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    uint64_t stored = 0;
    for (uint64_t *room; (room = iwi_spool_room(&spool, 8)) != NULL; stored++) {
        *room = stored;
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(spool.error, EFBIG);
    assert_null(iwi_spool_room(&spool, 8));
    assert_int_equal(stored, 3 * WINDOW / 8);
    iwi_spool_close(&spool);
    check_file(stored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_windows_make_one_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(records_larger_than_a_window_fit, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_was_stored_is_there_before_closing, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_file_that_exists_is_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_limit_on_file_sizes_ends_it, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
