/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlflight.h"

enum tdl_result gst_tdl_flight_init(struct gst_tdl_flight *flight, struct tdl_context *context)
{
    enum tdl_result r = TDL_OK;

    *flight = (struct gst_tdl_flight){ .context = context };
    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS && r == TDL_OK; i++)
        r = tdl_batch_create(context, &flight->slots[i].batch);
    return r;
}

static void collect_times(struct gst_tdl_flight *flight, struct gst_tdl_slot *slot)
{
    uint64_t ns[TDL_STAGE_COUNT];

    if (!slot->timed || !tdl_batch_stage_times(slot->batch, ns))
        return;
    slot->timed = FALSE;
    for (guint i = 0; i < TDL_STAGE_COUNT; i++) {
        flight->stage_ns[i] += ns[i];
        flight->stage_runs[i] += ns[i] > 0;
    }
}

/* A lost device passes no point any more, but it reads nothing either. */
static void retire_slot(struct gst_tdl_flight *flight, struct gst_tdl_slot *slot, gboolean wait)
{
    if (!slot->held)
        return;
    if (tdl_context_wait(flight->context, slot->point, wait ? TDL_WAIT_FOREVER : 0) ==
        TDL_ERROR_TIMEOUT)
        return;
    collect_times(flight, slot);
    gst_clear_buffer(&slot->held);
}

void gst_tdl_flight_retire(struct gst_tdl_flight *flight, gboolean wait)
{
    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS; i++)
        retire_slot(flight, &flight->slots[i], wait);
}

void gst_tdl_flight_finish(struct gst_tdl_flight *flight)
{
    gst_tdl_flight_retire(flight, TRUE);
    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS; i++) {
        tdl_batch_destroy(&flight->slots[i].batch);
        gst_tdl_staging_clear(&flight->slots[i].staging);
    }
}

enum tdl_result gst_tdl_flight_begin(struct gst_tdl_flight *flight,
                                     struct gst_tdl_slot **out_slot)
{
    struct gst_tdl_slot *slot = &flight->slots[flight->next];
    enum tdl_result r;

    gst_tdl_flight_retire(flight, FALSE);
    retire_slot(flight, slot, TRUE);
    r = tdl_batch_begin(slot->batch);
    if (r != TDL_OK)
        return r;
    flight->next = (flight->next + 1) % GST_TDL_FLIGHT_SLOTS;
    *out_slot = slot;
    return TDL_OK;
}

void gst_tdl_flight_cancel(struct gst_tdl_slot *slot)
{
    tdl_batch_cancel(slot->batch);
}

enum tdl_result gst_tdl_flight_submit(struct gst_tdl_slot *slot, GstBuffer *input,
                                      struct gst_tdl_importer *importer,
                                      struct gst_tdl_fences *fences)
{
    uint64_t point = 0;
    enum tdl_result r = gst_tdl_fences_wait(fences, importer, slot->batch);

    if (r != TDL_OK) {
        tdl_batch_cancel(slot->batch);
        return r;
    }
    r = tdl_batch_submit(slot->batch, &point);
    if (r != TDL_OK)
        return r;
    slot->point = point;
    slot->held = gst_buffer_ref(input);
    slot->timed = TRUE;
    return gst_tdl_fences_attach(fences, importer, slot->batch, point);
}
