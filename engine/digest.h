/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes told apart by 128 bits, under a key that nobody outside knows: who makes
 * bytes cannot make others that pass for them. */
#ifndef TDL_DIGEST_H
#define TDL_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct tdl_digest {
    uint64_t words[2];
};

/* A key for the life of what it is for. */
struct tdl_digest tdl_digest_key(void);
/* SipHash-2-4 with 128 bits: Aumasson, Bernstein: "SipHash: a fast short-input PRF",
 * INDOCRYPT 2012; the longer result as in the authors' note of 2014. */
struct tdl_digest tdl_digest_bytes(const struct tdl_digest *key, const void *data, size_t size);

#endif
