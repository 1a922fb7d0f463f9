/* Functions that are too easy to misuse become compile errors. Included last by base.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BANNED_H
#define IWI_BANNED_H

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
#undef atoi
#undef atol
#undef atof
#undef rand
#undef srand
#undef gets
#define strcpy iwi_banned_strcpy
#define strcat iwi_banned_strcat
#define strncpy iwi_banned_strncpy
#define strncat iwi_banned_strncat
#define sprintf iwi_banned_sprintf
#define vsprintf iwi_banned_vsprintf
#define strtok iwi_banned_strtok
#define atoi iwi_banned_atoi
#define atol iwi_banned_atol
#define atof iwi_banned_atof
#define rand iwi_banned_rand_use_rng_h
#define srand iwi_banned_srand_use_rng_h

#endif
