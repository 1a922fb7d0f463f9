/* Calls in short records: the archive is the one that the long records of version 2 give.
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
#include "mpi/trace/writer.h"

enum { WINDOW = 1 << 16, SHORT_VERSION = IWI_SPOOL_VERSION, LONG_VERSION = IWI_SPOOL_OLDEST };

static char folders[2][64];

/* The same calls in both versions. */
struct both {
    struct iwi_call_writer writer;
    struct iwi_spool plain;
    uint64_t random, now_ns, request;
    uint64_t leave_ns; /* of the last LEAVE */
};

static struct both both;

static uint64_t draw(uint64_t below)
{
    both.random = both.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (both.random >> 33) % below;
}

static void put_plain(const void *bytes, size_t size)
{
    void *room = iwi_spool_room(&both.plain, size);

    assert_non_null(room);
    memcpy(room, bytes, size);
}

static void put_words(uint64_t first, uint64_t second, size_t count)
{
    const uint64_t words[2] = {first, second};

    put_plain(words, count * sizeof *words);
}

static void put_head(struct iwi_spool *spool, uint32_t version)
{
    const struct iwi_spool_head head = {.magic = IWI_SPOOL_MAGIC,
                                        .world_size = 1,
                                        .version = version,
                                        .call_digest = iwi_call_digest,
                                        .host = "here",
                                        .mpi = "openmpi",
                                        .cpu_clock = "rseq"};
    void *room = iwi_spool_room(spool, sizeof head);

    assert_non_null(room);
    memcpy(room, &head, sizeof head);
}

static int set_up(void **state)
{
    char path[128];
    char text[256];

    (void)state;
    memset(&both, 0, sizeof both);
    for (int i = 0; i < 2; i++) {
        snprintf(folders[i], sizeof folders[i], "/tmp/iw_writer_XXXXXX");
        assert_non_null(mkdtemp(folders[i]));
        assert_true(iwi_trace_folder_make(folders[i], text, sizeof text));
    }
    iwi_spool_path(folders[0], 0, 0, path, sizeof path);
    assert_int_equal(iwi_writer_open(&both.writer, path, WINDOW), 0);
    put_head(&both.writer.spool, SHORT_VERSION);
    iwi_spool_path(folders[1], 0, 0, path, sizeof path);
    assert_int_equal(iwi_spool_open(&both.plain, path, WINDOW), 0);
    put_head(&both.plain, LONG_VERSION);
    both.now_ns = both.leave_ns = UINT64_C(1) << 50;
    return 0;
}

static int tear_down(void **state)
{
    char command[160];

    (void)state;
    iwi_writer_release(&both.writer);
    iwi_spool_close(&both.plain);
    snprintf(command, sizeof command, "rm -r %s %s", folders[0], folders[1]);
    return system(command) == 0 ? 0 : -1; // NOLINT(cert-env33-c,concurrency-mt-unsafe): a test's own folders
}

/* Computing for so long since the last time that was told, failed polls in it; is_kept: all other of it was CPU time,
 * or, as where a call was left, all since the last LEAVE. */
static void enter(unsigned call, uint64_t gap_ns, uint64_t polls, bool is_kept)
{
    uint64_t poll_ns = polls > 0 ? draw(gap_ns + 1) : 0;
    uint64_t since_ns = draw(4) == 0 ? both.leave_ns : both.now_ns;
    uint64_t cpu_ns = is_kept ? both.now_ns + gap_ns - since_ns - poll_ns : draw(gap_ns + 2);

    both.now_ns += gap_ns;
    put_words(iwi_record_word(IWI_RECORD_ENTER, both.now_ns), (uint64_t)call << 48 | (cpu_ns & IWI_RECORD_CPU_MASK), 2);
    if (polls > 0) {
        put_words(iwi_record_word(IWI_RECORD_POLLS, polls), poll_ns, 2);
    }
    assert_true(iwi_writer_enter(&both.writer, call, both.now_ns, cpu_ns, polls, poll_ns));
}

static void leave(uint64_t took_ns)
{
    both.now_ns += took_ns;
    both.leave_ns = both.now_ns;
    put_words(iwi_record_word(IWI_RECORD_LEAVE, both.now_ns), 0, 1);
    assert_true(iwi_writer_leave(&both.writer, both.now_ns));
}

/* `request`: 0 of a blocking message, and as a stream of version 3 tells it. */
static void item(struct iwi_record_message message, uint64_t request, uint64_t told)
{
    struct iwi_record_message *room = iwi_writer_item(&both.writer, sizeof message);

    message.request = request;
    put_plain(&message, sizeof message);
    message.request = told;
    assert_non_null(room);
    *room = message;
}

static void put_message(enum iwi_record_kind kind, int32_t peer, uint64_t bytes)
{
    const struct iwi_record_message message = {
        .kind = (uint8_t)kind, .mode = (uint8_t)(bytes % 2), .peer = peer, .tag = 3, .bytes = bytes};

    if (kind == IWI_RECORD_ISEND || kind == IWI_RECORD_IRECV_REQUEST) {
        both.request++;
        item(message, both.request, iwi_writer_started(&both.writer, both.request));
    } else if (kind == IWI_RECORD_IRECV) {
        uint64_t request = both.request - draw(both.request < 3 ? 1 : 3);
        item(message, request, iwi_writer_ended(&both.writer, request));
    } else {
        item(message, 0, 0);
    }
}

static void put_collective(enum iwi_record_kind kind, uint64_t bytes)
{
    struct iwi_record_collective collective = {.kind = (uint8_t)kind,
                                               .op = OTF2_COLLECTIVE_OP_ALLREDUCE,
                                               .root = IWI_NO_ROOT,
                                               .new_comm = IWI_NO_NEW_COMM,
                                               .bytes = bytes};
    struct iwi_record_collective *room = iwi_writer_item(&both.writer, sizeof collective);

    assert_non_null(room);
    *room = collective;
    if (kind == IWI_RECORD_ICOLLECTIVE) {
        collective.request = ++both.request;
        room->request = iwi_writer_started(&both.writer, both.request);
    } else if (kind == IWI_RECORD_ICOLLECTIVE_COMPLETE) {
        collective.request = both.request;
        room->request = iwi_writer_ended(&both.writer, both.request);
    }
    put_plain(&collective, sizeof collective);
}

static void put_word(enum iwi_record_kind kind, uint64_t value, uint64_t told)
{
    uint64_t *room = iwi_writer_item(&both.writer, sizeof *room);

    assert_non_null(room);
    *room = iwi_record_word(kind, told);
    put_words(iwi_record_word(kind, value), 0, 1);
}

static void put_completed(enum iwi_record_kind kind)
{
    put_word(kind, both.request, iwi_writer_ended(&both.writer, both.request));
}

/* A list of sizes, defined in the middle of a call. */
static void define_sizes(uint64_t number)
{
    const uint64_t words[] = {iwi_record_word(IWI_RECORD_SIZES, 1), number, 0, draw(100)};
    void *room = iwi_spool_room(&both.writer.spool, sizeof words);

    assert_non_null(room);
    memcpy(room, words, sizeof words);
    put_plain(words, sizeof words);
}

enum { STARTS = 4, ITEMS = 12 };

/* Kinds of items: first those at the time of the Enter, then a collective, which is at both, then those at the Leave. */
static void put_item(uint64_t kind, uint64_t variety)
{
    static const enum iwi_record_kind KINDS[ITEMS] = {
        IWI_RECORD_SEND,        IWI_RECORD_ISEND,       IWI_RECORD_IRECV_REQUEST, IWI_RECORD_ICOLLECTIVE,
        IWI_RECORD_COLLECTIVE,  IWI_RECORD_RECV_POSTED, IWI_RECORD_RECV,          IWI_RECORD_IRECV,
        IWI_RECORD_ICOLLECTIVE_COMPLETE, IWI_RECORD_ISEND_COMPLETE, IWI_RECORD_CANCELLED, IWI_RECORD_UNKNOWN};

    switch (KINDS[kind]) {
    case IWI_RECORD_ICOLLECTIVE:
    case IWI_RECORD_COLLECTIVE:
    case IWI_RECORD_ICOLLECTIVE_COMPLETE: put_collective(KINDS[kind], draw(variety)); break;
    case IWI_RECORD_ISEND_COMPLETE:
    case IWI_RECORD_CANCELLED: put_completed(KINDS[kind]); break;
    case IWI_RECORD_UNKNOWN: put_word(KINDS[kind], 7, 7); break;
    default: put_message(KINDS[kind], (int32_t)draw(2), draw(variety)); break;
    }
}

/* `variety`: how many different ones of a kind there are. */
static void put_items(uint64_t count, uint64_t variety)
{
    uint64_t kind = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = kind < STARTS ? 0 : STARTS + 1;
        kind = first + draw(ITEMS - first);
        put_item(kind, variety);
    }
}

static void finish(int which, struct iwi_recovered *recovered)
{
    char text[4096] = "";

    if (!iwi_recover(folders[which], recovered, text, sizeof text)) {
        fail_msg("%s", text);
    }
}

static void assert_same_file(const char *name)
{
    char command[256];

    snprintf(command, sizeof command, "cmp %s/%s %s/%s", folders[0], name, folders[1], name);
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c,concurrency-mt-unsafe): a test's own files
}

static void assert_same_archives(uint64_t calls)
{
    struct iwi_recovered recovered[2];

    iwi_writer_close(&both.writer);
    iwi_spool_close(&both.plain);
    finish(0, &recovered[0]);
    finish(1, &recovered[1]);
    assert_int_equal(recovered[0].calls, calls);
    assert_int_equal(recovered[1].calls, calls);
    assert_same_file("traces/0.evt");
    assert_same_file("traces/0.def");
    assert_same_file("traces.def");
}

/* Most calls are of few kinds, as in programs; some are of others, large, left, or between long times. */
static uint64_t put_random_calls(uint64_t count)
{
    uint64_t variety = 1 + draw(3) * draw(400);

    for (uint64_t i = 0; i < count; i++) {
        uint64_t rare = draw(100);
        uint64_t gap_ns = rare == 0 ? IWI_RECORD_SHORT_NS - 1 + draw(3) : draw(5000);
        enter((unsigned)draw(2), gap_ns, rare == 1 ? 1 + draw(9) : 0, rare != 2);
        if (rare == 3) {
            define_sizes(i);
        }
        put_items(rare == 4 ? draw(40) : draw(3), rare < 50 ? variety : 1);
        if (rare == 5) {
            assert_true(iwi_writer_abandon(&both.writer));
            continue;
        }
        leave(rare == 6 ? IWI_RECORD_SHORT_NS - 1 + draw(3) : draw(300));
        if (rare == 7) {
            both.now_ns += 50;
            put_words(iwi_record_word(IWI_RECORD_ON_OFF, both.now_ns), i % 2, 2);
            assert_true(iwi_writer_switch(&both.writer, both.now_ns, i % 2 != 0));
            put_completed(IWI_RECORD_ISEND_COMPLETE); /* of a request of before */
        }
    }
    return count;
}

static void random_calls_give_the_archive_of_long_records(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        both.random = seed;
        assert_same_archives(put_random_calls(50 + draw(4000)));
        assert_int_equal(tear_down(NULL), 0);
        assert_int_equal(set_up(NULL), 0);
    }
}

static void step(int32_t peer, uint64_t bytes)
{
    enter(0, 200, 0, true);
    put_message(IWI_RECORD_IRECV_REQUEST, peer, bytes);
    leave(70);
    enter(1, 30, 0, true);
    put_message(IWI_RECORD_ISEND, peer, bytes);
    leave(90);
    enter(0, 30, 0, true);
    put_completed(IWI_RECORD_ISEND_COMPLETE);
    leave(50);
}

static void a_call_that_is_like_an_earlier_one_takes_16_bytes(void **state)
{
    enum { STEPS = 1000, CALLS = 3 };

    (void)state;
    step(0, 8);
    uint64_t before = iwi_spool_used(&both.writer.spool);
    for (int i = 0; i < STEPS; i++) {
        step(0, 8);
    }
    assert_int_equal(iwi_spool_used(&both.writer.spool) - before, (uint64_t)STEPS * CALLS * 16);
    assert_same_archives((STEPS + 1) * CALLS);
}

/* ---- CPU time in the archive ---- */

enum { MOST_CALLS = 8 };

struct cpu_times {
    int count;
    int64_t ns[MOST_CALLS]; /* -1: not told */
};

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                  OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
    struct cpu_times *times = user;
    uint64_t ns = 0;

    (void)location;
    (void)time;
    (void)at;
    (void)region;
    bool is_told = OTF2_AttributeList_GetUint64(attributes, IWI_ATTRIBUTE_CPU_NS, &ns) == OTF2_SUCCESS;
    assert_true(times->count < MOST_CALLS);
    times->ns[times->count++] = is_told ? (int64_t)ns : -1;
    return OTF2_CALLBACK_SUCCESS;
}

static struct cpu_times read_cpu_times(void)
{
    struct cpu_times times = {.count = 0};
    char path[128];
    uint64_t read = 0;

    snprintf(path, sizeof path, "%s/traces.otf2", folders[0]);
    OTF2_Reader *reader = OTF2_Reader_Open(path);
    assert_non_null(reader);
    assert_int_equal(OTF2_Reader_SetSerialCollectiveCallbacks(reader), OTF2_SUCCESS);
    assert_int_equal(OTF2_Reader_SelectLocation(reader, 0), OTF2_SUCCESS);
    assert_int_equal(OTF2_Reader_OpenEvtFiles(reader), OTF2_SUCCESS);
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(reader, 0);
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    assert_int_equal(OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, on_enter), OTF2_SUCCESS);
    assert_int_equal(OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, &times), OTF2_SUCCESS);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    assert_int_equal(OTF2_Reader_ReadAllLocalEvents(reader, events, &read), OTF2_SUCCESS);
    assert_int_equal(OTF2_Reader_CloseEvtReader(reader, events), OTF2_SUCCESS);
    assert_int_equal(OTF2_Reader_CloseEvtFiles(reader), OTF2_SUCCESS);
    assert_int_equal(OTF2_Reader_Close(reader), OTF2_SUCCESS);
    return times;
}

static void call_after(uint64_t gap_ns, uint64_t cpu_ns, uint64_t polls, uint64_t poll_ns)
{
    both.now_ns += gap_ns;
    assert_true(iwi_writer_enter(&both.writer, 0, both.now_ns, cpu_ns, polls, poll_ns));
    both.now_ns += 10;
    assert_true(iwi_writer_leave(&both.writer, both.now_ns));
}

/* Before the first call nothing goes without saying. */
static void cpu_time_is_told_where_it_is_not_all_but_polls(void **state)
{
    static const int64_t WANTED[] = {100, -1, 99, -1, 70, 101};
    struct iwi_recovered recovered;

    (void)state;
    both.now_ns = 0;
    call_after(100, 100, 0, 0);
    call_after(100, 100, 0, 0);
    call_after(100, 99, 0, 0);
    call_after(100, 70, 2, 30);
    call_after(100, 70, 0, 0);
    call_after(100, 101, 0, 0);
    iwi_writer_close(&both.writer);
    finish(0, &recovered);
    struct cpu_times times = read_cpu_times();
    assert_int_equal(times.count, sizeof WANTED / sizeof *WANTED);
    for (int i = 0; i < times.count; i++) {
        assert_int_equal(times.ns[i], WANTED[i]);
    }
}

/* More kinds of calls than are remembered: those are written out again and again. */
static void more_kinds_of_calls_than_are_remembered_are_told_apart(void **state)
{
    enum { KINDS = 4 * IWI_LIKENESSES, CALLS = 3 };

    (void)state;
    for (int i = 0; i < 2 * KINDS; i++) {
        step(i % 2, (uint64_t)(i % KINDS));
    }
    assert_same_archives(2 * (uint64_t)KINDS * CALLS);
}

/* What was written is a prefix of the archive, wherever the run died. */
static void a_stream_cut_anywhere_is_read_up_to_there(void **state)
{
    char path[128], command[512];

    (void)state;
    both.random = 5;
    (void)put_random_calls(12);
    uint64_t used = iwi_spool_used(&both.writer.spool);
    iwi_writer_close(&both.writer);
    iwi_spool_path(folders[0], 0, 0, path, sizeof path);
    for (uint64_t size = sizeof(struct iwi_spool_head); size <= used; size += 8) {
        struct iwi_recovered recovered;
        snprintf(command, sizeof command, "cp %s %s/whole && truncate -s %llu %s", path, folders[0],
                 (unsigned long long)size, path);
        assert_int_equal(system(command), 0); // NOLINT(cert-env33-c,concurrency-mt-unsafe): a test's own files
        finish(0, &recovered);
        assert_true(recovered.calls <= 12);
        snprintf(command, sizeof command, "rm -r %s/traces* && mkdir %s/spool && mv %s/whole %s", folders[0],
                 folders[0], folders[0], path);
        assert_int_equal(system(command), 0); // NOLINT(cert-env33-c,concurrency-mt-unsafe): a test's own files
    }
}

/* A thread may still be in a call when MPI_Finalize closes the files. */
static void what_is_written_late_is_refused(void **state)
{
    (void)state;
    enter(0, 200, 0, true);
    put_message(IWI_RECORD_SEND, 0, 8);
    iwi_writer_close(&both.writer);
    assert_null(iwi_writer_item(&both.writer, 8));
    assert_true(iwi_writer_abandon(&both.writer));
    assert_false(iwi_writer_enter(&both.writer, 0, both.now_ns, 0, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_calls_give_the_archive_of_long_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_that_is_like_an_earlier_one_takes_16_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cpu_time_is_told_where_it_is_not_all_but_polls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_kinds_of_calls_than_are_remembered_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stream_cut_anywhere_is_read_up_to_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_written_late_is_refused, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
