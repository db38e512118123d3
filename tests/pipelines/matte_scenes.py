# SPDX-License-Identifier: LGPL-2.1-or-later
"""A drawn person whose matte is known, before drawn walls that move: the same in every run.

Everything is drawn as shapes whose edges cover pixels in part. What they cover is the matte, so
it is true by construction, down to strands of hair that are thinner than a pixel. Lengths of the
person are in units of the frame's height, from the middle of the frame's lower edge, y up.
"""
import math

import numpy as np

SKIN, SHADE = (214, 166, 140), (172, 118, 96)
HAIR, SHIRT, COLLAR = (58, 40, 30), (70, 86, 128), (226, 226, 230)
CLOTH = (58, 71, 108)


class Canvas:
    """Colours that are multiplied by the matte, and the matte."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.color = np.zeros((height, width, 3), np.float32)
        self.matte = np.zeros((height, width), np.float32)

    def part(self, low_x, high_x, low_y, high_y):
        """The rows and columns that these bounds (units) touch, and their places in units."""
        h, middle = self.height, self.width / 2
        left = max(0, math.floor(low_x * h + middle) - 1)
        right = min(self.width, math.ceil(high_x * h + middle) + 2)
        top = max(0, math.floor(h - high_y * h) - 1)
        bottom = min(h, math.ceil(h - low_y * h) + 2)
        if left >= right or top >= bottom:
            return None
        x = ((np.arange(left, right) + 0.5 - middle) / h).astype(np.float32)
        y = ((h - np.arange(top, bottom) - 0.5) / h).astype(np.float32)
        return np.s_[top:bottom, left:right], x[None, :], y[:, None]

    def lay(self, where, cover, color):
        cover = np.clip(cover, 0, 1).astype(np.float32)
        color = np.asarray(color, np.float32)
        self.matte[where] += cover * (1 - self.matte[where])
        self.color[where] = self.color[where] * (1 - cover[..., None]) + cover[..., None] * color

    def ellipse(self, x, y, a, b, color, dark=None, soft=0):
        """With radii a and b; `dark` is its colour on the left, `soft` (units) blurs its edge."""
        part = self.part(x - a - soft, x + a + soft, y - b - soft, y + b + soft)
        if not part:
            return
        where, px, py = part
        u, v = (px - x) / a, (py - y) / b
        r = np.hypot(u, v)
        # The distance from the edge, from the field's slope.
        slope = np.hypot(u / a, v / b) / np.maximum(r, 1e-6)
        away = (r - 1) / np.maximum(slope, 1e-6)
        cover = 0.5 - away * self.height if soft == 0 else 0.5 - away / soft
        self.lay(where, cover, shaded(color, dark, u, v))

    def line(self, x0, y0, x1, y1, r0, r1, color, dark=None):
        """Round at its ends, from radius r0 to r1. Thinner than a pixel it covers so much less."""
        r = max(r0, r1)
        part = self.part(min(x0, x1) - r, max(x0, x1) + r, min(y0, y1) - r, max(y0, y1) + r)
        if not part:
            return
        where, px, py = part
        dx, dy = x1 - x0, y1 - y0
        along = np.clip(((px - x0) * dx + (py - y0) * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1)
        away = np.hypot(px - x0 - along * dx, py - y0 - along * dy) * self.height
        radius = (r0 + along * (r1 - r0)) * self.height
        cover = np.minimum(radius + 0.5 - away, np.minimum(1, 2 * radius))
        across = ((px - x0) * dy - (py - y0) * dx) / max(math.hypot(dx, dy) * r, 1e-9)
        self.lay(where, cover, shaded(color, dark, across, 0))


def shaded(color, dark, u, v):
    """Lit from the right and above, u and v from -1 to 1."""
    if dark is None:
        return color
    light = np.clip(0.62 + 0.3 * u + 0.14 * v - 0.18 * u * u, 0, 1)[..., None]
    return np.asarray(dark, np.float32) * (1 - light) + np.asarray(color, np.float32) * light


def curve(canvas, points, r0, r1, color, pieces=7):
    """A quadratic Bézier curve as lines that taper."""
    t = np.linspace(0, 1, pieces + 1)[:, None]
    a, b, c = (np.asarray(p, float) for p in points)
    path = (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c
    radii = r0 + (r1 - r0) * t[:, 0]
    for i in range(pieces):
        canvas.line(*path[i], *path[i + 1], radii[i], radii[i + 1], color)


def draw_hair(canvas, x, y, sway, chance, behind):
    """Strands from the crown down to the shoulders, and loose ones that stand off."""
    for i in range(130 if behind else 60):
        side = -1 if i % 2 else 1
        spread, fall, loose, tone = chance.random(4)
        flies = loose > (0.72 if behind else 0.85)
        root = (x + side * spread * 0.075, y + 0.135 - 0.05 * spread)
        bend = (x + side * (0.12 + 0.05 * spread + 0.10 * flies * loose),
                y + 0.09 + 0.07 * flies - 0.05 * fall)
        end = (x + side * (0.095 + 0.055 * spread + 0.12 * flies * fall) + sway * (0.4 + fall),
               y - (0.10 + 0.17 * fall if behind else -0.02 + 0.05 * fall) + 0.15 * flies)
        color = np.asarray(HAIR) * (0.75 + 0.9 * tone)
        thick = 0.0006 if flies else 0.0042
        curve(canvas, (root, bend, end), thick * 1.6, thick * 0.5, color)


def draw_hand(canvas, x, y, angle, spread):
    """A palm with five fingers that point along `angle` (radians, from the x axis)."""
    c, s = math.cos(angle), math.sin(angle)

    def at(along, across):
        return x + along * c - across * s, y + along * s + across * c

    canvas.line(*at(0, -0.012), *at(0.055, -0.014), 0.026, 0.028, SKIN, SHADE)
    canvas.line(*at(0, 0.012), *at(0.055, 0.016), 0.026, 0.024, SKIN, SHADE)
    for i, length in enumerate((0.052, 0.066, 0.073, 0.066)):
        root, lean = -0.033 + 0.0215 * i, (i - 1.5) * spread
        knee = (0.07 + 0.5 * length * math.cos(lean), root + 0.5 * length * math.sin(lean))
        tip = (0.07 + length * math.cos(1.15 * lean), root + length * math.sin(1.15 * lean))
        canvas.line(*at(0.055, root), *at(*knee), 0.0105, 0.0095, SKIN, SHADE)
        canvas.line(*at(*knee), *at(*tip), 0.0095, 0.0072, SKIN, SHADE)
    canvas.line(*at(0.01, 0.03), *at(0.055, 0.068), 0.0125, 0.009, SKIN, SHADE)


def draw_face(canvas, x, y):
    canvas.ellipse(x, y, 0.098, 0.128, SKIN, SHADE)
    for side in (-1, 1):
        eye = x + side * 0.037
        canvas.ellipse(eye, y + 0.022, 0.022, 0.016, SHADE, soft=0.012)
        canvas.ellipse(eye, y + 0.02, 0.0155, 0.0078, (236, 232, 228))
        canvas.ellipse(eye, y + 0.02, 0.0074, 0.0076, (64, 50, 40))
        canvas.ellipse(eye + 0.002, y + 0.0225, 0.002, 0.002, (250, 250, 250))
        curve(canvas, ((eye - 0.021, y + 0.043), (eye, y + 0.054), (eye + 0.021, y + 0.043)),
              0.0035, 0.0035, HAIR)
        canvas.ellipse(x + side * 0.06, y - 0.03, 0.026, 0.02, (220, 148, 126), soft=0.03)
        canvas.ellipse(x + side * 0.012, y - 0.027, 0.0065, 0.0045, (120, 74, 60), soft=0.004)
    canvas.line(x - 0.004, y + 0.015, x - 0.01, y - 0.018, 0.004, 0.008, (190, 138, 114))
    canvas.ellipse(x + 0.002, y - 0.02, 0.009, 0.009, (228, 182, 156), soft=0.006)
    curve(canvas, ((x - 0.034, y - 0.06), (x, y - 0.084), (x + 0.034, y - 0.06)),
          0.0055, 0.0055, (176, 82, 80))
    curve(canvas, ((x - 0.034, y - 0.06), (x, y - 0.072), (x + 0.034, y - 0.06)),
          0.002, 0.002, (112, 44, 44))


def draw_person(width, height, x, phase):
    """Colours (multiplied by the matte) and matte of the person at x, `phase` radians into a
    wave of the hand."""
    canvas = Canvas(width, height)
    lean = 0.012 * math.sin(phase)
    head_x, head_y, sway = x + lean, 0.63, 0.02 * math.sin(phase - 0.8)
    chance = np.random.default_rng(7)
    draw_hair(canvas, head_x, head_y, sway, chance, True)
    canvas.ellipse(head_x, head_y + 0.03, 0.113, 0.137, HAIR, (34, 24, 18))
    canvas.line(x, 0.40, head_x, 0.53, 0.062, 0.052, SHADE, (128, 82, 66))
    canvas.line(x - 0.17, 0.29, x + 0.17, 0.29, 0.085, 0.085, CLOTH)
    canvas.ellipse(x, 0.02, 0.25, 0.34, CLOTH)
    canvas.line(x - 0.075, 0.37, x, 0.27, 0.012, 0.014, COLLAR)
    canvas.line(x + 0.075, 0.37, x, 0.27, 0.012, 0.014, COLLAR)
    for i in range(4): # buttons
        canvas.ellipse(x, 0.21 - 0.065 * i, 0.007, 0.007, COLLAR, (120, 120, 130))
    # The left arm hangs, the right one is raised and waves.
    canvas.line(x - 0.22, 0.28, x - 0.29, -0.1, 0.072, 0.062, SHIRT, (30, 38, 64))
    elbow = (x + 0.37, 0.13)
    swing = 0.16 * math.sin(phase)
    wrist = (elbow[0] + 0.27 * math.sin(0.12 + swing), elbow[1] + 0.27 * math.cos(0.12 + swing))
    cuff = tuple(e + 0.62 * (w - e) for e, w in zip(elbow, wrist))
    canvas.line(x + 0.2, 0.29, *elbow, 0.072, 0.058, SHIRT, (40, 50, 82))
    canvas.line(*cuff, *wrist, 0.034, 0.026, SKIN, SHADE)
    canvas.line(*elbow, *cuff, 0.056, 0.043, SHIRT, (40, 50, 82))
    draw_face(canvas, head_x, head_y)
    canvas.ellipse(head_x, head_y + 0.118, 0.09, 0.034, HAIR, (38, 27, 21))
    draw_hair(canvas, head_x, head_y, 0.5 * sway, chance, False)
    draw_hand(canvas, *wrist, math.pi / 2 - 0.12 - 1.4 * swing, 0.16 + 0.03 * math.sin(2 * phase))
    return canvas.color, canvas.matte


def draw_wall(width, height, shift):
    """A wall of a room that is `shift` px to the left: stripes, shelves with books, a window."""
    x = (np.arange(width) + shift) / height
    y = np.arange(height)[:, None] / height
    wall = np.empty((height, width, 3), np.float32)
    wall[:] = (176, 170, 150)
    wall += (7 * np.sign(np.sin(38 * x)) + 4 * np.sin(5 * x))[None, :, None]
    wall -= (26 * y)[..., None]
    at = np.mod(x, 2.6)
    book = np.floor(at * 34)
    tones = np.random.default_rng(3).uniform(45, 190, (96, 3)).astype(np.float32)
    shelf = (at > 0.25) & (at < 1.05)
    for i in range(3):
        tall = 0.115 + 0.03 * np.sin(book * 2.3 + i)
        low = 0.22 + 0.19 * i
        books = shelf & (y < low) & (y > low - tall)
        wall[books] = np.broadcast_to(tones[(book.astype(int) * 3 + i) % 96], wall.shape)[books]
        wall[shelf & (y >= low) & (y < low + 0.016)] = (104, 72, 48)
    window = (at > 1.45) & (at < 2.15) & (y > 0.1) & (y < 0.55)
    bars = (np.abs(np.mod(at - 1.45, 0.35)) < 0.015) | (np.abs(y - 0.32) < 0.008)
    wall[window] = (206, 222, 236)
    wall[window & bars] = (236, 234, 228)
    wall[(y > 0.86) & (at > 0)] = (112, 88, 70)
    return wall


def drawn(width, height, frames, moving):
    """Frames (uint8) and mattes of the scene. Still, only a camera's noise changes."""
    chance = np.random.default_rng(11)
    pictures, mattes = [], []
    for i in range(frames):
        t = i if moving else 0
        if i == 0 or moving:
            color, matte = draw_person(width, height, 0.05 * math.sin(0.08 * t) - 0.05, 0.15 * t)
            wall = draw_wall(width, height, 3 * t * height / 720)
            clean = color + (1 - matte[..., None]) * wall
        noisy = clean + chance.normal(0, 2, clean.shape).astype(np.float32)
        pictures.append(np.clip(noisy + 0.5, 0, 255).astype(np.uint8))
        mattes.append(matte)
    return np.stack(pictures), np.stack(mattes)
