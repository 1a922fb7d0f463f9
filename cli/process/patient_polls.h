/* Polls that wait: MPI libraries look for messages again and again while a rank waits; here they sleep
 * instead.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_PATIENT_POLLS_H
#define IW_CLI_PATIENT_POLLS_H

/* Before MPI starts: messages go over sockets (unless the user has set something else), on which the calling
 * thread sleeps from now on, in each poll that finds nothing, until something comes. */
void patient_polls_use(void);

#endif
