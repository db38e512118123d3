/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "case.h"

#define WORD "%63s"

static const char *const roles[] = {"input", "constant", "output"};

static void read_values(FILE *file, struct value *v)
{
    const size_t size = tdl_tensor_params_size(&v->desc);
    REQUIRE(getc(file) == '\n' && size, "%s: no line of a tensor", v->name);
    v->data = malloc(size);
    REQUIRE(v->data && fread(v->data, 1, size, file) == size, "%s: values are missing", v->name);
}

static void read_tensor(FILE *file, struct webnn_case *c)
{
    char role[NAME], type[NAME], metric[NAME];
    struct value *v = &c->values[c->value_count++];
    REQUIRE(c->value_count <= MOST_TENSORS, "%s: more than %d tensors", c->name, MOST_TENSORS);
    *v = (struct value){.desc.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    REQUIRE(fscanf(file, WORD WORD WORD "%u", v->name, role, type, &v->desc.rank) == 4 &&
                v->desc.rank <= TDL_MAX_RANK,
            "%s: no line of a tensor", c->name);
    for (uint32_t i = 0; i < v->desc.rank; i++)
        REQUIRE(fscanf(file, "%u", &v->desc.shape[i]) == 1, "%s: no size", c->name);
    REQUIRE(fscanf(file, WORD "%lf", metric, &v->tolerance) == 2, "%s: no tolerance", c->name);
    v->ulp = !strcmp(metric, "ULP");
    while (v->role < INNER && strcmp(roles[v->role], role))
        v->role++;
    while (v->desc.dtype <= TDL_UINT64 && strcmp(tdl_dtype_name(v->desc.dtype), type))
        v->desc.dtype++;
    REQUIRE(v->role < INNER && v->desc.dtype <= TDL_UINT64, "%s: %s %s", c->name, role, type);
    read_values(file, v);
}

static void read_argument(FILE *file, struct webnn_case *c, const char *kind)
{
    struct call *call = &c->calls[c->call_count - 1];
    struct argument *a = &call->arguments[call->count++];
    REQUIRE(call->count <= MOST_ARGUMENTS && fscanf(file, WORD, a->key) == 1,
            "%s: more arguments than %d", c->name, MOST_ARGUMENTS);
    if (!strcmp(kind, "text")) {
        REQUIRE(fscanf(file, WORD, a->text) == 1, "%s: no text", c->name);
        return;
    }
    REQUIRE(fscanf(file, "%u", &a->count) == 1 && a->count <= MOST_VALUES, "%s: no count", c->name);
    for (uint32_t i = 0; i < a->count; i++)
        REQUIRE((*kind == 'o' ? fscanf(file, WORD, a->names[i])
                              : fscanf(file, "%lf", &a->numbers[i])) == 1,
                "%s: no argument", c->name);
}

bool case_read(FILE *file, struct webnn_case *c)
{
    char word[NAME];
    *c = (struct webnn_case){0};
    if (fscanf(file, WORD, word) != 1)
        return false;
    REQUIRE(!strcmp(word, "case") && fscanf(file, " %255[^\n]", c->name) == 1, "no case: %s", word);
    while (fscanf(file, WORD, word) == 1 && strcmp(word, "end"))
        if (!strcmp(word, "refused"))
            REQUIRE(fscanf(file, " %255[^\n]", c->refused) == 1, "%s: no text", c->name);
        else if (!strcmp(word, "tensor"))
            read_tensor(file, c);
        else if (strcmp(word, "call"))
            read_argument(file, c, word);
        else
            REQUIRE(c->call_count < COUNT(c->calls) &&
                        fscanf(file, WORD, c->calls[c->call_count++].name) == 1,
                    "%s: more calls than %zu", c->name, COUNT(c->calls));
    return true;
}

void case_free(struct webnn_case *c)
{
    for (uint32_t i = 0; i < c->value_count; i++)
        free(c->values[i].data);
}

struct value *case_value(struct webnn_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->value_count; i++)
        if (!strcmp(c->values[i].name, name))
            return &c->values[i];
    return NULL;
}

const struct argument *call_argument(const struct call *call, const char *key)
{
    for (uint32_t i = 0; i < call->count; i++)
        if (!strcmp(call->arguments[i].key, key))
            return &call->arguments[i];
    return NULL;
}

O call_operand(struct webnn_case *c, const struct call *call, const char *key, uint32_t i)
{
    const struct argument *a = call_argument(call, key);
    const struct value *v = a && i < a->count ? case_value(c, a->names[i]) : NULL;
    return v ? v->operand : NULL;
}

double call_number(const struct call *call, const char *key, uint32_t i, double otherwise)
{
    const struct argument *a = call_argument(call, key);
    return a && i < a->count ? a->numbers[i] : otherwise;
}

bool call_is(const struct call *call, const char *key, const char *text)
{
    const struct argument *a = call_argument(call, key);
    return a && !strcmp(a->text, text);
}
