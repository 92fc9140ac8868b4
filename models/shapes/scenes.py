"""Synthetic scenes with exact boxes: discs and boxes over photographs, with triangles that are neither, bars that
hide, blur, noise and changes of light. Everything is computed by formulas on tensors, so that a batch takes
milliseconds on a GPU, and a box is that of the shape itself, cut at the image's edge.
"""
import math

import torch
import torch.nn.functional as functional

DISC, BOX, TRIANGLE, BAR, NOTHING = range(5)
CLASSES = ("disc", "box")
# Shapes less of which can be seen are in the scene but not in its truth.
LEAST_VISIBLE = 0.35


class Shapes:
    """Shapes of a batch, [scenes, shapes] each: kind, centre, half axes (pixels), angle (radians), and what they look
    like: two colours [.., 3], how much of a photograph shows, width of an outline."""

    def __init__(self, kind, center, axes, angle, colors, texture, outline):
        self.kind, self.center, self.axes, self.angle = kind, center, axes, angle
        self.colors, self.texture, self.outline = colors, texture, outline

    @staticmethod
    def random(scenes, count, width, height, generator, device):
        def uniform(*shape, low=0.0, high=1.0):
            return low + (high - low) * torch.rand(*shape, generator=generator, device=device)

        kind = torch.multinomial(torch.tensor([3.0, 3.0, 1.2, 0.8, 2.0], device=device), scenes * count,
                                 replacement=True, generator=generator).view(scenes, count)
        center = torch.stack([uniform(scenes, count, low=-0.02, high=1.02) * width,
                              uniform(scenes, count, low=-0.02, high=1.02) * height], -1)
        scale = width / 480
        size = torch.exp(uniform(scenes, count, low=math.log(7.0), high=math.log(75.0))) * scale
        aspect = uniform(scenes, count, low=0.65, high=1.0)
        axes = torch.stack([size, size * aspect], -1)
        bar = torch.stack([size * 3, size.clamp(max=20 * scale) * 0.35], -1)
        axes = torch.where((kind == BAR)[..., None], bar, axes)
        return Shapes(kind, center, axes, uniform(scenes, count, high=2 * math.pi), uniform(scenes, count, 2, 3),
                      uniform(scenes, count, high=0.6), uniform(scenes, count, low=-0.1, high=0.15))

    def half_extents(self):
        """Of the axis-parallel box around the whole shape, [scenes, shapes, 2]."""
        c, s = torch.cos(self.angle), torch.sin(self.angle)
        a, b = self.axes[..., 0], self.axes[..., 1]
        disc = torch.stack([torch.hypot(a * c, b * s), torch.hypot(a * s, b * c)], -1)
        box = torch.stack([a * c.abs() + b * s.abs(), a * s.abs() + b * c.abs()], -1)
        return torch.where((self.kind == DISC)[..., None], disc, box)

    def areas(self):
        return torch.where(self.kind == DISC, math.pi, 4.0) * self.axes[..., 0] * self.axes[..., 1]


def distance(shapes, index, xs, ys):
    """Of each pixel from the edge of one shape of each scene, in pixels, negative inside: [scenes, height, width], and
    the pixel in the shape's own axes."""
    def of(value):
        return value[:, index, None, None]

    dx, dy = xs - of(shapes.center[..., 0]), ys - of(shapes.center[..., 1])
    c, s = torch.cos(of(shapes.angle)), torch.sin(of(shapes.angle))
    u, v = (c * dx + s * dy) / of(shapes.axes[..., 0]), (c * dy - s * dx) / of(shapes.axes[..., 1])
    small = torch.minimum(of(shapes.axes[..., 0]), of(shapes.axes[..., 1]))
    disc = (torch.sqrt(u * u + v * v + 1e-9) - 1) * small
    box = torch.maximum((u.abs() - 1) * of(shapes.axes[..., 0]), (v.abs() - 1) * of(shapes.axes[..., 1]))
    triangle = torch.maximum(-v - 0.7, u.abs() * 1.3 + v * 0.75 - 0.75) * small
    kind = of(shapes.kind)
    result = torch.where(kind == DISC, disc, torch.where(kind == TRIANGLE, triangle, box))
    return torch.where(kind == NOTHING, torch.full_like(result, 1e6), result), u, v


def window(shapes, index, width, height):
    """Rows and columns that hold the shape where there is one scene; of several scenes, all."""
    if len(shapes.kind) > 1:
        return slice(0, height), slice(0, width)
    reach = 2 * float(shapes.axes[0, index].amax()) + 2
    x, y = shapes.center[0, index].tolist()
    return (slice(max(0, int(y - reach)), max(0, min(height, int(y + reach)))),
            slice(max(0, int(x - reach)), max(0, min(width, int(x + reach)))))


def draw(background, texture, shapes):
    """background and texture: [scenes, 3, height, width], 0 to 1. Returns the image and which share of each shape can be
    seen, [scenes, shapes]."""
    scenes, _, height, width = background.shape
    device = background.device
    all_ys = torch.arange(height, device=device, dtype=torch.float32)[None, :, None] + 0.5
    all_xs = torch.arange(width, device=device, dtype=torch.float32)[None, None, :] + 0.5
    image, count = background.clone(), shapes.kind.shape[1]
    alphas, windows = [], []
    for index in range(count):
        rows, columns = window(shapes, index, width, height)
        far, u, v = distance(shapes, index, all_xs[:, :, columns], all_ys[:, rows])
        alpha = (0.5 - far).clamp(0, 1)
        first, second = (shapes.colors[:, index, i, :, None, None] for i in range(2))
        blend = (0.5 + 0.35 * u + 0.35 * v).clamp(0, 1)[:, None]
        color = first * (1 - blend) + second * blend
        share = shapes.texture[:, index, None, None, None]
        color = color * (1 - share) + texture[:, :, rows, columns] * share
        size = shapes.axes[:, index].amin(-1)[:, None, None, None]
        rim = (far[:, None] > -shapes.outline[:, index, None, None, None] * size) & (
            shapes.outline[:, index, None, None, None] > 0.03)
        color = torch.where(rim, 0.25 * color, color)
        part = image[:, :, rows, columns]
        image[:, :, rows, columns] = part * (1 - alpha[:, None]) + color * alpha[:, None]
        alphas.append(alpha)
        windows.append((rows, columns))
    seen, free = [None] * count, torch.ones(scenes, height, width, device=device)
    for index in reversed(range(count)):
        rows, columns = windows[index]
        seen[index] = (alphas[index] * free[:, rows, columns]).sum((1, 2))
        free[:, rows, columns] *= 1 - alphas[index]
    return image, torch.stack(seen, 1) / shapes.areas().clamp(min=1)


def truth(shapes, visible, width, height):
    """Boxes x1, y1, x2, y2 in pixels, cut at the edges, [scenes, shapes, 4]; class, or -1 for what is none or too little
    of which can be seen."""
    half = shapes.half_extents()
    low, high = shapes.center - half, shapes.center + half
    edge = torch.tensor([width, height], device=low.device, dtype=low.dtype)
    low, high = torch.minimum(low.clamp(min=0), edge), torch.minimum(high.clamp(min=0), edge)
    wanted = (shapes.kind <= BOX) & (visible >= LEAST_VISIBLE) & ((high - low).amin(-1) >= 6)
    return torch.cat([low, high], -1), torch.where(wanted, shapes.kind, -1)


def crops(photos, scenes, width, height, generator, device):
    """Random parts of random photographs (a list of [3, h, w], 0 to 1), some mirrored and recoloured."""
    draws = torch.rand(scenes, 5, generator=generator, device=device).tolist()
    light = 0.7 + 0.5 * torch.rand(scenes, 3, 1, 1, generator=generator, device=device)
    result = []
    for which, size, down, across, mirror in draws:
        photo = photos[int(which * len(photos))]
        h, w = (max(8, int(side * (0.45 + 0.55 * size))) for side in photo.shape[1:])
        top, left = int((photo.shape[1] - h) * down), int((photo.shape[2] - w) * across)
        part = photo[None, :, top:top + h, left:left + w]
        part = functional.interpolate(part, (height, width), mode="bilinear", align_corners=False)[0]
        result.append(part.flip(-1) if mirror < 0.5 else part)
    return (torch.stack(result) * light).clamp(0, 1)


def degrade(image, generator):
    """Light, blur and noise, other in each scene."""
    scenes, device = image.shape[0], image.device

    def uniform(low, high):
        return low + (high - low) * torch.rand(scenes, 1, 1, 1, generator=generator, device=device)

    image = (image.clamp(1e-4, 1) ** torch.exp(uniform(-0.4, 0.4))) * uniform(0.7, 1.2) + uniform(-0.05, 0.05)
    blurred = functional.avg_pool2d(functional.pad(image, (2, 2, 2, 2), mode="replicate"), 5, 1)
    soft = functional.avg_pool2d(functional.pad(image, (1, 1, 1, 1), mode="replicate"), 3, 1)
    choice = torch.rand(scenes, 1, 1, 1, generator=generator, device=device)
    image = torch.where(choice < 0.15, blurred, torch.where(choice < 0.5, soft, image))
    noise = torch.randn(image.shape, generator=generator, device=device)
    return (image + noise * uniform(0, 0.06).clamp(min=0)).clamp(0, 1)


def batch(photos, scenes, width, height, generator, device, count=9):
    """Images [scenes, 3, height, width] of 8-bit steps, and their truth."""
    background = crops(photos, scenes, width, height, generator, device)
    shapes = Shapes.random(scenes, count, width, height, generator, device)
    image, visible = draw(background, background.roll(1, 0), shapes)
    boxes, classes = truth(shapes, visible, width, height)
    image = degrade(image, generator)
    return (image * 255).round() / 255, boxes, classes
