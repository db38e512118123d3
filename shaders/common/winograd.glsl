// SPDX-License-Identifier: LGPL-2.1-or-later
// An image in tiles of M×M pixels, as Winograd's transforms have it.
layout(constant_id = 3) const uint IN_W = 1;
layout(constant_id = 4) const uint IN_H = 1;
layout(constant_id = 5) const uint OUT_W = 1;
layout(constant_id = 6) const uint OUT_H = 1;
layout(constant_id = 7) const uint PAD_LEFT = 0;
layout(constant_id = 8) const uint PAD_TOP = 0;
layout(constant_id = 9) const uint PACKS = 1;
layout(constant_id = 10) const uint M = 2; // 2 or 4
layout(constant_id = 11) const uint TILES_W = 1;
layout(constant_id = 12) const uint TILES_H = 1;
layout(constant_id = 13) const uint TILES = 1;
