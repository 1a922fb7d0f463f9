/* Collects names of functions, orders them by address, and finds them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"

iw_status iwi_symbols_add(const iw_log *log, struct iwi_symbols *symbols, uint64_t address, uint64_t bytes,
                          const char *name)
{
    struct iwi_symbol symbol = {address, bytes, 0};

    IW_TRY(iwi_grow(log, (void **)&symbols->array, &symbols->capacity, symbols->count + 1,
                    sizeof *symbols->array));
    IW_TRY(iwi_names_add(log, &symbols->names, name, strlen(name), &symbol.name));
    symbols->array[symbols->count++] = symbol;
    return IW_OK;
}

/* Names of one function, the best first: as people write it, not as a library calls it inside. Where they lie
 * in `names` tells them apart at last, so that the order is always the same. */
struct named {
    struct iwi_symbol symbol;
    const char *name;
};

IWI_COMPARE(by_address, struct named, IWI_RISING(symbol.address),
            IWI_ORDER(strspn(left->name, "_"), strspn(right->name, "_")), IWI_RISING(symbol.name))

iw_status iwi_symbols_sort(const iw_log *log, struct iwi_symbols *symbols)
{
    struct named *named = iwi_new_array(log, symbols->count, sizeof *named);
    size_t used = 0;

    if (named == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < symbols->count; i++) {
        named[i] = (struct named){symbols->array[i], symbols->names.text + symbols->array[i].name};
    }
    iwi_sort(named, symbols->count, by_address);
    for (size_t i = 0; i < symbols->count; i++) {
        struct iwi_symbol *last = &symbols->array[used > 0 ? used - 1 : 0];

        if (used == 0 || last->address != named[i].symbol.address) {
            symbols->array[used++] = named[i].symbol;
        } else if (last->bytes < named[i].symbol.bytes) {
            last->bytes = named[i].symbol.bytes;
        }
    }
    symbols->count = used;
    free(named);
    return IW_OK;
}

const char *iwi_symbols_find(const struct iwi_symbols *symbols, uint64_t address)
{
    size_t at; /* array[first - 1] <= address < array[end] */
    const struct iwi_symbol *symbol;

    IWI_FIRST_NOT(at, 0, symbols->count, symbols->array[at].address <= address);
    if (at == 0) {
        return NULL;
    }
    symbol = &symbols->array[at - 1];
    return symbol->bytes == 0 || address - symbol->address < symbol->bytes
               ? symbols->names.text + symbol->name
               : NULL;
}

void iwi_symbols_release(struct iwi_symbols *symbols)
{
    free(symbols->array);
    iwi_names_release(&symbols->names);
    *symbols = (struct iwi_symbols){.count = 0};
}
