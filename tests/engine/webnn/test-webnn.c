/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * WebNN's operators against values that Python computed from the specification's text, with
 * the tolerances of WebNN's own tests (cases.py): how many are there, how many are right in
 * which data type, and why the others are not.
 *
 *     test-webnn PYTHON CASES.PY   or   test-webnn FILE, which CASES.PY has written
 */
#include "case.h"

#include <math.h>
#include <shape.h>

enum { MOST_NAMES = 256 };

static struct tdl_context *ctx;

/* ----------------------------------------------------------------- comparing */

/* Element `i`; integers exactly, but for the largest of 64 bits. */
static double element(const struct value *v, const void *data, size_t i)
{
    switch (v->desc.dtype) {
    case TDL_FLOAT32:
        return ((const float *)data)[i];
    case TDL_FLOAT16:
        return tdl_half_to_float(((const uint16_t *)data)[i]);
    case TDL_INT32:
        return ((const int32_t *)data)[i];
    case TDL_UINT32:
        return ((const uint32_t *)data)[i];
    case TDL_INT8:
        return ((const int8_t *)data)[i];
    case TDL_UINT8:
        return ((const uint8_t *)data)[i];
    case TDL_INT64:
        return (double)((const int64_t *)data)[i];
    default:
        return (double)((const uint64_t *)data)[i];
    }
}

/* Floats by number, in their order: neighbours differ by 1, and both zeros are one. */
static double place(const struct value *v, const void *data, size_t i)
{
    int64_t bits, sign;
    if (v->desc.dtype == TDL_FLOAT32) {
        uint32_t u;
        memcpy(&u, (const float *)data + i, sizeof(u));
        bits = u & 0x7fffffff;
        sign = u >> 31;
    } else if (v->desc.dtype == TDL_FLOAT16) {
        bits = ((const uint16_t *)data)[i] & 0x7fff;
        sign = ((const uint16_t *)data)[i] >> 15;
    } else {
        return element(v, data, i);
    }
    return (double)(sign ? -bits : bits);
}

static bool compare(const struct webnn_case *c, const struct value *v, const void *got)
{
    const size_t size = tdl_dtype_size(v->desc.dtype);
    for (size_t i = 0; i < tdl_tensor_params_size(&v->desc) / size; i++) {
        const double want = element(v, v->data, i), is = element(v, got, i);
        if (!memcmp((const char *)v->data + i * size, (const char *)got + i * size, size) ||
            want == is || (isnan(want) && isnan(is)))
            continue;
        const double off = fabs(v->ulp ? place(v, v->data, i) - place(v, got, i) : want - is);
        if (!(off <= v->tolerance) || isnan(want) != isnan(is))
            return CHECK(false, "%s: %s: element %zu is %.9g instead of %.9g: %g, %g %s allowed",
                         c->name, v->name, i, is, want, off, v->tolerance,
                         v->ulp ? "units in the last place" : "absolutely");
    }
    return true;
}

/* ------------------------------------------------------------------- running */

static enum tdl_result build(struct tdl_builder *b, struct webnn_case *c, struct tdl_graph **out)
{
    for (uint32_t i = 0; i < c->value_count; i++) {
        struct value *v = &c->values[i];
        if (v->role == INPUT)
            v->operand = tdl_builder_input(b, v->name, &v->desc);
        else if (v->role == CONSTANT)
            v->operand =
                tdl_builder_constant(b, &v->desc, v->data, tdl_tensor_params_size(&v->desc));
    }
    for (uint32_t i = 0; i < c->call_count; i++)
        REQUIRE(call_build(b, c, &c->calls[i]), "%s: WebNN has no %s", c->name, c->calls[i].name);
    for (uint32_t i = 0; i < c->value_count; i++)
        if (c->values[i].role == OUTPUT)
            tdl_builder_output(b, c->values[i].name, c->values[i].operand);
    return tdl_builder_build(b, NULL, out);
}

/* Tensors for what a graph has, and a run. */
static void dispatch(struct tdl_graph *g, struct webnn_case *c, struct tdl_binding *in,
                     uint32_t *ins, struct tdl_binding *out, uint32_t *outs)
{
    for (*ins = 0; tdl_graph_input(g, *ins, &in[*ins].name); (*ins)++) {
        const struct value *v = case_value(c, in[*ins].name);
        OK(tdl_tensor_create(ctx, &v->desc, &in[*ins].tensor));
        OK(tdl_tensor_write(in[*ins].tensor, v->data, tdl_tensor_params_size(&v->desc), NULL));
    }
    for (*outs = 0; tdl_graph_output(g, *outs, &out[*outs].name); (*outs)++) {
        struct tdl_tensor_params p = *tdl_graph_output(g, *outs, NULL);
        p.usage = TDL_TENSOR_READABLE;
        OK(tdl_tensor_create(ctx, &p, &out[*outs].tensor));
    }
    OK(tdl_graph_dispatch(g, in, *ins, out, *outs, NULL));
}

static bool check_output(struct webnn_case *c, struct tdl_binding *out)
{
    const struct value *v = case_value(c, out->name);
    const struct tdl_tensor_params *p = tdl_tensor_get_params(out->tensor);
    const size_t size = tdl_tensor_params_size(p);
    if (!CHECK(p->dtype == v->desc.dtype && p->rank == v->desc.rank &&
                   !memcmp(p->shape, v->desc.shape, p->rank * sizeof(*p->shape)),
               "%s: %s has another type or shape", c->name, out->name))
        return false;
    void *got = malloc(size);
    REQUIRE(got, "no memory");
    OK(tdl_tensor_read(out->tensor, got, size));
    const bool same = compare(c, v, got);
    free(got);
    return same;
}

enum outcome { PASSED, FAILED, REFUSED };

static enum outcome run(struct webnn_case *c)
{
    struct tdl_binding in[MOST_TENSORS] = {{NULL}}, out[MOST_TENSORS] = {{NULL}};
    struct tdl_builder *b;
    struct tdl_graph *g = NULL;
    uint32_t ins = 0, outs = 0;
    OK(check_builder(ctx, &b));
    const enum tdl_result r = build(b, c, &g);
    bool passed = r == TDL_OK;
    if (passed)
        dispatch(g, c, in, &ins, out, &outs);
    else if (!*c->refused)
        CHECK(false, "%s: %s", c->name, tdl_last_error());
    for (uint32_t i = 0; i < outs; i++)
        passed = check_output(c, &out[i]) && passed;
    for (uint32_t i = 0; i < TDL_MAX(ins, outs); i++) {
        tdl_tensor_destroy(&in[i].tensor);
        tdl_tensor_destroy(&out[i].tensor);
    }
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
    if (*c->refused)
        CHECK(r != TDL_OK, "%s: is taken now; cases.py says it is not: %s", c->name, c->refused);
    return r != TDL_OK && *c->refused ? REFUSED : passed ? PASSED : FAILED;
}

/* ------------------------------------------------------------------ counting */

struct names {
    char text[MOST_NAMES][NAME * 4];
    uint32_t counts[MOST_NAMES], count;
};

static void count_name(struct names *names, const char *text)
{
    uint32_t i = 0;
    while (i < names->count && strcmp(names->text[i], text))
        i++;
    REQUIRE(i < MOST_NAMES, "more than %d names", MOST_NAMES);
    snprintf(names->text[i], sizeof(names->text[i]), "%s", text);
    names->counts[i]++;
    names->count = TDL_MAX(names->count, i + 1);
}

/* float32, float16, or integers. */
static unsigned precision_of(const struct webnn_case *c)
{
    unsigned kind = 2;
    for (uint32_t i = 0; i < c->value_count; i++)
        if (c->values[i].desc.dtype <= TDL_FLOAT16 && c->values[i].role != INNER)
            kind = TDL_MIN(kind, c->values[i].desc.dtype);
    return kind;
}

/* How many operators there were. */
static uint32_t run_all(FILE *cases, uint64_t stride, uint64_t first)
{
    static const char *const precisions[] = {"float32", "float16", "integers"};
    static struct names operators, reasons;
    static struct webnn_case c;
    uint32_t counts[3][3] = {{0}}, left_out = 0;
    for (uint64_t i = 0; case_read(cases, &c); i++) {
        for (uint32_t k = 0; k < c.call_count; k++)
            count_name(&operators, c.calls[k].name);
        if (i % stride != first % stride) {
            left_out++;
        } else {
            const enum outcome outcome = run(&c);
            counts[precision_of(&c)][outcome]++;
            if (outcome == REFUSED)
                count_name(&reasons, c.refused);
        }
        case_free(&c);
    }
    printf("%u operators of WebNN; %u cases are left to other runs\n", operators.count, left_out);
    for (unsigned i = 0; i < 3; i++)
        printf("%s: %u passed, %u failed, %u refused\n", precisions[i], counts[i][PASSED],
               counts[i][FAILED], counts[i][REFUSED]);
    for (uint32_t i = 0; i < reasons.count; i++)
        printf("%u refused: %s\n", reasons.counts[i], reasons.text[i]);
    return operators.count;
}

int main(int argc, char **argv)
{
    const uint64_t seed = check_seed(0, NULL, 1);
    char command[4096];
    REQUIRE(argc == 2 || argc == 3, "call it with a file, or with Python and cases.py");
    /* Python may leak as it pleases where this program runs with a sanitizer. */
    snprintf(command, sizeof(command), "env -u LD_PRELOAD '%s' '%s'", argv[1], argv[argc - 1]);
    FILE *cases = argc == 2 ? fopen(argv[1], "r") : popen(command, "r");
    REQUIRE(cases, "no cases");
    ctx = check_context_open();
    /* Vulkan compiles a kernel for most of them; the stride is odd, as precisions take turns. */
    const char *device = getenv("TDL_DEVICE");
    const bool cpu = device && !strcmp(device, "cpu");
    const uint32_t operators = run_all(cases, cpu || argc == 2 ? 1 : check_stride(81), seed);
    const int status = argc == 2 ? fclose(cases) : pclose(cases);
    check_context_close(ctx);
    if (status == EXIT_SKIP << 8)
        return EXIT_SKIP;
    CHECK(status == 0 && operators, "%s ended with %d", command, status);
    return check_result();
}
