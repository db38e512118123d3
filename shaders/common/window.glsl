// SPDX-License-Identifier: LGPL-2.1-or-later
// The window of a convolution, and what it moves over.
layout(constant_id = 3) const uint IN_W = 1;
layout(constant_id = 4) const uint IN_H = 1;
layout(constant_id = 5) const uint OUT_W = 1;
layout(constant_id = 6) const uint OUT_H = 1;
layout(constant_id = 7) const uint KERNEL_W = 1;
layout(constant_id = 8) const uint KERNEL_H = 1;
layout(constant_id = 9) const uint STRIDE_W = 1;
layout(constant_id = 10) const uint STRIDE_H = 1;
layout(constant_id = 11) const uint DILATION_W = 1;
layout(constant_id = 12) const uint DILATION_H = 1;
layout(constant_id = 13) const uint PAD_LEFT = 0;
layout(constant_id = 14) const uint PAD_TOP = 0;
