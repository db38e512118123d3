/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our own mapped memory, which upstream wrote into. */
#include "gsttdlimporter.h"

#include "memory/gsttdlallocator.h"

static const gchar *import(struct gst_tdl_importer *importer,
                           struct gst_tdl_import_request *request, struct gst_tdl_import *out)
{
    for (guint p = 0; p < request->planes; p++) {
        const struct gst_tdl_import_place *place = &request->places[p];
        struct tdl_buffer *buffer;
        gsize offset;

        if (!place->memory)
            return "a plane is spread over several memories, or upside down";
        buffer = gst_tdl_allocator_find_buffer(place->memory, importer->device, &offset);
        if (!buffer)
            return "the memory is not of tdlfilter's pool on this device";
        gst_tdl_import_set_plane(out, p, buffer, offset + place->skip, place->stride);
    }
    return NULL;
}

const struct gst_tdl_import_method gst_tdl_import_pool = {
    .path = "pool",
    .import = import,
    .writes = TRUE,
};
