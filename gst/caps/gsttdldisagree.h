/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An explanation for when the caps before and behind the element do not meet: upstream
 * ends with a bare "not-negotiated", and the reason is known here alone. */
#ifndef GST_TDL_DISAGREE_H
#define GST_TDL_DISAGREE_H

#include "gsttdlcaps.h"

/* Explains why pictures with caps `in` do not suit a peer downstream that takes `out`.
 * `scale` is NULL where the mode keeps their size. NULL: they meet. */
GError *gst_tdl_disagreement(enum gst_tdl_mode mode, const struct gst_tdl_abilities *abilities,
                             const struct gst_tdl_scale *scale, GstCaps *in, GstCaps *out);

#endif
