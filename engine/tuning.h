/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fastest algorithm for each layer: a table that tdl_tune() fills and that operators
 * with several ask. */
#ifndef TDL_TUNING_H
#define TDL_TUNING_H

#include "base.h"

struct tdl_tuning {
    struct tdl_tuning_entry {
        char layer[160], algorithm[48];
        uint64_t ns;
    } * entries;
    uint32_t count, capacity;
};

/* The algorithm that was fastest for the layer; NULL if none is known. */
const char *tdl_tuning_find(const struct tdl_tuning *tuning, const char *layer);
/* Keep an algorithm for a layer. False when out of memory. */
bool tdl_tuning_set(struct tdl_tuning *tuning, const char *layer, const char *algorithm,
                    uint64_t ns);
void tdl_tuning_finish(struct tdl_tuning *tuning);

#endif
