/* Fuzzes restart points: simulations go on from points with changes in them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Points belong to the version of the program that wrote them, so they are made here, and an input says what
 * to change in them. Digests find nearly all damage; to get behind them an input may have them made anew. Of
 * parts that are sealed like this only the header changes: the rest is times and states of noise, whatever
 * they are.
 */
#include <idlewave/net.h>
#include <idlewave/noise.h>
#include <idlewave/program.h>
#include <idlewave/sim.h>

#include "core/base/hash.h"
#include "core/sim/checkpoint/checkpoint.h"
#include "fuzz_folder.h"

enum { FILES = 3, FILE_SIZE = 4096, PART_HEADER_SIZE = 176, CHANGE_SIZE = 4, CHANGES_MAX = 12 };

struct file {
    char name[64];
    uint8_t bytes[FILE_SIZE];
    size_t size; /* 0: there is none */
};

/* A simulation, its result, and a point somewhere in it. */
struct made {
    iw_program *program;
    iw_noise *noise;
    iw_net net;
    struct file files[FILES]; /* the point, then the parts */
    unsigned calls_left;      /* the point is taken after so many of progress */
    iw_time makespan_ps;
};

/* Of each kind of state; messages from `S_bytes` on wait for their receivers. */
static const struct {
    const char *operations;
    uint64_t S_bytes;
} kinds[] = {
    {"halo1d+allreduce:dissemination", 1 << 20}, {"allgather:ring", 50}, {"barrier:dissemination", 1 << 20}};

enum { KINDS = sizeof kinds / sizeof kinds[0], RANKS = 8, REPEAT = 4, CALLS = 4, CALL_US = 101000 };

/* ---- points are made ---- */

static bool load_file(struct file *file, const char *name)
{
    char path[IWT_FUZZ_PATH_SIZE];
    FILE *in = fopen(iwt_fuzz_path(name, path), "rbe");

    file->size = 0;
    if (in == NULL) {
        return false;
    }
    (void)snprintf(file->name, sizeof file->name, "%s", name);
    file->size = fread(file->bytes, 1, FILE_SIZE, in);
    iwt_fuzz_require(file->size > 0 && file->size < FILE_SIZE);
    return fclose(in) == 0;
}

/* The point as it is now, if trials are under way; numbers of it as in checkpoint_file.c. */
static bool load_point(struct made *made)
{
    uint64_t numbers[7]; /* ..., generation, is_trials, ..., ..., has_state */
    char name[64];

    if (!load_file(&made->files[0], "points/" IWI_POINT_NAME)) {
        return false;
    }
    memcpy(numbers, made->files[0].bytes, sizeof numbers);
    if (numbers[3] == 0 || numbers[6] == 0) {
        return false;
    }
    for (uint32_t part = 0; part < FILES - 1; part++) {
        (void)snprintf(name, sizeof name, "points/" IWI_PART_PREFIX "%llu.%u", (unsigned long long)numbers[2],
                       part * RANKS / 2);
        if (!load_file(&made->files[1 + part], name)) {
            return false;
        }
    }
    return true;
}

/* Called by a member in the middle of its work, so that none writes meanwhile; again after a tenth of a
 * second at the earliest, and so long are points not written if those take long. */
static bool take_point(void *arg, const iw_progress_now *now)
{
    struct made *made = arg;

    (void)now;
    if (made->calls_left > 0) {
        (void)usleep(CALL_US);
        made->calls_left -= made->calls_left > 1 || load_point(made);
    }
    return true;
}

static iw_status run(const iw_log *log, const struct made *made, uint32_t threads, double every_s,
                     iw_progress progress, iw_sim_result **result_p)
{
    char folder[IWT_FUZZ_PATH_SIZE];
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.lanes = 1;
    opts.threads = threads;
    opts.parallel = IW_PARALLEL_RANKS;
    opts.checkpoint_dir = iwt_fuzz_path("points", folder);
    opts.checkpoint_s = every_s;
    opts.progress = progress;
    return iw_simulate(log, made->program, &made->net, made->noise, &opts, result_p);
}

static struct made *make(size_t kind)
{
    struct made *made = calloc(1, sizeof *made);
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_result *result = NULL;

    iwt_fuzz_require(made != NULL);
    pattern.ranks = RANKS;
    pattern.repeat = REPEAT;
    pattern.bytes = 100;
    pattern.compute_ps = 3 * IW_PS_PER_US;
    made->net = *iw_net_builtin("chic");
    made->net.S_bytes = kinds[kind].S_bytes;
    made->calls_left = CALLS;
    iwt_fuzz_require(iw_program_from_pattern(NULL, kinds[kind].operations, &pattern, &made->program) ==
                     IW_OK);
    iwt_fuzz_require(iw_noise_new(NULL, &made->noise) == IW_OK);
    iwt_fuzz_require(iw_noise_add(NULL, made->noise, "poisson:20kHz,exp:5us") == IW_OK);
    iwt_fuzz_empty(iwt_fuzz_folder());
    iwt_fuzz_require(run(NULL, made, FILES - 1, 0.0, (iw_progress){take_point, made}, &result) == IW_OK);
    iwt_fuzz_require(made->calls_left == 0);
    made->makespan_ps = result->makespan_ps[0];
    iw_sim_result_free(result);
    return made;
}

/* ---- points are changed ---- */

static void seal(struct file *file)
{
    struct iwi_hash digest;
    uint64_t value;

    if (file->size >= sizeof value) {
        iwi_hash_init(&digest, iwi_hash_key);
        iwi_hash_add(&digest, file->bytes, file->size - sizeof value);
        value = iwi_hash_value(&digest);
        memcpy(file->bytes + file->size - sizeof value, &value, sizeof value);
    }
}

/* Each change is 4 bytes: of which file and how, where, and the number: small ones, or powers of 2 and their
 * neighbours. */
static void change(struct file *file, const uint8_t *bytes, size_t end)
{
    const size_t how = bytes[0] / FILES % 4, width = how == 0 ? 8 : how == 1 ? 4 : 1;
    const size_t at = (bytes[1] + 256U * bytes[2]) % (end / width) * width;
    const uint64_t number =
        bytes[3] < 64 ? bytes[3] : (UINT64_C(1) << bytes[3] % 64) + bytes[3] / 64 - UINT64_C(2);

    if (how == 3) {
        file->size = at;
    } else {
        memcpy(file->bytes + at, &number, width); /* all is in the order of this machine */
    }
}

static void write_changed(const struct made *made, const uint8_t *data, size_t size, bool is_sealed)
{
    struct file *files = malloc(sizeof made->files);

    iwt_fuzz_require(files != NULL);
    memcpy(files, made->files, sizeof made->files);
    for (size_t i = 0; i + CHANGE_SIZE <= size && i < (size_t)CHANGES_MAX * CHANGE_SIZE; i += CHANGE_SIZE) {
        const size_t number = data[i] % FILES;
        struct file *file = &files[number];
        const size_t end = is_sealed && number > 0 ? PART_HEADER_SIZE : made->files[number].size;

        change(file, data + i, end);
    }
    for (size_t i = 0; i < FILES; i++) {
        if (is_sealed) {
            seal(&files[i]);
        }
        iwt_fuzz_write_file(files[i].name, files[i].bytes, files[i].size);
    }
    free(files);
}

/* The first byte: the simulation, whether digests are made anew, and, seldom since it takes longer, that two
 * members go on. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct made *all[KINDS];
    const size_t kind = size > 0 ? data[0] % KINDS : 0;
    const bool is_sealed = size > 0 && data[0] / KINDS % 2 == 1;
    const uint32_t threads = size > 0 && data[0] / KINDS / 2 % 8 == 7 ? 2 : 1;
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_sim_result *result = NULL;
    iw_status status;

    if (all[kind] == NULL) {
        all[kind] = make(kind);
    }
    iwt_fuzz_empty(iwt_fuzz_folder());
    iwt_fuzz_make_folder("points");
    write_changed(all[kind], data + (size > 0), size - (size > 0), is_sealed);
    status = run(&log, all[kind], threads, 600.0, (iw_progress){NULL, NULL}, &result);
    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) { /* damage is found, or does not matter */
        iwt_fuzz_require(is_sealed || result->makespan_ps[0] == all[kind]->makespan_ps);
        iw_sim_result_free(result);
    }
    return 0;
}
