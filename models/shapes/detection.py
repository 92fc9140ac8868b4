"""Loss, decoding, suppression and average precision of darknet's yolo heads."""
import math

import numpy
import torch
from torch.nn import functional


def split(raw, head):
    """[N, boxes, 5 + classes, rows, columns]."""
    n, _, rows, columns = raw.shape
    return raw.view(n, len(head.anchors), 5 + head.classes, rows, columns)


def boxes_of(parts, head, width, height):
    """Centre form in pixels of the network's input, [N, boxes, rows, columns, 4]."""
    _, _, _, rows, columns = parts.shape
    device = parts.device
    i = torch.arange(columns, device=device, dtype=torch.float32)
    j = torch.arange(rows, device=device, dtype=torch.float32)[:, None]
    anchors = torch.tensor(head.anchors, device=device)[None, :, :, None, None]
    alpha = head.scale_x_y
    xy = torch.sigmoid(parts[:, :, :2].float()) * alpha - (alpha - 1) / 2
    x, y = (xy[:, :, 0] + i) * width / columns, (xy[:, :, 1] + j) * height / rows
    wh = torch.exp(parts[:, :, 2:4].float().clamp(max=6)) * anchors
    return torch.stack([x, y, wh[:, :, 0], wh[:, :, 1]], -1)


def corners(boxes):
    return torch.cat([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)


def iou(a, b):
    """Of corner boxes that broadcast, and the enclosing box's sides."""
    inner = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0).prod(-1)
    areas = (a[..., 2:] - a[..., :2]).clamp(min=0).prod(-1) + (b[..., 2:] - b[..., :2]).clamp(min=0).prod(-1)
    outer = torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])
    return inner / (areas - inner).clamp(min=1e-6), outer


def ciou(a, b):
    overlap, outer = iou(corners(a), corners(b))
    apart = ((a[..., :2] - b[..., :2]) ** 2).sum(-1) / (outer ** 2).sum(-1).clamp(min=1e-6)
    turn = 4 / math.pi ** 2 * (torch.atan(b[..., 2] / b[..., 3].clamp(min=1e-6)) -
                               torch.atan(a[..., 2] / a[..., 3].clamp(min=1e-6))) ** 2
    weight = (turn / (1 - overlap + turn + 1e-6)).detach()
    return overlap, overlap - apart - weight * turn


def head_loss(raw, head, boxes, classes, width, height):
    """boxes: centre form [N, T, 4]; classes [N, T], -1 where there is none. A box belongs to the anchor that fits best, and
    to others of the head that overlap it by half. Where a prediction overlaps any box by 0.7, it is no fault to see one."""
    parts = split(raw, head)
    n, count, _, rows, columns = parts.shape
    predicted = boxes_of(parts, head, width, height)
    with torch.no_grad():
        sides = boxes[..., 2:].clamp(min=1)
        anchors = torch.tensor(head.all_anchors, device=raw.device)
        inner = torch.minimum(sides[:, :, None], anchors).prod(-1)
        fit = inner / (sides.prod(-1)[..., None] + anchors.prod(-1) - inner)
        best = functional.one_hot(fit.argmax(-1), len(head.all_anchors)).bool() | (fit > 0.5)
        chosen = best[..., head.mask] & (classes >= 0)[..., None]
        image, item, anchor = chosen.nonzero(as_tuple=True)
        target, label = boxes[image, item], classes[image, item]
        column = (target[:, 0] * columns / width).long().clamp(0, columns - 1)
        row = (target[:, 1] * rows / height).long().clamp(0, rows - 1)
        truth = torch.zeros(n, count, rows, columns, device=raw.device)
        truth[image, anchor, row, column] = 1
        there = torch.where((classes >= 0)[..., None], corners(boxes), torch.zeros_like(boxes))
        flat = corners(predicted.detach()).reshape(n, -1, 1, 4)
        overlap = iou(flat, there[:, None])[0].amax(-1).view(n, count, rows, columns)
        counts = torch.where((overlap > 0.7) & (truth == 0), 0.0, 1.0)
    confidence = functional.binary_cross_entropy_with_logits(parts[:, :, 4].float(), truth, reduction="none")
    loss = (confidence * counts).sum() / n
    if len(image) > 0:
        mine = predicted[image, anchor, row, column]
        loss = loss + 2.0 * (1 - ciou(mine, target)[1]).sum() / n
        scores = parts[image, anchor, 5:, row, column].float()
        loss = loss + functional.binary_cross_entropy_with_logits(
            scores, functional.one_hot(label, head.classes).float(), reduction="sum") / n
    return loss


def suppress(boxes, scores, threshold=0.45, beta=0.6):
    """darknet's greedynms of one class: corner boxes that stay, best first, by IoU less the distance's share."""
    order = scores.argsort(descending=True)
    boxes, kept = boxes[order], []
    free = torch.ones(len(boxes), dtype=torch.bool)
    for i in range(len(boxes)):
        if not free[i]:
            continue
        kept.append(int(order[i]))
        overlap, outer = iou(boxes[i], boxes)
        apart = ((boxes[i, :2] + boxes[i, 2:] - boxes[:, :2] - boxes[:, 2:]) ** 2).sum(-1) / 4
        free &= overlap - (apart / (outer ** 2).sum(-1).clamp(min=1e-9)) ** beta <= threshold
    return kept


def detections(network, results, threshold=0.005, most=300):
    """One image's [(class, score, x1, y1, x2, y2)] as parts of the input's sides."""
    found = []
    for raw, head in zip(results, network.heads):
        parts = split(raw[None].float(), head)
        boxes = corners(boxes_of(parts, head, network.width, network.height)).reshape(-1, 4)
        scores = torch.sigmoid(parts[:, :, 5:]) * torch.sigmoid(parts[:, :, 4:5])
        found.append((boxes, scores.permute(0, 1, 3, 4, 2).reshape(-1, head.classes)))
    boxes, scores = (torch.cat([part[i] for part in found]).cpu() for i in range(2))
    boxes = boxes / torch.tensor([network.width, network.height] * 2)
    result = []
    for label in range(scores.shape[1]):
        chosen = (scores[:, label] > threshold).nonzero()[:, 0]
        chosen = chosen[scores[chosen, label].argsort(descending=True)[:most]]
        for i in suppress(boxes[chosen], scores[chosen, label]):
            result.append((label, float(scores[chosen[i], label]), *boxes[chosen[i]].tolist()))
    return result


def average_precision(found, truths, label, threshold=0.5):
    """101-point interpolation (COCO), one IoU. found: [(image, class, score, x1, y1, x2, y2)], truths: {image: [(class, x1, …)]}.
    Also precision and recall of what has a score of 0.25."""
    wanted = {image: [box[1:] for box in boxes if box[0] == label] for image, boxes in truths.items()}
    total = sum(map(len, wanted.values()))
    mine = sorted((f for f in found if f[1] == label), key=lambda f: -f[2])
    used = {image: [False] * len(boxes) for image, boxes in wanted.items()}
    hits = []
    for image, _, _, *box in mine:
        boxes = wanted.get(image, [])
        best, at = threshold, -1
        for i, other in enumerate(boxes):
            overlap = float(iou(torch.tensor(box), torch.tensor(other))[0])
            if overlap >= best and not used[image][i]:
                best, at = overlap, i
        if at >= 0:
            used[image][at] = True
        hits.append(at >= 0)
    hits = numpy.array(hits, dtype=float)
    rise = numpy.cumsum(hits)
    recall = rise / max(total, 1)
    precision = rise / numpy.arange(1, len(hits) + 1)
    envelope = numpy.maximum.accumulate(precision[::-1])[::-1]
    points = [envelope[recall >= r].max() if (recall >= r).any() else 0.0 for r in numpy.linspace(0, 1, 101)]
    sure = sum(f[2] >= 0.25 for f in mine)
    return {"ap50": float(numpy.mean(points)), "truths": total,
            "precision": float(rise[sure - 1] / sure) if sure else 0.0,
            "recall": float(rise[sure - 1] / max(total, 1)) if sure else 0.0}
