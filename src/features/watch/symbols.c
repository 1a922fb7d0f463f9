/* Functions by their addresses.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/sysfile.h"

/* ---- names in one text ---- */

iw_status iwi_names_add(const iw_log *log, struct iwi_names *names, const char *name, size_t length,
                        size_t *at_p)
{
    IW_TRY(iwi_grow(log, (void **)&names->text, &names->capacity, names->size + length + 1, 1));
    memcpy(names->text + names->size, name, length);
    names->text[names->size + length] = '\0';
    *at_p = names->size;
    names->size += length + 1;
    return IW_OK;
}

void iwi_names_release(struct iwi_names *names)
{
    free(names->text);
    *names = (struct iwi_names){.size = 0};
}

/* ---- symbols by address ---- */

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

/* ---- symbols of the kernel ---- */

/* The function through which interrupts of the timer come: what lies outside of it was interrupted. */
static const char DOOR[] = "asm_sysvec_apic_timer_interrupt";

/* What all system calls come through is not worth telling. */
static const char SYSTEM_CALL[] = "do_syscall_64";
enum { MOST_TOLD = 8 };

/* "ffffffff81000000 T _text": functions only. */
static iw_status take_line(const iw_log *log, char *line, struct iwi_symbols *symbols)
{
    char *end;
    const uint64_t address = strtoull(line, &end, 16);

    if (address == 0 || end[0] != ' ' || end[1] == '\0' || strchr("tTwW", end[1]) == NULL || end[2] != ' ') {
        return IW_OK;
    }
    end += 3;
    end[strcspn(end, "\t\n ")] = '\0';
    return iwi_symbols_add(log, symbols, address, 0, end);
}

iw_status iwi_kernel_symbols_load(const iw_log *log, const char *root, struct iwi_symbols *symbols)
{
    FILE *file = iwi_sysfile_open(root, "/proc/kallsyms");
    iw_status status = IW_OK;
    char line[1024];

    *symbols = (struct iwi_symbols){.count = 0};
    while (file != NULL && status == IW_OK && fgets(line, sizeof line, file) != NULL) {
        status = take_line(log, line, symbols);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return status == IW_OK ? iwi_symbols_sort(log, symbols) : status;
}

void iwi_kernel_stack_text(const struct iwi_symbols *symbols, const uint64_t *addresses, size_t count,
                           char *text, size_t size)
{
    bool is_outside = false;
    size_t used = 0, told = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && addresses[i] != 0 && told <= MOST_TOLD && used < size; i++) {
        const char *name = iwi_symbols_find(symbols, addresses[i]);

        if (name == NULL || (is_outside && strcmp(name, SYSTEM_CALL) == 0)) {
            break;
        }
        if (is_outside) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", told > 0 ? " < " : "",
                                     told < MOST_TOLD ? name : "...");
            told++;
        }
        is_outside |= strcmp(name, DOOR) == 0;
    }
    if (is_outside && told == 0) {
        snprintf(text, size, "user space");
    }
}
