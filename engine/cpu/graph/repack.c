/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between packs of four channels, [N][C/4][H][W][4], and NHWC: for bound tensors. */
#include "ops.h"

struct images {
    const float *from;
    float *to;
    size_t pixels, channels, packs;
    bool packs_it;
};

/* Rows of one image and pack each. */
static void convert(void *data, size_t begin, size_t end)
{
    const struct images *m = data;
    for (size_t i = begin; i < end; i++) {
        const size_t image = i / m->packs, c = i % m->packs * 4;
        const size_t lanes = TDL_MIN(m->channels - c, 4);
        const size_t plain = image * m->pixels * m->channels + c, packed = i * m->pixels * 4;
        for (size_t p = 0; p < m->pixels; p++)
            for (size_t lane = 0; lane < 4; lane++) {
                const size_t at = plain + p * m->channels + lane;
                if (m->packs_it)
                    m->to[packed + p * 4 + lane] = lane < lanes ? m->from[at] : 0;
                else if (lane < lanes)
                    m->to[at] = m->from[packed + p * 4 + lane];
            }
    }
}

static void run(const struct tdl_cpu_call *call)
{
    const struct tdl_operand *x = call->node->inputs[0];
    const struct tdl_dims d = tdl_operand_dims(x);
    struct images m = {
        .from = call->inputs[0],
        .to = call->output,
        .pixels = (size_t)d.h * d.w,
        .channels = d.c,
        .packs = TDL_DIV_UP(d.c, 4),
        .packs_it = !tdl_cpu_is_packs(x),
    };
    tdl_cpu_parallel(call->threads, convert, &m, d.n * m.packs, tdl_cpu_grain((double)m.pixels));
}

const struct tdl_cpu_kernel tdl_cpu_repack = {.name = "repack", .run = run};
