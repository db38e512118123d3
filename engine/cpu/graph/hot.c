/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_CPU_ISA_SUFFIX
#define TDL_CPU_ISA_SUFFIX baseline /* for tools that look at this file alone */
#endif

#include "hot.h"

#include "hot_depthwise.h"
#include "hot_eltwise.h"
#include "hot_grid.h"
#include "hot_quantized.h"
#include "hot_rows.h"
#include "hot_turn.h"
#include "hot_windows.h"
#include "hot_winograd.h"

const struct tdl_cpu_hot TDL_CPU_NAME(hot) = {
    .unary = unary,
    .binary = binary,
    .compare = compare,
    .widen = widen,
    .narrow = narrow,
    .widen_bytes = widen_bytes,
    .cut_to_bytes = cut_to_bytes,
    .dequantize = dequantize,
    .quantize = quantize,
    .scale_channels = scale_channels,
    .scale = scale,
    .mix = mix,
    .pool = pool,
    .max_taps = max_taps,
    .max_bytes = max_bytes,
    .sum_taps = sum_taps,
    .mean_few = mean_few,
    .between = between,
    .depthwise = depthwise,
    .panel_fill = panel_fill,
    .panel_depthwise = panel_depthwise,
    .four_depthwise = four_depthwise,
    .grid_axis = grid_axis,
    .grid_sum = grid_sum,
    .multiply = multiply,
    .columns = COLUMNS,
    .winograd_in = winograd_in,
    .winograd_out = winograd_out,
    .product = product,
    .product_rows = PRODUCT_ROWS,
    .turn = turn,
    .all_finite = all_finite,
    .row_max = row_max,
    .row_sum = row_sum,
    .row_squares = row_squares,
    .center = center,
    .row_exp = row_exp,
    .add_row = add_row,
};
