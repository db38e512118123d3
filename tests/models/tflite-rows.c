/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tflite-rows.h"

#include <string.h>

#define WANT(...) (const float[]){__VA_ARGS__}
#define LIST(...) (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__})
/* int32 of this rank, and of one or two dimensions. */
#define INTS(rank, a, b, ...) {"n", 2, rank, {a, b}, LIST(__VA_ARGS__)}

const struct tflite_row tflite_rows[] = {
    /* SAME pads at the end, and padding is no pixel. */
    {"MAX_POOL_2D",
     {17, .options_type = 5, .options = {{1, 4, 2}, {2, 4, 2}, {3, 4, 2}, {4, 4, 1}}},
     4, {1, 1, 5, 1}, {1, 1, 3, 1}, .want = WANT(1, 3, 4)},
    {"CONCATENATION", {2, .options_type = 10, .options = {{0, 4, -1}}},
     2, {2, 1}, {2, 3}, {{"c", 0, 2, {2, 2}, WANT(5, 6, 7, 8), 16}},
     WANT(0, 5, 6, 1, 7, 8)},
    {"CONCATENATION with RELU6", {2, .options_type = 10, .options = {{0, 4, 0}, {1, 1, 3}}},
     1, {2}, {4}, {{"c", 0, 1, {2}, WANT(-5, 9), 8}}, WANT(0, 1, 0, 6)},
    {"CONCATENATION with RELU_N1_TO_1",
     {2, .options_type = 10, .options = {{0, 4, 0}, {1, 1, 2}}}, 1, {5}, {5},
     .want = WANT(-1, -1, 0, 1, 1), .from = -2},
    {"PAD", {34, .options_type = 22}, 2, {1, 2}, {2, 4}, {INTS(2, 2, 2, 0, 1, 2, 0)},
     WANT(0, 0, 0, 1, 0, 0, 0, 0)},
    {"PADV2", {60, .options_type = 43}, 1, {2}, {4},
     {INTS(2, 1, 2, 1, 1), {"v", 0, 0, {0}, WANT(-3), 4}}, WANT(-3, 0, 1, -3)},
    {"MIRROR_PAD", {100, .options_type = 77}, 1, {3}, {6}, {INTS(2, 1, 2, 2, 1)},
     WANT(2, 1, 0, 1, 2, 1)},
    {"SLICE", {65, .options_type = 48}, 2, {2, 3}, {1, 2},
     {INTS(1, 2, 0, 1, 1), INTS(1, 2, 0, 1, -1)}, WANT(4, 5)},
    {"DEPTH_TO_SPACE", {5, .options_type = 94, .options = {{0, 4, 2}}},
     4, {1, 1, 1, 8}, {1, 2, 2, 2}, .want = WANT(0, 1, 2, 3, 4, 5, 6, 7)},
    {"SPACE_TO_DEPTH", {26, .options_type = 19, .options = {{0, 4, 2}}},
     4, {1, 2, 4, 1}, {1, 1, 2, 4}, .want = WANT(0, 1, 4, 5, 2, 3, 6, 7)},
    /* floor(x · 4 / 6) */
    {"RESIZE_NEAREST_NEIGHBOR", {97, .options_type = 74},
     4, {1, 1, 4, 1}, {1, 1, 6, 1}, {INTS(1, 2, 0, 1, 6)}, WANT(0, 0, 1, 2, 2, 3)},
    /* floor((x + ½) · 4 / 6) */
    {"RESIZE_NEAREST_NEIGHBOR of centres", {97, .options_type = 74, .options = {{1, 1, 1}}},
     4, {1, 1, 4, 1}, {1, 1, 6, 1}, {INTS(1, 2, 0, 1, 6)}, WANT(0, 1, 1, 2, 3, 3)},
    /* round(x · 3 / 2): 1½ is rounded up */
    {"RESIZE_NEAREST_NEIGHBOR of corners", {97, .options_type = 74, .options = {{0, 1, 1}}},
     4, {1, 1, 4, 1}, {1, 1, 3, 1}, {INTS(1, 2, 0, 1, 3)}, WANT(0, 2, 3)},
    {"SUB with RELU", {41, .options_type = 28, .options = {{0, 1, 1}}}, 1, {3}, {3},
     {{"c", 0, 1, {3}, WANT(1, 1, 0.5f), 12}}, WANT(0, 0, 1.5f)},
    {"DIV", {42, .options_type = 29}, 1, {3}, {3}, {{"c", 0, 1, {3}, WANT(1, 2, 4), 12}},
     WANT(0, 0.5f, 0.5f)},
    {"MAXIMUM", {55, .options_type = 39}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}},
     WANT(1, 1, 2)},
    {"MINIMUM", {57, .options_type = 39}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}},
     WANT(0, 1, 1)},
    {"PRELU", {54}, 1, {3}, {3}, {{"c", 0, 1, {3}, WANT(9, 9, 9), 12}}, WANT(0, 1, 2)},
    {"LEAKY_RELU", {98, .options_type = 75, .options = {{0, 4, 0x3f000000}}}, 1, {2}, {2},
     .want = WANT(0, 1)},
    {"NEG", {59}, 1, {3}, {3}, .want = WANT(0, -1, -2)},
    {"EXP", {47}, 1, {2}, {2}, .want = WANT(1, 2.7182818f)},
    {"SQRT", {75}, 1, {5}, {5}, .want = WANT(0, 1, 1.4142136f, 1.7320508f, 2)},
    {"SOFTMAX", {25, .options_type = 9, .options = {{0, 4, 0x3f800000}}},
     2, {1, 2}, {1, 2}, .want = WANT(0.26894142f, 0.73105858f)},
    {"SOFTMAX of twice", {25, .options_type = 9, .options = {{0, 4, 0x40000000}}},
     2, {1, 2}, {1, 2}, .want = WANT(0.11920292f, 0.88079708f)},
    {"LOG_SOFTMAX", {50}, 2, {1, 2}, {1, 2}, .want = WANT(-1.31326169f, -0.31326169f)},
    {"RSQRT", {76}, 1, {2}, {2}, .want = WANT(0.5f, 0.4472136f), .from = 4},
    {"SQUARE", {92}, 1, {3}, {3}, .want = WANT(1, 0, 1), .from = -1},
    {"SIGN", {158}, 1, {3}, {3}, .want = WANT(-1, 0, 1), .from = -1},
    {"ROUND", {116}, 1, {2}, {2}, .want = WANT(-1, 0), .from = -1},
    {"RELU_N1_TO_1", {20}, 1, {5}, {5}, .want = WANT(-1, -1, 0, 1, 1), .from = -2},
    {"RELU_0_TO_1", {152}, 1, {4}, {4}, .want = WANT(0, 0, 1, 1), .from = -1},
    {"GELU", {150, .options_type = 116}, 1, {3}, {3},
     .want = WANT(-0.15865525f, 0, 0.84134475f), .from = -1},
    {"GELU by tanh", {150, .options_type = 116, .options = {{0, 1, 1}}}, 1, {3}, {3},
     .want = WANT(-0.15880801f, 0, 0.84119199f), .from = -1},
    {"SQUARED_DIFFERENCE", {99}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}}, WANT(1, 0, 1)},
    {"FLOOR_DIV", {90}, 1, {4}, {4}, {{"c", 0, 0, {0}, WANT(2), 4}}, WANT(-2, -1, -1, 0),
     .from = -3},
    {"FLOOR_DIV of integers", {90}, 1, {4}, {4}, {{"c", 2, 1, {4}, LIST(2, 2, -2, 2)}},
     WANT(-2, -1, 0, 0), 2, 2, -3},
    {"FLOOR_MOD of integers", {95}, 1, {4}, {4}, {{"c", 2, 1, {4}, LIST(2, 2, -2, 2)}},
     WANT(1, 0, -1, 0), 2, 2, -3},
    {"FLOOR_MOD", {95}, 1, {4}, {4}, {{"c", 0, 0, {0}, WANT(2), 4}}, WANT(1, 0, 1, 0),
     .from = -3},
    {"ADD of integers", {0, .options_type = 11}, 1, {2}, {2}, {INTS(1, 2, 0, 5, -5)},
     WANT(5, -4), 2, 2},
    {"ADD of another rank", {0, .options_type = 11}, 2, {2, 2}, {2, 2},
     {{"c", 0, 1, {2}, WANT(10, 20), 8}}, WANT(10, 21, 12, 23)},
    {"GREATER", {61}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}}, WANT(0, 0, 1), 0, 6},
    {"GREATER_EQUAL", {62}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}}, WANT(0, 1, 1), 0, 6},
    {"LESS", {58}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}}, WANT(1, 0, 0), 0, 6},
    {"LESS_EQUAL of integers", {63}, 1, {3}, {3}, {INTS(1, 1, 0, 1)}, WANT(1, 1, 0), 2, 6},
    {"EQUAL", {71}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}}, WANT(0, 1, 0), 0, 6},
    {"NOT_EQUAL", {72}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}}, WANT(1, 0, 1), 0, 6},
    {"LOGICAL_AND", {86}, 1, {2}, {2}, {{"c", 6, 1, {2}, "\1\1", 2}}, WANT(0, 1), 6, 6},
    {"LOGICAL_OR", {84}, 1, {2}, {2}, {{"c", 6, 1, {2}, "\1\0", 2}}, WANT(1, 1), 6, 6},
    {"LOGICAL_NOT", {87}, 1, {2}, {2}, .want = WANT(1, 0), .type = 6, .out_type = 6},
    {"SELECT_V2", {123}, 2, {2, 2}, {2, 2},
     {{"c", 6, 1, {2}, "\1\0", 2}, {"y", 0, 0, {0}, WANT(9), 4}}, WANT(0, 9, 2, 9),
     .place = 1},
    {"SELECT of rows", {64}, 2, {2, 2}, {2, 2},
     {{"c", 6, 1, {2}, "\1\0", 2}, {"y", 0, 2, {2, 2}, WANT(6, 7, 8, 9), 16}},
     WANT(0, 1, 8, 9), .place = 1},
    {"ADD_N", {106}, 1, {2}, {2},
     {{"c", 0, 1, {2}, WANT(1, 2), 8}, {"d", 0, 1, {2}, WANT(10, 20), 8}}, WANT(11, 23)},

    {"FULLY_CONNECTED", {9, .options_type = 8, .options = {{0, 1, 1}}}, 2, {1, 3}, {1, 2},
     {{"w", 0, 2, {2, 3}, WANT(1, 2, 3, -1, -1, -1), 24}, {"b", 0, 1, {2}, WANT(0.5f, 1), 8}},
     WANT(8.5f, 0)},
    {"FULLY_CONNECTED of images", {9, .options_type = 8}, 4, {2, 1, 1, 2}, {2, 1},
     {{"w", 0, 2, {1, 2}, WANT(1, 10), 8}}, WANT(10, 32), .more_rank = -2},
    {"FULLY_CONNECTED that keeps", {9, .options_type = 8, .options = {{2, 1, 1}}}, 3,
     {1, 2, 2}, {1, 2, 1}, {{"w", 0, 2, {1, 2}, WANT(1, 10), 8}}, WANT(10, 32)},
    {"BATCH_MATMUL", {126, .options_type = 101}, 3, {2, 1, 2}, {2, 1, 1},
     {{"b", 0, 3, {2, 2, 1}, WANT(1, 2, 3, 4), 16}}, WANT(2, 18)},
    {"BATCH_MATMUL of adjoints", {126, .options_type = 101, .options = {{0, 1, 1}, {1, 1, 1}}},
     3, {1, 2, 2}, {1, 2, 1}, {{"b", 0, 2, {1, 2}, WANT(1, 10), 8}}, WANT(20, 31)},

    {"RESHAPE", {22, .options_type = 17}, 2, {2, 3}, {3, 2}, {INTS(1, 2, 0, 3, -1)},
     WANT(0, 1, 2, 3, 4, 5)},
    {"RESHAPE by its options",
     {22, .options_type = 17, .options = {{0, 2, 0, (const int[]){-1, 2}}}}, 2, {2, 3},
     {3, 2}, .want = WANT(0, 1, 2, 3, 4, 5)},
    {"SQUEEZE", {43, .options_type = 30}, 4, {1, 2, 1, 2}, {2, 2}, .want = WANT(0, 1, 2, 3),
     .more_rank = -2},
    {"SQUEEZE of one", {43, .options_type = 30, .options = {{0, 1, 0, (const int[]){-2}}}}, 4,
     {1, 2, 1, 2}, {1, 2, 2}, .want = WANT(0, 1, 2, 3), .more_rank = -1},
    {"EXPAND_DIMS", {70}, 1, {2}, {2, 1}, {INTS(0, 0, 0, -1)}, WANT(0, 1), .more_rank = 1},
    {"TILE", {69}, 2, {1, 2}, {2, 4}, {INTS(1, 2, 0, 2, 2)}, WANT(0, 1, 0, 1, 0, 1, 0, 1)},
    {"BROADCAST_TO", {130}, 2, {2, 1}, {2, 3}, {INTS(1, 2, 0, 2, 3)}, WANT(0, 0, 0, 1, 1, 1)},
    {"FILL", {94}, 0, {0}, {2, 2}, {INTS(1, 2, 0, 2, 2)}, WANT(7, 7, 7, 7), .from = 7,
     .place = 1, .more_rank = 2},
    {"ZEROS_LIKE", {93}, 1, {3}, {3}, .want = WANT(0, 0, 0), .type = 2, .out_type = 2},
    {"TRANSPOSE", {39}, 2, {2, 3}, {3, 2}, {INTS(1, 2, 0, 1, 0)}, WANT(0, 3, 1, 4, 2, 5)},
    {"TRANSPOSE to what others call NCHW", {39}, 4, {1, 1, 2, 3}, {1, 3, 1, 2},
     {INTS(1, 4, 0, 0, 3, 1, 2)}, WANT(0, 3, 1, 4, 2, 5)},
    {"REVERSE_V2", {105}, 2, {2, 3}, {2, 3}, {INTS(1, 1, 0, -1)}, WANT(2, 1, 0, 5, 4, 3)},
    {"PACK", {83, .options_type = 59, .options = {{0, 4, 2}, {1, 4, -1}}}, 1, {2}, {2, 2},
     {{"c", 0, 1, {2}, WANT(8, 9), 8}}, WANT(0, 8, 1, 9), .more_rank = 1},
    {"UNPACK", {88, .options_type = 64, .options = {{0, 4, 2}, {1, 4, 1}}}, 2, {3, 2}, {3},
     .want = WANT(0, 2, 4, 1, 3, 5), .more_rank = -1, .outputs = 2},
    {"SPLIT", {49, .options_type = 35, .options = {{0, 4, 3}}}, 2, {2, 3}, {2, 1},
     {INTS(0, 0, 0, 1)}, WANT(0, 3, 1, 4, 2, 5), .place = 1, .outputs = 3},
    {"SPLIT_V", {102, .options_type = 79, .options = {{0, 4, 2}}}, 1, {4}, {2},
     {INTS(1, 2, 0, 2, -1), INTS(0, 0, 0, 0)}, WANT(0, 1, 2, 3), .outputs = 2},
    {"STRIDED_SLICE", {45, .options_type = 32}, 2, {3, 4}, {2, 2},
     {INTS(1, 2, 0, 0, 1), INTS(1, 2, 0, 2, 4), INTS(1, 2, 0, 1, 2)}, WANT(1, 3, 5, 7)},
    {"STRIDED_SLICE backwards", {45, .options_type = 32, .options = {{0, 4, 1}, {1, 4, 1}}}, 1,
     {4}, {2}, {INTS(1, 1, 0, 0), INTS(1, 1, 0, 0), INTS(1, 1, 0, -2)}, WANT(3, 1)},
    {"STRIDED_SLICE of one row", {45, .options_type = 32, .options = {{4, 4, 1}}}, 2, {3, 2},
     {2}, {INTS(1, 1, 0, -1), INTS(1, 1, 0, 0), INTS(1, 1, 0, 1)}, WANT(4, 5),
     .more_rank = -1},
    {"STRIDED_SLICE of the last column, with a new axis",
     {45, .options_type = 32, .options = {{2, 4, 1}, {3, 4, 2}, {0, 4, 4}, {1, 4, 4}}}, 2,
     {2, 2}, {2, 1, 2},
     {INTS(1, 3, 0, 0, 0, 0), INTS(1, 3, 0, 0, 0, 0), INTS(1, 3, 0, 1, 1, 1)},
     WANT(0, 1, 2, 3), .more_rank = 1},
    {"GATHER", {36, .options_type = 23, .options = {{0, 4, 1}}}, 2, {2, 3}, {2, 2},
     {INTS(1, 2, 0, 2, 0)}, WANT(2, 0, 5, 3)},
    {"GATHER in step", {36, .options_type = 23, .options = {{0, 4, 1}, {1, 4, 1}}}, 2, {2, 3},
     {2, 2}, {INTS(2, 2, 2, 2, 0, 1, 1)}, WANT(2, 0, 4, 4)},
    {"GATHER_ND", {107}, 2, {2, 3}, {3}, {INTS(2, 3, 2, 1, 2, 0, 0, 0, 1)}, WANT(5, 0, 1),
     .more_rank = -1},
    {"GATHER_ND of rows", {107}, 2, {2, 3}, {2, 3}, {INTS(2, 2, 1, 1, 0)},
     WANT(3, 4, 5, 0, 1, 2)},
    {"SCATTER_ND", {122}, 1, {3}, {4}, {INTS(2, 3, 1, 2, 0, 2), INTS(1, 1, 0, 4)},
     WANT(1, 0, 2, 0), .place = 1},
    {"TOPK_V2", {48}, 2, {2, 3}, {2, 2}, {INTS(0, 0, 0, 2)}, WANT(2, 1, 5, 4, 2, 1, 2, 1), 2, 2,
     .outputs = 2},
    {"MUL by int4", {18, .options_type = 21}, 1, {5}, {5},
     {{"c", 17, 1, {5}, "\x71\x8f\x02", 3, .scales = WANT(0.5f), .scale_count = 1}},
     WANT(0.5f, 7, -1.5f, -16, 5), .from = 1},
    {"ONE_HOT", {85, .options_type = 61, .options = {{0, 4, -1}}}, 1, {2}, {2, 3},
     {INTS(0, 0, 0, 3), {"on", 0, 0, {0}, WANT(5), 4}, {"off", 0, 0, {0}, WANT(-1), 4}},
     WANT(-1, 5, -1, -1, -1, 5), 2, 0, 1, .more_rank = 1},
    {"SPACE_TO_BATCH_ND", {38}, 4, {1, 2, 3, 1}, {4, 1, 2, 1},
     {INTS(1, 2, 0, 2, 2), INTS(2, 2, 2, 0, 0, 0, 1)}, WANT(0, 2, 1, 0, 3, 5, 4, 0)},
    {"SPACE_TO_BATCH_ND of rows", {38}, 3, {1, 4, 1}, {2, 2, 1},
     {INTS(1, 1, 0, 2), INTS(2, 1, 2, 0, 0)}, WANT(0, 2, 1, 3)},
    {"BATCH_TO_SPACE_ND", {37}, 4, {4, 1, 2, 1}, {1, 2, 3, 1},
     {INTS(1, 2, 0, 2, 2), INTS(2, 2, 2, 0, 0, 0, 1)}, WANT(0, 2, 1, 4, 6, 5)},

    {"MEAN", {40, .options_type = 27}, 2, {2, 2}, {2}, {INTS(1, 1, 0, -1)}, WANT(0.5f, 2.5f),
     .more_rank = -1},
    {"MEAN of images", {40, .options_type = 27}, 4, {1, 2, 2, 1}, {1, 1},
     {INTS(1, 2, 0, 2, 1)}, WANT(1.5f), .more_rank = -2},
    {"SUM", {74, .options_type = 27, .options = {{0, 1, 1}}}, 2, {2, 3}, {1, 3},
     {INTS(0, 0, 0, 0)}, WANT(3, 5, 7)},
    {"REDUCE_MAX", {82, .options_type = 27}, 2, {2, 3}, {3}, {INTS(1, 2, 0, 0, 0)},
     WANT(3, 4, 5), .more_rank = -1},
    {"REDUCE_MIN", {89, .options_type = 27}, 2, {2, 3}, {2}, {INTS(1, 1, 0, 1)}, WANT(0, 3),
     .more_rank = -1},
    {"REDUCE_PROD", {81, .options_type = 27}, 1, {4}, {1}, {INTS(1, 1, 0, 0)}, WANT(24),
     .from = 1, .more_rank = -1},
    {"REDUCE_ANY", {91, .options_type = 27}, 2, {1, 2}, {1}, {INTS(1, 1, 0, 1)}, WANT(1),
     6, 6, .more_rank = -1},
    {"REDUCE_ALL", {140, .options_type = 27}, 2, {1, 2}, {1}, {INTS(1, 1, 0, 1)}, WANT(0),
     6, 6, .more_rank = -1},
    {"ARG_MAX", {56, .options_type = 40}, 2, {2, 3}, {2}, {INTS(0, 0, 0, 1)}, WANT(2, 2),
     0, 2, .more_rank = -1},
    {"ARG_MIN to int64", {79, .options_type = 57}, 2, {2, 3}, {3}, {INTS(0, 0, 0, 0)},
     WANT(0, 0, 0), 0, 4, .more_rank = -1},
    {"CUMSUM", {128, .options_type = 102, .options = {{0, 1, 1}, {1, 1, 1}}}, 1, {3}, {3},
     {INTS(0, 0, 0, 0)}, WANT(3, 2, 0)},
    {"L2_NORMALIZATION", {11, .options_type = 12}, 2, {1, 2}, {1, 2}, .want = WANT(0.6f, 0.8f),
     .from = 3, .place = 0},

    {"CAST to bool", {53, .options_type = 37}, 1, {3}, {3}, .want = WANT(1, 0, 1),
     .out_type = 6, .from = -1},
    {"CAST to float", {53, .options_type = 37}, 1, {3}, {3}, .want = WANT(250, 251, 252),
     .type = 3, .from = 250},
    {"CAST to int64", {53, .options_type = 37}, 1, {3}, {3}, .want = WANT(-1, 0, 1),
     .out_type = 4, .from = -1},
};
const size_t tflite_row_count = sizeof(tflite_rows) / sizeof(tflite_rows[0]);

struct writer_model tflite_row_model(const struct tflite_row *row)
{
    struct writer_model m = {.identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 1,
                             .tensors = {{"in", row->type, row->rank, {0}}},
                             .op_count = 1, .ops = {row->op}, .input_count = 1, .inputs = {0}};

    memcpy(m.tensors[0].shape, row->in, sizeof(row->in));
    m.ops[0].version = 1;
    m.output_count = m.ops[0].output_count = row->outputs ? row->outputs : 1;
    for (int i = 0; i < m.output_count; i++) {
        static const char *const names[] = {"out", "out1", "out2", "out3"};
        struct writer_tensor *out = &m.tensors[m.tensor_count];

        *out = (struct writer_tensor){names[i], row->out_type, row->rank + row->more_rank, {0}};
        memcpy(out->shape, row->out, sizeof(row->out));
        m.outputs[i] = m.ops[0].outputs[i] = m.tensor_count++;
    }
    for (int i = 0; i < 4; i++) {
        const struct writer_tensor *more = &row->more[i - (i > row->place)];

        if (i == row->place) {
            m.ops[0].inputs[m.ops[0].input_count++] = 0;
        } else if (i < 4 && (i < row->place || i - 1 < 3) && more->name) {
            m.tensors[m.tensor_count] = *more;
            m.ops[0].inputs[m.ops[0].input_count++] = m.tensor_count++;
        }
    }
    return m;
}
