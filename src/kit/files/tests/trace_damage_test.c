/* OTF2 archives cut short or with flipped bits: a status with one message, never a crash.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "trace_otf2_testing.h"

static void write_archive(void)
{
    struct iwt_otf2 *w = begin("Score-P 8.4", 2, 1);

    for (uint32_t r = 0; r < 2; r++) {
        for (uint32_t i = 0; i < 20; i++) {
            iwt_otf2_enter(w, r, 100 * i, "MPI_Isend");
            iwt_otf2_isend(w, r, 100 * i + 1, 1 - r, 0, i, 1000, i);
            iwt_otf2_leave(w, r, 100 * i + 2);
            iwt_otf2_enter(w, r, 100 * i + 3, "MPI_Recv");
            iwt_otf2_recv(w, r, 100 * i + 4, 1 - r, 0, i, 1000);
            iwt_otf2_leave(w, r, 100 * i + 5);
            iwt_otf2_enter(w, r, 100 * i + 6, "MPI_Wait");
            iwt_otf2_isend_complete(w, r, 100 * i + 7, i);
            iwt_otf2_leave(w, r, 100 * i + 8);
        }
    }
    iwt_otf2_close(w);
}

struct content {
    char path[128];
    unsigned char bytes[8192];
    size_t size;
};

static void load(const char *name, struct content *content)
{
    FILE *file;

    (void)snprintf(content->path, sizeof content->path, "%s/%s", folder_, name);
    file = fopen(content->path, "rb");
    assert_non_null(file);
    content->size = fread(content->bytes, 1, sizeof content->bytes, file);
    (void)fclose(file);
    assert_in_range(content->size, 20, sizeof content->bytes - 1);
}

static void store(const struct content *content, size_t size)
{
    FILE *file = fopen(content->path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(content->bytes, 1, size, file), size);
    (void)fclose(file);
}

/* Whatever it holds: success, or an error that was logged once. */
static iw_status try_to_read(void)
{
    struct iw_trace *trace = NULL;
    iw_status status;

    iwt_log_init(&log_);
    status = open_made(&trace);
    assert_int_equal(log_.errors, status == IW_OK ? 0 : 1);
    if (status == IW_OK) {
        iw_trace_free(trace);
    }
    return status;
}

static void try_cuts(const char *name, size_t step)
{
    struct content content;

    load(name, &content);
    for (size_t size = 0; size < content.size; size += step) {
        store(&content, size);
        assert_int_not_equal(try_to_read(), IW_OK);
    }
    store(&content, content.size);
    assert_ok(try_to_read());
}

static void try_flips(const char *name, size_t step)
{
    struct content content;

    load(name, &content);
    for (size_t i = 0; i < content.size; i += step) {
        const unsigned char before = content.bytes[i];

        content.bytes[i] ^= (unsigned char)(1 << i % 8);
        store(&content, content.size);
        (void)try_to_read();
        content.bytes[i] = before;
    }
    store(&content, content.size);
    assert_ok(try_to_read());
}

static void archives_cut_short_are_refused(void **state)
{
    (void)state;
    write_archive();
    try_cuts("traces.otf2", 11);
    try_cuts("traces.def", 31);
    try_cuts("traces/1.evt", 97);
    remove_made();
}

static void flipped_bits_do_no_harm(void **state)
{
    (void)state;
    write_archive();
    try_flips("traces.otf2", 7);
    try_flips("traces.def", 17);
    try_flips("traces/0.evt", 61);
    remove_made();
}

static void files_that_are_missing_are_named(void **state)
{
    char path[128];

    (void)state;
    write_archive();
    (void)snprintf(path, sizeof path, "%s/traces/1.evt", folder_);
    assert_int_equal(unlink(path), 0);
    assert_int_not_equal(try_to_read(), IW_OK);
    iwt_assert_logged(&log_, "rank 1");
    (void)snprintf(path, sizeof path, "%s/traces.def", folder_);
    assert_int_equal(unlink(path), 0);
    assert_int_not_equal(try_to_read(), IW_OK);
    iwt_assert_logged(&log_, "traces.otf2");
    remove_made();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_cut_short_are_refused),
        cmocka_unit_test(flipped_bits_do_no_harm),
        cmocka_unit_test(files_that_are_missing_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
