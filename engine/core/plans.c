/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plans.h"

#include "clock.h"
#include "graph.h"
#include "ir/builder.h"
#include "tensor.h"
#include "thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Plans that a graph keeps where nobody says how many, and never less: the first stays. */
enum { USUAL_PLANS = 4, LEAST_PLANS = 2 };

/* A plan beside the first. In the list under the lock; what is READY and without users may go. */
struct entry {
    struct entry *next;
    enum { MAKING, READY, FAILED } state;
    bool waits_for_thread; /* MAKING, and nobody is at it yet */
    struct tdl_graph *graph;
    uint32_t users;
    uint64_t last_used;
    enum tdl_result result; /* FAILED, in the background: for the next who asks */
    char why[1024];
    tdl_shapes shapes;
};

struct tdl_plans {
    struct tdl_graph *first;
    /* Plans are made by the function, or of a copy of the IR, whose constants the builder has. */
    struct tdl_remake *remake;
    struct tdl_ir *ir;
    struct tdl_builder *builder;
    struct tdl_dynamic_list dynamic; /* by the dimensions of tensors that are bound */
    struct tdl_build_params params;
    char *algorithm; /* copied: `params` point here */
    uint64_t guard;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct entry *entries;
    uint64_t uses;
    struct tdl_plan_stats stats; /* `plans` counts the first */
    pthread_t thread;            /* makes plans in the background, once one was wanted */
    bool running;
    atomic_bool ending;
};

static enum tdl_result out_of_memory(void)
{
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory for another size of a graph");
}

/* ---------------------------------------------------------------------- shapes */

/* Packs are bound with the channels last, wherever the model has them. */
static const uint32_t *order_of(const struct tdl_operand *o)
{
    static const uint32_t same[TDL_MAX_RANK] = {0, 1, 2, 3, 4, 5};
    static const uint32_t channels_last[TDL_MAX_RANK] = {0, 2, 3, 1};
    return o->bound.packing == TDL_PACKING_C4 && o->layout == TDL_LAYOUT_NCHW ? channels_last
                                                                              : same;
}

static void to_bound(const struct tdl_operand *o, const uint32_t *shape, uint32_t *out)
{
    for (uint32_t i = 0; i < o->bound.rank; i++)
        out[i] = shape[order_of(o)[i]];
}

static void from_bound(const struct tdl_operand *o, const uint32_t *bound, uint32_t *out)
{
    for (uint32_t i = 0; i < o->bound.rank; i++)
        out[order_of(o)[i]] = bound[i];
}

static void first_shapes(const struct tdl_graph *first, tdl_shapes out)
{
    const struct tdl_ir *ir = first->plan.ir;
    memset(out, 0, sizeof(tdl_shapes));
    for (uint32_t i = 0; i < ir->input_count; i++)
        memcpy(out[i], ir->inputs[i]->bound.shape, ir->inputs[i]->bound.rank * sizeof(out[i][0]));
}

static bool same_shapes(const struct tdl_graph *first, const tdl_shapes a, const tdl_shapes b)
{
    return !memcmp(a, b, first->plan.ir->input_count * sizeof(a[0]));
}

static bool is_first(const struct tdl_graph *first, const tdl_shapes shapes)
{
    tdl_shapes own;
    first_shapes(first, own);
    return same_shapes(first, own, shapes);
}

static const struct tdl_tensor *find_tensor(const struct tdl_binding *list, uint32_t count,
                                            const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].name && !strcmp(list[i].name, name))
            return list[i].tensor;
    return NULL;
}

/* False where the bindings are no sizes of this graph: then its own checks say what is wrong. */
static bool read_bindings(const struct tdl_graph *g, const struct tdl_binding *inputs,
                          uint32_t count, tdl_shapes out)
{
    const struct tdl_ir *ir = g->plan.ir;
    memset(out, 0, sizeof(tdl_shapes));
    for (uint32_t i = 0; inputs && i < ir->input_count; i++) {
        const struct tdl_tensor *t = find_tensor(inputs, count, ir->inputs[i]->name);
        const struct tdl_tensor_params *own = &ir->inputs[i]->bound;
        if (!t || t->params.rank != own->rank || t->params.dtype != own->dtype ||
            t->params.packing != own->packing)
            return false;
        memcpy(out[i], t->params.shape, own->rank * sizeof(out[i][0]));
    }
    return inputs && count == ir->input_count;
}

/* ---------------------------------------------------------------- making plans */

/* Operators to plan. */
struct source {
    struct tdl_builder *builder; /* NULL: the copy is resized */
    struct tdl_ir *copy, *ir;
};

static void source_finish(struct source *s)
{
    tdl_builder_destroy(&s->builder);
    tdl_ir_destroy(&s->copy);
}

static bool is_alike(struct tdl_operand *const *made, uint32_t made_count,
                     struct tdl_operand *const *first, uint32_t count)
{
    for (uint32_t i = 0; i < count && made_count == count; i++)
        if (strcmp(made[i]->name, first[i]->name) != 0 ||
            made[i]->desc.dtype != first[i]->bound.dtype ||
            made[i]->desc.rank != first[i]->bound.rank)
            return false;
    return made_count == count;
}

static enum tdl_result check_made(const struct tdl_plans *p, const struct tdl_ir *made,
                                  const struct tdl_input_size *sizes)
{
    const struct tdl_ir *first = p->first->plan.ir;
    if (!is_alike(made->inputs, made->input_count, first->inputs, first->input_count) ||
        !is_alike(made->outputs, made->output_count, first->outputs, first->output_count))
        return tdl_fail(TDL_ERROR_INVALID_STATE,
                        "what was made for another size has other inputs or outputs than the "
                        "graph: it has to have the same names, types and numbers of dimensions");
    for (uint32_t i = 0; i < made->input_count; i++)
        for (uint32_t k = 0; k < made->inputs[i]->desc.rank; k++)
            if (sizes[i].shape[k] && sizes[i].shape[k] != made->inputs[i]->desc.shape[k])
                return tdl_fail(TDL_ERROR_INVALID_STATE,
                                "what was made for another size has its input \"%.400s\" in a "
                                "size that was not asked for",
                                made->inputs[i]->name);
    return TDL_OK;
}

static enum tdl_result remake(struct tdl_plans *p, const struct tdl_input_size *sizes,
                              uint32_t count, struct source *out)
{
    enum tdl_result r;
    TRY(tdl_builder_create(p->first->ctx, &out->builder));
    r = p->remake->function(p->remake->data, out->builder, sizes, count);
    if (out->builder->status != TDL_OK)
        r = tdl_fail(out->builder->status, "%s", out->builder->error);
    TRY(r);
    out->ir = out->builder->ir;
    TRY(check_made(p, out->ir, sizes));
fail:
    return r;
}

/* The operators at these sizes, inferred and not yet planned. */
static enum tdl_result source_open(struct tdl_plans *p, const tdl_shapes shapes, struct source *out)
{
    const struct tdl_ir *first = p->first->plan.ir;
    struct tdl_input_size sizes[TDL_MAX_INPUTS] = {{0}};
    *out = (struct source){0};
    for (uint32_t i = 0; i < first->input_count; i++) {
        sizes[i].name = first->inputs[i]->name;
        from_bound(first->inputs[i], shapes[i], sizes[i].shape);
    }
    if (p->remake)
        return remake(p, sizes, first->input_count, out);
    out->ir = out->copy = tdl_ir_clone(p->ir);
    return out->ir ? tdl_ir_resize(out->ir, sizes, first->input_count) : out_of_memory();
}

static enum tdl_result make(struct tdl_plans *p, const tdl_shapes shapes,
                            const struct tdl_compile_params *compile, struct tdl_graph **out)
{
    struct tdl_build_params params = p->params;
    struct source source;
    params.compile = compile ? *compile : (struct tdl_compile_params){0};
    *out = NULL;
    enum tdl_result r = source_open(p, shapes, &source);
    if (r == TDL_OK)
        r = tdl_graph_build(p->first->ctx, source.ir, &params, p->guard, out);
    source_finish(&source);
    return r;
}

/* ---------------------------------------------------------------- the list; with the lock */

static struct entry *find(const struct tdl_plans *p, const tdl_shapes shapes)
{
    for (struct entry *e = p->entries; e; e = e->next)
        if (same_shapes(p->first, e->shapes, shapes))
            return e;
    return NULL;
}

static struct entry *add(struct tdl_plans *p, const tdl_shapes shapes)
{
    struct entry *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    memcpy(e->shapes, shapes, sizeof(e->shapes));
    e->next = p->entries;
    p->entries = e;
    return e;
}

static void take_out(struct tdl_plans *p, struct entry *e)
{
    struct entry **at = &p->entries;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
}

/* Into `gone` what there is no room for; `kept` stays. */
static void make_room(struct tdl_plans *p, const struct entry *kept, struct entry **gone)
{
    while (p->stats.plans > p->stats.max_plans) {
        struct entry *oldest = NULL;
        for (struct entry *e = p->entries; e; e = e->next)
            if (e != kept && e->state == READY && !e->users &&
                (!oldest || e->last_used < oldest->last_used))
                oldest = e;
        if (!oldest)
            return;
        take_out(p, oldest);
        oldest->next = *gone;
        *gone = oldest;
        p->stats.plans--;
        p->stats.dropped++;
    }
}

/* Without the lock: what is queued of a graph holds what it needs. */
static void free_all(struct entry *e)
{
    for (struct entry *next; e; e = next) {
        next = e->next;
        if (e->graph)
            tdl_graph_finish(e->graph);
        free(e);
    }
}

/* The end of MAKING. `told`: somebody is there to whom an error is returned. */
static void settle(struct tdl_plans *p, struct entry *e, enum tdl_result r, struct tdl_graph *graph,
                   uint64_t ns, bool told)
{
    e->state = r == TDL_OK ? READY : FAILED;
    e->graph = graph;
    e->result = r;
    e->last_used = ++p->uses;
    if (r == TDL_OK) {
        p->stats.plans++;
        p->stats.made++;
        p->stats.made_ns = ns;
    } else {
        p->stats.failed++;
        snprintf(e->why, sizeof(e->why), "%s", tdl_last_error());
        if (told) {
            take_out(p, e);
            free(e);
        }
    }
    pthread_cond_broadcast(&p->changed);
}

/* ------------------------------------------------------------ in the background */

static bool goes_on(void *data, uint32_t done, uint32_t total)
{
    (void)done;
    (void)total;
    return !atomic_load(&((struct tdl_plans *)data)->ending);
}

static struct entry *find_waiting(const struct tdl_plans *p)
{
    for (struct entry *e = p->entries; e; e = e->next)
        if (e->waits_for_thread)
            return e;
    return NULL;
}

static void *make_plans(void *data)
{
    struct tdl_plans *p = data;
    const struct tdl_compile_params compile = {
        .threads = p->params.compile.threads, .progress = goes_on, .progress_data = p};
    pthread_mutex_lock(&p->lock);
    while (!atomic_load(&p->ending)) {
        struct entry *e = find_waiting(p), *gone = NULL;
        struct tdl_graph *graph;
        if (!e) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        e->waits_for_thread = false;
        pthread_mutex_unlock(&p->lock);
        const uint64_t start = tdl_clock_ns();
        const enum tdl_result r = make(p, e->shapes, &compile, &graph);
        const uint64_t ns = tdl_clock_ns() - start;
        pthread_mutex_lock(&p->lock);
        settle(p, e, r, graph, ns, false);
        make_room(p, e, &gone);
        pthread_mutex_unlock(&p->lock);
        free_all(gone);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* With the lock. */
static enum tdl_result have_made(struct tdl_plans *p, const tdl_shapes shapes)
{
    if (!p->running && tdl_thread_start(&p->thread, "tdl-plans", make_plans, p) != 0)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "there is no thread to make another size of a "
                                                 "graph on");
    p->running = true;
    struct entry *e = add(p, shapes);
    if (!e)
        return out_of_memory();
    e->waits_for_thread = true;
    pthread_cond_broadcast(&p->changed);
    return TDL_OK;
}

static enum tdl_result fail_busy(void)
{
    return tdl_fail(TDL_ERROR_BUSY, "the plan for these sizes is being made in the background: "
                                    "dispatch again later, or wait by tdl_graph_prepare()");
}

/* --------------------------------------------------------------------- finding */

/* Makes the plan of an entry that is new. Called with the lock, which it lets go meanwhile. */
static enum tdl_result make_here(struct tdl_plans *p, struct entry *e,
                                 const struct tdl_compile_params *compile)
{
    struct tdl_graph *graph;
    pthread_mutex_unlock(&p->lock);
    const uint64_t start = tdl_clock_ns();
    const enum tdl_result r = make(p, e->shapes, compile, &graph);
    const uint64_t ns = tdl_clock_ns() - start;
    pthread_mutex_lock(&p->lock);
    settle(p, e, r, graph, ns, true);
    return r;
}

/* An entry that is READY. Called with the lock. */
static enum tdl_result need(struct tdl_plans *p, const tdl_shapes shapes, bool may_wait,
                            const struct tdl_compile_params *compile, struct entry **out)
{
    for (;;) {
        struct entry *e = *out = find(p, shapes);
        enum tdl_result r;
        if (e && e->state == READY)
            return TDL_OK;
        if (e && e->state == FAILED) {
            r = tdl_fail(e->result, "%s", e->why);
            take_out(p, e);
            free(e);
            return r;
        }
        if (!may_wait) {
            r = e ? TDL_OK : have_made(p, shapes);
            return r == TDL_OK ? fail_busy() : r;
        }
        if (e) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        e = add(p, shapes);
        r = e ? make_here(p, e, compile) : out_of_memory();
        if (r != TDL_OK)
            return r;
    }
}

/* The plan, with a user more. */
static enum tdl_result take(struct tdl_plans *p, const tdl_shapes shapes, bool may_wait,
                            const struct tdl_compile_params *compile, struct tdl_graph **out)
{
    struct entry *e, *gone = NULL;
    enum tdl_result r = tdl_dynamic_check(&p->dynamic, p->first->plan.ir, shapes);
    if (r != TDL_OK)
        return r;
    pthread_mutex_lock(&p->lock);
    r = need(p, shapes, may_wait, compile, &e);
    if (r == TDL_OK) {
        e->users++;
        e->last_used = ++p->uses;
        *out = e->graph;
        make_room(p, e, &gone);
    }
    pthread_mutex_unlock(&p->lock);
    free_all(gone);
    return r;
}

enum tdl_result tdl_plans_take(struct tdl_graph *g, const struct tdl_binding *inputs,
                               uint32_t count, struct tdl_graph **out_plan)
{
    struct tdl_plans *p = g->plans;
    tdl_shapes shapes;
    *out_plan = g;
    if (!p || !read_bindings(g, inputs, count, shapes) || is_first(g, shapes))
        return TDL_OK;
    const enum tdl_result r = tdl_context_check(g->ctx);
    return r == TDL_OK ? take(p, shapes, !p->params.plans_in_background, NULL, out_plan) : r;
}

void tdl_plans_give_back(struct tdl_graph *g, struct tdl_graph *plan)
{
    struct tdl_plans *p = g->plans;
    struct entry *gone = NULL;
    if (!p || plan == g)
        return;
    pthread_mutex_lock(&p->lock);
    for (struct entry *e = p->entries; e; e = e->next)
        if (e->graph == plan)
            e->users--;
    make_room(p, NULL, &gone);
    pthread_mutex_unlock(&p->lock);
    free_all(gone);
}

/* ------------------------------------------------------------- making the list */

/* An operator whose options were made for one size is found at another. All other errors may be
 * that size's. */
static enum tdl_result try_resize(const struct tdl_builder *b)
{
    struct tdl_input_size sizes[TDL_MAX_INPUTS] = {{0}};
    struct tdl_ir *ir = tdl_ir_clone(b->ir);
    if (!ir)
        return out_of_memory();
    for (uint32_t i = 0; i < ir->input_count; i++) {
        sizes[i].name = ir->inputs[i]->name;
        memcpy(sizes[i].shape, ir->inputs[i]->desc.shape, sizeof(sizes[i].shape));
    }
    for (uint32_t i = 0; i < b->dynamic.count; i++) {
        const struct tdl_dynamic *d = &b->dynamic.list[i];
        uint32_t *size = &sizes[d->input].shape[d->dimension];
        const uint32_t twice = *size < INT32_MAX / 2 ? 2 * *size : *size;
        *size = twice <= d->range.max ? twice : *size < d->range.max ? d->range.max : d->range.min;
    }
    const enum tdl_result r = tdl_ir_resize(ir, sizes, ir->input_count);
    tdl_ir_destroy(&ir);
    return r == TDL_ERROR_UNSUPPORTED || r == TDL_ERROR_OUT_OF_MEMORY ? r : TDL_OK;
}

enum tdl_result tdl_plans_check(const struct tdl_builder *b)
{
    if (b->remake && b->remake_nodes != b->ir->node_count)
        return tdl_fail(
            TDL_ERROR_INVALID_STATE,
            "tdl_builder_build: operators were added behind what makes the graph for "
            "other sizes: give tdl_builder_set_remake() a function that adds them, too");
    if (b->remake && b->stacked)
        return tdl_fail(
            TDL_ERROR_UNSUPPORTED,
            "tdl_builder_build: a stack of pictures of a model file has no dynamic "
            "dimensions: make their number one of them, or read the model at each size");
    if (!b->remake && b->sizes_fixed)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "tdl_builder_build: what the builder holds was computed from the sizes of "
                        "its inputs, which then are not dynamic: have the model read so "
                        "(tdl_model_more.dynamic), or call tdl_builder_set_remake()");
    return b->remake ? TDL_OK : try_resize(b);
}

/* The builder's dimensions, as tensors that are bound have them. */
static bool read_dynamic(struct tdl_plans *p, const struct tdl_dynamic_list *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        struct tdl_dynamic d = from->list[i];
        const uint32_t *order = order_of(p->first->plan.ir->inputs[d.input]);
        for (uint32_t k = 0; k < TDL_MAX_RANK; k++)
            if (order[k] == from->list[i].dimension &&
                k < p->first->plan.ir->inputs[d.input]->bound.rank)
                d.dimension = k;
        if (!tdl_dynamic_add(&p->dynamic, "", &d))
            return false;
    }
    return true;
}

static enum tdl_result keep_source(struct tdl_plans *p, struct tdl_builder *b)
{
    if (p->params.conv2d_algorithm) {
        p->params.conv2d_algorithm = p->algorithm = strdup(p->params.conv2d_algorithm);
        if (!p->algorithm)
            return out_of_memory();
    }
    p->remake = tdl_remake_ref(b->remake);
    if (p->remake)
        return TDL_OK;
    p->ir = tdl_ir_clone(b->ir);
    if (!p->ir)
        return out_of_memory();
    atomic_fetch_add(&b->refs, 1);
    p->builder = b;
    return TDL_OK;
}

enum tdl_result tdl_plans_create(struct tdl_graph *first, struct tdl_builder *b,
                                 const struct tdl_build_params *params, uint64_t guard,
                                 struct tdl_plans **out_plans)
{
    struct tdl_plans *p = *out_plans = calloc(1, sizeof(*p));
    tdl_shapes shapes;
    enum tdl_result r;
    if (!p)
        return out_of_memory();
    p->first = first;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->params = params ? *params : (struct tdl_build_params){0};
    p->params.defer_compile = false;
    p->guard = guard;
    p->stats = (struct tdl_plan_stats){
        .plans = 1,
        .made = 1,
        .max_plans =
            (uint32_t)TDL_MIN(p->params.max_plans ? p->params.max_plans : USUAL_PLANS, UINT32_MAX)};
    TRY(keep_source(p, b));
    if (!read_dynamic(p, &b->dynamic))
        return out_of_memory();
    first_shapes(first, shapes);
    TRY(tdl_dynamic_check(&p->dynamic, first->plan.ir, shapes));
fail:
    return r;
}

void tdl_plans_destroy(struct tdl_plans **plans)
{
    struct tdl_plans *p = tdl_take(plans);
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->ending, true);
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (p->running)
        pthread_join(p->thread, NULL);
    free_all(p->entries);
    tdl_dynamic_finish(&p->dynamic);
    tdl_remake_release(p->remake);
    tdl_ir_destroy(&p->ir);
    tdl_builder_destroy(&p->builder);
    free(p->algorithm);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ------------------------------------------------------------------ for callers */

const struct tdl_dynamic_dimension *tdl_graph_input_dimension(const struct tdl_graph *g,
                                                              uint32_t index, uint32_t dimension)
{
    const struct tdl_dynamic *d =
        g && g->plans ? tdl_dynamic_find(&g->plans->dynamic, index, dimension) : NULL;
    return d ? &d->range : NULL;
}

/* The bits of inputs that are named, and all shapes: of others the first plan's. */
static enum tdl_result read_named(const struct tdl_graph *g, const struct tdl_input_size *sizes,
                                  uint32_t count, tdl_shapes out, uint64_t *out_named)
{
    const struct tdl_ir *ir = g->plan.ir;
    *out_named = 0;
    first_shapes(g, out);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < ir->input_count &&
               (!sizes[i].name || strcmp(sizes[i].name, ir->inputs[k]->name) != 0))
            k++;
        if (k == ir->input_count)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the graph has no input \"%.400s\"",
                            sizes[i].name ? sizes[i].name : "");
        memcpy(out[k], sizes[i].shape, ir->inputs[k]->bound.rank * sizeof(out[k][0]));
        *out_named |= UINT64_C(1) << k;
    }
    return TDL_OK;
}

/* Sizes that no name gives may follow from the others, as those of states in some files: what
 * makes the plan is asked, with 0 in their place. Where it does not know they are the first's. */
static void ask_others(struct tdl_plans *p, uint64_t named, tdl_shapes shapes)
{
    const struct tdl_ir *ir = p->first->plan.ir;
    tdl_shapes asked, first;
    struct source source;
    bool open = false;
    first_shapes(p->first, first);
    memcpy(asked, shapes, sizeof(asked));
    for (uint32_t i = 0; i < p->dynamic.count; i++) {
        const struct tdl_dynamic *d = &p->dynamic.list[i];
        uint32_t *size = &asked[d->input][d->dimension];
        if (named >> d->input & 1 || *size != first[d->input][d->dimension])
            continue;
        *size = 0;
        open = true;
    }
    if (!open)
        return;
    if (source_open(p, asked, &source) == TDL_OK)
        for (uint32_t i = 0; i < ir->input_count; i++)
            to_bound(ir->inputs[i], source.ir->inputs[i]->desc.shape, shapes[i]);
    source_finish(&source);
}

static enum tdl_result read_sizes(const struct tdl_graph *g, const struct tdl_input_size *sizes,
                                  uint32_t count, tdl_shapes out)
{
    static const struct tdl_dynamic_list none;
    struct tdl_plans *p = g->plans;
    uint64_t named;
    enum tdl_result r = read_named(g, sizes, count, out, &named);
    if (r == TDL_OK && p)
        tdl_dynamic_spread(&p->dynamic, named, out);
    if (r == TDL_OK)
        r = tdl_dynamic_check(p ? &p->dynamic : &none, g->plan.ir, out);
    if (r != TDL_OK || !p || !p->remake || is_first(g, out))
        return r;
    ask_others(p, named, out);
    return tdl_dynamic_check(&p->dynamic, g->plan.ir, out);
}

/* Every function below begins so: with its sizes, checked. */
static enum tdl_result begin(struct tdl_graph *g, const struct tdl_input_size *sizes,
                             uint32_t count, tdl_shapes out)
{
    if (count)
        TDL_NEED(sizes, "sizes");
    for (uint32_t i = 0; i < count; i++)
        TDL_NEED_KNOWN(&sizes[i]);
    const enum tdl_result r = tdl_context_check(g->ctx);
    return r == TDL_OK ? read_sizes(g, sizes, count, out) : r;
}

enum tdl_result tdl_graph_compute_inputs(struct tdl_graph *g, const struct tdl_input_size *sizes,
                                         uint32_t count, struct tdl_tensor_params *out_inputs,
                                         uint32_t input_count)
{
    TDL_NEED(g, "graph");
    TDL_NEED(out_inputs, "out_inputs");
    const struct tdl_ir *ir = g->plan.ir;
    tdl_shapes shapes;
    if (input_count != ir->input_count)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the graph has %u inputs; there is room for %u",
                        ir->input_count, input_count);
    const enum tdl_result r = begin(g, sizes, count, shapes);
    for (uint32_t i = 0; i < ir->input_count && r == TDL_OK; i++) {
        out_inputs[i] = ir->inputs[i]->bound;
        memcpy(out_inputs[i].shape, shapes[i], sizeof(shapes[i]));
    }
    return tdl_logged(g->ctx, r);
}

static void copy_outputs(const struct tdl_graph *plan, struct tdl_tensor_params *out)
{
    for (uint32_t i = 0; i < plan->plan.ir->output_count; i++)
        out[i] = plan->plan.ir->outputs[i]->bound;
}

static enum tdl_result infer_outputs(struct tdl_plans *p, const tdl_shapes shapes,
                                     struct tdl_tensor_params *out)
{
    const struct tdl_ir *first = p->first->plan.ir;
    struct source source;
    const enum tdl_result r = source_open(p, shapes, &source);
    for (uint32_t i = 0; i < first->output_count && r == TDL_OK; i++) {
        out[i] = first->outputs[i]->bound;
        to_bound(first->outputs[i], source.ir->outputs[i]->desc.shape, out[i].shape);
    }
    source_finish(&source);
    return r;
}

enum tdl_result tdl_graph_compute_shapes(struct tdl_graph *g, const struct tdl_input_size *sizes,
                                         uint32_t count, struct tdl_tensor_params *out_outputs,
                                         uint32_t output_count)
{
    TDL_NEED(g, "graph");
    TDL_NEED(out_outputs, "out_outputs");
    bool known;
    tdl_shapes shapes;
    if (output_count != g->plan.ir->output_count)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "the graph has %u outputs; there is room for %u", g->plan.ir->output_count,
                        output_count);
    const enum tdl_result r = begin(g, sizes, count, shapes);
    if (r != TDL_OK)
        return tdl_logged(g->ctx, r);
    if (is_first(g, shapes)) {
        copy_outputs(g, out_outputs);
        return TDL_OK;
    }
    pthread_mutex_lock(&g->plans->lock);
    const struct entry *e = find(g->plans, shapes);
    known = e && e->state == READY;
    if (known)
        copy_outputs(e->graph, out_outputs);
    pthread_mutex_unlock(&g->plans->lock);
    return known ? TDL_OK : tdl_logged(g->ctx, infer_outputs(g->plans, shapes, out_outputs));
}

enum tdl_result tdl_graph_prepare(struct tdl_graph *g, const struct tdl_input_size *sizes,
                                  uint32_t count, const struct tdl_compile_params *params)
{
    TDL_NEED_KNOWN(params);
    TDL_NEED(g, "graph");
    struct tdl_graph *plan = NULL;
    tdl_shapes shapes;
    enum tdl_result r = begin(g, sizes, count, shapes);
    if (r == TDL_OK && is_first(g, shapes))
        r = tdl_graph_compile(g, params);
    else if (r == TDL_OK)
        r = take(g->plans, shapes, true, params, &plan);
    if (plan)
        tdl_plans_give_back(g, plan);
    return tdl_logged(g->ctx, r);
}

void tdl_graph_get_plan_stats(struct tdl_graph *g, struct tdl_plan_stats *out)
{
    if (!out)
        return;
    *out = (struct tdl_plan_stats){.plans = g != NULL, .max_plans = g != NULL, .made = g != NULL};
    if (!g || !g->plans)
        return;
    pthread_mutex_lock(&g->plans->lock);
    *out = g->plans->stats;
    pthread_mutex_unlock(&g->plans->lock);
}
