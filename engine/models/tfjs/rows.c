/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operators of TensorFlow.js: those that libtdl has, and why others are refused. */
#include "tfjs.h"

#include <string.h>

static const void *const tables[] = {
    tfjs_rows_conv,   tfjs_rows_elements, tfjs_rows_image, tfjs_rows_indices,
    tfjs_rows_linear, tfjs_rows_moving,   tfjs_rows_shape,
};
static const struct tdl_kit_tables operators = {tables, sizeof(tables) / sizeof(tables[0]),
                                                sizeof(struct tfjs_row)};

const struct tfjs_row *tfjs_find_row(const char *type)
{
    return tdl_kit_find_row(&operators, type, strlen(type));
}

const char *tfjs_operator_name(uint32_t index)
{
    static const char *const own[] = {
        "Const", "Merge", "NoOp", "Placeholder", "PlaceholderWithDefault", "Switch"};

    if (index < sizeof(own) / sizeof(own[0]))
        return own[index];
    return tdl_kit_row_name(&operators, index - sizeof(own) / sizeof(own[0]));
}

static const char loops[] = "loops are not supported, as a graph of libtdl has a fixed course; "
                            "convert the model without them, or cut it off before";
static const char counts[] = "how much it gives depends on the values; a graph of libtdl has fixed "
                             "shapes: cut the model off before";
static const char calls[] = "functions are not supported; convert the model with its functions "
                            "inlined (a frozen graph)";

const char *tfjs_reason(const char *type)
{
    static const struct {
        const char *type, *reason;
    } refused[] = {
        {"Enter", loops},
        {"Exit", loops},
        {"LoopCond", loops},
        {"NextIteration", loops},
        {"StatelessWhile", loops},
        {"While", loops},
        {"TensorArrayV3", loops},
        {"TensorListReserve", loops},
        {"TensorListFromTensor", loops},
        {"NonMaxSuppressionV2", counts},
        {"NonMaxSuppressionV3", counts},
        {"NonMaxSuppressionV4", counts},
        {"NonMaxSuppressionV5", counts},
        {"Where", counts},
        {"Unique", counts},
        {"UniqueV2", counts},
        {"If", calls},
        {"StatelessIf", calls},
        {"PartitionedCall", calls},
        {"StatefulPartitionedCall", calls},
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (!strcmp(type, refused[i].type))
            return refused[i].reason;
    return NULL;
}
