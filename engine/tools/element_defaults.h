/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_TOOLS_ELEMENT_DEFAULTS_H
#define TDL_TOOLS_ELEMENT_DEFAULTS_H

#include <tdl/frame.h>

/* The element's defaults; see gst/settings/gsttdlproperties.c. */
static const struct tdl_compose_params element_defaults = {
    .background_color = {0, 0xb1 / 255.0f, 0x40 / 255.0f, 1},
    .overlay_color = {0, 0xc8 / 255.0f, 1, 1},
    .opacity = 0.5f,
    .blur_radius = 16,
    .threshold = 0.5f,
    .feather = 0.4f,
    .smoothing = 0.75f,
    .refine = true,
    .close_holes = true,
};

#endif
