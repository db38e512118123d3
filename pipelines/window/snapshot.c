/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "snapshot.h"

#include <gst/video/video.h>

#define LONGEST (10 * GST_SECOND)

struct snapshot {
    char *path;
    snapshot_done done;
    void *user;
};

static void write_picture(struct snapshot *snapshot, GstSample *picture)
{
    g_autoptr(GError) error = NULL;
    GstMapInfo map;

    gst_buffer_map(gst_sample_get_buffer(picture), &map, GST_MAP_READ);
    g_file_set_contents(snapshot->path, (const char *)map.data, (gssize)map.size, &error);
    gst_buffer_unmap(gst_sample_get_buffer(picture), &map);
    snapshot->done(snapshot->user, error ? NULL : snapshot->path, error ? error->message : NULL);
}

static void on_converted(GstSample *picture, GError *error, gpointer data)
{
    struct snapshot *snapshot = data;

    if (picture)
        write_picture(snapshot, picture);
    else
        snapshot->done(snapshot->user, NULL, error->message);
    g_clear_pointer(&picture, gst_sample_unref);
    g_clear_error(&error);
}

static void release(gpointer data)
{
    struct snapshot *snapshot = data;

    g_free(snapshot->path);
    g_free(snapshot);
}

void snapshot_take(GstSample *sample, const char *path, snapshot_done done, void *user)
{
    struct snapshot *snapshot = g_new0(struct snapshot, 1);
    g_autoptr(GstCaps) png = gst_caps_new_empty_simple("image/png");

    snapshot->path = g_strdup(path);
    snapshot->done = done;
    snapshot->user = user;
    gst_video_convert_sample_async(sample, png, LONGEST, on_converted, snapshot, release);
}
