/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "written.h"

#include <glib/gstdio.h>

gchar *written_model(struct onnx_bytes *graph)
{
    gchar *path;
    size_t size;
    uint8_t *data = onnx_model(graph, 13, &size);
    gint fd = g_file_open_tmp("tdl-model-XXXXXX.onnx", &path, NULL);

    fail_unless(fd >= 0 && g_close(fd, NULL));
    fail_unless(g_file_set_contents(path, (const gchar *)data, size, NULL));
    free(data);
    return path;
}

void written_start(struct filter *filter, const gchar *model, const gchar *properties,
                   const gchar *caps)
{
    g_autofree gchar *all = g_strdup_printf(PLAIN_MASK "model=%s %s", model, properties);

    filter_start(filter, all, caps);
}
