/* Noise files while they are written: readable at any time, also when their writer has been killed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "noise_hdf5_testing.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "kit/files/recording/noise_hdf5.h"

enum { KILLS = 50, BATCH = 700, PERIOD_NS = 5000, CPUS = 2 };

static uint64_t draw(uint64_t index, uint64_t n)
{
    const struct iwi_draw_id id = {.seed = 1, .purpose = IWI_DRAW_TEST};

    return iwi_draw_below(id, index, n);
}

/* Everything about detour i follows from i, so a reader can tell whether it is whole. */
static int64_t duration_of(uint64_t i)
{
    return 1 + (int64_t)draw(i, PERIOD_NS / 2);
}

static uint32_t source_of(uint64_t i)
{
    return (uint32_t)(i / 2000 % 500);
}

static void add_detours(iw_recording *batch, size_t cpu, uint64_t first)
{
    for (uint64_t i = first; i < first + BATCH; i++) {
        iwt_detour(batch, cpu, (int64_t)i * PERIOD_NS, duration_of(i), source_of(i));
        if (i % 10 == 0) {
            iwt_part(batch, cpu, source_of(i), duration_of(i));
        }
    }
    batch->cpus[cpu].length_ns = (int64_t)(first + BATCH) * PERIOD_NS;
    batch->cpus[cpu].dropped = first + BATCH;
}

static void name_sources(iw_recording *recording, uint64_t up_to)
{
    while (recording->source_count <= up_to) {
        char name[32];

        snprintf(name, sizeof name, "%zu", recording->source_count);
        (void)iwt_source(recording, IW_CLASS_THREAD, name);
    }
}

/* Appends a batch to each CPU and flushes, as often as wanted. */
static iw_status write_batches(struct iwi_noise_writer *writer, iw_recording *sources, uint64_t batches)
{
    for (uint64_t k = 0; k < batches; k++) {
        iw_recording *batch = iwt_recording(CPUS, 0);
        iw_status status = IW_OK;

        name_sources(sources, source_of((k + 1) * BATCH));
        status = iwi_noise_writer_sources(writer, sources->sources, sources->source_count);
        for (size_t cpu = 0; cpu < CPUS && status == IW_OK; cpu++) {
            add_detours(batch, cpu, k * BATCH);
            status = iwi_noise_writer_append(writer, cpu, &batch->cpus[cpu]);
        }
        iw_recording_free(batch);
        IW_TRY(status);
        IW_TRY(iwi_noise_writer_flush(writer));
    }
    return IW_OK;
}

static iw_recording *new_head(void)
{
    iw_recording *head = iwt_recording(CPUS, 0);

    iwt_attribute(head, "host", "node17");
    return head;
}

static void assert_whole_detours(const iw_recording *recording)
{
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        const iw_detours *d = &recording->cpus[cpu];

        assert_int_equal(d->count % BATCH, 0);
        assert_int_equal(d->part_count, (d->count + 9) / 10);
        assert_true(d->length_ns >= (int64_t)d->count * PERIOD_NS);
        for (size_t i = 0; i < d->count; i++) {
            assert_true(d->start_ns[i] == (int64_t)i * PERIOD_NS && d->duration_ns[i] == duration_of(i) &&
                        d->source[i] == source_of(i));
        }
        for (size_t i = 0; i < d->part_count; i++) {
            assert_true(d->part_detour[i] == 10 * i && d->part_ns[i] == duration_of(10 * i) &&
                        d->part_source[i] == source_of(10 * i));
        }
    }
    for (size_t i = 1; i < recording->source_count; i++) {
        assert_int_equal(strtol(recording->sources[i].name, NULL, 10), i);
    }
}

static void a_file_holds_what_was_flushed_while_it_is_written(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *head = new_head(), *seen;
    struct iwi_noise_writer *writer;

    name_sources(head, source_of(5 * BATCH));
    assert_ok(iwi_noise_writer_open(NULL, folder->file, head, true, &writer));
    for (uint64_t k = 1; k <= 5; k++) {
        iw_recording *batch = iwt_recording(CPUS, 0);

        add_detours(batch, 0, (k - 1) * BATCH);
        assert_ok(iwi_noise_writer_append(writer, 0, &batch->cpus[0]));
        seen = load(folder->file);
        assert_int_equal(seen->cpus[0].count, (k - 1) * BATCH);
        iw_recording_free(seen);
        assert_ok(iwi_noise_writer_flush(writer));
        seen = load(folder->file);
        assert_int_equal(seen->cpus[0].count, k * BATCH);
        assert_int_equal(seen->cpus[0].length_ns, k * BATCH * PERIOD_NS);
        assert_int_equal(seen->cpus[0].dropped, k * BATCH);
        assert_int_equal(seen->cpus[1].count, 0);
        iw_recording_free(seen);
        iw_recording_free(batch);
    }
    assert_ok(iwi_noise_writer_close(writer));
    assert_int_equal(each_file(folder->path, NULL), 1);
    iw_recording_free(head);
}

static void an_older_file_stays_until_the_new_one_is_closed(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *old = iwt_recording(1, 1000), *head = new_head(), *seen;
    struct iwi_noise_writer *writer;

    assert_ok(iw_recording_save(NULL, old, folder->file));
    assert_ok(iwi_noise_writer_open(NULL, folder->file, head, true, &writer));
    assert_ok(write_batches(writer, head, 2));
    seen = load(folder->file); /* what a kill would leave */
    assert_int_equal(seen->cpu_count, 1);
    assert_int_equal(each_file(folder->path, NULL), 2);
    iw_recording_free(seen);
    assert_ok(iwi_noise_writer_close(writer));
    seen = load(folder->file);
    assert_int_equal(seen->cpus[1].count, 2 * BATCH);
    assert_whole_detours(seen);
    assert_int_equal(each_file(folder->path, NULL), 1);
    iw_recording_free(seen);
    iw_recording_free(old);
    iw_recording_free(head);
}

static void a_closed_file_holds_all_batches(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *head = new_head(), *seen;

    for (int is_live = 0; is_live <= 1; is_live++) {
        struct iwi_noise_writer *writer;

        assert_ok(iwi_noise_writer_open(NULL, folder->file, head, is_live != 0, &writer));
        assert_ok(write_batches(writer, head, 40));
        assert_ok(iwi_noise_writer_close(writer));
        seen = load(folder->file);
        assert_whole_detours(seen);
        assert_int_equal(seen->cpus[1].count, 40 * BATCH);
        assert_int_equal(seen->source_count, head->source_count);
        iw_recording_free(seen);
    }
    iw_recording_free(head);
}

static void write_until_killed(const char *path)
{
    iw_recording *head = new_head();
    struct iwi_noise_writer *writer;

    if (iwi_noise_writer_open(NULL, path, head, true, &writer) == IW_OK) {
        (void)write_batches(writer, head, UINT64_MAX);
    }
    _exit(1); /* nobody kills what has ended */
}

static void sleep_us(uint64_t us)
{
    const struct timespec time = {0, (long)us * 1000};

    (void)nanosleep(&time, NULL);
}

/* On a busy machine a writer may take long to begin. */
static void wait_for(const char *path)
{
    for (int i = 0; i < 100000 && access(path, F_OK) != 0; i++) {
        sleep_us(1000);
    }
}

static void a_killed_writer_leaves_a_file_of_whole_detours(void **state)
{
    const struct iwt_folder *folder = *state;
    size_t loaded = 0, most = 0;

    for (uint64_t i = 0; i < KILLS; i++) {
        const pid_t child = fork();
        iw_recording *seen;
        int result;

        assert_true(child >= 0);
        if (child == 0) {
            write_until_killed(folder->file);
        }
        if (i % 5 != 0) {
            wait_for(folder->file);
        }
        sleep_us(draw(i, i % 5 == 0 ? 10000 : 100000));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
        if (access(folder->file, F_OK) == 0) {
            seen = load(folder->file);
            assert_whole_detours(seen);
            loaded++;
            most = seen->cpus[0].count > most ? seen->cpus[0].count : most;
            iw_recording_free(seen);
        }
        (void)each_file(folder->path, remove_file);
    }
    assert_true(loaded > KILLS / 2);
    assert_true(most >= BATCH);
}

/* In a process of its own: the limit cannot be lifted again, and HDF5 must come to its end as well. */
static void write_until_full(const char *path, rlim_t bytes)
{
    const struct rlimit limit = {bytes, bytes};
    iw_recording *head = new_head();
    struct iwi_noise_writer *writer;
    struct iwt_log log;
    iw_status status;

    signal(SIGXFSZ, SIG_IGN);
    iwt_log_init(&log);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || freopen("/dev/null", "w", stdout) == NULL) {
        _exit(2);
    }
    status = iwi_noise_writer_open(&log.log, path, head, true, &writer);
    if (status == IW_OK) {
        status = write_batches(writer, head, UINT64_MAX);
        status = iwi_noise_writer_close(writer) == status ? status : IW_OK;
    }
    iw_recording_free(head);
    exit(status == IW_ERR_IO && log.errors == 1 ? 0 : 1);
}

static void a_full_disk_leaves_what_was_flushed(void **state)
{
    const struct iwt_folder *folder = *state;
    size_t most = 0;

    for (rlim_t bytes = 0; bytes < 4000000; bytes += 650000) {
        const pid_t child = fork();
        iw_recording *seen;
        int result;

        assert_true(child >= 0);
        if (child == 0) {
            write_until_full(folder->file, bytes);
        }
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
        if (access(folder->file, F_OK) == 0) {
            seen = load(folder->file);
            assert_whole_detours(seen);
            most = seen->cpus[0].count > most ? seen->cpus[0].count : most;
            iw_recording_free(seen);
        }
        (void)each_file(folder->path, remove_file);
    }
    assert_true(most >= BATCH);
}

static void closing_without_flush_keeps_everything(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *head = new_head(), *batch = iwt_recording(CPUS, 0), *seen;
    struct iwi_noise_writer *writer;

    add_detours(batch, 1, 0);
    assert_ok(iwi_noise_writer_open(NULL, folder->file, head, true, &writer));
    assert_ok(iwi_noise_writer_append(writer, 1, &batch->cpus[1]));
    assert_ok(iwi_noise_writer_close(writer));
    seen = load(folder->file);
    assert_int_equal(seen->cpus[1].count, BATCH);
    iw_recording_free(seen);
    iw_recording_free(batch);
    iw_recording_free(head);
}

int main(void)
{
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_file_holds_what_was_flushed_while_it_is_written),
        FILE_TEST(an_older_file_stays_until_the_new_one_is_closed),
        FILE_TEST(a_closed_file_holds_all_batches),
        FILE_TEST(a_killed_writer_leaves_a_file_of_whole_detours),
        FILE_TEST(a_full_disk_leaves_what_was_flushed),
        FILE_TEST(closing_without_flush_keeps_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
