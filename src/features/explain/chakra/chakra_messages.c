/* Whom sends and receives go to where their own nodes do not tell it, as MLCommons' converter writes them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel's parent (ctrl_deps) is a node of the host: "record_param_comms", whose arguments PyTorch lists
 * as [tensors, number, group, partner, 'send', ...], or "nccl:send 0->1". Partners are ranks of the process
 * group.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/chakra/chakra.h"

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

void iwi_chakra_name_partners(struct iwi_chakra *all)
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

void iwi_chakra_drop_uneven(struct iwi_chakra *all)
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
