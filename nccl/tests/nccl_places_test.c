/* The plugin for NCCL where others have been first: it steps aside with one message, and the job goes on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nccl/tests/nccl_calls.h"

enum { NOBODY = 65534, PATH_SIZE = 256 };

/* "FOLDER/HOST-PID.jsonl" of the process that asks. */
static void own_file(char path[PATH_SIZE])
{
    char host[65] = "";

    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(path, PATH_SIZE, "%s/%s-%ld.jsonl", folder, host, (long)getpid());
}

static void secret_file(char path[PATH_SIZE])
{
    (void)snprintf(path, PATH_SIZE, "%s/secret", folder);
}

/* In a child, since warnings come once in the life of a process, and a pipe would stop it for ever. */
static int steps_aside(bool (*plant)(void))
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        void *context = &context;
        int mask = -1;

        (void)alarm(60);
        _exit(plant() && v5->init(&context, 1, &mask, "c", 1, 2, 0, log_line) == IWI_NCCL_SUCCESS && mask == 0 &&
                      context == NULL && warnings == 1 && v5->finalize(context) == IWI_NCCL_SUCCESS
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool plant_link(void)
{
    char path[PATH_SIZE], secret[PATH_SIZE];

    own_file(path);
    secret_file(secret);
    return symlink(secret, path) == 0;
}

static bool plant_pipe(void)
{
    char path[PATH_SIZE];

    own_file(path);
    return mkfifo(path, 0666) == 0;
}

static bool plant_file(void)
{
    char path[PATH_SIZE];
    int fd;

    own_file(path);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    return fd >= 0 && fchown(fd, NOBODY, NOBODY) == 0 && chmod(folder, 01777) == 0;
}

/* The folder itself, in one where everyone may write. */
static bool plant_folder(void)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s/foreign", folder);
    return chmod(folder, 01777) == 0 && mkdir(path, 0777) == 0 && chown(path, NOBODY, NOBODY) == 0 &&
           setenv("IDLEWAVE_NCCL_DIR", path, 1) == 0;
}

static bool plant_folder_link(void)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s/link", folder);
    return chmod(folder, 01777) == 0 && symlink(folder, path) == 0 && lchown(path, NOBODY, NOBODY) == 0 &&
           setenv("IDLEWAVE_NCCL_DIR", path, 1) == 0;
}

static void assert_secret(void)
{
    char path[PATH_SIZE];
    struct stat facts;

    secret_file(path);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_size, 6);
}

static int set_up_secret(void **state)
{
    char path[PATH_SIZE];
    int fd;

    if (set_up(state) != 0) {
        return -1;
    }
    secret_file(path);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && write(fd, "secret", 6) == 6 ? close(fd) : -1;
}

static void a_link_is_not_followed(void **state)
{
    (void)state;
    assert_int_equal(steps_aside(plant_link), 0);
    assert_secret();
}

static void a_pipe_does_not_stop_the_job(void **state)
{
    (void)state;
    assert_int_equal(steps_aside(plant_pipe), 0);
}

static void what_is_of_others_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("not tried: files of other users (only root can act as another user)\n");
        skip();
    }
    assert_int_equal(steps_aside(plant_file), 0);
    assert_int_equal(steps_aside(plant_folder), 0);
    assert_int_equal(steps_aside(plant_folder_link), 0);
    assert_secret();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_link_is_not_followed, set_up_secret, tear_down),
        cmocka_unit_test_setup_teardown(a_pipe_does_not_stop_the_job, set_up_secret, tear_down),
        cmocka_unit_test_setup_teardown(what_is_of_others_is_refused, set_up_secret, tear_down),
    };

    return load_plugin() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
