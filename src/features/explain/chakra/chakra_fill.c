/* Visits from execution traces: groups of all ranks, messages in pairs, what is lacking.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/chakra/chakra.h"

/* ---- process groups: by name, and as PyTorch lists them ---- */

iw_status iwi_chakra_find_group(struct iwi_chakra *all, const char *name, uint32_t *group_p)
{
    struct iwi_chakra_group group = {.file = (uint32_t)all->file_count};

    (void)snprintf(group.name, sizeof group.name, "%s", name);
    for (size_t i = all->first_group; i < all->group_count; i++) {
        if (strcmp(all->groups[i].name, group.name) == 0) {
            *group_p = (uint32_t)i;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(all->log, (void **)&all->groups, &all->group_capacity, all->group_count + 1,
                    sizeof all->groups[0]));
    *group_p = (uint32_t)all->group_count;
    all->groups[all->group_count++] = group;
    return IW_OK;
}

/* Behind "key": in text[0 .. end - 1], blanks skipped; NULL: it is not there. Quotes may be escaped. */
static const char *value_of(const char *text, const char *end, const char *key)
{
    const size_t size = strlen(key);
    const char *at = memmem(text, (size_t)(end - text), key, size);

    if (at == NULL) {
        return NULL;
    }
    for (at += size; at < end && (*at == '\\' || *at == '"' || *at == ' ' || *at == ':');) {
        at++;
    }
    return at < end ? at : NULL;
}

/* Decimal digits at *at_p; false: none, or too many. */
static bool number_at(const char **at_p, const char *end, uint32_t *number_p)
{
    uint64_t number = 0;
    const char *at = *at_p;

    while (at < end && *at >= '0' && *at <= '9' && number <= UINT32_MAX) {
        number = number * 10 + (uint64_t)(*at++ - '0');
    }
    *number_p = (uint32_t)number;
    return at > *at_p && number <= UINT32_MAX ? (*at_p = at, true) : false;
}

/* "[0, 1, 5]" at `at`, added to the group. */
static iw_status read_ranks(struct iwi_chakra *all, const char *at, const char *end,
                            struct iwi_chakra_group *group)
{
    size_t capacity = 0;
    uint32_t rank;

    free(group->ranks);
    group->ranks = NULL;
    group->rank_count = 0;
    for (at += *at == '['; at < end && number_at(&at, end, &rank);) {
        IW_TRY(iwi_grow(all->log, (void **)&group->ranks, &capacity, (size_t)group->rank_count + 1,
                        sizeof group->ranks[0]));
        group->ranks[group->rank_count++] = rank;
        while (at < end && (*at == ',' || *at == ' ')) {
            at++;
        }
    }
    return IW_OK;
}

/* One object of the list, from its name on. */
static iw_status read_group(struct iwi_chakra *all, const char *name, const char *end)
{
    const char *ranks = value_of(name, end, "\"ranks"), *size = value_of(name, end, "\"group_size");
    const size_t length = strcspn(name, "\\\"'");
    char text[sizeof all->groups[0].name];
    uint32_t index;

    (void)snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), name);
    IW_TRY(iwi_chakra_find_group(all, text, &index));
    if (ranks != NULL) {
        IW_TRY(read_ranks(all, ranks, end, &all->groups[index]));
        all->groups[index].size = all->groups[index].rank_count;
    }
    if (size != NULL && all->groups[index].rank_count == 0 &&
        !number_at(&size, end, &all->groups[index].size)) {
        all->groups[index].size = 0;
    }
    return IW_OK;
}

iw_status iwi_chakra_read_groups(struct iwi_chakra *all, const char *text)
{
    static const char key[] = "\"pg_name";
    const char *end = text + strlen(text);

    for (const char *at = strstr(text, key), *next; at != NULL; at = next) {
        const char *name;

        next = strstr(at + 1, key);
        name = value_of(at, next != NULL ? next : end, key);
        if (name != NULL) {
            IW_TRY(read_group(all, name, next != NULL ? next : end));
        }
    }
    return IW_OK;
}

/* ---- whom sends and receives go to, where their own nodes do not tell it ---- */

/* The kernel's parent (ctrl_deps) is a node of the host: "record_param_comms", whose arguments PyTorch lists
 * as [tensors, number, group, partner, 'send', ...], or "nccl:send 0->1". Partners are ranks of the process
 * group.
 */

/* ---- what nodes of the host say ---- */

/* Up to nine digits at *at_p, which then stands behind them; false: there are none. */
static bool take_rank(const char **at_p, uint32_t *rank_p)
{
    const char *at = *at_p;

    *rank_p = 0;
    while (isdigit((unsigned char)*at) && at - *at_p < 9) {
        *rank_p = 10 * *rank_p + (uint32_t)(*at++ - '0');
    }
    return at > *at_p ? (*at_p = at, true) : false;
}

/* The argument before the first 'send' or 'recv', which may have quotes of either kind. */
static bool partner_in_values(const char *values, uint32_t *partner_p)
{
    const char *send = strstr(values, "send"), *receive = strstr(values, "recv");
    const char *word = send == NULL || (receive != NULL && receive < send) ? receive : send;
    const char *begin;

    if (word == NULL) {
        return false;
    }
    while (word > values && strchr("'\"\\, ", word[-1]) != NULL) {
        word--;
    }
    for (begin = word; begin > values && isdigit((unsigned char)begin[-1]) && word - begin < 9;) {
        begin--;
    }
    return begin < word && begin > values && strchr(" ,", begin[-1]) != NULL && take_rank(&begin, partner_p);
}

/* "nccl:send 0->1", "nccl:recv 1<-0". */
static bool partner_in_name(const char *name, uint32_t *partner_p)
{
    static const char sends[] = "nccl:send ", receives[] = "nccl:recv ";
    const bool is_send = strncmp(name, sends, sizeof sends - 1) == 0;
    const char *at = name + sizeof sends - 1;
    uint32_t self;

    if ((!is_send && strncmp(name, receives, sizeof receives - 1) != 0) || !take_rank(&at, &self) ||
        strncmp(at, is_send ? "->" : "<-", 2) != 0) {
        return false;
    }
    at += 2;
    return take_rank(&at, partner_p);
}

iw_status iwi_chakra_keep_record(struct iwi_chakra *all, uint64_t id, const char *name, const char *values)
{
    struct iwi_chakra_record record = {.id = id};

    if (!(values != NULL && strcmp(name, "record_param_comms") == 0 &&
          partner_in_values(values, &record.partner)) &&
        !partner_in_name(name, &record.partner)) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(all->log, (void **)&all->records, &all->record_capacity, all->record_count + 1,
                    sizeof record));
    all->records[all->record_count++] = record;
    return IW_OK;
}

/* ---- partners ---- */

IWI_COMPARE(compare_records, struct iwi_chakra_record, IWI_RISING(id))

/* The number of a rank of a group. Groups that are listed without ranks are those of all; of others nothing
 * is known. */
static uint32_t number_in(const struct iwi_chakra_group *group, uint32_t rank)
{
    if (group->rank_count > 0) {
        return rank < group->rank_count ? group->ranks[rank] : IWI_CHAKRA_NO_RANK;
    }
    return group->size > 0 || group->name[0] == '\0' ? rank : IWI_CHAKRA_NO_RANK;
}

void iwi_chakra_link_records(struct iwi_chakra *all)
{
    iwi_sort(all->records, all->record_count, compare_records);
    for (size_t i = all->first_comm; i < all->comm_count && all->record_count > 0; i++) {
        struct iwi_chakra_comm *comm = &all->comms[i];
        const struct iwi_chakra_record key = {.id = comm->parent};
        const struct iwi_chakra_record *record =
            comm->is_inferred ? iwi_find(&key, all->records, all->record_count, compare_records) : NULL;

        if (record != NULL) {
            comm->partner = number_in(&all->groups[comm->group], record->partner);
        }
    }
}

/* Of two ranks it is the other one. */
static uint32_t other_of_two(const struct iwi_chakra_group *group, uint32_t self)
{
    if (group->rank_count != 2 || (group->ranks[0] != self && group->ranks[1] != self)) {
        return IWI_CHAKRA_NO_RANK;
    }
    return group->ranks[0] == self ? group->ranks[1] : group->ranks[0];
}

/* Senders and receivers, when ranks have numbers; what has none is left out and counted. */
static void chakra_name_partners(struct iwi_chakra *all)
{
    size_t kept = 0;

    for (size_t i = 0; i < all->comm_count; i++) {
        struct iwi_chakra_comm comm = all->comms[i];
        const uint32_t self = all->files[comm.file].number;

        if (comm.is_inferred) {
            comm.partner = comm.partner != IWI_CHAKRA_NO_RANK ? comm.partner
                                                              : other_of_two(&all->groups[comm.group], self);
            if (comm.partner == IWI_CHAKRA_NO_RANK || comm.partner == self) {
                all->without_peer++;
                continue;
            }
            comm.sender = comm.is_receiver ? comm.partner : self;
            comm.receiver = comm.is_receiver ? self : comm.partner;
        }
        all->comms[kept++] = comm;
    }
    all->comm_count = kept;
}

/* ---- pairs of ranks ---- */

static bool is_traced(const struct iwi_chakra *all, uint32_t number)
{
    for (size_t i = 0; i < all->file_count; i++) {
        if (all->files[i].number == number) {
            return true;
        }
    }
    return false;
}

/* Leaves out inferred messages of pairs that have more sends than receives, or fewer; sorted by pair and
 * side. */
static void chakra_drop_uneven(struct iwi_chakra *all)
{
    size_t kept = 0;

    for (size_t first = 0, end = 0; first < all->comm_count; first = end) {
        const struct iwi_chakra_comm pair = all->comms[first];
        size_t received = 0;
        bool is_dropped;

        for (end = first; end < all->comm_count && all->comms[end].is_inferred == pair.is_inferred &&
                          all->comms[end].sender == pair.sender && all->comms[end].receiver == pair.receiver;
             end++) {
            received += all->comms[end].is_receiver;
        }
        end = end > first ? end : first + 1;
        is_dropped = pair.is_inferred && 2 * received != end - first && is_traced(all, pair.sender) &&
                     is_traced(all, pair.receiver);
        all->uneven += is_dropped ? end - first : 0;
        for (size_t i = first; i < end && !is_dropped; i++) {
            all->comms[kept++] = all->comms[i];
        }
    }
    all->comm_count = kept;
}

/* ---- ranks ---- */

IWI_COMPARE(compare_files, struct iwi_chakra_file *const, IWI_ORDER((*left)->number, (*right)->number))

/* Numbers of files that are there and differ; else in their order. */
static bool number_files(struct iwi_chakra *all, struct iwi_chakra_file **files)
{
    bool is_told = true;

    for (size_t i = 0; i < all->file_count; i++) {
        files[i] = &all->files[i];
        is_told &= files[i]->has_number;
    }
    iwi_sort(files, all->file_count, compare_files);
    for (size_t i = 1; i < all->file_count; i++) {
        is_told &= files[i]->number != files[i - 1]->number;
    }
    for (size_t i = 0; !is_told && i < all->file_count; i++) {
        files[i] = &all->files[i];
        files[i]->number = (uint32_t)i;
    }
    return is_told;
}

static iw_status add_ranks(struct iwi_chakra *all, struct iwi_visits *visits)
{
    struct iwi_chakra_file **files = iwi_new_array(all->log, all->file_count, sizeof(void *));
    iw_status status = files != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK && !number_files(all, files)) {
        iwi_visits_note(
            visits,
            "Ranks are numbered as the files were given, because the names of the files have no numbers.");
    }
    for (size_t i = 0; status == IW_OK && i < all->file_count; i++) {
        status = iwi_visits_rank(visits, files[i]->number, NULL, &files[i]->index);
    }
    free(files);
    return status;
}

/* ---- groups ---- */

/* Whether two ranks mean the same group: by name, and by members where both tell them. */
static bool is_same_group(const struct iwi_chakra_group *a, const struct iwi_chakra_group *b)
{
    return strcmp(a->name, b->name) == 0 && a->rank_count == b->rank_count &&
           (a->rank_count == 0 || memcmp(a->ranks, b->ranks, a->rank_count * sizeof a->ranks[0]) == 0);
}

static int compare_groups(const void *a, const void *b)
{
    const struct iwi_chakra_group *left = *(struct iwi_chakra_group *const *)a,
                                  *right = *(struct iwi_chakra_group *const *)b;
    int sign = strcmp(left->name, right->name);

    sign = sign != 0 ? sign : iwi_order(left->rank_count, right->rank_count);
    sign = sign != 0 || left->rank_count == 0
               ? sign
               : memcmp(left->ranks, right->ranks, left->rank_count * sizeof left->ranks[0]);
    return sign != 0 ? sign : iwi_order(left->file, right->file);
}

/* groups[first ... end - 1] are one. Ranks that have visits of it are its traced members. */
static iw_status add_group(const struct iwi_chakra *all, struct iwi_visits *visits,
                           struct iwi_chakra_group **groups, size_t count, uint32_t *members)
{
    uint32_t traced = 0, size = 0, index;
    char name[IWI_VISIT_NAME_SIZE];

    for (size_t i = 0; i < count; i++) {
        size = (uint32_t)iwi_max(size, groups[i]->size);
        if (groups[i]->visits > 0) {
            members[traced++] = all->files[groups[i]->file].index;
        }
    }
    if (traced == 0) {
        return IW_OK;
    }
    (void)snprintf(name, sizeof name, "%s", groups[0]->name[0] != '\0' ? groups[0]->name : "all");
    IW_TRY(iwi_visits_group(visits, name, members, traced, (uint32_t)iwi_max(size, traced), &index));
    for (size_t i = 0; i < count; i++) {
        groups[i]->group = index;
        groups[i]->size = visits->groups[index].size;
    }
    return IW_OK;
}

static iw_status add_groups(struct iwi_chakra *all, struct iwi_visits *visits)
{
    struct iwi_chakra_group **groups = iwi_new_array(all->log, all->group_count, sizeof(void *));
    uint32_t *members = iwi_new_array(all->log, all->file_count, sizeof *members);
    iw_status status = groups != NULL && members != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; status == IW_OK && i < all->group_count; i++) {
        groups[i] = &all->groups[i];
    }
    if (status == IW_OK) {
        iwi_sort(groups, all->group_count, compare_groups);
    }
    for (size_t first = 0, end = 0; status == IW_OK && first < all->group_count; first = end) {
        while (end < all->group_count && is_same_group(groups[first], groups[end])) {
            end++;
        }
        status = add_group(all, visits, groups + first, end - first, members);
    }
    free(groups);
    free(members);
    return status;
}

/* ---- visits ---- */

static bool is_message(const struct iwi_chakra_comm *comm)
{
    return comm->op == IWI_VISIT_MESSAGE;
}

/* Messages by sender, receiver, side, tag, and as they were; collectives as they were, before them. */
static int compare_comms(const void *a, const void *b)
{
    const struct iwi_chakra_comm *left = a, *right = b;
    int sign = iwi_order(is_message(left), is_message(right));

    if (sign == 0 && is_message(left)) {
        sign = iwi_order(left->sender, right->sender);
        sign = sign != 0 ? sign : iwi_order(left->receiver, right->receiver);
        sign = sign != 0 ? sign : iwi_order(left->is_receiver, right->is_receiver);
        sign = sign != 0 ? sign : iwi_order(left->sequence, right->sequence);
    }
    return sign != 0 ? sign : iwi_order(left->number, right->number);
}

static const struct iwi_chakra_file *file_of(const struct iwi_chakra *all, uint32_t number)
{
    for (size_t i = 0; i < all->file_count; i++) {
        if (all->files[i].number == number) {
            return &all->files[i];
        }
    }
    return NULL;
}

static iw_status message_group(const struct iwi_chakra *all, struct iwi_visits *visits,
                               const struct iwi_chakra_comm *comm, uint32_t *group_p, uint32_t *root_p)
{
    const struct iwi_chakra_file *sender = file_of(all, comm->sender),
                                 *receiver = file_of(all, comm->receiver);
    uint32_t members[2], count = 0;
    char name[IWI_VISIT_NAME_SIZE];

    if (sender != NULL) {
        members[count++] = sender->index;
    }
    if (receiver != NULL) {
        members[count++] = receiver->index;
    }
    *root_p = sender != NULL ? sender->index : UINT32_MAX;
    (void)snprintf(name, sizeof name, "%" PRIu32 " to %" PRIu32, comm->sender, comm->receiver);
    return iwi_visits_group(visits, name, members, count, 2, group_p);
}

/* The tag, and the number among those of the same tag. */
static void number_messages(struct iwi_chakra *all)
{
    uint64_t tag = 0, number = 0;

    iwi_sort(all->comms, all->comm_count, compare_comms);
    chakra_drop_uneven(all);
    for (size_t i = 0; i < all->comm_count; i++) {
        struct iwi_chakra_comm *comm = &all->comms[i];
        const struct iwi_chakra_comm *before = i > 0 ? comm - 1 : comm;

        if (!is_message(comm)) {
            continue;
        }
        number = i > 0 && is_message(before) && before->sender == comm->sender &&
                         before->receiver == comm->receiver && before->is_receiver == comm->is_receiver &&
                         tag == comm->sequence
                     ? number + 1
                     : 0;
        tag = comm->sequence;
        comm->sequence = (tag << 32) + number;
    }
}

/* What ranks put into a gather are parts of the whole. */
static uint64_t whole_bytes(const struct iwi_chakra *all, const struct iwi_chakra_comm *comm)
{
    const uint64_t size = is_message(comm) ? 1 : all->groups[comm->group].size;

    return comm->op != IWI_VISIT_ALLGATHER    ? comm->bytes
           : comm->bytes <= UINT64_MAX / size ? comm->bytes * size
                                              : UINT64_MAX;
}

/* Without times `enter` is the index of the comm at first, and `leave` the duration: see
 * iwi_chakra_make_times(). */
static iw_status add_visit(const struct iwi_chakra *all, struct iwi_visits *visits,
                           const struct iwi_chakra_comm *comm, uint32_t group, uint32_t root, int64_t zero_us)
{
    const int64_t enter_us = all->has_times ? comm->start_us - zero_us : 0;

    return iwi_visits_add(visits,
                          &(struct iwi_visit){.rank = all->files[comm->file].index,
                                              .group = group,
                                              .op = comm->op,
                                              .stream = comm->stream,
                                              .step = IWI_VISIT_NO_STEP,
                                              .sequence = comm->sequence,
                                              .bytes = whole_bytes(all, comm),
                                              .enter_ps = all->has_times ? enter_us * IW_PS_PER_US
                                                                         : (iw_time)(comm - all->comms),
                                              .leave_ps = (enter_us + comm->took_us) * IW_PS_PER_US,
                                              .has_root = is_message(comm) && root != UINT32_MAX,
                                              .root = is_message(comm) && root != UINT32_MAX ? root : 0});
}

static iw_status add_visits(struct iwi_chakra *all, struct iwi_visits *visits, int64_t zero_us)
{
    uint32_t group = 0, root = UINT32_MAX;

    number_messages(all);
    for (size_t i = 0; i < all->comm_count; i++) {
        const struct iwi_chakra_comm *comm = &all->comms[i], *before = i > 0 ? comm - 1 : NULL;

        if (!is_message(comm)) {
            group = all->groups[comm->group].group;
        } else if (before == NULL || !is_message(before) || before->sender != comm->sender ||
                   before->receiver != comm->receiver) {
            IW_TRY(message_group(all, visits, comm, &group, &root));
        }
        IW_TRY(add_visit(all, visits, comm, group, root, zero_us));
    }
    return IW_OK;
}

static iw_status add_stretches(const struct iwi_chakra *all, struct iwi_visits *visits, int64_t zero_us)
{
    for (size_t i = 0; i < all->kernel_count; i++) {
        const struct iwi_chakra_kernel *kernel = &all->kernels[i];

        IW_TRY(iwi_visits_add_stretch(
            visits, &(struct iwi_stretch){.rank = all->files[kernel->file].index,
                                          .step = IWI_VISIT_NO_STEP,
                                          .stream = kernel->stream,
                                          .begin_ps = (kernel->begin_us - zero_us) * IW_PS_PER_US,
                                          .end_ps = (kernel->end_us - zero_us) * IW_PS_PER_US}));
    }
    return IW_OK;
}

/* The first time of all. */
static iw_status first_time(const struct iwi_chakra *all, int64_t *first_us_p)
{
    int64_t first_us = INT64_MAX, last_us = 0;

    for (size_t i = 0; i < all->comm_count; i++) {
        first_us = iwi_min(first_us, all->comms[i].start_us);
        last_us = iwi_max(last_us, all->comms[i].start_us + all->comms[i].took_us);
    }
    for (size_t i = 0; i < all->kernel_count; i++) {
        first_us = iwi_min(first_us, all->kernels[i].begin_us);
        last_us = iwi_max(last_us, all->kernels[i].end_us);
    }
    *first_us_p = first_us;
    return last_us - first_us <= IW_TIME_INPUT_MAX / IW_PS_PER_US
               ? IW_OK
               : iwi_fail(all->log, IW_ERR_RANGE,
                          "times of nodes are more than 10 days apart: some are missing, or the files are of "
                          "several runs");
}

/* ---- all of it ---- */

static void note(const struct iwi_chakra *all, struct iwi_visits *visits)
{
    char text[200];

    iwi_visits_note(visits, "Execution traces do not record steps.");
    if (all->without_peer > 0) {
        (void)snprintf(text, sizeof text, "%" PRIu64 " sends and receives without a peer were left out.",
                       all->without_peer);
        iwi_visits_note(visits, text);
    }
    if (all->uneven > 0) {
        (void)snprintf(text, sizeof text,
                       "%" PRIu64 " sends and receives were left out, because their other halves are not in "
                       "the files (of a batch, one has a kernel).",
                       all->uneven);
        iwi_visits_note(visits, text);
    }
}

iw_status iwi_chakra_fill(struct iwi_chakra *all, struct iwi_visits *visits)
{
    int64_t zero_us;

    IW_TRY(add_ranks(all, visits));
    chakra_name_partners(all);
    if (all->comm_count == 0) {
        return iwi_fail(all->log, IW_ERR_FORMAT,
                        "%" PRIu64
                        " nodes, but no collective and no message of a device: no waits to explain",
                        all->nodes);
    }
    IW_TRY(add_groups(all, visits));
    IW_TRY(first_time(all, &zero_us));
    IW_TRY(add_visits(all, visits, zero_us));
    note(all, visits);
    if (!all->has_times) {
        IW_TRY(iwi_visits_finish(visits));
        IW_TRY(iwi_chakra_make_times(all, visits));
    }
    IW_TRY(add_stretches(all, visits, all->has_times ? zero_us : 0));
    return iwi_visits_finish(visits);
}
