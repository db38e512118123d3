// SPDX-License-Identifier: LGPL-2.1-or-later
// enum tdl_activation. The kind is a specialization constant everywhere, so
// that only one branch is left.
vec4 activate(uint kind, vec4 x)
{
    switch (kind) {
    case 1:
        return max(x, 0.0);
    case 2:
        return clamp(x, 0.0, 6.0);
    case 3:
        return 1.0 / (1.0 + exp(-x));
    case 4:
        return x * clamp(x * (1.0 / 6.0) + 0.5, 0.0, 1.0);
    case 5:
        return tanh(x);
    default:
        return x;
    }
}
