/* Makes small ELF files for tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "made_elf.h"

#include <ftw.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

/* Where they are in the file. */
enum { SEGMENTS_AT = 64 };

/* Addresses are so much above offsets. */
enum { LOADED_AT = 0x10000 };

struct texts {
    unsigned char *bytes;
    size_t size;
};

static size_t add_text(struct texts *texts, const char *text)
{
    const size_t place = texts->size, length = strlen(text) + 1;

    assert_true(IWT_ELF_TEXTS_AT + place + length <= IWT_ELF_SIZE);
    memcpy(texts->bytes + IWT_ELF_TEXTS_AT + place, text, length);
    texts->size += length;
    return place;
}

static void write_header(unsigned char *bytes)
{
    ElfW(Ehdr) header;
    FILE *own = fopen("/proc/self/exe", "re");

    /* class, byte order and machine are those of the test itself */
    assert_non_null(own);
    assert_int_equal(fread(&header, sizeof header, 1, own), 1);
    (void)fclose(own);
    header.e_type = ET_DYN;
    header.e_phoff = SEGMENTS_AT;
    header.e_phnum = 2;
    header.e_phentsize = sizeof(ElfW(Phdr));
    memcpy(bytes, &header, sizeof header);
}

static size_t write_dynamic(const struct iwt_elf *elf, unsigned char *bytes, struct texts *texts)
{
    ElfW(Dyn) entries[16] = {{0}};
    size_t count = 0;

    for (size_t i = 0; i < 8 && elf->needed[i] != NULL; i++) {
        entries[count].d_tag = DT_NEEDED;
        entries[count++].d_un.d_val = add_text(texts, elf->needed[i]);
    }
    if (elf->rpath != NULL) {
        entries[count].d_tag = DT_RPATH;
        entries[count++].d_un.d_val = add_text(texts, elf->rpath);
    }
    if (elf->runpath != NULL) {
        entries[count].d_tag = DT_RUNPATH;
        entries[count++].d_un.d_val = add_text(texts, elf->runpath);
    }
    entries[count].d_tag = DT_STRTAB;
    entries[count++].d_un.d_val = LOADED_AT + IWT_ELF_TEXTS_AT;
    entries[count].d_tag = DT_STRSZ;
    entries[count++].d_un.d_val = texts->size;
    count++; /* DT_NULL */
    memcpy(bytes + IWT_ELF_DYNAMIC_AT, entries, count * sizeof entries[0]);
    return count * sizeof entries[0];
}

size_t iwt_elf_bytes(const struct iwt_elf *elf, unsigned char bytes[IWT_ELF_SIZE])
{
    struct texts texts = {bytes, 0};
    ElfW(Phdr) segments[2] = {{.p_type = PT_LOAD}, {.p_type = PT_DYNAMIC}};

    memset(bytes, 0, IWT_ELF_SIZE);
    (void)add_text(&texts, "");
    write_header(bytes);
    segments[1].p_offset = IWT_ELF_DYNAMIC_AT;
    segments[1].p_filesz = write_dynamic(elf, bytes, &texts);
    segments[0].p_vaddr = LOADED_AT;
    segments[0].p_filesz = IWT_ELF_TEXTS_AT + texts.size;
    memcpy(bytes + SEGMENTS_AT, segments, sizeof segments);
    return IWT_ELF_TEXTS_AT + texts.size;
}

/* ---- files ---- */

char *iwt_make_folder(void)
{
    const char *base = getenv("TMPDIR");
    char pattern[PATH_MAX];
    char *real;

    snprintf(pattern, sizeof pattern, "%s/iw_launch_XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(pattern));
    real = realpath(pattern, NULL);
    assert_non_null(real);
    return real;
}

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *walk)
{
    (void)facts;
    (void)kind;
    (void)walk;
    return remove(path);
}

void iwt_remove_folder(char *folder)
{
    assert_int_equal(nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(folder);
}

const char *iwt_path(const char *folder, const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

void iwt_write_file(const char *path, const void *bytes, size_t size)
{
    FILE *out = fopen(path, "we");

    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

void iwt_write_elf(const char *path, const struct iwt_elf *elf)
{
    unsigned char bytes[IWT_ELF_SIZE];

    iwt_write_file(path, bytes, iwt_elf_bytes(elf, bytes));
}

void iwt_clean_environment(void)
{
    static const char *const variables[] = {
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "PMI_RANK",
        "PMI_SIZE",
        "PMIX_RANK",
        "PMIX_NAMESPACE",
        "SLURM_PROCID",
        "SLURM_STEP_ID",
        "LD_LIBRARY_PATH",
        "IDLEWAVE_PARTS",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_LOCALID",
        "SLURM_NTASKS_PER_NODE",
        "SLURM_NODEID",
        "SLURM_STEP_TASKS_PER_NODE",
        "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    };

    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        (void)unsetenv(variables[i]);
    }
}
