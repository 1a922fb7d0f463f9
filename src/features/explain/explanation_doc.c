/* Why a run was slow: one document of all parts, verdicts first.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/explanation.h>

#include <string.h>

#include "core/base/base.h"
#include "features/explain/part_schemas.h"
#include "features/tables.h"

static const struct iwi_field fields[] = {
    IWI_VALUE(iw_explanation, name, .about = "of the run"),
    IWI_POINTER(iw_explanation, waits, iwi_waits_schema, .about = "who made the others wait; null: unknown"),
    IWI_POINTER(iw_explanation, system, iwi_blame_schema,
                .about = "what delayed the run besides the program"),
    IWI_POINTER(iw_explanation, stragglers, iwi_stragglers_schema, .about = "what unequal workers cost"),
};
static const struct iwi_schema explanation_schema = IWI_SCHEMA(iw_explanation, fields);

/* ---- parts ---- */

enum { PARTS = 3 };

struct part {
    const struct iwi_kind *kind;
    const void *subject; /* or NULL */
    const char *id, *title;
};

static void list_parts(const iw_explanation *explanation, struct part parts[PARTS])
{
    parts[0] = (struct part){&iwi_waits_kind, explanation->waits, "waits", "Waits"};
    parts[1] = (struct part){&iwi_explain_kind, explanation->system, "system", "What the system took"};
    parts[2] = (struct part){&iwi_stragglers_kind, explanation->stragglers, "stragglers", "Stragglers"};
}

/* NULL: there are several. */
static const struct part *only_part(const struct part parts[PARTS])
{
    const struct part *only = NULL;

    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].subject != NULL && only != NULL) {
            return NULL;
        }
        only = parts[i].subject != NULL ? &parts[i] : only;
    }
    return only;
}

/* ---- joining documents ---- */

struct chain {
    struct iwi_block *first, *last;
};

static void append(struct chain *chain, struct iwi_block *block)
{
    if (chain->last != NULL) {
        chain->last->next = block;
    } else {
        chain->first = block;
    }
    chain->last = block;
    block->next = NULL;
}

static void append_all(struct iwi_document *doc, const struct chain *chain)
{
    if (chain->first == NULL) {
        return;
    }
    if (doc->last != NULL) {
        doc->last->next = chain->first;
    } else {
        doc->blocks = chain->first;
    }
    doc->last = chain->last;
}

/* Where the blocks of parts go: verdicts, then the rest of each part, then how sure all of them are. */
struct joined {
    struct chain verdicts, rest[PARTS], certainty;
};

static void sort_blocks(struct iwi_block *blocks, size_t part, struct joined *joined)
{
    bool is_certainty = false;

    for (struct iwi_block *block = blocks, *next; block != NULL; block = next) {
        next = block->next;
        if (block->kind == IWI_BLOCK_SECTION) {
            is_certainty = strcmp(block->id, "certainty") == 0;
        }
        if (block->kind == IWI_BLOCK_VERDICT) {
            append(&joined->verdicts, block);
        } else if (!is_certainty && block->kind != IWI_BLOCK_TITLE && block->kind != IWI_BLOCK_SUBTITLE) {
            append(&joined->rest[part], block);
        } else if (is_certainty && (block->kind != IWI_BLOCK_SECTION || joined->certainty.first == NULL)) {
            append(&joined->certainty, block);
        }
    }
}

/* What the document gets from a part. */
static struct iwi_block *take_part(struct iwi_document *doc, const struct part *part)
{
    struct iwi_block *const before = doc->last;
    struct iwi_block *taken;

    part->kind->write_doc(doc, part->subject);
    taken = before != NULL ? before->next : doc->blocks;
    if (before != NULL) {
        before->next = NULL;
    } else {
        doc->blocks = NULL;
    }
    doc->last = before;
    return taken;
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_explanation *explanation = subject;
    struct joined joined = {.verdicts = {NULL, NULL}};
    struct part parts[PARTS];
    const struct part *only;

    list_parts(explanation, parts);
    only = only_part(parts);
    if (only != NULL) {
        only->kind->write_doc(doc, only->subject);
        return;
    }
    iwi_title(doc, "Why '%s' was slow", explanation->name);
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].subject != NULL) {
            sort_blocks(take_part(doc, &parts[i]), i, &joined);
        }
    }
    append_all(doc, &joined.verdicts);
    for (size_t i = 0; i < PARTS; i++) {
        if (joined.rest[i].first != NULL) {
            iwi_section(doc, parts[i].id, parts[i].title);
            append_all(doc, &joined.rest[i]);
        }
    }
    append_all(doc, &joined.certainty);
}

/* ---- the kind ---- */

static bool has_csv(const void *subject)
{
    struct part parts[PARTS];

    list_parts(subject, parts);
    return only_part(parts) != NULL;
}

static iw_status write_csv(const iw_log *log, const void *subject, FILE *out)
{
    struct part parts[PARTS];
    const struct part *only;

    list_parts(subject, parts);
    only = only_part(parts);
    return iw_doc_write(log, (iw_doc){only->kind, only->subject}, IW_DOC_CSV, NULL, out);
}

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    struct part parts[PARTS];
    bool is_any = false;

    list_parts(subject, parts);
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].subject != NULL && parts[i].kind->check != NULL) {
            IW_TRY(parts[i].kind->check(log, name, parts[i].subject));
        }
        is_any |= parts[i].subject != NULL;
    }
    return is_any ? IW_OK : iwi_fail(log, IW_ERR_FORMAT, "'%s' has no part to show", name);
}

const struct iwi_kind iwi_explanation_kind = {
    .name = "explanation",
    .schema_id = "idlewave.explanation/1",
    .about = "Why a run was slow: each part that its files can answer, from `idlewave explain FILE --format "
             "json`. CSV has the lines of one part; `--only` selects it where there are several",
    .schema = &explanation_schema,
    .write_doc = write_doc,
    .check = check,
    .has_csv = has_csv,
    .write_csv = write_csv,
};

IWI_DOC(iw_explanation_doc, iw_explanation, explanation, iwi_explanation_kind)
