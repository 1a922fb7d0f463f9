/* Options as rows of tables: parsing, range checks, help, man pages and completion all come from them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     struct mine {
 *         struct opt_origins origins;
 *         uint64_t ranks;
 *     };
 *     static const struct opt rows[] = {
 *         OPT_ROW(struct mine, "ranks", OPT_COUNT, ranks, "N", "number of ranks", .min = 1, .max = 1000),
 *     };
 *     static const struct opt_group groups[] = {OPT_GROUP("What runs", rows, 0)};
 *     ...  if (opt_typed(values, ranks)) ...
 *
 * An option that was not given leaves its target alone, so the defaults are what the values began with.
 */
#ifndef IW_CLI_OPT_H
#define IW_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/ui.h"

enum opt_type {               /* the target's type, what people write */
                OPT_FLAG,     /* bool; --explain */
                OPT_TIME,     /* iw_time; 220us */
                OPT_COUNT,    /* uint64_t or uint32_t within [min, max]; 64KiB */
                OPT_PER_BYTE, /* iw_fs_per_byte; 1.25ns */
                OPT_FACTOR,   /* double above 0, or 0 too; 10 */
                OPT_CHOICE,   /* int or an enum, the index in `choices` */
                OPT_STRING,   /* const char * */
                OPT_LIST      /* struct opt_list; may be repeated */
};

struct opt_list {
    const char **items;
    size_t count;
};

/* Where a value comes from; later ones win. */
enum opt_origin {
    OPT_BUILT_IN,
    OPT_FROM_SITE, /* configuration files: config.h */
    OPT_FROM_USER,
    OPT_FROM_FILE,
    OPT_TYPED /* on the command line */
};

/* The first member of each struct with targets: the origin of the target that begins so many bytes behind it.
 * It is copied with them. */
enum { OPT_SPAN = 320 };
struct opt_origins {
    unsigned char of[OPT_SPAN];
};

#define OPT_ORIGIN(values, field) \
    ((values)->origins.of[offsetof(__typeof__(*(values)), field) - sizeof(struct opt_origins)])

/* Whether an option has a value that is not built in, and whether that was typed. What was typed and makes no
 * sense is an error; what a configuration file says is left alone then. */
#define opt_given(values, field) (OPT_ORIGIN(values, field) != OPT_BUILT_IN)
#define opt_typed(values, field) (OPT_ORIGIN(values, field) == OPT_TYPED)

/* What a name of a collection may stand for in a value (collected.h). */
enum opt_collected { OPT_NOT_COLLECTED, OPT_COLLECTED_NET, OPT_COLLECTED_NOISE };

enum { OPT_LISTS = 3, OPT_TEXT_SIZE = 2048 };

struct opt {
    const char *name; /* without "--" */
    enum opt_type type;
    size_t offset, size; /* of the target, in the group's struct */
    const char *metavar, *help;
    char letter;                        /* '\0': no short form */
    uint64_t min, max;                  /* OPT_COUNT; max 0: what the target holds */
    const char *const *choices;         /* OPT_CHOICE; NULL after the last */
    const char *(*known)(size_t index); /* values that completion offers besides files, up to a ':'; NULL past
                                           the last */
    const char *(*lists[OPT_LISTS])(size_t index); /* what each "{}" of the help text stands for */
    bool may_be_zero;                              /* OPT_FACTOR */
    bool is_setting;              /* configuration files may set it; neither flags nor lists */
    enum opt_collected collected; /* names of collections stand for files */
    const char *unless;           /* options between blanks that, typed, keep such a value out */
};

/* Does not compile if the struct does not begin with its origins, or they do not reach the field. */
#define OPT_OFFSET(values, field)                                                            \
    (offsetof(values, field) +                                                               \
     0 * sizeof(char[offsetof(values, origins) == 0 &&                                       \
                             offsetof(values, field) < sizeof(struct opt_origins) + OPT_SPAN \
                         ? 1                                                                 \
                         : -1]))

/* One row; behind the help text may follow .letter, .min, .max, .choices, .known, .lists, .may_be_zero,
 * .is_setting, .collected, .unless. */
#define OPT_ROW(values, option, kind, field, meta, ...)                            \
    {                                                                              \
        .name = option, .type = kind, .offset = OPT_OFFSET(values, field),         \
        .size = sizeof(((values *)0)->field), .metavar = meta, .help = __VA_ARGS__ \
    }

/* Rows that belong together in help texts, as do neighbours of one title; verbs that share rows place them at
 * different offsets. */
struct opt_group {
    const char *title;
    const struct opt *rows;
    size_t count;
    size_t offset;    /* of the group's struct in the verb's values */
    bool is_question; /* configuration files leave it alone: its options make no sense without another one */
};

#define OPT_GROUP(title, rows, offset)                             \
    {                                                              \
        title, rows, sizeof(rows) / sizeof(rows)[0], offset, false \
    }

struct opt_args { /* what is not an option, in order */
    size_t count;
    const char **values;
};

enum opt_outcome { OPT_PARSED, OPT_HELP, OPT_HELP_ALL, OPT_WRONG /* has been reported */ };

/* OPT_PARSED: the argument does not ask for help. */
enum opt_outcome opt_help(const char *argument);

/* Reads argv[0..argc) into `values`; with `is_command`, options end at the first argument that is none.
 * Lists and `args` are to be released, whatever the outcome. */
enum opt_outcome opt_parse(struct ui *ui, const struct opt_group *groups, size_t group_count, int argc,
                           char **argv, bool is_command, void *values, struct opt_args *args);
void opt_release(const struct opt_group *groups, size_t group_count, void *values, struct opt_args *args);

/* Reads `text` into the target of a row; `base` is the struct of its targets. false: has been reported. */
bool opt_set(struct ui *ui, const struct opt *opt, void *base, const char *text, enum opt_origin origin);

/* Whether a configuration file has to leave that target alone: it, or an option in its `unless`, was typed.
 */
bool opt_is_kept(const struct opt_group *groups, size_t group_count, const struct opt *opt, const void *base,
                 const void *values);

/* "--pattern OP[:ALGORITHM]", "--sync none|start|phase", "-o, --output FILE": how help writes a row. */
void opt_usage(const struct opt *opt, char *buf, size_t size);

/* The text with "{}" replaced by the lists: in `buf`, or `text` itself. */
const char *opt_text(const char *text, const char *(*const lists[OPT_LISTS])(size_t index),
                     char buf[OPT_TEXT_SIZE]);

/* The value as one writes it; "" for what is nothing or zero, which verbs choose. */
void opt_value_text(const struct opt *opt, const void *base, char *buf, size_t size);

/* The first of the rows that was typed and is none of `except` (names between blanks), or NULL. `values` is
 * the struct of the rows. */
const char *opt_first_typed(const struct opt *rows, size_t count, const void *values, const char *except);

/* Whether `name` is one of the words of `list`, between blanks. */
bool opt_is_listed(const char *name, const char *list);

/* The index of `text` in NULL-ended `names`, or -1. */
int opt_index(const char *const *names, const char *text);

#endif
