/* trace.dat and jitterdebugger: what libraries decode, in a process of its own.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "convert_testing.h"

#include <hdf5.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/files/io/convert_child.h"

/* ---- the child ---- */

static iw_status write_three(const struct iwi_import *in, FILE *out)
{
    return fwrite(in->data, 1, 3, out) == 3 ? IW_OK : IW_ERR_IO;
}

static iw_status complain(const struct iwi_import *in, FILE *out)
{
    (void)out;
    return iwi_fail(in->log, IW_ERR_RANGE, "'%s' is too odd", in->path);
}

static iw_status crash(const struct iwi_import *in, FILE *out)
{
    (void)in;
    (void)out;
    abort();
}

static iw_status leave(const struct iwi_import *in, FILE *out)
{
    (void)in;
    (void)out;
    _exit(1);
}

/* More than any machine has; without a limit it could be had until it is used. */
static iw_status ask_for_much(const struct iwi_import *in, FILE *out)
{
    const void *memory = mmap(NULL, (size_t)1 << 46, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    (void)out;
    return memory == MAP_FAILED ? iwi_fail(in->log, IW_ERR_NOMEM, "there is not so much") : IW_OK;
}

static void a_child_gives_back_what_it_wrote(void **state)
{
    const struct iwi_import in = {.path = "in", .data = "abcd", .size = 4};
    struct iwi_child_result result;

    (void)state;
    assert_ok(iwi_child_run(&in, "libx", write_three, &result));
    assert_int_equal(result.size, 3);
    assert_memory_equal(result.bytes, "abc", 3);
    iwi_child_release(&result);
}

static void a_child_gets_no_more_memory_than_there_is(void **state)
{
    struct iwt_log log;
    const struct iwi_import in = {.log = &log.log, .path = "in", .data = "", .size = 0};
    struct iwi_child_result result;

    (void)state;
    iwt_log_init(&log);
    assert_status(iwi_child_run(&in, "libx", ask_for_much, &result), IW_ERR_NOMEM);
    iwt_assert_logged(&log, "there is not so much");
}

static void an_error_of_a_child_is_passed_on(void **state)
{
    struct iwt_log log;
    const struct iwi_import in = {.log = &log.log, .path = "in", .data = "", .size = 0};
    struct iwi_child_result result;

    (void)state;
    iwt_log_init(&log);
    assert_status(iwi_child_run(&in, "libx", complain, &result), IW_ERR_RANGE);
    iwt_assert_logged(&log, "error: 'in' is too odd");
    assert_int_equal(log.errors, 1);
}

static void a_crash_of_a_child_is_an_error(void **state)
{
    const iwi_child_work works[] = {crash, leave};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct iwt_log log;
        const struct iwi_import in = {.log = &log.log, .path = "in", .data = "", .size = 0};
        struct iwi_child_result result;

        iwt_log_init(&log);
        assert_status(iwi_child_run(&in, "libx", works[i], &result), IW_ERR_FORMAT);
        iwt_assert_logged(&log, "'in' is damaged: its decoder libx crashed");
        assert_int_equal(log.errors, 1);
    }
}

/* ---- trace.dat ---- */

static void open_data(const char *name, struct iwi_input *input)
{
    char path[256];

    snprintf(path, sizeof path, IW_TEST_DATA "/osnoise/%s", name);
    assert_ok(iwi_input_open(NULL, path, input));
}

static bool can_read_trace_dat(void)
{
    struct iwt_log log;
    iw_recording *recording;

    return import_bytes(&log, NULL, "\x17\x08\x44tracing", 10, &recording) != IW_ERR_UNSUPPORTED;
}

/* The kernel wrote the same buffer in both ways. */
static void trace_dat_gives_what_its_text_gives(void **state)
{
    struct iwi_input binary, text;
    iw_recording *of_binary, *of_text;
    struct iwt_log log;

    (void)state;
    if (!can_read_trace_dat()) {
        skip();
    }
    open_data("trace-6.12rt.dat", &binary);
    open_data("trace-6.12rt.txt", &text);
    assert_ok(import_bytes(&log, NULL, binary.data, binary.size, &of_binary));
    assert_ok(import_bytes(&log, NULL, text.data, text.size, &of_text));
    expect_same_detours(of_binary, of_text, true);
    assert_int_equal(of_binary->cpus[0].count + of_binary->cpus[1].count, 138);
    for (size_t c = 0; c < 2; c++) {
        const iw_detours *x = &of_binary->cpus[c], *y = &of_text->cpus[c];

        assert_int_equal(x->part_count, y->part_count);
        assert_memory_equal(x->part_detour, y->part_detour, x->part_count * sizeof *x->part_detour);
        assert_memory_equal(x->part_ns, y->part_ns, x->part_count * sizeof *x->part_ns);
    }
    iw_recording_free(of_binary);
    iw_recording_free(of_text);
    iwi_input_close(&binary);
    iwi_input_close(&text);
}

static void trace_dat_cut_short_is_no_crash(void **state)
{
    struct iwi_input input;

    (void)state;
    if (!can_read_trace_dat()) {
        skip();
    }
    open_data("trace-6.12rt.dat", &input);
    cut_short(&iwi_import_trace_dat, input.data, input.size, 12 * 97); /* each is a process */
    iwi_input_close(&input);
}

/* ---- jitterdebugger ---- */

/* As jittersamples lays it out: one table a CPU, rows without padding. */
struct __attribute__((packed)) row {
    uint32_t cpu;
    uint64_t seconds, nanoseconds, value_us;
};

static hid_t make_row_type(void)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct row));

    assert_true(H5Tinsert(type, "CPUID", 0, H5T_NATIVE_UINT32) >= 0);
    assert_true(H5Tinsert(type, "Seconds", 4, H5T_NATIVE_UINT64) >= 0);
    assert_true(H5Tinsert(type, "Nanoseconds", 12, H5T_NATIVE_UINT64) >= 0);
    assert_true(H5Tinsert(type, "Value", 20, H5T_NATIVE_UINT64) >= 0);
    return type;
}

static void put_table(hid_t file, const char *name, const struct row *rows, hsize_t count)
{
    const hsize_t unlimited = H5S_UNLIMITED, chunk = 4;
    const hid_t type = make_row_type(), space = H5Screate_simple(1, &count, &unlimited);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset;

    assert_true(H5Pset_chunk(properties, 1, &chunk) >= 0);
    dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
}

/* The names end with a newline: so jittersamples writes them. */
static void make_samples(const struct row *rows, hsize_t count, struct iwi_input *input)
{
    static const struct row second[] = {{3, 100, 250000, 5}};
    char path[] = "/tmp/iw_jitter_XXXXXX";
    const int fd = mkstemp(path);
    hid_t file;

    assert_true(fd >= 0);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    put_table(file, "cpu0\n", rows, count);
    put_table(file, "cpu3\n", second, 1);
    H5Fclose(file);
    assert_ok(iwi_input_open(NULL, path, input));
    unlink(path);
    close(fd);
}

/* Due at 100 s; woke up 3, 3 and 9 us late: the third is a detour of 6 us that ends when it woke up. */
static const struct row first_rows[] = {{0, 100, 3000, 3}, {0, 100, 256000, 3}, {0, 100, 515000, 9}};

static void latencies_above_the_smallest_are_detours(void **state)
{
    struct iwi_input input;
    iw_recording *recording;
    struct iwt_log log;

    (void)state;
    make_samples(first_rows, 3, &input);
    assert_ok(import_bytes(&log, NULL, input.data, input.size, &recording));
    iwt_assert_logged(&log, "has wake-up latencies, not CPU time lost");
    assert_int_equal(recording->cpu_count, 2);
    assert_int_equal(recording->cpus[0].count, 1);
    assert_int_equal(recording->cpus[0].start_ns[0], 509000);
    assert_int_equal(recording->cpus[0].duration_ns[0], 6000);
    assert_int_equal(recording->cpus[0].length_ns, 515000);
    assert_true(recording->cpus[0].t_min_ns == 3000.0);
    assert_int_equal(recording->cpus[1].cpu, 3);
    assert_int_equal(recording->cpus[1].count, 0);
    iw_recording_free(recording);
    iwi_input_close(&input);
}

static void latencies_that_cannot_be_are_refused(void **state)
{
    static const struct row bad[] = {{0, 100, 1000000000, 3}};
    struct iwi_input input;
    iw_recording *recording;
    struct iwt_log log;

    (void)state;
    make_samples(bad, 1, &input);
    assert_status(import_bytes(&log, NULL, input.data, input.size, &recording), IW_ERR_FORMAT);
    iwt_assert_logged(&log, "an invalid time");
    iwi_input_close(&input);
}

static void latencies_cut_short_or_damaged_are_no_crash(void **state)
{
    struct iwi_input input;
    char *copy;

    (void)state;
    make_samples(first_rows, 3, &input);
    cut_short(&iwi_import_jitterdebugger, input.data, input.size, 2 * 97);
    copy = malloc(input.size);
    assert_non_null(copy);
    for (size_t i = 8; i < input.size; i += 97) {
        iw_recording *recording = NULL;
        struct iwt_log log;
        iw_status status;

        memcpy(copy, input.data, input.size);
        copy[i] = (char)(copy[i] ^ 0x81);
        status = import_bytes(&log, &iwi_import_jitterdebugger, copy, input.size, &recording);
        assert_int_equal(log.errors, status == IW_OK ? 0 : 1);
        iw_recording_free(recording);
    }
    free(copy);
    iwi_input_close(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_gives_back_what_it_wrote),
        cmocka_unit_test(a_child_gets_no_more_memory_than_there_is),
        cmocka_unit_test(an_error_of_a_child_is_passed_on),
        cmocka_unit_test(a_crash_of_a_child_is_an_error),
        cmocka_unit_test(trace_dat_gives_what_its_text_gives),
        cmocka_unit_test(trace_dat_cut_short_is_no_crash),
        cmocka_unit_test(latencies_above_the_smallest_are_detours),
        cmocka_unit_test(latencies_that_cannot_be_are_refused),
        cmocka_unit_test(latencies_cut_short_or_damaged_are_no_crash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
