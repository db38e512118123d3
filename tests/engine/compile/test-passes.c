/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes fold, labels and layout and the sorting of nodes on small graphs, without a
 * device; test-fuse.c and test-plan.c have the others. */
#include "sketch.h"

#include <compile/layout.h>
#include <compile/passes.h>
#include <ops/ops.h>

static void check_fold(void)
{
    static const uint16_t halves[] = {0x3c00, 0xc000, 0x3800, 0x4200}; /* 1 -2 0.5 3 */
    static const float want[] = {1, -2, 0.5f, 3};
    const struct tdl_tensor_params p = {.dtype = TDL_FLOAT16, .rank = 4, .shape = {1, 1, 1, 4}};
    struct sketch s = {.rng = {1}};
    check_begin("fold: a cast of a constant");
    OK(check_builder(NULL, &s.b));
    O x = sketch_input(&s, "x", 1, 2, 2, 4);
    O half = tdl_builder_constant(s.b, &p, halves, sizeof(halves));
    sketch_output(&s, "y",
                  tdl_builder_conv2d(s.b, x, tdl_builder_cast(s.b, half, TDL_FLOAT32), NULL));
    OK(tdl_builder_status(s.b));
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
    OK(tdl_pass_fold(ir));
    REQUIRE(ir->node_count == 1 && ir->nodes[0]->op == &tdl_op_conv2d, "the cast is still there");
    const float *data = tdl_constant_data(ir->nodes[0]->inputs[TDL_CONV_FILTER]);
    REQUIRE(data, "the filter is not a constant");
    for (size_t i = 0; i < COUNT(want); i++)
        CHECK(data[i] == want[i], "value %zu is %g instead of %g", i, (double)data[i],
              (double)want[i]);
    /* The builder's own graph is as it was. */
    CHECK(tdl_builder_ir(s.b)->node_count == 2, "fold reached the builder's graph");
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&s.b);
}

static O conv_relu(S s) { return sketch_relu(s, sketch_conv3(s, s->x)); }
static O mask_head(S s) { return sketch_act(s, sketch_transpose(s, s->x), TDL_ACTIVATION_SIGMOID); }
static O two_outputs(S s)
{
    O c = sketch_conv3(s, s->x);
    sketch_output(s, "middle", c);
    return sketch_conv1(s, c);
}

/* A residual stream past operators that have linear memory only. */
static O among_linear(S s)
{
    O t = sketch_conv1(s, s->x);
    for (int i = 0; i < 2; i++)
        t = sketch_add(s, sketch_relu(s, t), tdl_builder_triangular(s->b, t, NULL));
    return sketch_conv1(s, t);
}
/* One such operator is worth two conversions. */
static O around_linear(S s)
{
    O t = sketch_relu(s, sketch_conv1(s, s->x));
    return sketch_conv1(s, sketch_add(s, t, tdl_builder_triangular(s->b, t, NULL)));
}

static void check_layout(void)
{
    static const struct {
        const char *name;
        O (*build)(S s);
        enum tdl_packing packing;
        enum tdl_dtype storage;
        uint32_t converts;
    } cases[] = {
        {"NHWC in and out", conv_relu, TDL_PACKING_NONE, TDL_FLOAT32, 2},
        {"packs in", conv_relu, TDL_PACKING_C4, TDL_FLOAT32, 1},
        {"float packs in, 16-bit inside", conv_relu, TDL_PACKING_C4, TDL_FLOAT16, 2},
        {"a mask written as it is", mask_head, TDL_PACKING_C4, TDL_FLOAT32, 0},
        {"an output with a reader", two_outputs, TDL_PACKING_NONE, TDL_FLOAT32, 3},
        {"among linear operators", among_linear, TDL_PACKING_NONE, TDL_FLOAT32, 4},
        {"around a linear operator", around_linear, TDL_PACKING_NONE, TDL_FLOAT32, 4},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sketch s = {.rng = {i}};
        uint32_t converts = 0;
        check_begin("layout: %s", cases[i].name);
        OK(check_builder(NULL, &s.b));
        s.x = sketch_input(&s, "x", 1, 8, 8, 4);
        sketch_output(&s, "result", cases[i].build(&s));
        OK(tdl_builder_status(s.b));
        struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
        OK(tdl_pass_labels(ir));
        OK(tdl_pass_fuse(ir, false));
        OK(tdl_pass_layout(ir, &(struct tdl_build_params){.input_packing = cases[i].packing},
                           cases[i].storage));
        for (uint32_t k = 0; k < ir->node_count; k++)
            converts += ir->nodes[k]->op == &tdl_op_repack;
        CHECK(converts == cases[i].converts, "%u conversions instead of %u", converts,
              cases[i].converts);
        sketch_check_order(ir);
        CHECK(ir->inputs[0]->external && ir->inputs[0]->desc.dtype == TDL_FLOAT32 &&
                  ir->inputs[0]->bound.packing == cases[i].packing,
              "the input is not bound as asked");
        tdl_ir_destroy(&ir);
        tdl_builder_destroy(&s.b);
    }
}

/* A convolution of [1,4,8,4], which has four channels in either place. */
static O told_conv(S s, O x, uint64_t told)
{
    return tdl_builder_conv2d(s->b, x, subject_filter(s->b, &s->rng, 4, 1, 1, 4),
                              &(struct tdl_conv2d_params){.input_layout = told});
}
static O reshaped(S s)
{
    const struct tdl_tensor_params p = {.rank = 2, .shape = {16, 8}};
    O flat = tdl_builder_input(s->b, "flat", &p);
    return sketch_relu(s, tdl_builder_reshape(s->b, flat, 4, (uint32_t[]){1, 4, 8, 4}));
}
static O before_nchw(S s)
{
    return sketch_relu(s, told_conv(s, reshaped(s), TDL_LAYOUT_NCHW));
}
static O before_both(S s)
{
    O x = reshaped(s);
    sketch_output(s, "other", told_conv(s, x, TDL_LAYOUT_NHWC));
    return told_conv(s, x, TDL_LAYOUT_NCHW);
}
static O between_both(S s)
{
    return told_conv(s, sketch_relu(s, told_conv(s, s->x, TDL_LAYOUT_NHWC)), TDL_LAYOUT_NCHW);
}
/* What the input is called follows from what reads it. */
static O behind_input(S s) { return told_conv(s, sketch_relu(s, s->x), TDL_LAYOUT_NCHW); }
static O behind_transpose(S s)
{
    const struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NCHW, 1, 4, 4, 8);
    O x = tdl_builder_input(s->b, "nchw", &p);
    x = sketch_relu(s, tdl_builder_reshape(s->b, x, 4, (uint32_t[]){1, 8, 4, 4}));
    return told_conv(s, tdl_builder_transpose(s->b, x, (uint32_t[]){0, 3, 1, 2}), TDL_LAYOUT_NCHW);
}
static O shared_constant(S s)
{
    static const float values[128];
    O c = subject_constant(s->b, 4, (uint32_t[]){1, 4, 8, 4}, values);
    sketch_output(s, "other", sketch_add(s, told_conv(s, s->x, TDL_LAYOUT_NHWC), c));
    return told_conv(s, sketch_add(s, reshaped(s), c), TDL_LAYOUT_NCHW);
}

/* Names of layouts that are left, and whether all pictures of an operator have one. */
static void check_labels(void)
{
    static const struct {
        const char *name;
        O (*build)(S s);
        uint32_t relabels;
    } cases[] = {
        {"before a convolution", before_nchw, 0},
        {"before convolutions of two minds", before_both, 1},
        {"between convolutions of two minds", between_both, 1},
        {"behind an input", behind_input, 0},
        {"before a transposition", behind_transpose, 0},
        {"beside a constant of others", shared_constant, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sketch s = {.rng = {i}};
        uint32_t relabels = 0;
        check_begin("labels: %s", cases[i].name);
        OK(check_builder(NULL, &s.b));
        s.x = sketch_input(&s, "x", 1, 4, 8, 4);
        sketch_output(&s, "result", cases[i].build(&s));
        OK(tdl_builder_status(s.b));
        struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
        OK(tdl_pass_labels(ir));
        for (uint32_t k = 0; k < ir->node_count; k++) {
            const struct tdl_node *n = ir->nodes[k];
            relabels += n->op == &tdl_op_reshape && n->output->desc.rank == 4 &&
                        n->inputs[0]->desc.rank == 4 && n->inputs[0]->layout != n->output->layout;
            CHECK(n->op != &tdl_op_transpose || tdl_transpose_renames(n), "%s moves", n->label);
            for (uint32_t j = 0; j < n->input_count && n->op->storage == TDL_STORAGE_EITHER &&
                                 n->op != &tdl_op_transpose; j++)
                CHECK(n->inputs[j]->desc.rank < 4 || n->inputs[j]->layout == n->output->layout,
                      "%s: two layouts", n->label);
        }
        CHECK(relabels == cases[i].relabels, "%u names of layouts are left, not %u", relabels,
              cases[i].relabels);
        sketch_check_order(ir);
        tdl_ir_destroy(&ir);
        tdl_builder_destroy(&s.b);
    }
}

/* A layout that one operator gives reaches every transposition of a chain, whose nodes lie
 * alternately on both sides. A search through all nodes for each of them would take minutes. */
static void check_labels_far(void)
{
    enum { EDGES = 20000 };
    static const uint32_t shape[2][4] = {{1, 4, 8, 4}, {1, 4, 4, 8}};
    static const uint32_t order[2][4] = {{0, 3, 1, 2}, {0, 2, 3, 1}};
    static O picture[EDGES + 1], turned[EDGES];
    struct sketch s = {.rng = {1}};
    uint32_t renamed = 0;
    check_begin("labels: a chain of %d transpositions", EDGES);
    OK(check_builder(NULL, &s.b));
    const struct tdl_tensor_params p = {.rank = 2, .shape = {16, 8}};
    O flat = tdl_builder_input(s.b, "flat", &p);
    picture[0] = sketch_input(&s, "x", 1, 4, 8, 4);
    for (int i = 1; i <= EDGES; i++)
        picture[i] = tdl_builder_reshape(s.b, flat, 4, shape[i % 2]);
    for (int at = 0; at < EDGES; at++) {
        const int i = at < EDGES / 2 ? EDGES - 1 - 2 * at : 2 * at - EDGES;
        turned[i] = tdl_builder_transpose(s.b, picture[i], order[i % 2]);
    }
    for (int i = 0; i < EDGES; i++) {
        O sum = sketch_add(&s, turned[i], picture[i + 1]);
        flat = sketch_add(&s, flat, tdl_builder_reshape(s.b, sum, 2, (uint32_t[]){16, 8}));
    }
    sketch_output(&s, "sum", flat);
    OK(tdl_builder_status(s.b));
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
    OK(tdl_pass_labels(ir));
    for (uint32_t i = 0; i < ir->node_count; i++)
        renamed += tdl_transpose_renames(ir->nodes[i]);
    CHECK(renamed == EDGES, "%u transpositions are of names", renamed);
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&s.b);
}

/* The cheapest cut of small networks, against all that there are. */
static void check_cut(void)
{
    enum { NODES = 8, EDGES = 20 };
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rng rng = {seed};
        struct tdl_cut cut;
        uint32_t from[EDGES], to[EDGES], cost[EDGES], best = UINT32_MAX, most = 0, found = 0;
        bool second[NODES];
        check_begin("cut: seed %llu", (unsigned long long)seed);
        REQUIRE(tdl_cut_init(&cut, NODES), "no memory");
        for (int i = 0; i < EDGES; i++) {
            from[i] = rng_below(&rng, NODES);
            to[i] = rng_below(&rng, NODES);
            cost[i] = rng_below(&rng, 5);
            tdl_cut_add(&cut, from[i], to[i], cost[i]);
        }
        REQUIRE(tdl_cut_solve(&cut, second), "no cut");
        /* Bit i: node i is on the second side. Nodes of the first side are counted. */
        for (uint32_t sides = 0; sides < 1u << NODES; sides++) {
            uint32_t sum = 0, firsts = 0, same = 0;
            for (int i = 0; i < EDGES; i++)
                sum += !(sides >> from[i] & 1) && sides >> to[i] & 1 ? cost[i] : 0;
            for (int i = 0; i < NODES; i++) {
                firsts += !(sides >> i & 1);
                same += (sides >> i & 1) == second[i];
            }
            if (sides & 1 || !(sides & 2))
                continue;
            if (sum < best || (sum == best && firsts > most)) {
                best = sum;
                most = firsts;
                found = same;
            }
        }
        CHECK(found == NODES, "another cut than the one that costs %u", best);
        tdl_cut_finish(&cut);
    }
}

/* So many places to convert at that nobody looks for the best ones: which is said. */
static void check_uncut(void)
{
    static const uint32_t chains[] = {10, 6000};
    for (size_t i = 0; i < COUNT(chains); i++) {
        struct sketch s = {.rng = {1}};
        check_begin("layout: %u places to convert at", chains[i]);
        OK(check_builder(NULL, &s.b));
        s.x = sketch_input(&s, "x", 1, 1, 1, 4);
        O sum = tdl_builder_triangular(s.b, s.x, NULL);
        for (uint32_t k = 0; k < chains[i]; k++) {
            O t = sketch_relu(&s, tdl_builder_max_pool2d(s.b, s.x, NULL));
            sum = sketch_add(&s, sum, tdl_builder_triangular(s.b, t, NULL));
        }
        sketch_output(&s, "y", tdl_builder_reshape(s.b, sum, 1, (uint32_t[]){4}));
        OK(tdl_builder_status(s.b));
        struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
        OK(tdl_pass_labels(ir));
        OK(tdl_pass_layout(ir, &(struct tdl_build_params){0}, TDL_FLOAT32));
        CHECK(ir->uncut == (chains[i] > 100), "%s", ir->uncut ? "not cut" : "cut");
        sketch_check_order(ir);
        tdl_ir_destroy(&ir);
        tdl_builder_destroy(&s.b);
    }
}

static void check_sort(void)
{
    struct sketch s = {.rng = {1}};
    check_begin("sort: nodes in the wrong order, and a cycle");
    OK(check_builder(NULL, &s.b));
    s.x = sketch_input(&s, "x", 1, 2, 2, 4);
    sketch_output(&s, "y", sketch_relu(&s, sketch_conv3(&s, sketch_relu(&s, s.x))));
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
    struct tdl_node *first = ir->nodes[0];
    ir->nodes[0] = ir->nodes[2];
    ir->nodes[2] = first;
    OK(tdl_ir_sort(ir));
    sketch_check_order(ir);
    ir->nodes[0]->inputs[0] = ir->nodes[2]->output;
    FAILS(tdl_ir_sort(ir), TDL_ERROR_INVALID_MODEL, "cycle");
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&s.b);
}

/* All in the wrong order; and what need not move stays. */
static void check_sort_stable(void)
{
    enum { COUNT_OF_EACH = 200 };
    struct sketch s = {.rng = {1}};
    check_begin("sort: a chain backwards, between others");
    OK(check_builder(NULL, &s.b));
    s.x = sketch_input(&s, "x", 1, 2, 2, 4);
    O x = s.x;
    for (int i = 0; i < COUNT_OF_EACH; i++)
        x = sketch_relu(&s, x);
    for (int i = 0; i < COUNT_OF_EACH; i++)
        sketch_act(&s, s.x, TDL_ACTIVATION_TANH);
    sketch_output(&s, "y", x);
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
    struct tdl_node *nodes[2 * COUNT_OF_EACH];
    memcpy(nodes, ir->nodes, sizeof(nodes));
    for (int i = 0; i < COUNT_OF_EACH; i++) {
        ir->nodes[2 * i] = nodes[COUNT_OF_EACH - 1 - i];
        ir->nodes[2 * i + 1] = nodes[COUNT_OF_EACH + i];
    }
    OK(tdl_ir_sort(ir));
    sketch_check_order(ir);
    for (int i = 0; i + 1 < COUNT_OF_EACH; i++)
        CHECK(ir->nodes[i] == nodes[COUNT_OF_EACH + i], "place %d: %s", i, ir->nodes[i]->label);
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&s.b);
}

/* Folding stops where it would make too much of too little, and not before. */
static void check_budget(void)
{
    enum { LARGE = 65536, TIMES = 40, FREE = 4 << 20 };
    static const float one[] = {1};
    struct tdl_tensor_params p = {.dtype = TDL_FLOAT32, .rank = 1, .shape = {1}};
    struct sketch s = {.rng = {1}};
    uint32_t left = 0;
    check_begin("fold: much of little");
    OK(check_builder(NULL, &s.b));
    O c = tdl_builder_constant(s.b, &p, one, sizeof(one));
    p.shape[0] = LARGE;
    O sum = tdl_builder_input(s.b, "x", &p);
    for (int i = 0; i < TIMES; i++)
        sum = sketch_add(&s, sum, tdl_builder_expand(s.b, c, 1, (uint32_t[]){LARGE}));
    sketch_output(&s, "y", sum);
    OK(tdl_builder_status(s.b));
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(s.b));
    OK(tdl_pass_fold(ir));
    for (uint32_t i = 0; i < ir->node_count; i++)
        left += ir->nodes[i]->op != &tdl_op_add;
    const uint32_t folded = TIMES - left, fit = FREE / (LARGE * sizeof(float));
    CHECK(folded == fit && ir->budget.declined == left, "%u of %d are folded, %u declined", folded,
          TIMES, ir->budget.declined);
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&s.b);
}

int main(void)
{
    check_fold();
    check_layout();
    check_labels();
    check_labels_far();
    check_cut();
    check_uncut();
    check_sort();
    check_sort_stable();
    check_budget();
    return check_result();
}
