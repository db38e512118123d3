/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of quantized numbers: for the pass that makes them, and for who computes them. */
#ifndef TDL_QUANTIZED_H
#define TDL_QUANTIZED_H

#include "ir/ir.h"

/* Of a conv2d with a known filter, which is there: can each output channel's weights be whole
 * numbers of −128 … 127 times a scale? Writes the scales, one for each channel. */
bool tdl_quantized_scales(const struct tdl_node *conv, float *scales);
/* What tdl_quantized_scales() was true of, as such numbers in the filter's order; and the bias
 * in units of both scales. */
void tdl_quantized_filter(const struct tdl_node *conv, const float *scales, int8_t *filter);
void tdl_quantized_bias(const struct tdl_node *conv, const float *scales, int32_t *bias);

#endif
