/* Writes small OTF2 archives for tests: locations per thread, groups and communicators as Score-P and our
 * tracer lay them out.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     struct iwt_otf2 *w = iwt_otf2_new(folder, "Score-P 8.4", 2, 1);
 *     iwt_otf2_enter(w, 0, 10, "MPI_Send");  iwt_otf2_send(w, 0, 11, 1, 0, 7, 8);  iwt_otf2_leave(w, 0, 12);
 *     ...  iwt_otf2_close(w);       the anchor file is folder/traces.otf2
 *
 * A location is (thread << 32) | rank; times are ns; communicator 0 is world, 1 is MPI_COMM_SELF. What goes
 * wrong fails the test.
 */
#ifndef IWT_OTF2_WRITER_H
#define IWT_OTF2_WRITER_H

#include <stdint.h>

struct iwt_otf2;

struct iwt_otf2 *iwt_otf2_new(const char *folder, const char *creator, uint32_t ranks, uint32_t threads);
void iwt_otf2_close(struct iwt_otf2 *w);

/* Numbers of new communicators. */
uint32_t iwt_otf2_comm(struct iwt_otf2 *w, uint32_t count, const uint64_t *ranks);
uint32_t iwt_otf2_intercomm(struct iwt_otf2 *w, uint32_t first_count, const uint64_t *first,
                            uint32_t second_count, const uint64_t *second);

/* Of the archive. */
void iwt_otf2_property(struct iwt_otf2 *w, const char *name, const char *value);

/* Numbers in a definition of the location: what our tracer sends to whom. */
void iwt_otf2_list(struct iwt_otf2 *w, uint64_t location, uint32_t number, uint32_t count,
                   const uint64_t *values);

/* An attribute of the next event; `type` is libotf2's. */
void iwt_otf2_attribute(struct iwt_otf2 *w, const char *name, uint8_t type, uint64_t value);

void iwt_otf2_enter(struct iwt_otf2 *w, uint64_t location, uint64_t time, const char *region);
void iwt_otf2_leave(struct iwt_otf2 *w, uint64_t location, uint64_t time);
void iwt_otf2_send(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint32_t peer, uint32_t comm,
                   uint32_t tag, uint64_t bytes);
void iwt_otf2_recv(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint32_t peer, uint32_t comm,
                   uint32_t tag, uint64_t bytes);
void iwt_otf2_isend(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint32_t peer, uint32_t comm,
                    uint32_t tag, uint64_t bytes, uint64_t request);
void iwt_otf2_isend_complete(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint64_t request);
void iwt_otf2_irecv_request(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint64_t request);
void iwt_otf2_irecv(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint32_t peer, uint32_t comm,
                    uint32_t tag, uint64_t bytes, uint64_t request);
void iwt_otf2_cancelled(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint64_t request);
void iwt_otf2_collective(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint8_t op, uint32_t comm,
                         uint32_t root, uint64_t sent, uint64_t received);
void iwt_otf2_icollective_request(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint64_t request);
void iwt_otf2_icollective_complete(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint8_t op,
                                   uint32_t comm, uint32_t root, uint64_t sent, uint64_t received,
                                   uint64_t request);
void iwt_otf2_switch(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint8_t is_on);

#endif
