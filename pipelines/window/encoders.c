/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "encoders.h"

#include <gst/gst.h>
#include <stdbool.h>

/* One kind of frames, whatever the modes make: muxers take no other one on the way. */
#define FRAMES "video/x-raw,format=I420,colorimetry=bt601,pixel-aspect-ratio=1/1 ! "

static const struct encoder encoders[] = {
    {{"vp8enc", "webmmux"},
     FRAMES "vp8enc deadline=1 cpu-used=8 target-bitrate=4000000 "
            "keyframe-max-dist=60 ! webmmux ! filesink name=to",
     "webm"},
    {{"x264enc", "matroskamux"},
     FRAMES "x264enc tune=zerolatency speed-preset=veryfast ! matroskamux ! "
            "filesink name=to",
     "mkv"},
    {{"theoraenc", "matroskamux"}, FRAMES "theoraenc ! matroskamux ! filesink name=to", "mkv"},
    {{"jpegenc", "matroskamux"}, FRAMES "jpegenc ! matroskamux ! filesink name=to", "mkv"},
};

static bool is_there(const char *name)
{
    g_autoptr(GstElementFactory) factory = gst_element_factory_find(name);

    return factory != NULL;
}

const struct encoder *encoders_find(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(encoders); i++)
        if (is_there(encoders[i].elements[0]) && is_there(encoders[i].elements[1]))
            return &encoders[i];
    return NULL;
}

const char *encoders_missing(void)
{
    return "Videos cannot be written: there is neither vp8enc with webmmux nor x264enc, theoraenc "
           "or jpegenc with matroskamux. Install GStreamer's \"good\" plugins (on Debian: "
           "gstreamer1.0-plugins-good).";
}
