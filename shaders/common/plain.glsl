// SPDX-License-Identifier: LGPL-2.1-or-later
// An image of up to four float32 channels, NHWC, as a tensor has it, for kernels that
// otherwise read packs.
layout(std430, set = 0, binding = 2) readonly buffer Plain { float plain[]; };

vec4 plain_pixel(uint pixel, uint channels)
{
    uint n = pixel * channels;
    vec4 v = vec4(plain[n], 0.0, 0.0, 0.0);
    if (channels > 1)
        v.y = plain[n + 1];
    if (channels > 2)
        v.z = plain[n + 2];
    if (channels > 3)
        v.w = plain[n + 3];
    return v;
}
