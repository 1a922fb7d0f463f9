/* Recordings made of specs: the same noise as that of a simulation, and what is refused.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include "core/noise/recording_check.h"
#include "support/made_recording.h"
#include "timeline.h"

enum { MOST_SPECS = 3 };
static const int64_t MS_NS = 1000000;

static iw_synth_opts opts_of(const char *const *specs, size_t count, int64_t duration_ns)
{
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;

    opts.specs = specs;
    opts.spec_count = count;
    opts.duration_ns = duration_ns;
    return opts;
}

static iw_recording *synth(const iw_synth_opts *opts)
{
    iw_recording *recording = NULL;
    struct iwt_log l;
    iw_edit edit;

    iwt_log_init(&l);
    if (iw_recording_synth(&l.log, opts, &recording, &edit) != IW_OK) {
        fail_msg("%s", l.text);
    }
    assert_ok(iwi_recording_check(&l.log, "made", recording, IW_ERR_RANGE));
    return recording;
}

/* Where a recording stands at time 0: noise from files begins at a random position. */
static iw_time position_of(int64_t length_ns, uint64_t seed)
{
    const struct iwi_stream_id id = {.seed = seed};

    return (iw_time)draw_below(id, IWI_DRAW_OFFSET, 0, 0, 0, (uint64_t)(length_ns * IW_PS_PER_NS));
}

struct both {
    iw_noise *spec, *file;
    iw_recording *recording;
};

static struct both both_of(const iw_synth_opts *opts)
{
    struct both both = {new_noise(), new_noise(), synth(opts)};

    for (size_t i = 0; i < opts->spec_count; i++) {
        add_spec(both.spec, opts->specs[i]);
    }
    iw_noise_align(both.spec, opts->sync, 0, 1);
    assert_ok(iw_noise_add_recording(NULL, both.file, both.recording));
    iw_noise_align(both.file, opts->sync, 0, 1);
    return both;
}

static void release(struct both *both)
{
    iw_noise_free(both->spec);
    iw_noise_free(both->file);
    iw_recording_free(both->recording);
}

/* Work of 1 us to 1 ms from `position` of the recording to near its end meets the same noise from the spec
 * and from the file, each of its detours rounded to the nanosecond at both ends. */
static int compare_both(const struct both *both, const iw_synth_opts *opts, iw_time most_error_per_detour)
{
    const struct iwi_stream_id id = {.seed = opts->seed};
    const iw_time position = position_of(opts->duration_ns, opts->seed);
    const iw_time length = opts->duration_ns * IW_PS_PER_NS;
    struct stream spec = open_stream(both->spec, id), file = open_stream(both->file, id);
    struct picker picker = {opts->seed, 0};
    int compared = 0;

    for (iw_time t = position; t < length - 20 * IW_PS_PER_MS;) {
        const iw_time d = pick(&picker, IW_PS_PER_US, IW_PS_PER_MS);
        const iw_time expected = stream_finish(&spec, t, d, NULL);
        const iw_time got = stream_finish(&file, t - position, d, NULL) + position;
        /* each event in between may round up or down */
        const iw_time most = most_error_per_detour * (2 + (expected - t) / (20 * IW_PS_PER_US));

        if (expected > length - 10 * IW_PS_PER_MS) {
            break;
        }
        if (got - expected > most || expected - got > most) {
            fail_msg("seed %d, t %lld: %lld instead of %lld", (int)opts->seed, (long long)t, (long long)got,
                     (long long)expected);
        }
        t = expected;
        compared++;
    }
    return compared;
}

/* Exact where the noise lies on whole nanoseconds: with seeds that draw such a phase. */
static void a_file_of_whole_nanoseconds_simulates_exactly_as_its_spec(void **state)
{
    const char *const specs[] = {"periodic:1kHz,20us"};
    iw_synth_opts opts = opts_of(specs, 1, 200 * MS_NS);
    int compared = 0, seeds = 0;

    (void)state;
    opts.sync = IW_SYNC_START;
    for (opts.seed = 0; seeds < 3; opts.seed++) {
        const struct iwi_stream_id id = {.seed = opts.seed};
        struct both both;

        assert_true(opts.seed < 100000);
        if (draw_below(id, IWI_DRAW_OFFSET, 0, 0, 0, (uint64_t)IW_PS_PER_MS) % 1000 == 0) {
            both = both_of(&opts);
            compared += compare_both(&both, &opts, 0);
            release(&both);
            seeds++;
        }
    }
    assert_true(compared > 20);
}

static void times_are_rounded_to_the_nearest_nanosecond(void **state)
{
    const char *const specs[] = {"periodic:1kHz,1500ps"};
    iw_synth_opts opts = opts_of(specs, 1, 10 * MS_NS);

    (void)state;
    for (opts.seed = 0; opts.seed < 20; opts.seed++) {
        const struct iwi_stream_id id = {.seed = opts.seed};
        const iw_time phase = (iw_time)draw_below(id, IWI_DRAW_OFFSET, 0, 0, 0, (uint64_t)IW_PS_PER_MS);
        iw_recording *recording = synth(&opts);

        assert_int_equal(recording->cpus[0].start_ns[0], llround((double)phase / 1e3));
        assert_int_equal(recording->cpus[0].duration_ns[0],
                         llround((double)(phase + 1500) / 1e3) - llround((double)phase / 1e3));
        iw_recording_free(recording);
    }
}

static void a_file_simulates_as_its_specs_but_for_rounding(void **state)
{
    static const char *const specs[][MOST_SPECS] = {
        {"periodic:1kHz,20us"},
        {"poisson:2kHz,exp:50us"},
        {"poisson:1kHz,lognormal:20us,1.2", "periodic:3kHz,7us"},
        {"poisson:3kHz,pareto:1.3,10us", "poisson:2kHz,fixed:30us", "periodic:2kHz,100us"},
    };
    int compared = 0;

    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        size_t count = 0;

        while (count < MOST_SPECS && specs[i][count] != NULL) {
            count++;
        }
        for (uint64_t seed = 1; seed <= 6; seed++) {
            iw_synth_opts opts = opts_of(specs[i], count, 300 * MS_NS);
            struct both both;

            opts.seed = seed;
            both = both_of(&opts);
            compared += compare_both(&both, &opts, 2 * IW_PS_PER_NS);
            release(&both);
        }
    }
    assert_true(compared > 1000);
}

/* Who has taken how much, by source: what a rank of the simulation loses on its way to the end. */
static void each_source_has_what_a_simulation_charges_it_with(void **state)
{
    const char *const specs[] = {"poisson:5kHz,exp:60us", "periodic:2kHz,90us"},
                      *const named[] = {"thread/a=poisson:5kHz,exp:60us", "irq/b=periodic:2kHz,90us"};
    const iw_synth_opts opts = opts_of(named, 2, 500 * MS_NS);
    iw_recording *recording = synth(&opts);
    const iw_detours *cpu = &recording->cpus[0];
    int64_t by_source_ns[3] = {0}, parts_ns = 0;
    iw_time lost[IW_NOISE_MAX_SOURCES] = {0}, end = 0;
    iw_noise *noise = new_noise();
    struct stream s;

    (void)state;
    for (size_t i = 0, part = 0; i < cpu->count; i++) {
        if (part < cpu->part_count && cpu->part_detour[part] == i) {
            parts_ns = 0;
            for (; part < cpu->part_count && cpu->part_detour[part] == i; part++) {
                by_source_ns[cpu->part_source[part]] += cpu->part_ns[part];
                parts_ns += cpu->part_ns[part];
            }
            assert_int_equal(parts_ns, cpu->duration_ns[i]);
        } else {
            by_source_ns[cpu->source[i]] += cpu->duration_ns[i];
        }
    }
    assert_true(cpu->part_count > 100); /* a third of the time is noise: they overlap */
    add_spec(noise, specs[0]);
    add_spec(noise, specs[1]);
    s = open_stream(noise, (struct iwi_stream_id){.seed = 1});
    while (end < opts.duration_ns * IW_PS_PER_NS) {
        end = stream_finish(&s, end, IW_PS_PER_US, lost);
    }
    for (int i = 0; i < 2; i++) { /* within the last detour, and rounding */
        const int64_t got_ns = by_source_ns[i + 1], expected_ns = lost[i] / IW_PS_PER_NS;

        assert_true(got_ns > expected_ns - MS_NS && got_ns < expected_ns + MS_NS / 100);
    }
    iw_noise_free(noise);
    iw_recording_free(recording);
}

static void the_seed_decides_and_each_cpu_has_its_own_noise(void **state)
{
    const char *const specs[] = {"poisson:1kHz,exp:10us"};
    iw_synth_opts opts = opts_of(specs, 1, 100 * MS_NS);
    iw_recording *a, *b, *other, *synchronised;

    (void)state;
    opts.cpu_count = 2;
    a = synth(&opts);
    b = synth(&opts);
    assert_int_equal(a->cpus[1].count, b->cpus[1].count);
    assert_memory_equal(a->cpus[1].start_ns, b->cpus[1].start_ns, a->cpus[1].count * sizeof(int64_t));
    assert_int_equal(a->cpus[1].cpu, 1);
    assert_int_not_equal(a->cpus[0].start_ns[0], a->cpus[1].start_ns[0]);
    opts.seed = 2;
    other = synth(&opts);
    assert_int_not_equal(a->cpus[0].start_ns[0], other->cpus[0].start_ns[0]);
    opts.sync = IW_SYNC_START;
    synchronised = synth(&opts);
    assert_int_equal(synchronised->cpus[0].count, synchronised->cpus[1].count);
    assert_int_equal(synchronised->cpus[0].start_ns[5], synchronised->cpus[1].start_ns[5]);
    assert_string_equal(iw_recording_get(synchronised, "seed"), "2");
    assert_string_equal(iw_recording_get(synchronised, "sync"), "start");
    assert_string_equal(iw_recording_get(synchronised, "host"), "synthetic");
    assert_string_equal(iw_recording_get(synchronised, "specs"), "poisson:1kHz,exp:10us");
    iw_recording_free(a);
    iw_recording_free(b);
    iw_recording_free(other);
    iw_recording_free(synchronised);
}

static void sources_have_the_names_and_classes_given(void **state)
{
    const char *const specs[] = {"irq/tick=periodic:1kHz,2us",   "thread/kworker/0:1=poisson:10Hz,exp:50us",
                                 "daemon=poisson:1Hz,fixed:1ms", "periodic:10Hz,1us",
                                 "irq/tick=periodic:5kHz,1us",   "hardware/=poisson:1Hz,fixed:1us"};
    const iw_synth_opts opts = opts_of(specs, 6, MS_NS);
    iw_recording *recording = synth(&opts);
    static const struct {
        iw_class kind;
        const char *name;
    } expected[] = {{IW_CLASS_UNKNOWN, ""},
                    {IW_CLASS_IRQ, "tick"},
                    {IW_CLASS_THREAD, "kworker/0:1"},
                    {IW_CLASS_UNKNOWN, "daemon"},
                    {IW_CLASS_UNKNOWN, "periodic:10Hz,1us"},
                    {IW_CLASS_HARDWARE, ""}};

    (void)state;
    assert_int_equal(recording->source_count, 6); /* both ticks are one */
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(recording->sources[i].kind, expected[i].kind);
        assert_string_equal(recording->sources[i].name, expected[i].name);
    }
    iw_recording_free(recording);
}

static void detours_below_the_threshold_are_left_out_and_counted(void **state)
{
    const char *const specs[] = {"poisson:10kHz,exp:1us"};
    iw_synth_opts opts = opts_of(specs, 1, 100 * MS_NS);
    iw_recording *all = synth(&opts), *seen = NULL;
    uint64_t shorter = 0;
    iw_edit edit;

    (void)state;
    for (size_t i = 0; i < all->cpus[0].count; i++) {
        shorter += all->cpus[0].duration_ns[i] < 501;
    }
    opts.threshold_ns = 500.5;
    opts.t_min_ns = 20.0;
    assert_ok(iw_recording_synth(NULL, &opts, &seen, &edit));
    assert_true(shorter > 100);
    assert_int_equal(edit.too_short, shorter);
    assert_int_equal(seen->cpus[0].count, all->cpus[0].count - shorter);
    assert_true(seen->cpus[0].threshold_ns == 500.5 && seen->cpus[0].t_min_ns == 20.0);
    iw_recording_free(all);
    iw_recording_free(seen);
}

static void touching_detours_are_one(void **state)
{
    const char *const specs[] = {"a=periodic:10kHz,60us", "b=poisson:20kHz,fixed:40us"};
    const iw_synth_opts opts = opts_of(specs, 2, 50 * MS_NS);
    iw_recording *recording = synth(&opts);
    const iw_detours *cpu = &recording->cpus[0];

    (void)state;
    for (size_t i = 1; i < cpu->count; i++) {
        assert_true(cpu->start_ns[i] > cpu->start_ns[i - 1] + cpu->duration_ns[i - 1]);
    }
    for (size_t i = 1; i < cpu->part_count; i++) { /* neighbours of one source are one part */
        assert_true(cpu->part_detour[i] != cpu->part_detour[i - 1] ||
                    cpu->part_source[i] != cpu->part_source[i - 1]);
    }
    assert_int_equal(cpu->start_ns[cpu->count - 1] + cpu->duration_ns[cpu->count - 1] <= 50 * MS_NS, true);
    iw_recording_free(recording);
}

static void no_noise_is_an_empty_recording(void **state)
{
    const char *const specs[] = {"none"};
    const iw_synth_opts opts = opts_of(specs, 1, MS_NS);
    iw_recording *recording = synth(&opts);

    (void)state;
    assert_int_equal(recording->cpus[0].count, 0);
    assert_int_equal(recording->cpus[0].length_ns, MS_NS);
    assert_int_equal(recording->source_count, 1);
    iw_recording_free(recording);
}

static void assert_refused(iw_synth_opts opts, iw_status status, const char *why)
{
    iw_recording *recording = NULL;
    struct iwt_log l;
    iw_edit edit;

    iwt_log_init(&l);
    assert_status(iw_recording_synth(&l.log, &opts, &recording, &edit), status);
    assert_null(recording);
    iwt_assert_logged(&l, why);
    assert_int_equal(l.errors, 1);
}

static void assert_spec_refused(const char *spec, iw_status status, const char *why)
{
    assert_refused(opts_of(&spec, 1, MS_NS), status, why);
}

static void specs_that_cannot_be_recorded_are_refused_with_advice(void **state)
{
    (void)state;
    assert_spec_refused("phase-exp:1%", IW_ERR_USAGE, "so it cannot be recorded");
    assert_spec_refused("x=bernoulli:1%,1us", IW_ERR_USAGE, "'bernoulli:1%,1us' adds work");
    assert_spec_refused("/dev/null", IW_ERR_FORMAT,
                        "'/dev/null' is not a noise spec: write one of periodic:");
    assert_spec_refused("cron/x=periodic:1Hz,1us", IW_ERR_FORMAT, "'cron' is not a class: write thread/");
    assert_spec_refused("=periodic:1Hz,1us", IW_ERR_FORMAT, "a name has 1 to 63 characters");
    assert_spec_refused(
        "irq/0123456789012345678901234567890123456789012345678901234567890123=periodic:1Hz,1us",
        IW_ERR_FORMAT, "a name has 1 to 63 characters");
    assert_spec_refused("a=periodic:1Hz", IW_ERR_FORMAT, "'periodic:1Hz' is incomplete");
    assert_spec_refused("a=periodic:1Hz,2s", IW_ERR_RANGE, "no time is left to work");
}

static void wrong_numbers_are_refused(void **state)
{
    const char *const specs[] = {"periodic:1Hz,1us"}, *const fast[] = {"periodic:1000000kHz,0"};
    iw_synth_opts opts = opts_of(specs, 1, MS_NS);

    (void)state;
    opts.cpu_count = 0;
    assert_refused(opts, IW_ERR_RANGE, "write 1 to 65536 CPUs");
    opts = opts_of(specs, 1, 0);
    assert_refused(opts, IW_ERR_RANGE, "1 ns to 240 h");
    opts = opts_of(specs, 0, MS_NS);
    assert_refused(opts, IW_ERR_RANGE, "write 1 to 8");
    opts = opts_of(specs, 1, MS_NS);
    opts.sync = IW_SYNC_PHASE;
    assert_refused(opts, IW_ERR_USAGE, "no compute phases");
    opts = opts_of(specs, 1, MS_NS);
    opts.t_min_ns = 20.0;
    opts.threshold_ns = 10.0;
    assert_refused(opts, IW_ERR_RANGE, "write a threshold of at least t_min");
    opts = opts_of(fast, 1, 1000 * MS_NS);
    assert_refused(opts, IW_ERR_RANGE, "more than 100 million detours");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_whole_nanoseconds_simulates_exactly_as_its_spec),
        cmocka_unit_test(times_are_rounded_to_the_nearest_nanosecond),
        cmocka_unit_test(a_file_simulates_as_its_specs_but_for_rounding),
        cmocka_unit_test(each_source_has_what_a_simulation_charges_it_with),
        cmocka_unit_test(the_seed_decides_and_each_cpu_has_its_own_noise),
        cmocka_unit_test(sources_have_the_names_and_classes_given),
        cmocka_unit_test(detours_below_the_threshold_are_left_out_and_counted),
        cmocka_unit_test(touching_detours_are_one),
        cmocka_unit_test(no_noise_is_an_empty_recording),
        cmocka_unit_test(specs_that_cannot_be_recorded_are_refused_with_advice),
        cmocka_unit_test(wrong_numbers_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
