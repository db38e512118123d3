/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builders of a context. */
#include "compile/labels.h"
#include "core.h"
#include "ir/builder.h"

static void log_failure(const struct tdl_context *ctx, enum tdl_result result)
{
    tdl_logged(ctx, result);
}

static const struct tdl_builder_host host = {tdl_context_device, log_failure};

enum tdl_result tdl_builder_create(struct tdl_context *context, struct tdl_builder **out_builder)
{
    TDL_NEED(out_builder, "out_builder");
    enum tdl_result r = tdl_builder_open(&host, context, out_builder);
    if (r == TDL_OK && context)
        tdl_context_ref(context);
    return r;
}

void tdl_builder_destroy(struct tdl_builder **builder)
{
    struct tdl_builder *b = tdl_take(builder);
    if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    struct tdl_context *ctx = b->ctx;
    tdl_builder_close(b);
    tdl_context_destroy(&ctx);
}

enum tdl_layout tdl_operand_get_layout(const struct tdl_operand *operand)
{
    return operand ? tdl_find_layout(operand) : TDL_LAYOUT_DEFAULT;
}
