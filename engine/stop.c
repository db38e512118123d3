/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stop.h"

#include <stddef.h>

static _Thread_local const atomic_bool *heeded;

void tdl_heed(const atomic_bool *stop)
{
    heeded = stop;
}

const atomic_bool *tdl_heeded(void)
{
    return heeded;
}
