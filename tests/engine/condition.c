/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "condition.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS = 48 };

/* A half's rounding to nearest, and what its smallest ones lose. */
#define HALF_UNIT 0x1p-11
#define HALF_LEAST 0x1p-25
/* Some roundings of float32 behind each other, as there are in a kernel. */
#define FLOAT_UNIT 0x1p-22

struct rounding {
    struct rng rng;
    bool half;
};

/* Every element of a value up or down. Inputs that are halves come as they are. */
static void move(void *data, const struct tdl_operand *o, void *value)
{
    struct rounding *r = data;
    const size_t count = tdl_operand_count(o);
    if (o->desc.dtype == TDL_FLOAT32) {
        const float unit = r->half ? (float)HALF_UNIT : (float)FLOAT_UNIT;
        for (size_t i = 0; i < count; i++) {
            float *v = (float *)value + i;
            const float by = fabsf(*v) * unit + (r->half && *v != 0 ? (float)HALF_LEAST : 0);
            *v += rng_one_in(&r->rng, 2) ? by : -by;
        }
    } else if (o->desc.dtype == TDL_FLOAT16 && o->producer) {
        for (size_t i = 0; i < count; i++) {
            uint16_t *v = (uint16_t *)value + i; /* the neighbour, away from 0 or towards it */
            if ((*v & 0x7fff) && (*v & 0x7fff) < 0x7bff)
                *v = (uint16_t)(rng_one_in(&r->rng, 2) ? *v + 1 : *v - 1);
        }
    }
}

static double element(const struct tdl_operand *o, const void *values, size_t i)
{
    return o->desc.dtype == TDL_FLOAT32 ? (double)((const float *)values)[i]
                                        : (double)tdl_half_to_float(((const uint16_t *)values)[i]);
}

static bool is_float(const struct tdl_operand *o)
{
    return o->desc.dtype == TDL_FLOAT32 || o->desc.dtype == TDL_FLOAT16;
}

static void widen(const struct tdl_operand *o, const void *want, const void *moved, double *room)
{
    for (size_t i = 0, count = tdl_operand_count(o); i < count; i++) {
        const double by = 2 * fabs(element(o, moved, i) - element(o, want, i));
        if (by > room[i]) /* false for NaN */
            room[i] = by;
    }
}

enum tdl_result condition_rooms(const struct tdl_ir *ir, const void *const *inputs,
                                void *const *want, bool half, double **out_rooms)
{
    struct rounding r = {{1}, half};
    enum tdl_result result = TDL_OK;
    void **moved = calloc(ir->operand_count, sizeof(*moved));
    REQUIRE(moved, "out of memory");
    for (uint32_t i = 0; i < ir->output_count; i++) {
        out_rooms[i] = calloc(tdl_operand_count(ir->outputs[i]), sizeof(double));
        REQUIRE(out_rooms[i], "out of memory");
    }
    for (int run = 0; run < RUNS && result == TDL_OK; run++) {
        result = tdl_ir_run_changed(ir, inputs, move, &r, moved);
        for (uint32_t i = 0; i < ir->output_count && result == TDL_OK; i++)
            if (is_float(ir->outputs[i])) {
                const uint32_t id = ir->outputs[i]->id;
                widen(ir->outputs[i], want[id], moved[id], out_rooms[i]);
            }
        for (uint32_t i = 0; i < ir->operand_count; i++)
            free(moved[i]);
    }
    free(moved);
    return result;
}
