/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_BUILDER_H
#define TDL_BUILDER_H

#include "ir.h"

struct tdl_builder {
    struct tdl_context *ctx; /* may be NULL */
    struct tdl_ir *ir;
    enum tdl_result status;
    char error[512];
    char label[96];
    struct tdl_owned {
        struct tdl_owned *next;
        void *memory;
        void (*release)(void *);
    } *owned;
};

#endif
