"""Pools, resizing, sampling, deformable convolution and regions against torch and torchvision.

usage: image_operators_test.py HONE [FOLDER]
"""
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F
import torchvision

from case_writer import Cases

torch.manual_seed(7)
warnings.filterwarnings("ignore", message="Since version 1.3.0, affine_grid")


def ints(*values) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def floats(*values) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def pools(cases: Cases) -> None:
    x = torch.randn(2, 3, 11, 8)
    for include in (0, 1):
        y = F.avg_pool2d(x, (3, 4), (2, 3), (1, 2), ceil_mode=True, count_include_pad=bool(include))
        cases.add(f"average_pool_ceil_{include}", "AveragePool", [x], [y], kernel_shape=[3, 4], strides=[2, 3],
                  pads=[1, 2, 1, 2], ceil_mode=1, count_include_pad=include)
    columns = F.unfold(x, (3, 2), dilation=(2, 3), stride=(1, 2)).reshape(2, 3, 6, -1)
    cases.add("average_pool_dilated", "AveragePool", [x], [columns.mean(2).reshape(2, 3, 7, 3)], kernel_shape=[3, 2],
              dilations=[2, 3], strides=[1, 2])
    cases.add("lp_pool_dilated", "LpPool", [x], [(columns.abs() ** 3).sum(2).pow(1 / 3).reshape(2, 3, 7, 3)],
              kernel_shape=[3, 2], dilations=[2, 3], strides=[1, 2], p=3)
    cases.add("global_lp_pool", "GlobalLpPool", [x], [(x.abs() ** 3).sum((2, 3), keepdim=True).pow(1 / 3)], p=3)
    y, indices = F.max_pool2d(x, 3, 2, 1, dilation=2, ceil_mode=True, return_indices=True)
    planes = torch.arange(6).reshape(2, 3, 1, 1) * (11 * 8)
    cases.add("max_pool_dilated_ceil", "MaxPool", [x], [y, indices + planes], kernel_shape=[3, 3], strides=[2, 2],
              pads=[1, 1, 1, 1], dilations=[2, 2], ceil_mode=1)


def convolutions(cases: Cases) -> None:
    x, w, b = torch.randn(2, 4, 6, 7, 5), torch.randn(6, 2, 3, 2, 3), torch.randn(6)
    y = F.conv3d(x, w, b, stride=(2, 1, 1), padding=(1, 0, 2), dilation=(1, 2, 1), groups=2)
    cases.add("conv_3d", "Conv", [x, w, b], [y], strides=[2, 1, 1], pads=[1, 0, 2, 1, 0, 2], dilations=[1, 2, 1],
              group=2)
    x, w, b = torch.randn(2, 4, 6, 7), torch.randn(4, 3, 3, 2), torch.randn(6)
    y = F.conv_transpose2d(x, w, b, stride=(2, 3), padding=(1, 2), output_padding=(1, 2), groups=2, dilation=(2, 1))
    cases.add("conv_transpose_groups", "ConvTranspose", [x, w, b], [y], strides=[2, 3], pads=[1, 2, 1, 2],
              output_padding=[1, 2], dilations=[2, 1], group=2)
    x, w, b = torch.randn(2, 3, 9), torch.randn(3, 4, 4), torch.randn(4)
    cases.add("conv_transpose_1d", "ConvTranspose", [x, w, b], [F.conv_transpose1d(x, w, b, stride=2, padding=1)],
              strides=[2], pads=[1, 1])
    x, w = torch.randn(1, 4, 3, 4, 5), torch.randn(4, 2, 2, 3, 3)
    y = F.conv_transpose3d(x, w, stride=(2, 1, 3), padding=(0, 1, 1), output_padding=(1, 0, 2))
    cases.add("conv_transpose_3d", "ConvTranspose", [x, w], [y], strides=[2, 1, 3], pads=[0, 1, 1, 0, 1, 1],
              output_padding=[1, 0, 2])
    columns = torch.randn(2, 3 * 6, 15)
    y = F.fold(columns, (7, 9), (2, 3), dilation=(2, 1), padding=(1, 1), stride=(3, 2))
    cases.add("col2im", "Col2Im", [columns, ints(7, 9), ints(2, 3)], [y], dilations=[2, 1], pads=[1, 1, 1, 1],
              strides=[3, 2])


def deformable(cases: Cases) -> None:
    x, w, b = torch.randn(2, 4, 7, 6), torch.randn(6, 2, 3, 2), torch.randn(6)
    offset, mask = 2 * torch.randn(2, 2 * 2 * 6, 4, 5), torch.rand(2, 2 * 6, 4, 5)
    options = dict(strides=[2, 1], pads=[1, 0, 1, 0], group=2, offset_group=2)
    y = torchvision.ops.deform_conv2d(x, offset, w, b, stride=(2, 1), padding=(1, 0), mask=mask)
    cases.add("deform_conv", "DeformConv", [x, w, offset, b, mask], [y], **options)
    y = torchvision.ops.deform_conv2d(x, offset, w, stride=(2, 1), padding=(1, 0))
    cases.add("deform_conv_plain", "DeformConv", [x, w, offset], [y], **options)


def resize_sizes(cases: Cases) -> None:
    images = {1: (torch.randn(2, 3, 9), "linear", (14,)), 2: (torch.randn(2, 3, 9, 7), "bilinear", (5, 16)),
              3: (torch.randn(1, 2, 4, 5, 6), "trilinear", (7, 3, 6))}
    for axes, (x, mode, size) in images.items():
        sizes = ints(*x.shape[:2], *size)
        for align in (False, True):
            coordinates = "align_corners" if align else "half_pixel"
            cases.add(f"resize_linear_{axes}_{coordinates}", "Resize", [x, None, None, sizes],
                      [F.interpolate(x, size, mode=mode, align_corners=align)], mode="linear",
                      coordinate_transformation_mode=coordinates)
        cases.add(f"resize_nearest_{axes}", "Resize", [x, None, None, sizes], [F.interpolate(x, size, mode="nearest")],
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        cases.add(f"resize_nearest_exact_{axes}", "Resize", [x, None, None, sizes],
                  [F.interpolate(x, size, mode="nearest-exact")], nearest_mode="round_prefer_ceil")


def resize_filters(cases: Cases) -> None:
    x = torch.randn(2, 3, 13, 10)
    for mode, name in (("linear", "bilinear"), ("cubic", "bicubic")):
        for size in ((5, 7), (6, 21)):
            cases.add(f"resize_antialias_{mode}_{size[1]}", "Resize", [x, None, None, ints(*size)],
                      [F.interpolate(x, size, mode=name, antialias=True)], mode=mode, antialias=1, exclude_outside=1,
                      # torch filters antialiased cubic images with a = -0.5, as Pillow does
                      cubic_coeff_a=-0.5, axes=[2, 3])
    for align in (False, True):
        coordinates = "align_corners" if align else "half_pixel"
        cases.add(f"resize_cubic_{coordinates}", "Resize", [x, None, None, ints(2, 3, 20, 8)],
                  [F.interpolate(x, (20, 8), mode="bicubic", align_corners=align)], mode="cubic",
                  coordinate_transformation_mode=coordinates)


def resize_options(cases: Cases) -> None:
    x = torch.randn(1, 2, 4, 6)
    # Wanted are 7 x 9: the factors are 1.75 and 1.5, and the same one counts for both axes.
    y = F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=False, recompute_scale_factor=False)
    cases.add("resize_not_larger", "Resize", [x, None, None, ints(9, 7)], [y], mode="linear", axes=[3, 2],
              keep_aspect_ratio_policy="not_larger")
    # 6 * 1.75 = 10.5 is rounded up.
    rows, columns = np.floor(np.arange(7) / 1.75).astype(int), np.floor(np.arange(11) / 1.75).astype(int)
    cases.add("resize_not_smaller", "Resize", [x, None, None, ints(9, 7)], [x[:, :, rows][:, :, :, columns]],
              axes=[3, 2], keep_aspect_ratio_policy="not_smaller", coordinate_transformation_mode="asymmetric",
              nearest_mode="floor")
    # 7 * 0.5 = 3.5 pixels, 3 of them drawn: the sampled ones are centred on the image.
    line = np.arange(7, dtype=np.float32).reshape(1, 1, 7)
    centred = 7 / 2 * (1 - 3 / 3.5) + (np.arange(3) + 0.5) / 0.5 - 0.5
    cases.add("resize_half_pixel_symmetric", "Resize", [line, None, floats(1, 1, 0.5)],
              [centred.astype(np.float32).reshape(1, 1, 3)], mode="linear",
              coordinate_transformation_mode="half_pixel_symmetric")
    cropped = floats(0.5 * 6 + np.arange(3) * 0.75 * 6 / 2).reshape(1, 1, 3)
    cropped[cropped > 6] = -1
    cases.add("resize_crop", "Resize", [line, floats(0.5, 1.25), None, ints(3)], [cropped], mode="linear", axes=[-1],
              coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=-1.0)
    cases.add("resize_bytes", "Resize", [np.array([[[0, 255]]], np.uint8), None, floats(1, 1, 2)],
              [np.array([[[0, 63, 191, 255]]], np.uint8)], mode="linear")
    cases.add("resize_long", "Resize", [np.array([2 ** 62 + 1, 5], np.int64), None, floats(2)],
              [np.array([2 ** 62 + 1, 2 ** 62 + 1, 5, 5], np.int64)])


def grids(cases: Cases) -> None:
    x, grid = torch.randn(2, 3, 5, 7), 3 * torch.rand(2, 4, 6, 2) - 1.5
    volume, points = torch.randn(2, 2, 4, 5, 6), 3 * torch.rand(2, 3, 2, 4, 3) - 1.5
    for padding in ("zeros", "border", "reflection"):
        for align in (0, 1):
            for mode, name in (("bilinear", "linear"), ("nearest", "nearest"), ("bicubic", "cubic")):
                options = dict(padding_mode=padding, align_corners=bool(align))
                cases.add(f"grid_sample_{name}_{padding}_{align}", "GridSample", [x, grid],
                          [F.grid_sample(x, grid, mode=mode, **options)], mode=name, padding_mode=padding,
                          align_corners=align)
                if name == "cubic":
                    continue
                cases.add(f"grid_sample_3d_{name}_{padding}_{align}", "GridSample", [volume, points],
                          [F.grid_sample(volume, points, mode=mode, **options)], mode=name, padding_mode=padding,
                          align_corners=align)
    for align in (0, 1):
        for size in ((2, 3, 4, 5), (2, 3, 4, 5, 6), (2, 1, 1, 3)):
            theta = torch.randn(2, len(size) - 2, len(size) - 1)
            cases.add(f"affine_grid_{len(size)}_{size[2]}_{align}", "AffineGrid", [theta, ints(*size)],
                      [F.affine_grid(theta, list(size), align_corners=bool(align))], align_corners=align)


def regions(cases: Cases) -> None:
    x = torch.rand(2, 3, 12, 15)
    boxes = torch.tensor([[0, 1.5, 2.5, 20, 19], [1, -3, 4, 9, 30], [1, 8, 8, 8.2, 8.1], [0, 40, 40, 60, 50]])
    images = boxes[:, 0].long()
    for ratio in (0, 3):
        for aligned, mode in ((False, "output_half_pixel"), (True, "half_pixel")):
            y = torchvision.ops.roi_align(x, boxes, (4, 3), 0.5, ratio or -1, aligned)
            cases.add(f"roi_align_{mode}_{ratio}", "RoiAlign", [x, boxes[:, 1:], images], [y], output_height=4,
                      output_width=3, spatial_scale=0.5, sampling_ratio=ratio, coordinate_transformation_mode=mode)
    y = torchvision.ops.roi_pool(x, boxes, (4, 3), 0.5)
    cases.add("max_roi_pool", "MaxRoiPool", [x, boxes], [y], pooled_shape=[4, 3], spatial_scale=0.5)


def suppression(cases: Cases) -> None:
    centres, sizes = 10 * torch.rand(2, 40, 2), 1 + 4 * torch.rand(2, 40, 2)
    corners = torch.cat([centres - sizes / 2, centres + sizes / 2], 2)
    scores = torch.rand(2, 3, 40)
    expected = []
    for image in range(2):
        for label in range(3):
            above = (scores[image, label] > 0.3).nonzero()[:, 0]
            kept = torchvision.ops.nms(corners[image, above], scores[image, label, above], 0.4)[:6]
            expected += [[image, label, int(i)] for i in above[kept]]
    limits = [ints(6), floats(0.4), floats(0.3)]
    for name, boxes, centred in (("corners", corners[:, :, [1, 0, 3, 2]], 0),
                                 ("centres", torch.cat([centres, sizes], 2), 1)):
        cases.add(f"suppression_{name}", "NonMaxSuppression", [boxes, scores, *limits], [ints(*expected)],
                  center_point_box=centred)


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    cases = Cases(sys.argv, rtol=1e-4, atol=1e-5)
    for family in (pools, convolutions, deformable, resize_sizes, resize_filters, resize_options, grids, regions,
                   suppression):
        family(cases)
    cases.run()


if __name__ == "__main__":
    main()
