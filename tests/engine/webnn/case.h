/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A case of WebNN's operators as cases.py writes it: tensors with their values, calls of the
 * graph builder with named arguments, and what has to come out. Text, a line each, but for
 * values, which stand behind their tensor's line as they lie in memory:
 *
 *     case NAME
 *     refused TEXT                                    (nothing else is known to libtdl)
 *     tensor NAME input|constant|output TYPE RANK SIZE... ULP|ATOL TOLERANCE
 *     call OPERATOR
 *     operands KEY COUNT NAME...
 *     numbers KEY COUNT NUMBER...
 *     text KEY TEXT
 *     end
 */
#ifndef TEST_WEBNN_CASE_H
#define TEST_WEBNN_CASE_H

#include "../check.h"

enum { MOST_TENSORS = 32, MOST_ARGUMENTS = 24, MOST_VALUES = 16, NAME = 64 };

typedef struct tdl_operand *O;

enum role { INPUT, CONSTANT, OUTPUT, INNER };

struct value {
    char name[NAME];
    enum role role;
    struct tdl_tensor_params desc;
    void *data; /* given, or wanted */
    bool ulp;   /* how it is compared: units in the last place, or absolutely */
    double tolerance;
    O operand;
};

struct argument {
    char key[NAME];
    uint32_t count;
    char text[NAME];             /* or */
    double numbers[MOST_VALUES]; /* or, where there are names, operands */
    char names[MOST_VALUES][NAME];
};

struct call {
    char name[NAME];
    struct argument arguments[MOST_ARGUMENTS];
    uint32_t count;
};

struct webnn_case {
    char name[256], refused[256];
    struct value values[MOST_TENSORS];
    uint32_t value_count;
    struct call calls[4];
    uint32_t call_count;
};

/* False at the end of the file. */
bool case_read(FILE *file, struct webnn_case *c);
void case_free(struct webnn_case *c);
struct value *case_value(struct webnn_case *c, const char *name);

/* NULL where the call has no such argument. */
const struct argument *call_argument(const struct call *call, const char *key);
/* Operand `i` of an argument; NULL where there is none. */
O call_operand(struct webnn_case *c, const struct call *call, const char *key, uint32_t i);
double call_number(const struct call *call, const char *key, uint32_t i, double otherwise);
bool call_is(const struct call *call, const char *key, const char *text);

/* Appends the operators that a call of WebNN's builder stands for; false for a name that is
 * not WebNN's. The results are found by the names that its "outputs" has. */
bool call_build(struct tdl_builder *b, struct webnn_case *c, const struct call *call);

#endif
