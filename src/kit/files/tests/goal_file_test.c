/* GOAL files as programs: the public functions, with files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "goal_testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include <idlewave/files.h>

struct fixture {
    char path[64];
    struct iwt_log l;
};

static int make_file(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    int fd;

    if (f == NULL) {
        return -1;
    }
    iwt_log_init(&f->l);
    snprintf(f->path, sizeof f->path, "/tmp/iw_goal_XXXXXX");
    fd = mkstemp(f->path);
    *state = f;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    struct fixture *f = *state;

    (void)unlink(f->path);
    free(f);
    return 0;
}

static void put_file(const struct fixture *f, const char *text)
{
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

static void get_file(const struct fixture *f, char *text, size_t size)
{
    FILE *file = fopen(f->path, "r");

    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
}

/* Writes the program as text to the fixture's file and compares it. */
static void assert_written(struct fixture *f, const iw_program *program, iw_time unit_ps,
                           const char *expected)
{
    char text[4096];

    assert_ok(iw_program_write_goal(&f->l.log, program, f->path, false, unit_ps));
    get_file(f, text, sizeof text);
    assert_string_equal(text, expected);
}

static void lengths_are_in_units_of_the_caller(void **state)
{
    struct fixture *f = *state;
    iw_program *program;

    put_file(f, "num_ranks 1\nrank 0 {\ncalc 7\n}\n");
    assert_ok(iw_program_from_goal(&f->l.log, f->path, IW_PS_PER_US, &program));
    assert_int_equal(program->schedule->nodes[0].amount, 7 * IW_PS_PER_US);
    assert_written(f, program, IW_PS_PER_NS, "num_ranks 1\n\nrank 0 {\nl1: calc 7000\n}\n");
    assert_int_equal(f->l.warnings, 0);
    iw_program_free(program);
}

static void lengths_are_rounded_to_nearest_with_one_warning(void **state)
{
    struct fixture *f = *state;
    iw_program *program;

    put_file(f, "num_ranks 1\nrank 0 {\ncalc 1499\ncalc 1500\ncalc 1501\ncalc 2000\n}\n");
    assert_ok(iw_program_from_goal(&f->l.log, f->path, 1, &program));
    assert_written(f, program, 1000,
                   "num_ranks 1\n\nrank 0 {\nl1: calc 1\nl2: calc 2\nl3: calc 2\nl4: calc 2\n}\n");
    assert_int_equal(f->l.warnings, 1);
    iwt_assert_logged(&f->l, "3 calc lengths were rounded to whole units of 1000 ps");
    iw_program_free(program);
}

static void binary_files_are_recognised_by_content(void **state)
{
    static const char text[] = "num_ranks 2\n\nrank 0 {\nl1: send 8b to 1 tag 0\n}\n\nrank 1 {\n"
                               "l1: recv 8b from 0 tag 0\n}\n";
    struct fixture *f = *state;
    iw_program *a, *b;

    put_file(f, text);
    assert_ok(iw_program_from_goal(&f->l.log, f->path, IW_PS_PER_NS, &a));
    assert_ok(iw_program_write_goal(&f->l.log, a, f->path, true, IW_PS_PER_NS));
    assert_ok(iw_program_from_goal(&f->l.log, f->path, IW_PS_PER_NS, &b));
    assert_int_equal(iw_program_ranks(b), 2);
    assert_int_equal(iw_program_messages(b), 1);
    assert_written(f, b, IW_PS_PER_NS, text);
    iw_program_free(a);
    iw_program_free(b);
}

/* The whole file; the caller frees it. */
static char *get_large_file(const struct fixture *f, size_t *size_p)
{
    FILE *file = fopen(f->path, "r");
    char *data;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size_p = (size_t)ftell(file);
    rewind(file);
    data = malloc(*size_p);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size_p, file), *size_p);
    assert_int_equal(fclose(file), 0);
    return data;
}

/* Pages behind the reader are given up while it reads. */
static void a_large_binary_file_comes_back_as_it_was(void **state)
{
    struct fixture *f = *state;
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program, *again;
    size_t size, size_again;
    char *data, *data_again;

    pattern.ranks = 8192;
    assert_ok(iw_program_from_pattern(&f->l.log, "barrier:dissemination", &pattern, &program));
    assert_ok(iw_program_write_goal(&f->l.log, program, f->path, true, IW_PS_PER_NS));
    data = get_large_file(f, &size);
    assert_true(size > 12000000);
    assert_ok(iw_program_from_goal(&f->l.log, f->path, IW_PS_PER_NS, &again));
    assert_ok(iw_program_write_goal(&f->l.log, again, f->path, true, IW_PS_PER_NS));
    data_again = get_large_file(f, &size_again);
    assert_int_equal(size_again, size);
    assert_memory_equal(data_again, data, size);
    free(data);
    free(data_again);
    iw_program_free(program);
    iw_program_free(again);
}

static void a_pattern_is_unrolled_and_its_waits_become_calcs(void **state)
{
    struct fixture *f = *state;
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program, *again;
    char text[4096];

    pattern.ranks = 4;
    pattern.bytes = 8;
    pattern.compute_ps = 3 * IW_PS_PER_US;
    assert_ok(iw_program_from_pattern(&f->l.log, "allreduce:dissemination", &pattern, &program));
    assert_ok(iw_program_write_goal(&f->l.log, program, f->path, false, IW_PS_PER_NS));
    get_file(f, text, sizeof text);
    assert_non_null(strstr(text, "num_ranks 4\n\nrank 0 {\nl1: calc 3000\n"));
    assert_non_null(strstr(text, "send 8b to 1 tag"));
    assert_non_null(strstr(text, "calc 0\n"));
    assert_ok(iw_program_from_goal(&f->l.log, f->path, IW_PS_PER_NS, &again));
    assert_int_equal(iw_program_messages(again), iw_program_messages(program));
    assert_written(f, again, IW_PS_PER_NS, text);
    iw_program_free(program);
    iw_program_free(again);
}

static void delays_lengthen_the_calcs_that_they_hit(void **state)
{
    const iw_delay delays[] = {{0, 2, 5 * IW_PS_PER_NS}};
    struct fixture *f = *state;
    iw_program *program;

    put_file(f, "num_ranks 1\nrank 0 {\ncalc 1\ncalc 2\ncalc 3\n}\n");
    assert_ok(iw_program_from_goal(&f->l.log, f->path, IW_PS_PER_NS, &program));
    assert_ok(iw_program_set_delays(&f->l.log, program, delays, 1));
    assert_written(f, program, IW_PS_PER_NS,
                   "num_ranks 1\n\nrank 0 {\nl1: calc 1\nl2: calc 7\nl3: calc 3\n}\n");
    iw_program_free(program);
}

static void a_pipe_is_read_to_its_end(void **state)
{
    static const char text[] = "num_ranks 1\nrank 0 {\ncalc 7\n}\n";
    struct fixture *f = *state;
    iw_program *program;
    char path[64];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    assert_int_equal(close(ends[1]), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_ok(iw_program_from_goal(&f->l.log, path, IW_PS_PER_NS, &program));
    assert_int_equal(iw_program_ranks(program), 1);
    iw_program_free(program);
    (void)close(ends[0]);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    struct fixture *f = *state;
    iw_program *program = NULL;

    assert_status(iw_program_from_goal(&f->l.log, "/nonexistent/a.goal", 1, &program), IW_ERR_IO);
    iwt_assert_logged(&f->l, "cannot read '/nonexistent/a.goal': No such file or directory");
    assert_status(iw_program_from_goal(&f->l.log, "/tmp", 1, &program), IW_ERR_IO);
    iwt_assert_logged(&f->l, "cannot read '/tmp': it is a directory");
    put_file(f, "");
    assert_status(iw_program_from_goal(&f->l.log, f->path, 1, &program), IW_ERR_TRUNCATED);
    assert_null(program);
}

static void files_that_cannot_be_written_are_named(void **state)
{
    struct fixture *f = *state;
    iw_program *program;

    put_file(f, "num_ranks 1\nrank 0 {\ncalc 7\n}\n");
    assert_ok(iw_program_from_goal(&f->l.log, f->path, IW_PS_PER_NS, &program));
    assert_status(iw_program_write_goal(&f->l.log, program, "/nonexistent/a.goal", false, 1), IW_ERR_IO);
    iwt_assert_logged(&f->l, "cannot write '/nonexistent/a.goal': No such file or directory");
    assert_status(iw_program_write_goal(&f->l.log, program, f->path, false, 0), IW_ERR_RANGE);
    iw_program_free(program);
}

static void a_full_disk_is_an_error_told_once(void **state)
{
    struct fixture *f = *state;
    struct stat info;
    iw_program *program;

    if (stat("/dev/full", &info) != 0) {
        skip();
    }
    put_file(f, "num_ranks 1\nrank 0 {\ncalc 7\n}\n");
    assert_ok(iw_program_from_goal(&f->l.log, f->path, IW_PS_PER_NS, &program));
    assert_status(iw_program_write_goal(&f->l.log, program, "/dev/full", true, 1), IW_ERR_IO);
    iwt_assert_logged(&f->l, "cannot write '/dev/full': No space left on device");
    assert_int_equal(f->l.errors, 1);
    iw_program_free(program);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(lengths_are_in_units_of_the_caller),
        WITH_FILE(lengths_are_rounded_to_nearest_with_one_warning),
        WITH_FILE(binary_files_are_recognised_by_content),
        WITH_FILE(a_large_binary_file_comes_back_as_it_was),
        WITH_FILE(a_pattern_is_unrolled_and_its_waits_become_calcs),
        WITH_FILE(delays_lengthen_the_calcs_that_they_hit),
        WITH_FILE(a_pipe_is_read_to_its_end),
        WITH_FILE(files_that_cannot_be_read_are_named),
        WITH_FILE(files_that_cannot_be_written_are_named),
        WITH_FILE(a_full_disk_is_an_error_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
