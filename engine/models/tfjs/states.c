/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inputs that are an output of the run before. Where the file leaves their shapes open they
 * are those of the outputs, which a trial tells: an import into a builder of its own, with
 * one element for each, as such models begin with a single zero.
 */
#include "tfjs.h"

#include <stdlib.h>
#include <string.h>

/* "r1i" and "r1o", "in_state" and "out_state": alike but for one word at an end. */
static bool is_pair(const char *input, const char *output)
{
    static const char *const words[][2] = {
        {"i", "o"}, {"in", "out"}, {"input", "output"}, {"prev", "next"}, {"previous", "next"}};
    const size_t a = strlen(input), b = strlen(output);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t from = strlen(words[i][0]), to = strlen(words[i][1]);

        if (a <= from || b <= to || a - from != b - to)
            continue;
        if (!strncmp(input, output, a - from) && !strcmp(input + a - from, words[i][0]) &&
            !strcmp(output + b - to, words[i][1]))
            return true;
        if (!strcmp(input + from, output + to) && !strncmp(input, words[i][0], from) &&
            !strncmp(output, words[i][1], to))
            return true;
    }
    return false;
}

static bool add_state(struct tfjs_import *im, const char *input, const char *output,
                      const char *reference)
{
    struct tfjs_state *more =
        realloc(im->states, (im->state_count + (size_t)1) * sizeof(*im->states));

    if (!more)
        return tdl_kit_fail_memory(&im->kit);
    im->states = more;
    im->states[im->state_count++] =
        (struct tfjs_state){.input = input, .output = output, .reference = reference};
    return true;
}

struct tfjs_state *tfjs_find_state(struct tfjs_import *im, const char *key)
{
    for (uint32_t i = 0; i < im->state_count; i++)
        if (!strcmp(im->states[i].input, key))
            return &im->states[i];
    return NULL;
}

static bool find_pairs(struct tfjs_import *im)
{
    json_t *inputs = json_object_get(im->signature, "inputs"), *in, *out;
    json_t *outputs = json_object_get(im->signature, "outputs");
    const char *key, *other;
    char name[TDL_KIT_NAME], other_name[TDL_KIT_NAME];

    /* More are refused anyway. */
    if (json_object_size(inputs) > TDL_MAX_INPUTS || json_object_size(outputs) > TDL_MAX_OUTPUTS)
        return true;
    json_object_foreach(inputs, key, in)
    {
        tfjs_copy_name(key, name);
        json_object_foreach(outputs, other, out)
        {
            const char *reference = json_string_value(json_object_get(out, "name"));

            tfjs_copy_name(other, other_name);
            if (!is_pair(name, other_name) || tfjs_find_state(im, key))
                continue;
            if (!add_state(im, key, other, reference ? reference : other))
                return false;
        }
    }
    return true;
}

/* The shapes of all outputs that are states, of those that could be had. */
static void read_outputs(struct tfjs_import *im)
{
    for (uint32_t i = 0; i < im->state_count; i++) {
        const struct tfjs_value *v =
            im->states[i].open ? tfjs_require(im, im->states[i].reference) : NULL;

        if (v && v->operand && !v->block[0]) {
            im->states[i].shape = *tdl_kit_desc(v->operand);
            im->states[i].known = true;
        }
    }
}

bool tfjs_try_states(struct tfjs_import *im)
{
    const struct tdl_kit kit = im->kit;
    struct tdl_builder *trial = NULL;
    bool open = false, any_rank = false;

    if (!find_pairs(im))
        return false;
    if (im->state_count == 0)
        return true;
    if (tdl_builder_create(NULL, &trial) != TDL_OK)
        return tdl_kit_fail_memory(&im->kit);
    im->kit.builder = im->builder = trial;
    im->trial = true;
    if (tfjs_add_inputs(im)) {
        for (uint32_t i = 0; i < im->state_count; i++) {
            open |= im->states[i].open;
            any_rank |= im->states[i].any_rank;
        }
        read_outputs(im);
    }
    im->trial = false;
    im->kit = kit;
    im->builder = kit.builder;
    tfjs_forget_values(im);
    /* One element each is a guess only for states without a rank. */
    if (tdl_builder_status(trial) != TDL_OK && (any_rank || !open))
        tdl_kit_fail(&im->kit, tdl_builder_status(trial), "%s", tdl_builder_error(trial));
    tdl_builder_destroy(&trial);
    return tdl_builder_status(im->builder) == TDL_OK;
}

bool tfjs_check_states(struct tfjs_import *im)
{
    for (uint32_t i = 0; i < im->state_count; i++) {
        const struct tfjs_state *s = &im->states[i];
        const struct tfjs_value *v = s->open ? tfjs_require(im, s->reference) : NULL;
        const struct tdl_tensor_params *p = v ? tdl_kit_desc(v->operand) : NULL;

        if (s->open && !v)
            return false;
        if (p && (p->rank != s->shape.rank ||
                  memcmp(p->shape, s->shape.shape, p->rank * sizeof(p->shape[0])) != 0))
            return tdl_kit_refuse(&im->kit,
                                  "the shape of the state '%.200s' does not follow from its output "
                                  "'%.200s': give its sizes by their names, '%.200s:0' and so on "
                                  "(tdl_model_params)",
                                  s->input, s->output, s->input);
    }
    return true;
}
