// SPDX-License-Identifier: LGPL-2.1-or-later
// Where an output pixel's centre falls in the input: enum
// tdl_resample_coordinates, clamped to the image as WebNN's resample2d.
float source_coordinate(uint kind, uint x, uint in_size, uint out_size)
{
    float ratio = float(in_size) / float(out_size);
    float s;
    if (kind == 0)
        s = (float(x) + 0.5) * ratio - 0.5;
    else if (kind == 1)
        s = out_size > 1 ? float(x) * float(in_size - 1) / float(out_size - 1) : 0.0;
    else
        s = float(x) * ratio;
    return clamp(s, 0.0, float(in_size - 1));
}

struct bilinear {
    uvec4 index;  // the four neighbours in a row-major image
    vec4 weight;
};

bilinear bilinear_at(uint kind, uvec2 position, uvec2 in_size, uvec2 out_size)
{
    vec2 s = vec2(source_coordinate(kind, position.x, in_size.x, out_size.x),
                  source_coordinate(kind, position.y, in_size.y, out_size.y));
    uvec2 low = uvec2(s), high = min(low + 1, in_size - 1);
    vec2 f = s - vec2(low);
    bilinear b;
    b.index = uvec4(low.y, low.y, high.y, high.y) * in_size.x + uvec4(low.x, high.x, low.x, high.x);
    b.weight = vec4((1.0 - f.x) * (1.0 - f.y), f.x * (1.0 - f.y), (1.0 - f.x) * f.y, f.x * f.y);
    return b;
}
