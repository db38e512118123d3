/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of operators with windows over pictures. */
#include "windows.h"

#include <string.h>

#define MOST 32767 /* bound of a stride, a window or a padding */

static bool is_nchw(const struct tfjs_import *im)
{
    char text[8];

    return !strcmp(tfjs_string(im, "data_format", text, sizeof(text)), "NCHW");
}

enum tdl_layout tfjs_input_layout(const struct tfjs_import *im)
{
    return is_nchw(im) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
}

struct tdl_operand *tfjs_picture(struct tfjs_import *im, uint32_t i)
{
    struct tdl_operand *x = tfjs_operand(im, i);

    if (x && tdl_kit_rank(x) != 4) {
        tdl_kit_damaged(&im->kit, "input %u has %u dimensions; pictures have four", i,
                        tdl_kit_rank(x));
        return NULL;
    }
    return x;
}

bool tfjs_pair(struct tfjs_import *im, const char *name, uint32_t out[2])
{
    const uint32_t first = is_nchw(im) ? 2 : 1;
    int64_t list[4];
    uint32_t count;

    out[0] = out[1] = 1;
    if (!tfjs_int_list(im, name, list, 4, &count))
        return false;
    if (count == 0)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (count != 4 || list[i] < 1 || list[i] > MOST ||
            (list[i] != 1 && i != first && i != first + 1))
            return tdl_kit_lacks(&im->kit, "%s are not of height and width alone", name);
    out[0] = (uint32_t)list[first];
    out[1] = (uint32_t)list[first + 1];
    return true;
}

bool tfjs_padding(struct tfjs_import *im, enum tdl_padding *out_padding, uint32_t out_pad[4])
{
    const uint32_t first = is_nchw(im) ? 4 : 2;
    int64_t list[8];
    uint32_t count;
    char text[16];

    tfjs_string(im, "padding", text, sizeof(text));
    *out_padding = !strcmp(text, "SAME") ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT;
    if (!strcmp(text, "SAME") || !strcmp(text, "VALID"))
        return true;
    if (strcmp(text, "EXPLICIT") != 0)
        return tdl_kit_damaged(&im->kit, "a padding of '%s' is not known", text);
    if (!tfjs_int_list(im, "explicit_paddings", list, 8, &count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (list[i] < 0 || list[i] > MOST || (list[i] && (i < first || i >= first + 4)))
            return tdl_kit_damaged(&im->kit, "a padding of %lld px", (long long)list[i]);
    if (count != 8)
        return tdl_kit_damaged(&im->kit, "a padding of %u numbers instead of 8", count);
    for (uint32_t i = 0; i < 4; i++)
        out_pad[i] = (uint32_t)list[first + i];
    return true;
}

/* --------------------------------------------------------------------- fused */

static bool read_activation(struct tfjs_import *im, const char *name, uint32_t next,
                            struct tfjs_fused *out)
{
    static const struct {
        const char *name;
        enum tdl_activation activation;
    } plain[] = {
        {"Relu", TDL_ACTIVATION_RELU},
        {"Relu6", TDL_ACTIVATION_RELU6},
        {"Sigmoid", TDL_ACTIVATION_SIGMOID},
        {"Tanh", TDL_ACTIVATION_TANH},
    };

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (!strcmp(name, plain[i].name)) {
            out->activation = plain[i].activation;
            return true;
        }
    if (!strcmp(name, "Elu")) {
        out->behind = TFJS_ELU;
        out->alpha = 1;
    } else if (!strcmp(name, "LeakyRelu")) {
        out->behind = TFJS_LEAKY_RELU;
        out->alpha = (float)tfjs_float(im, "leakyrelu_alpha", 0.2);
    } else if (!strcmp(name, "Prelu")) {
        out->behind = TFJS_PRELU;
        out->slope = tfjs_operand(im, next);
        return out->slope != NULL;
    } else {
        return tdl_kit_lacks(&im->kit, "fused to it is '%.40s', which is not supported", name);
    }
    return true;
}

bool tfjs_read_fused(struct tfjs_import *im, uint32_t first, struct tfjs_fused *out)
{
    uint32_t next = first;
    char name[32];

    *out = (struct tfjs_fused){0};
    for (size_t i = 0; *tfjs_string_of(im, "fused_ops", i, name, sizeof(name)); i++) {
        if (!strcmp(name, "BiasAdd") && i == 0) {
            out->bias = tfjs_operand(im, next++);
            if (!out->bias)
                return false;
        } else if (out->activation || out->behind) {
            return tdl_kit_lacks(&im->kit, "'%.40s' behind an activation is not supported", name);
        } else if (!read_activation(im, name, next, out)) {
            return false;
        }
    }
    return true;
}

struct tdl_operand *tfjs_finish_fused(struct tfjs_import *im, const struct tfjs_fused *fused,
                                      struct tdl_operand *y)
{
    struct tdl_builder *b = im->builder;

    if (!y || fused->behind == TFJS_PLAIN)
        return y;
    return fused->behind == TFJS_ELU          ? tdl_builder_elu(b, y, fused->alpha)
           : fused->behind == TFJS_LEAKY_RELU ? tdl_builder_leaky_relu(b, y, fused->alpha)
                                              : tdl_builder_prelu(b, y, fused->slope);
}
