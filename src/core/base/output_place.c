/* Finds where a path leads, folder by folder, without trusting the links of others; makes folders on the way.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each name is opened without following it, and everything is asked of what was opened: nobody can change a
 * link between the look at it and its use. Links are followed if they are ours or root's. Those of other
 * users are not, where the file itself is one, where everyone may put them, or where we are root; elsewhere
 * folders of others may lead on by links, as they do on shared file systems.
 */
#include "core/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* As the kernel has it. */
enum { MOST_LINKS = 40 };

struct walk {
    const iw_log *log;
    const char *path;   /* as it was given, for messages */
    const char *cannot; /* how messages begin */
    enum iwi_folder_use use;
    bool is_for_folder;  /* the path is a folder's: "/." is put behind it */
    bool has_made;       /* the name in hand */
    char rest[PATH_MAX]; /* what is left to go, from the place's folder on */
    size_t links;
    struct iwi_output_place *place;
    int error;
};

static iw_status fail(struct walk *walk, int error)
{
    walk->error = error;
    return iwi_fail(walk->log, IW_ERR_IO, "%s '%s': %s", walk->cannot, walk->path, strerror(error));
}

/* The folder becomes `fd`; -1: errno tells why not. */
static iw_status enter(struct walk *walk, int fd)
{
    if (fd < 0 || fstat(fd, &walk->place->in) != 0) {
        const iw_status status = fail(walk, errno);

        if (fd >= 0) {
            (void)close(fd);
        }
        return status;
    }
    if (walk->place->folder >= 0) {
        (void)close(walk->place->folder);
    }
    walk->place->folder = fd;
    return IW_OK;
}

static iw_status enter_start(struct walk *walk, const char *path)
{
    return enter(walk, open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static bool is_for_everyone(const struct stat *folder)
{
    return (folder->st_mode & S_IWOTH) != 0;
}

bool iwi_output_is_planted(const struct stat *folder, const struct stat *there)
{
    return is_for_everyone(folder) && (folder->st_mode & S_ISVTX) != 0 && there->st_uid != geteuid() &&
           (there->st_uid != 0 || S_ISREG(there->st_mode));
}

static iw_status refuse_planted(struct walk *walk, const struct stat *there)
{
    walk->error = EPERM;
    return iwi_fail(walk->log, IW_ERR_IO,
                    "%s '%s': it belongs to user %u, in a folder where everyone may write; "
                    "remove it, or choose another name",
                    walk->cannot, walk->path, (unsigned)there->st_uid);
}

/* ---- links ---- */

/* Where everyone may write, a second name of a link of ours may have been put there by somebody else. */
static bool may_follow(const struct walk *walk, const struct stat *link, bool is_last)
{
    const bool is_open_to_all = is_for_everyone(&walk->place->in);
    const uid_t us = geteuid();

    if (link->st_uid == us || link->st_uid == 0) {
        return !is_open_to_all || link->st_nlink <= 1;
    }
    return !is_last && us != 0 && !is_open_to_all;
}

static iw_status refuse_link(struct walk *walk, const struct stat *link, const char *target)
{
    walk->error = EPERM;
    return iwi_fail(walk->log, IW_ERR_IO,
                    "%s '%s': the symbolic link '%s' on the way, made by user %u, is not trusted; if it is "
                    "right, name its target: '%s'",
                    walk->cannot, walk->path, walk->place->name, (unsigned)link->st_uid, target);
}

/* What is left becomes the link's target and `after`, which is a part of what is left. */
static iw_status go_by_link(struct walk *walk, const char *target, const char *after, bool is_last)
{
    const size_t target_size = strlen(target), after_size = strlen(after) + 1;

    if (target_size + 1 + after_size > sizeof walk->rest) {
        return fail(walk, ENAMETOOLONG);
    }
    memmove(walk->rest + target_size + 1, after, after_size);
    memcpy(walk->rest, target, target_size);
    walk->rest[target_size] = is_last ? '\0' : '/';
    return target[0] == '/' ? enter_start(walk, target) : IW_OK;
}

static iw_status follow(struct walk *walk, int link, const struct stat *facts, const char *after,
                        bool is_last)
{
    char target[PATH_MAX];
    const ssize_t length = readlinkat(link, "", target, sizeof target - 1);

    if (length < 0) {
        return fail(walk, errno);
    }
    target[length] = '\0';
    if (!may_follow(walk, facts, is_last)) {
        return refuse_link(walk, facts, target);
    }
    return ++walk->links > MOST_LINKS ? fail(walk, ELOOP) : go_by_link(walk, target, after, is_last);
}

/* Links in /proc are the kernel's: what they say is no name, and they lead to the open file itself. */
static bool is_of_kernel(const struct iwi_output_place *place)
{
    struct statfs info;

    return fstatfs(place->folder, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

/* ---- names ---- */

/* The name at the front of what is left; *after_p: what comes behind it. */
static iw_status take_name(struct walk *walk, const char **after_p, bool *is_last_p)
{
    const char *from = walk->rest + strspn(walk->rest, "/");
    const size_t length = strcspn(from, "/");

    if (length == 0) { /* it ends in a slash */
        return fail(walk, walk->path[0] == '\0' ? ENOENT : EISDIR);
    }
    if (length > NAME_MAX) {
        return fail(walk, ENAMETOOLONG);
    }
    memcpy(walk->place->name, from, length);
    walk->place->name[length] = '\0';
    *is_last_p = from[length] == '\0';
    *after_p = *is_last_p ? from + length : from + length + 1;
    return IW_OK;
}

/* Whether the name before it is the folder itself: nothing but "." follows. */
static bool is_end_of_folder(const struct walk *walk, const char *after)
{
    return walk->is_for_folder && strspn(after, "./") == strlen(after);
}

/* The name in hand becomes the next folder. */
static iw_status enter_name(struct walk *walk, const struct stat *facts, const char *after)
{
    struct iwi_output_place *place = walk->place;

    if (is_end_of_folder(walk, after)) {
        if (walk->use == IWI_FOLDER_NEW && !walk->has_made) {
            return fail(walk, EEXIST);
        }
        if (iwi_output_is_planted(&place->in, facts)) {
            return refuse_planted(walk, facts);
        }
    }
    walk->has_made = walk->has_made && strspn(after, "./") == strlen(after); /* "new/." is still new */
    memmove(walk->rest, after, strlen(after) + 1);
    return enter(walk, openat(place->folder, place->name, /* of the kernel's links only, see below */
                              O_PATH | O_DIRECTORY | O_CLOEXEC | (S_ISLNK(facts->st_mode) ? 0 : O_NOFOLLOW)));
}

/* Goes on behind a name that has been opened as `fd`, which stays open only as the next folder. */
static iw_status go_behind(struct walk *walk, int fd, const char *after, bool is_last, bool *has_ended_p)
{
    struct iwi_output_place *place = walk->place;
    struct stat facts;
    iw_status status;

    if (fstat(fd, &facts) != 0) {
        status = fail(walk, errno);
    } else if (S_ISLNK(facts.st_mode) && !is_of_kernel(place)) {
        status = follow(walk, fd, &facts, after, is_last);
    } else if (is_last) {
        place->is_there = *has_ended_p = true;
        place->is_open_file = S_ISLNK(facts.st_mode);
        place->there = facts;
        status = IW_OK;
    } else {
        status = enter_name(walk, &facts, after);
    }
    (void)close(fd);
    return status;
}

static bool may_make(const struct walk *walk, const char *after)
{
    return walk->use == IWI_FOLDER_MADE_WITH_PARENTS ||
           (walk->use != IWI_FOLDER_THERE && is_end_of_folder(walk, after));
}

/* Makes the name in hand, which is looked at again then: another process may have been faster. */
static iw_status make_name(struct walk *walk)
{
    if (++walk->links > MOST_LINKS) {
        return fail(walk, ELOOP);
    }
    walk->has_made = mkdirat(walk->place->folder, walk->place->name, 0777) == 0;
    return walk->has_made || errno == EEXIST ? IW_OK : fail(walk, errno);
}

static iw_status go(struct walk *walk)
{
    bool has_ended = false;

    IW_TRY(enter_start(walk, walk->rest));
    while (!has_ended) {
        const char *after = NULL;
        bool is_last = false;
        int fd;

        IW_TRY(take_name(walk, &after, &is_last));
        fd = openat(walk->place->folder, walk->place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT && !is_last && may_make(walk, after)) {
            IW_TRY(make_name(walk));
            continue;
        }
        if (fd < 0 && (errno != ENOENT || !is_last)) {
            return fail(walk, errno);
        }
        has_ended = fd < 0;
        if (fd >= 0) {
            IW_TRY(go_behind(walk, fd, after, is_last, &has_ended));
        }
    }
    return IW_OK;
}

/* ---- what is there ---- */

static iw_status check_there(struct walk *walk)
{
    const struct iwi_output_place *place = walk->place;

    if (iwi_output_is_planted(&place->in, &place->there)) {
        return refuse_planted(walk, &place->there);
    }
    return faccessat(place->folder, place->name, W_OK, AT_EACCESS) == 0 ? IW_OK : fail(walk, errno);
}

static bool fill_rest(struct walk *walk)
{
    const int length =
        snprintf(walk->rest, sizeof walk->rest, "%s%s", walk->path, walk->is_for_folder ? "/." : "");

    return length >= 0 && (size_t)length < sizeof walk->rest;
}

iw_status iwi_output_place_find(const iw_log *log, const char *path, struct iwi_output_place *place,
                                int *error_p)
{
    struct walk walk = {.log = log, .path = path, .cannot = "cannot write", .place = place};
    iw_status status;

    *place = (struct iwi_output_place){.folder = -1};
    status = fill_rest(&walk) ? go(&walk) : fail(&walk, ENAMETOOLONG);
    if (status == IW_OK && place->is_there && !place->is_open_file) {
        status = check_there(&walk);
    }
    if (status != IW_OK) {
        *error_p = walk.error;
        iwi_output_place_release(place);
    }
    return status;
}

iw_status iwi_folder_open(const iw_log *log, const char *path, enum iwi_folder_use use, int *folder_p)
{
    struct iwi_output_place place = {.folder = -1};
    struct walk walk = {.log = log,
                        .path = path,
                        .cannot = "cannot use the folder",
                        .use = use,
                        .is_for_folder = true,
                        .place = &place};
    iw_status status;

    if (path[0] == '\0') {
        return fail(&walk, ENOENT);
    }
    status = fill_rest(&walk) ? go(&walk) : fail(&walk, ENAMETOOLONG);
    if (status == IW_OK && use != IWI_FOLDER_THERE &&
        faccessat(place.folder, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        status = fail(&walk, errno);
    }
    if (status != IW_OK) {
        iwi_output_place_release(&place);
        errno = walk.error;
        return status;
    }
    *folder_p = place.folder;
    return IW_OK;
}

void iwi_output_place_release(struct iwi_output_place *place)
{
    if (place->folder >= 0) {
        (void)close(place->folder);
    }
    place->folder = -1;
}
