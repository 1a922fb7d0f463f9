/* Archives made of spool files: sound ones, cut ones, foreign ones.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/trace/archive.h"
#include "mpi/trace/folder.h"
#include "mpi/trace/recover.h"

/* The generated table of this test's MPI. */
const struct iwi_call_info iwi_calls[] = {{"MPI_Send", NULL, OTF2_REGION_ROLE_POINT2POINT},
                                          {"MPI_Put", "one-sided", OTF2_REGION_ROLE_RMA}};
const unsigned iwi_call_count = 2;
const uint64_t iwi_call_digest = 4711;

static char folder[64];

static int make_folder(void **state)
{
    char text[256];

    (void)state;
    snprintf(folder, sizeof folder, "/tmp/iw_recover_XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_true(iwi_trace_folder_make(folder, text, sizeof text));
    return 0;
}

static int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? 0 : -1; // NOLINT(cert-env33-c,concurrency-mt-unsafe): a test's own folder
}

struct file {
    unsigned char bytes[4096];
    size_t size;
};

static void put(struct file *file, const void *bytes, size_t size)
{
    assert_true(file->size + size <= sizeof file->bytes);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static void put_head(struct file *file, uint32_t rank)
{
    struct iwi_spool_head head = {.magic = IWI_SPOOL_MAGIC,
                                  .rank = rank,
                                  .world_size = 3,
                                  .version = IWI_SPOOL_VERSION,
                                  .call_digest = iwi_call_digest,
                                  .realtime_ns = 1000,
                                  .monotonic_ns = 500,
                                  .host = "here",
                                  .mpi = "openmpi",
                                  .cpu_clock = "rseq"};

    put(file, &head, sizeof head);
}

/* A call with a message in it; `comm`: as the rank numbers it. */
static void put_send(struct file *file, uint64_t time, uint16_t call, uint32_t comm, bool has_leave)
{
    const struct iwi_record_enter enter = {iwi_record_word(IWI_RECORD_ENTER, time), (uint64_t)call << 48 | 5};
    const struct iwi_record_message send = {
        .kind = IWI_RECORD_SEND, .comm = comm, .peer = 1, .tag = 2, .bytes = 3};
    uint64_t leave = iwi_record_word(IWI_RECORD_LEAVE, time + 10);

    put(file, &enter, sizeof enter);
    put(file, &send, sizeof send);
    if (has_leave) {
        put(file, &leave, sizeof leave);
    }
}

static void put_comm(struct file *file, uint32_t local, uint64_t global, int32_t first, int32_t second)
{
    const struct iwi_record_comm comm = {.kind = IWI_RECORD_COMM, .comm = local, .global = global, .size = 2};
    const int32_t members[2] = {first, second};

    put(file, &comm, sizeof comm);
    put(file, members, sizeof members);
}

static void write_file(const struct file *file, uint32_t rank)
{
    char path[256];

    iwi_spool_path(folder, rank, 0, path, sizeof path);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(file->bytes, 1, file->size, stream), file->size);
    assert_int_equal(fclose(stream), 0);
}

static struct file sound_file(uint32_t rank)
{
    struct file file = {.size = 0};

    put_head(&file, rank);
    put_send(&file, 100, 0, 0, true);
    put_comm(&file, 2 + rank, 99, 0, 1); /* the same communicator under different numbers */
    put_send(&file, 200, 1, 2 + rank, true);
    return file;
}

static bool recover(struct iwi_recovered *recovered, char *text, size_t size)
{
    *recovered = (struct iwi_recovered){0};
    return iwi_recover(folder, recovered, text, size);
}

static void ranks_agree_on_communicators(void **state)
{
    struct iwi_recovered recovered;
    char text[4096] = "";
    char command[256];

    (void)state;
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct file file = sound_file(rank);
        write_file(&file, rank);
    }
    assert_true(recover(&recovered, text, sizeof text));
    assert_int_equal(recovered.ranks, 3);
    assert_int_equal(recovered.missing_ranks, 1);
    assert_int_equal(recovered.calls, 4);
    snprintf(command, sizeof command, "%s/spool", folder);
    assert_int_equal(access(command, F_OK), -1);
    OTF2_Reader *reader =
        OTF2_Reader_Open((snprintf(command, sizeof command, "%s/traces.otf2", folder), command));
    assert_non_null(reader);
    uint64_t locations = 0;
    assert_int_equal(OTF2_Reader_GetNumberOfLocations(reader, &locations), OTF2_SUCCESS);
    assert_int_equal(locations, 2);
    assert_int_equal(OTF2_Reader_Close(reader), OTF2_SUCCESS);
}

/* Wherever the file ends, what is whole is used, and nothing is read past the end. */
static void files_cut_anywhere_are_used_as_far_as_they_go(void **state)
{
    (void)state;
    struct file whole = sound_file(0);
    for (size_t size = sizeof(struct iwi_spool_head); size <= whole.size; size += 4) {
        struct iwi_recovered recovered;
        char text[4096] = "";
        struct file cut = whole;
        cut.size = size;
        write_file(&cut, 0);
        assert_true(recover(&recovered, text, sizeof text));
        assert_true(recovered.calls <= 2);
        assert_int_equal(remove_folder(NULL), 0);
        assert_int_equal(make_folder(NULL), 0);
    }
}

static void garbage_after_the_head_does_no_harm(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct iwi_recovered recovered;
        char text[4096] = "";
        struct file file = {.size = 0};
        unsigned value = seed;
        put_head(&file, 0);
        for (int i = 0; i < 500; i++) {
            value = value * 1103515245U + 12345U;
            unsigned char byte = (unsigned char)(i % 8 == 0 ? (value >> 16) % 20 : value >> 16);
            put(&file, &byte, 1);
        }
        write_file(&file, 0);
        (void)recover(&recovered, text, sizeof text);
        assert_int_equal(remove_folder(NULL), 0);
        assert_int_equal(make_folder(NULL), 0);
    }
}

static void assert_refused(const struct file *file, const char *why)
{
    struct iwi_recovered recovered;
    char text[4096] = "";
    char path[256];

    write_file(file, 0);
    assert_false(recover(&recovered, text, sizeof text));
    if (strstr(text, why) == NULL) {
        fail_msg("'%s' is not in: %s", why, text);
    }
    iwi_spool_path(folder, 0, 0, path, sizeof path);
    assert_int_equal(access(path, F_OK), 0);
}

static void files_of_others_are_refused(void **state)
{
    (void)state;
    struct file file = sound_file(0);
    struct iwi_spool_head *head = (struct iwi_spool_head *)(void *)file.bytes;
    head->call_digest++;
    assert_refused(&file, "another MPI or version");
    head->call_digest--;
    head->rank = 3;
    assert_refused(&file, "belongs to another run");
    head->rank = 0;
    head->magic++;
    assert_refused(&file, "not a spool file");
    head->magic = 0;
    assert_refused(&file, "nothing was recorded in it");
    file.size = 10;
    assert_refused(&file, "not a spool file");
    file.size = 0;
    assert_refused(&file, "nothing was recorded in it");
}

static void an_empty_folder_is_refused(void **state)
{
    struct iwi_recovered recovered;
    char text[4096] = "";

    (void)state;
    assert_false(recover(&recovered, text, sizeof text));
    assert_non_null(strstr(text, "is empty"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranks_agree_on_communicators, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(files_cut_anywhere_are_used_as_far_as_they_go, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(garbage_after_the_head_does_no_harm, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(files_of_others_are_refused, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(an_empty_folder_is_refused, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
