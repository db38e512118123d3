/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "digest.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

struct state {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t turn(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline void rounds(struct state *s, int count)
{
    for (int i = 0; i < count; i++) {
        s->v0 += s->v1;
        s->v2 += s->v3;
        s->v1 = turn(s->v1, 13) ^ s->v0;
        s->v3 = turn(s->v3, 16) ^ s->v2;
        s->v0 = turn(s->v0, 32);
        s->v2 += s->v1;
        s->v0 += s->v3;
        s->v1 = turn(s->v1, 17) ^ s->v2;
        s->v3 = turn(s->v3, 21) ^ s->v0;
        s->v2 = turn(s->v2, 32);
    }
}

static inline void take(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    rounds(s, 2);
    s->v0 ^= word;
}

static uint64_t finish(struct state *s)
{
    rounds(s, 4);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

struct tdl_digest tdl_digest_bytes(const struct tdl_digest *key, const void *data, size_t size)
{
    struct state s = {
        .v0 = key->words[0] ^ 0x736f6d6570736575,
        .v1 = key->words[1] ^ 0x646f72616e646f6d ^ 0xee,
        .v2 = key->words[0] ^ 0x6c7967656e657261,
        .v3 = key->words[1] ^ 0x7465646279746573,
    };
    const uint8_t *p = data;
    struct tdl_digest digest;
    uint64_t last = (uint64_t)size << 56;
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, p, 8); /* in the machine's order: it need not be the same elsewhere */
        take(&s, word);
    }
    for (size_t i = 0; i < size; i++)
        last |= (uint64_t)p[i] << 8 * i;
    take(&s, last);
    s.v2 ^= 0xee;
    digest.words[0] = finish(&s);
    s.v1 ^= 0xdd;
    digest.words[1] = finish(&s);
    return digest;
}

struct tdl_digest tdl_digest_key(void)
{
    struct tdl_digest key;
    struct timespec now;
    if (getrandom(&key, sizeof(key), 0) == (ssize_t)sizeof(key))
        return key;
    clock_gettime(CLOCK_MONOTONIC, &now); /* an old kernel */
    key.words[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
    key.words[1] = (uintptr_t)&key;
    return key;
}
