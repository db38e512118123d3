/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of tensors that may be rented out. */
#ifndef TDL_RENTAL_H
#define TDL_RENTAL_H

#include "rental_state.h"

/* A buffer as the wish has it, which is exportable. */
enum tdl_result tdl_rentable_create(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                                    struct tdl_buffer **out_buffer);

#endif
