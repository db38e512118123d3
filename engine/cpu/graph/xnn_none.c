/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of xnn.c in builds without XNNPACK. */
#include "graph.h"

bool tdl_cpu_xnn_takes(const struct tdl_node *n)
{
    (void)n;
    return false;
}

bool tdl_cpu_xnn_takes_bytes(const struct tdl_node *conv)
{
    (void)conv;
    return false;
}

bool tdl_cpu_xnn_takes_bytes_alone(const struct tdl_node *conv)
{
    (void)conv;
    return false;
}

bool tdl_cpu_xnn_starts(void)
{
    return true; /* nobody misses it */
}

bool tdl_cpu_xnn_packs(const struct tdl_node *n, uint32_t slot)
{
    (void)n, (void)slot;
    return false;
}

enum tdl_result tdl_cpu_xnn_create(struct tdl_node *const *nodes, uint32_t count, uint64_t macs,
                                   struct tdl_cpu_threads *threads, struct tdl_cpu_xnn **out_xnn)
{
    (void)nodes, (void)count, (void)macs, (void)threads, (void)out_xnn;
    return tdl_fail(TDL_ERROR_UNSUPPORTED, "this build has no XNNPACK");
}

void tdl_cpu_xnn_destroy(struct tdl_cpu_xnn **xnn)
{
    (void)xnn;
}

enum tdl_result tdl_cpu_xnn_setup(struct tdl_cpu_xnn *xnn, void *const *values, void *stand_in)
{
    (void)xnn, (void)values, (void)stand_in;
    return TDL_ERROR_UNSUPPORTED;
}

enum tdl_result tdl_cpu_xnn_run(struct tdl_cpu_xnn *xnn, void *const *values)
{
    (void)xnn, (void)values;
    return TDL_ERROR_UNSUPPORTED;
}
