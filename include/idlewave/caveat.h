/* idlewave/caveat.h - what limits an input: a recording, a network, a trace, a profile.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 * Inputs carry facts about how they came about. Whoever uses one asks for its caveats, and every verdict that
 * rests on it begins with them. What a file cannot say is a caveat that is not known: no reason for an alarm,
 * but JSON has it.
 */
#ifndef IW_CAVEAT_H
#define IW_CAVEAT_H

#include <stdbool.h>

#include <idlewave/net.h>
#include <idlewave/program.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_caveat_kind {
    IW_CAVEAT_BUSY,       /* recorded while programs of users ran: load rather than noise */
    IW_CAVEAT_SHORT,      /* each CPU was watched for less than IW_SHORTEST_NS */
    IW_CAVEAT_NOT_VALID,  /* whoever measured it said that it does not count */
    IW_CAVEAT_ONE_HOST,   /* a network that was measured within one host serves more ranks */
    IW_CAVEAT_MISSING,    /* ranks of the run are missing */
    IW_CAVEAT_OLDER_BOOT, /* recorded before the machine was booted last */
    IW_CAVEAT_GROUPS,     /* communicators keep their traced size on more ranks */
    IW_CAVEAT_OPAQUE,     /* calls of a traced run are not simulated: one-sided communication, files, ... */
    IW_CAVEAT_KINDS
} iw_caveat_kind;

typedef struct iw_caveat {
    iw_caveat_kind kind;
    bool is_known;   /* false: the input does not say whether it is so */
    char input[128]; /* its name: "node.h5" */
    char text[320];  /* one sentence without a full stop */
} iw_caveat;

enum { IW_CAVEATS_MOST = 8 };

/** Those of all inputs of a result, the first that were found. Begins as {.count = 0}. */
typedef struct iw_caveats {
    size_t count;
    iw_caveat caveats[IW_CAVEATS_MOST];
} iw_caveats;

/** "busy", "short", "not_valid", "one_host", "missing", "older_boot", "groups", "opaque"; NULL behind the
 * last. */
IW_API const char *iw_caveat_name(unsigned kind);

/** Whether one is known, of that kind; IW_CAVEAT_KINDS: of any. */
IW_API bool iw_caveats_have(const iw_caveats *caveats, iw_caveat_kind kind);

/** Appends all of `more`. */
IW_API void iw_caveats_join(iw_caveats *caveats, const iw_caveats *more);

/* ---- recordings ---- */

/** A shorter recording, of each CPU, says nothing about a node. */
#define IW_SHORTEST_NS 1e9

/** From this many CPUs that programs of users keep busy on, what a recording has is their load, not noise. */
#define IW_BUSY_CPUS 0.2

/** Who used the CPUs beside the recorder, as the kernel accounts for processes: shares of the time of the
 * CPUs that were measured. */
typedef struct iw_load {
    bool is_known;
    bool is_busy;                   /* by programs of users, which were not asked for */
    double users, services, kernel; /* programs of users, services of the system, kernel threads */
    char programs[256];             /* the largest user programs: "cc1 41 %, ninja 2 %"; "" */
} iw_load;

/** Of what was recorded, not made from specs. `name`: the file. */
IW_API void iw_caveats_of_recording(const iw_recording *recording, const char *name, iw_caveats *caveats);

/** Of `busy` of `all` recorded nodes that were at work; `first` names some of them. */
IW_API void iw_caveats_of_nodes(const char *name, size_t busy, size_t all, const char *first,
                                iw_caveats *caveats);

/** Of a recording of a machine that was booted then (seconds since 1970; 0: not known). */
IW_API void iw_caveats_of_boot(const iw_recording *recording, const char *name, int64_t boot_s,
                               iw_caveats *caveats);

/* ---- networks and traces ---- */

/** Of a network that serves so many ranks. */
IW_API void iw_caveats_of_net(const iw_net *net, uint32_t ranks, iw_caveats *caveats);

/** Of a run of which `there` of `all` ranks are known; all 0: how many there were is not known. */
IW_API void iw_caveats_of_ranks(const char *name, uint32_t there, uint32_t all, iw_caveats *caveats);

/** Of what a traced run lacks, and of its trace on more ranks than it has. */
IW_API void iw_caveats_of_traced(const iw_traced *traced, const char *name, iw_caveats *caveats);

#ifdef __cplusplus
}
#endif
#endif
