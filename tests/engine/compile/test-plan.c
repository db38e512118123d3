/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plans without a device: what lives at the same time lies apart, and steps
 * have work, constants and weights that fit. Of random graphs, and of the
 * person models, which must not need more dispatches than they did once.
 *
 *     test-plan [models | number of random graphs]
 */
#include "random-graph.h"
#include "sketch.h"

#include <tdl/models.h>

#include <compile/passes.h>
#include <kernels.h>
#include <ops/ops.h>

#include <unistd.h>

static struct tdl_device_info device_of(bool gpu)
{
    return (struct tdl_device_info){
        .name = "imaginary",
        .type = gpu ? TDL_DEVICE_DISCRETE_GPU : TDL_DEVICE_SOFTWARE,
        .subgroup_size = gpu ? 32 : 8,
        .max_workgroup_invocations = 1024,
        .max_shared_memory = 32 << 10,
    };
}

/* Compile as far as goes without a device. */
static void plan_open(struct tdl_plan *plan, struct tdl_builder *b,
                      const struct tdl_device_info *device, bool fuse, enum tdl_dtype storage)
{
    *plan = (struct tdl_plan){.device = device, .storage = storage,
                              .ir = tdl_ir_clone(tdl_builder_ir(b))};
    REQUIRE(plan->ir, "out of memory");
    OK(tdl_pass_fold(plan->ir));
    OK(tdl_pass_labels(plan->ir));
    if (fuse)
        OK(tdl_pass_fuse(plan->ir, device->type != TDL_DEVICE_SOFTWARE));
    sketch_check_order(plan->ir);
    OK(tdl_pass_layout(plan->ir, &(struct tdl_build_params){0}, storage));
    if (fuse) {
        OK(tdl_pass_join(plan->ir));
        OK(tdl_pass_mix(plan->ir, device, storage));
    }
    sketch_check_order(plan->ir);
    OK(tdl_plan_build(plan));
}

static const struct tdl_operand *whole_of(const struct tdl_operand *o)
{
    while (o->part_of)
        o = o->part_of;
    return o;
}

/* From the steps themselves, not from what the pass noted: what each step reads is what was
 * written there last, under the same name or as part of the same whole. */
static void check_arena(const struct tdl_plan *plan)
{
    enum { BLOCK = 256 };
    uint32_t *owner = calloc(plan->arena_size / BLOCK + 2, sizeof(*owner));
    REQUIRE(owner, "out of memory");
    for (uint32_t i = 0; i < plan->step_count; i++)
        for (uint32_t j = 0; j < 2 * TDL_MAX_BINDS; j++) {
            const struct tdl_plan_bind *bind = &plan->steps[i].binds[j % TDL_MAX_BINDS];
            const struct tdl_operand *o = bind->operand;
            const bool writes = j >= TDL_MAX_BINDS; /* after all that it reads */
            if (bind->kind != TDL_PLAN_BIND_OPERAND || o->external || bind->write != writes)
                continue;
            REQUIRE(o->offset % BLOCK == 0 && o->offset + o->size <= plan->arena_size,
                    "operand %u is at %llu of %llu bytes", o->id, (unsigned long long)o->offset,
                    (unsigned long long)plan->arena_size);
            const uint32_t want = whole_of(o)->id + 1;
            bool fine = true;
            for (uint64_t k = o->offset / BLOCK; k * BLOCK < o->offset + o->size; k++) {
                fine &= writes || owner[k] == want;
                owner[k] = writes ? want : owner[k];
            }
            CHECK(fine, "step %u reads operand %u where something else lies", i, o->id);
            for (uint32_t k = 0; k < TDL_MAX_BINDS && writes; k++) {
                const struct tdl_plan_bind *other = &plan->steps[i].binds[k];
                const struct tdl_operand *r = other->operand;
                /* From one part of a join to another. */
                if (r && !strncmp(plan->steps[i].kernel->name, "move", 4) && r != o &&
                    whole_of(r) == whole_of(o))
                    continue;
                CHECK(other->kind != TDL_PLAN_BIND_OPERAND || other->write || r->external ||
                          r->offset + r->size <= o->offset || o->offset + o->size <= r->offset,
                      "step %u writes operand %u over operand %u, which it reads", i, o->id,
                      r->id);
            }
        }
    free(owner);
}

/* Steps of one level run together: none touches what another one writes. */
static bool touch(const struct tdl_plan_bind *a, const struct tdl_plan_bind *b)
{
    const struct tdl_operand *o = a->operand, *r = b->operand;
    if (a->kind != TDL_PLAN_BIND_OPERAND || b->kind != TDL_PLAN_BIND_OPERAND ||
        (!a->write && !b->write) || o->external != r->external)
        return false;
    return o->external ? o == r
                       : o->offset < r->offset + r->size && r->offset < o->offset + o->size;
}

/* How many levels there are. */
static uint32_t check_levels(const struct tdl_plan *plan)
{
    for (uint32_t i = 0; i < plan->step_count; i++)
        for (uint32_t k = i; k-- > 0 && plan->steps[k].level == plan->steps[i].level;)
            for (uint32_t j = 0; j < TDL_MAX_BINDS * TDL_MAX_BINDS; j++)
                CHECK(!touch(&plan->steps[i].binds[j / TDL_MAX_BINDS],
                             &plan->steps[k].binds[j % TDL_MAX_BINDS]),
                      "steps %u and %u of level %u touch the same bytes", k, i,
                      plan->steps[i].level);
    for (uint32_t i = 1; i < plan->step_count; i++)
        CHECK(plan->steps[i].level == plan->steps[i - 1].level ||
                  plan->steps[i].level == plan->steps[i - 1].level + 1,
              "step %u has level %u behind level %u", i, plan->steps[i].level,
              plan->steps[i - 1].level);
    return plan->step_count ? plan->steps[plan->step_count - 1].level + 1 : 0;
}

static void check_steps(const struct tdl_plan *plan)
{
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct tdl_plan_step *s = &plan->steps[i];
        CHECK(s->groups[0] && s->groups[1] && s->groups[2], "step %u (%s) has no work", i,
              s->kernel->name);
        CHECK(s->spec_count <= TDL_MAX_SPEC, "step %u (%s) has too many constants", i,
              s->kernel->name);
        CHECK(s->spec[0] * s->spec[1] * s->spec[2] <= plan->device->max_workgroup_invocations,
              "step %u (%s): a workgroup of %ux%ux%u", i, s->kernel->name, s->spec[0], s->spec[1],
              s->spec[2]);
        for (uint32_t j = 0; j < TDL_MAX_BINDS; j++)
            if (s->binds[j].kind == TDL_PLAN_BIND_WEIGHTS)
                CHECK(s->binds[j].offset % 256 == 0 &&
                          s->binds[j].offset + s->binds[j].size <=
                              plan->weight_count * sizeof(float),
                      "step %u (%s): weights outside", i, s->kernel->name);
    }
}

static void check_random_plans(uint64_t first, long count)
{
    for (uint64_t seed = first; seed < first + (uint64_t)count; seed++) {
        struct tdl_builder *b;
        OK(check_builder(NULL, &b));
        random_graph(b, seed);
        REQUIRE(tdl_builder_status(b) == TDL_OK, "%s", tdl_builder_error(b));
        for (int variant = 0; variant < 4; variant++) {
            struct tdl_plan plan;
            struct tdl_device_info device = device_of(variant & 2);
            check_begin("plan: seed %llu, variant %d", (unsigned long long)seed, variant);
            plan_open(&plan, b, &device, variant != 0, variant & 1 ? TDL_FLOAT16 : TDL_FLOAT32);
            check_arena(&plan);
            check_levels(&plan);
            check_steps(&plan);
            tdl_plan_finish(&plan);
        }
        tdl_builder_destroy(&b);
    }
}

/* Fused with the list of readers and without it, a graph is the same. */
static void check_index(uint64_t first, long count)
{
    for (uint64_t seed = first; seed < first + (uint64_t)count; seed++) {
        struct tdl_ir *irs[2];
        struct tdl_builder *b;
        check_begin("index: seed %llu", (unsigned long long)seed);
        OK(check_builder(NULL, &b));
        random_graph(b, seed);
        for (int i = 0; i < 2; i++) {
            irs[i] = tdl_ir_clone(tdl_builder_ir(b));
            REQUIRE(irs[i], "out of memory");
            irs[i]->no_index = i;
            irs[i]->watch_index = true;
            OK(tdl_pass_fold(irs[i]));
            OK(tdl_pass_labels(irs[i]));
            OK(tdl_pass_fuse(irs[i], true));
            CHECK(!irs[i]->unlisted, "%u reads are not listed", irs[i]->unlisted);
        }
        REQUIRE(irs[0]->node_count == irs[1]->node_count, "%u nodes, and %u without the index",
                irs[0]->node_count, irs[1]->node_count);
        for (uint32_t i = 0; i < irs[0]->node_count; i++) {
            const struct tdl_node *n = irs[0]->nodes[i], *m = irs[1]->nodes[i];
            bool same = n->op == m->op && !memcmp(&n->attr, &m->attr, sizeof(n->attr)) &&
                        n->output->id == m->output->id && n->input_count == m->input_count;
            for (uint32_t j = 0; j < n->input_count && same; j++)
                same = !n->inputs[j] == !m->inputs[j] &&
                       (!n->inputs[j] || n->inputs[j]->id == m->inputs[j]->id);
            CHECK(same, "node %u: %s and %s", i, n->label, m->label);
        }
        tdl_ir_destroy(&irs[0]);
        tdl_ir_destroy(&irs[1]);
        tdl_builder_destroy(&b);
    }
}

/* More values than are looked at in pairs, of many sizes, that live shortly or
 * long: one below the other all the same, and in not much more than the most
 * that live at once. */
static void check_many_values(void)
{
    enum { OPERATORS = 6000, LANES = 12 };
    struct rng rng = {11};
    struct tdl_operand *lanes[LANES], *kept[LANES];
    struct tdl_device_info device = device_of(false);
    struct tdl_builder *b;
    struct tdl_plan plan;
    uint64_t most = 0;
    check_begin("plan: %d operators", OPERATORS);
    OK(check_builder(NULL, &b));
    for (uint32_t i = 0; i < LANES; i++) {
        char name[8];
        snprintf(name, sizeof(name), "in%u", i);
        lanes[i] = kept[i] = subject_input(b, name, SUBJECT_SHAPE(TDL_FLOAT32, 1 + 97 * i));
    }
    for (int i = 0; i < OPERATORS; i++) {
        uint32_t lane = rng_below(&rng, LANES);
        lanes[lane] = tdl_builder_add(b, lanes[lane], kept[lane]);
        if (rng_one_in(&rng, 50))
            kept[lane] = lanes[lane];
    }
    for (uint32_t i = 0; i < LANES; i++)
        subject_output(b, lanes[i]);
    plan_open(&plan, b, &device, false, TDL_FLOAT32);
    check_arena(&plan);
    uint64_t *living = calloc(plan.step_count + 1, sizeof(*living));
    REQUIRE(living && plan.step_count >= OPERATORS, "%u steps", plan.step_count);
    for (uint32_t i = 0; i < plan.ir->operand_count; i++) {
        const struct tdl_operand *o = plan.ir->operands[i];
        for (uint32_t k = o->first_step; !o->external && k <= o->last_step && k < plan.step_count;
             k++)
            most = TDL_MAX(most, living[k] += TDL_ALIGN(o->size, 256));
    }
    CHECK(plan.arena_size >= most - 256 && plan.arena_size <= 2 * most,
          "an arena of %llu bytes for %llu that live at once", (unsigned long long)plan.arena_size,
          (unsigned long long)most);
    free(living);
    tdl_plan_finish(&plan);
    tdl_builder_destroy(&b);
}

/* Number of dispatches that move data after a split and joins of 4 x 8 pixels: one for each value
 * that is neither written in its final place nor read in place. */
static O slice_channels(S s, O x, uint32_t start, uint32_t count)
{
    return tdl_builder_slice(s->b, x, &(struct tdl_slice_params){.start = {0, 0, 0, start},
                                                                 .size = {0, 0, 0, count}});
}
static O join(S s, O x, O y)
{
    return tdl_builder_concat(s->b, (O[]){x, y}, 2, 3);
}
static O deep(S s, O x, uint32_t channels) { return sketch_conv(s, x, channels, 3, 1, 0); }
static O part_both(S s) { return deep(s, join(s, deep(s, s->x, 8), deep(s, s->x, 5)), 4); }
static O part_second_begins_inside(S s)
{
    return deep(s, join(s, deep(s, s->x, 5), deep(s, s->x, 8)), 4);
}
static O part_twice(S s)
{
    O x = deep(s, s->x, 8);
    return deep(s, join(s, x, x), 4);
}
static O part_of_two(S s)
{
    O x = deep(s, s->x, 8), y = deep(s, join(s, x, deep(s, x, 4)), 4);
    return deep(s, join(s, x, y), 4);
}
static O part_of_part(S s)
{
    O x = join(s, deep(s, s->x, 4), deep(s, s->x, 8));
    return deep(s, join(s, deep(s, s->x, 4), x), 4);
}
static O split_two(S s)
{
    O x = deep(s, s->x, 16), a = slice_channels(s, x, 0, 8), b = slice_channels(s, x, 8, 8);
    return sketch_add(s, deep(s, a, 4), deep(s, b, 4));
}
static O split_inside(S s)
{
    O x = deep(s, s->x, 16), a = slice_channels(s, x, 0, 6), b = slice_channels(s, x, 6, 10);
    return sketch_add(s, deep(s, a, 4), deep(s, b, 4));
}
static O split_of_split(S s)
{
    O x = slice_channels(s, deep(s, s->x, 16), 4, 12);
    return deep(s, slice_channels(s, x, 4, 8), 4);
}
static O split_of_input(S s) { return deep(s, slice_channels(s, s->x, 4, 4), 4); }
static O split_to_join(S s)
{
    O x = deep(s, s->x, 16), a = slice_channels(s, x, 0, 8), b = slice_channels(s, x, 8, 8);
    return deep(s, join(s, b, sketch_mul(s, a, b)), 4);
}

static void check_parts(void)
{
    static const struct {
        const char *name;
        O (*build)(S s);
        uint32_t moves;
    } rows[] = {
        {"both", part_both, 0},
        {"the second begins in a pack", part_second_begins_inside, 1},
        {"one twice", part_twice, 1},
        {"of two", part_of_two, 1},
        {"of a part", part_of_part, 0},
        {"a split", split_two, 0},
        {"a split in a pack", split_inside, 2},
        {"a split of a split", split_of_split, 0},
        {"a split of what is brought into packs", split_of_input, 0},
        {"a split that is joined", split_to_join, 1},
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        struct sketch s = {.rng = {i}};
        struct tdl_device_info device = device_of(false);
        struct tdl_plan plan;
        uint32_t moves = 0;
        check_begin("plan: parts: %s%s", rows[i / 2].name, i % 2 ? ", halves" : "");
        OK(check_builder(NULL, &s.b));
        s.x = sketch_input(&s, "x", 1, 4, 8, 8);
        sketch_output(&s, "result", rows[i / 2].build(&s));
        plan_open(&plan, s.b, &device, true, i % 2 ? TDL_FLOAT16 : TDL_FLOAT32);
        check_arena(&plan);
        for (uint32_t k = 0; k < plan.step_count; k++)
            moves += !strncmp(plan.steps[k].kernel->name, "move", 4) ||
                     !strncmp(plan.steps[k].kernel->name, "concat", 6);
        CHECK(moves == rows[i / 2].moves, "%u dispatches move something, %u were enough", moves,
              rows[i / 2].moves);
        tdl_plan_finish(&plan);
        tdl_builder_destroy(&s.b);
    }
}

static void check_person_model(const char *folder, const char *name, uint32_t max_steps)
{
    char path[1024];
    struct tdl_builder *b;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    OK(check_builder(NULL, &b));
    if (access(path, R_OK) != 0) {
        printf("skipped: %s is not there; the set-up fetches it\n", path);
        exit(EXIT_SKIP);
    }
    OK(tdl_model_load(b, path, NULL));
    for (int variant = 0; variant < 4; variant++) {
        struct tdl_plan plan;
        struct tdl_device_info device = device_of(variant & 2);
        bool fuse = variant & 1;
        check_begin("plan: %s%s%s", name, fuse ? ", fused" : "", variant & 2 ? ", on a GPU" : "");
        plan_open(&plan, b, &device, fuse, TDL_FLOAT32);
        check_arena(&plan);
        check_levels(&plan);
        check_steps(&plan);
        /* Fused bottlenecks leave fewer values to share the arena. */
        const uint64_t limit = plan.tensor_bytes / 4 * (variant == 3 ? 3 : 2);
        CHECK(plan.arena_size < limit, "an arena of %llu bytes for %llu of values",
              (unsigned long long)plan.arena_size, (unsigned long long)plan.tensor_bytes);
        CHECK(!fuse || plan.step_count <= max_steps, "%u steps; %u were enough once",
              plan.step_count, max_steps);
        tdl_plan_finish(&plan);
    }
    tdl_builder_destroy(&b);
}

static int check_person_models(void)
{
    const char *folder = getenv("TDL_TEST_MODELS");
    check_person_model(folder ? folder : "models", "selfie_segmentation.tflite", 50);
    check_person_model(folder ? folder : "models", "selfie_segmentation_landscape.tflite", 50);
    return check_result();
}

/* Packs of a constant lie among the weights: no step makes them when the graph runs. */
static void check_constants(enum tdl_dtype storage)
{
    const struct tdl_tensor_params desc = {.rank = 4, .shape = {1, 6, 6, 8}},
                                   one = {.rank = 1, .shape = {8}};
    static const float filter[8 * 8 * 9], mean[8];
    const struct tdl_device_info device = device_of(true);
    struct tdl_builder *b;
    struct tdl_plan plan;
    check_begin("a constant read in packs, %s", tdl_dtype_name(storage));
    OK(check_builder(NULL, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &desc);
    x = tdl_builder_sub(b, x, tdl_builder_constant(b, &one, mean, sizeof(mean)));
    x = tdl_builder_conv2d(
        b, x,
        tdl_builder_constant(
            b, &(struct tdl_tensor_params){.rank = 4, .shape = {8, 3, 3, 8}}, filter,
            sizeof(filter)),
        NULL);
    OK(tdl_builder_output(b, "y", x));
    plan_open(&plan, b, &device, true, storage);
    for (uint32_t i = 0; i < plan.step_count; i++)
        CHECK(!strstr(plan.steps[i].label, "constant"), "step %u: %s", i, plan.steps[i].label);
    CHECK(plan.step_count > 1, "%u steps", plan.step_count);
    tdl_plan_finish(&plan);
    tdl_builder_destroy(&b);
}

/* The choice of a recurrent gate between two values is one mixing step. */
static void check_join(void)
{
    const struct tdl_tensor_params desc = {.rank = 4, .shape = {1, 6, 6, 8}},
                                   shape = {.rank = 4, .shape = {8, 3, 3, 8}}, one = {.rank = 0};
    static float filters[4][8 * 8 * 9];
    const struct tdl_device_info device = device_of(true);
    struct tdl_operand *made[3];
    struct tdl_builder *b;
    struct tdl_plan plan;
    uint32_t eltwise = 0;
    check_begin("a gate between two");
    OK(check_builder(NULL, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &desc);
    for (int i = 0; i < 3; i++)
        made[i] = tdl_builder_conv2d(
            b, x, tdl_builder_constant(b, &shape, filters[i], sizeof(filters[i])), NULL);
    struct tdl_operand *rest = tdl_builder_sub(
        b, tdl_builder_constant(b, &one, &(float){1}, sizeof(float)), made[0]);
    x = tdl_builder_add(b, tdl_builder_mul(b, rest, made[1]), tdl_builder_mul(b, made[0], made[2]));
    x = tdl_builder_conv2d(
        b, x, tdl_builder_constant(b, &shape, filters[3], sizeof(filters[3])), NULL);
    OK(tdl_builder_output(b, "y", x));
    plan_open(&plan, b, &device, true, TDL_FLOAT32);
    for (uint32_t i = 0; i < plan.step_count; i++)
        eltwise += !strncmp(plan.steps[i].kernel->name, "eltwise", 7);
    CHECK(eltwise == 1, "%u steps", eltwise);
    tdl_plan_finish(&plan);
    tdl_builder_destroy(&b);
}

/* Give it matrix units, where the build has kernels for them. */
static bool open_matrices(struct tdl_device_info *device)
{
    if (!tdl_shaders_have_matrices()) {
        fprintf(stderr, "matrix units: not tried, as this build has no kernels for them\n");
        return false;
    }
    memcpy(device->cooperative_matrix, (uint32_t[]){16, 16, 16},
           sizeof(device->cooperative_matrix));
    device->vendor_id = 0x10de;
    device->max_buffer_bytes = 1 << 30;
    return true;
}

/* A recurrent gate behind a small picture that is resampled: on matrix units its convolutions
 * take in what is between them. */
static void check_gate(void)
{
    struct tdl_device_info device = device_of(true);
    struct sketch s = {.rng = {1}};
    struct tdl_plan plan;
    uint32_t between = 0, patches = 0;
    check_begin("a recurrent gate on matrix units");
    if (!open_matrices(&device))
        return;
    OK(check_builder(NULL, &s.b));
    const float one = 1;
    O h = subject_input(s.b, "h", SUBJECT_SHAPE(TDL_FLOAT32, 1, 36, 64, 16));
    O low = subject_input(s.b, "low", SUBJECT_SHAPE(TDL_FLOAT32, 1, 18, 32, 8));
    O src = subject_input(s.b, "src", SUBJECT_SHAPE(TDL_FLOAT32, 1, 36, 64, 3));
    O up = tdl_builder_resample2d(
        s.b, deep(&s, low, 8),
        &(struct tdl_resample2d_params){.mode = TDL_RESAMPLE_LINEAR, .size = {36, 64}});
    O y = deep(&s, join(&s, up, src), 16);
    O both = sketch_conv(&s, join(&s, y, h), 32, 3, 1, TDL_ACTIVATION_SIGMOID);
    O r = slice_channels(&s, both, 0, 16), z = slice_channels(&s, both, 16, 16);
    O made = sketch_conv(&s, join(&s, y, sketch_mul(&s, r, h)), 16, 3, 1, TDL_ACTIVATION_TANH);
    O rest = tdl_builder_sub(s.b, subject_constant(s.b, 0, NULL, &one), z);
    sketch_output(&s, "next",
                  sketch_add(&s, sketch_mul(&s, rest, h), sketch_mul(&s, z, made)));
    plan_open(&plan, s.b, &device, true, TDL_FLOAT16);
    check_arena(&plan);
    check_levels(&plan);
    for (uint32_t i = 0; i < plan.step_count; i++) {
        const char *kernel = plan.steps[i].kernel->name;
        patches += !strncmp(kernel, "conv2d_patch", 12);
        between += !strncmp(kernel, "eltwise", 7) || !strncmp(kernel, "move", 4) ||
                   !strncmp(kernel, "concat", 6) || !strncmp(kernel, "resample2d", 10);
    }
    CHECK(patches >= 3 && !between, "%u convolutions from patches, %u steps between", patches,
          between);
    tdl_plan_finish(&plan);
    tdl_builder_destroy(&s.b);
}

/* A constant beside a picture that is resampled: the convolution takes in the picture, and reads
 * the constant where weights are. */
static void check_low_beside_constant(void)
{
    static float values[36 * 64 * 8];
    struct tdl_device_info device = device_of(true);
    struct sketch s = {.rng = {1}};
    struct tdl_plan plan;
    uint32_t patches = 0, between = 0;
    check_begin("a constant beside what is resampled, on matrix units");
    if (!open_matrices(&device))
        return;
    OK(check_builder(NULL, &s.b));
    O low = subject_input(s.b, "low", SUBJECT_SHAPE(TDL_FLOAT32, 1, 18, 32, 8));
    O up = tdl_builder_resample2d(
        s.b, deep(&s, low, 8),
        &(struct tdl_resample2d_params){.mode = TDL_RESAMPLE_LINEAR, .size = {36, 64}});
    O fixed = subject_constant(s.b, 4, (uint32_t[]){1, 36, 64, 8}, values);
    sketch_output(&s, "y", deep(&s, deep(&s, join(&s, up, fixed), 16), 8));
    plan_open(&plan, s.b, &device, true, TDL_FLOAT16);
    check_arena(&plan);
    for (uint32_t i = 0; i < plan.step_count; i++) {
        const char *kernel = plan.steps[i].kernel->name;
        patches += !strncmp(kernel, "conv2d_patch", 12);
        between += !strncmp(kernel, "move", 4) || !strncmp(kernel, "resample2d", 10);
    }
    CHECK(patches && !between, "%u convolutions from patches, %u steps between", patches, between);
    tdl_plan_finish(&plan);
    tdl_builder_destroy(&s.b);
}

/* Two chains that need not wait for each other: where dispatches cost something by themselves,
 * there are as many levels as the longer one has steps. */
static void check_branches(bool gpu)
{
    const struct tdl_device_info device = device_of(gpu);
    struct sketch s = {.rng = {1}};
    struct tdl_plan plan;
    check_begin("two branches, %s", gpu ? "on a GPU" : "in software");
    OK(check_builder(NULL, &s.b));
    s.x = subject_input(s.b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 1, 4, 8, 4));
    O a = deep(&s, deep(&s, s.x, 8), 8), b = deep(&s, s.x, 8);
    for (int i = 0; i < 4; i++)
        b = deep(&s, b, 8);
    sketch_output(&s, "a", a);
    sketch_output(&s, "b", b);
    plan_open(&plan, s.b, &device, true, TDL_FLOAT32);
    check_arena(&plan);
    const uint32_t levels = check_levels(&plan), steps = plan.step_count;
    /* A repack of the input and one of each output beside the convolutions. */
    CHECK(steps == 10 && levels == (gpu ? 7 : 10), "%u steps of %u levels", steps, levels);
    tdl_plan_finish(&plan);
    tdl_builder_destroy(&s.b);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "models"))
        return check_person_models();
    const uint64_t seed = check_seed(argc, argv, 2);
    check_random_plans(seed, check_cases(argc, argv, 500));
    check_index(seed, check_cases(argc, argv, 500));
    check_many_values();
    check_parts();
    check_constants(TDL_FLOAT32);
    check_constants(TDL_FLOAT16);
    check_join();
    check_gate();
    check_low_beside_constant();
    check_branches(false);
    check_branches(true);
    return check_result();
}
