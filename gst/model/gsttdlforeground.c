/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlforeground.h"

#include "base/gsttdlerror.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* As Robust Video Matting and what follows it call them. */
#define USUAL_NAME "fgr"
#define USUAL_MASK "pha"

gboolean gst_tdl_foreground_may_be(const struct gst_tdl_sources *sources, const gchar *name)
{
    const gchar *said = sources->foreground_output;

    return sources->output == GST_TDL_OUTPUT_MASK && !strcmp(name, *said ? said : USUAL_NAME);
}

gboolean gst_tdl_foreground_is_beside(const gchar *mask)
{
    return !strcmp(mask, USUAL_MASK);
}

static gboolean is_image(const struct tdl_tensor_params *p, guint a, guint b, guint c)
{
    return p->rank == 4 && p->shape[0] == 1 && p->shape[1] == a && p->shape[2] == b &&
           p->shape[3] == c;
}

/* NULL: it has another size than the mask. */
static struct tdl_operand *as_colors(struct tdl_builder *b, struct tdl_operand *x,
                                     const struct tdl_tensor_params *mask)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    const guint h = mask->shape[1], w = mask->shape[2];
    const gboolean bytes = p->dtype == TDL_UINT8;

    if (!is_image(p, 3, h, w) && !is_image(p, h, w, 3))
        return NULL;
    if (p->dtype != TDL_FLOAT32)
        x = tdl_builder_cast(b, x, TDL_FLOAT32);
    return bytes ? tdl_builder_linear(b, x, 1 / 255.0f, 0) : x;
}

/* The reason why the colours are not used; NULL: nothing. To be freed. */
static gchar *find_fault(const struct gst_tdl_decode *d)
{
    const struct tdl_tensor_params *in = &d->picture, *mask, *p;
    const guint first = d->layout == TDL_LAYOUT_NCHW ? 2 : 1;

    if (!d->colors)
        return g_strdup_printf("it has no output of that name; its others are %s", d->others->str);
    mask = tdl_operand_get_desc(d->mask);
    p = tdl_operand_get_desc(d->colors);
    if (!is_image(p, 3, mask->shape[1], mask->shape[2]) &&
        !is_image(p, mask->shape[1], mask->shape[2], 3)) {
        GString *shape = g_string_new(NULL);

        for (guint i = 0; i < p->rank; i++)
            g_string_append_printf(shape, "%s%u", i ? "," : "", p->shape[i]);
        g_string_append_printf(shape,
                               "] are no colours for a mask of %ux%u px, which has [1,%u,%u,3] or "
                               "[1,3,%u,%u]",
                               mask->shape[2], mask->shape[1], mask->shape[1], mask->shape[2],
                               mask->shape[1], mask->shape[2]);
        g_string_prepend(shape, "its numbers [");
        return g_string_free(shape, FALSE);
    }
    if (in->rank != 4 || in->shape[first] != mask->shape[1] ||
        in->shape[first + 1] != mask->shape[2])
        return g_strdup_printf("its mask of %ux%u px is not as large as its picture",
                               mask->shape[2], mask->shape[1]);
    return NULL;
}

void gst_tdl_foreground_finish(struct gst_tdl_decode *d, struct tdl_builder *b)
{
    const gchar *said = d->sources->foreground_output;
    g_autofree gchar *fault = NULL;

    if (!d->mask || d->sources->output != GST_TDL_OUTPUT_MASK ||
        (!*said && !(d->colors && d->usual)))
        return;
    fault = find_fault(d);
    if (!fault)
        tdl_builder_output(b, GST_TDL_FOREGROUND,
                           as_colors(b, d->colors, tdl_operand_get_desc(d->mask)));
    else if (*said)
        tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                         "\"foreground-output\" is \"%s\", and %s: name the output with the "
                         "foreground's colours, or leave it empty",
                         said, fault);
    else
        GST_INFO("the output \"%s\" beside \"%s\" is left out: %s", USUAL_NAME, USUAL_MASK, fault);
}
