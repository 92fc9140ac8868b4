"""Operators of ai.onnx.ml, which the importer expands, against numpy in double precision.

usage: machine_learning_test.py HONE [FOLDER]
"""
import sys

import numpy as np

from case_writer import Cases

RANDOM = np.random.default_rng(25)
DOMAIN = "ai.onnx.ml"


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def features(cases: Cases) -> None:
    def add(name, op, inputs, wanted, **attributes):
        cases.add(name, op, inputs, wanted, domain=DOMAIN, open_shapes=True, **attributes)

    x = normal(4, 3)
    offset, scale = normal(3), normal(3)
    whole = np.array([[1, 0, 3], [4, 5, 0]], np.int64)
    add("Scaler", "Scaler", [x], [(x - offset) * scale], offset=offset.tolist(), scale=scale.tolist())
    add("Scaler_int", "Scaler", [whole], [((whole - 1.5) * 2).astype(np.float32)], offset=[1.5], scale=[2.0])
    zeros = np.array([[0, 0, 0], [1, -4, 2]], np.float32)
    for norm, sizes in (("MAX", [1, 2]), ("L1", [1, 7]), ("L2", [1, np.sqrt(21)])):
        add(f"Normalizer_{norm}", "Normalizer", [zeros], [(zeros / np.array(sizes)[:, None]).astype(np.float32)],
            norm=norm)
    add("Binarizer", "Binarizer", [x], [(x > np.float32(0.2)).astype(np.float32)], threshold=0.2)
    gaps = np.array([[1, np.nan, 3], [np.nan, 5, 6]], np.float32)
    add("Imputer", "Imputer", [gaps], [np.where(np.isnan(gaps), np.array([7, 8, 9], np.float32), gaps)],
        imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=float("nan"))
    add("Imputer_int", "Imputer", [whole], [np.where(whole == 0, np.array([7, 8, 9]), whole)],
        imputed_value_int64s=[7, 8, 9], replaced_value_int64=0)
    add("ArrayFeatureExtractor", "ArrayFeatureExtractor", [x, np.array([[2, 0]], np.int64)], [x[:, [2, 0]]])
    add("FeatureVectorizer", "FeatureVectorizer", [x[:2], whole], [np.concatenate([x[:2], np.float32(whole)], 1)],
        inputdimensions=[3, 3])
    add("OneHotEncoder", "OneHotEncoder", [np.array([3, 1, 9], np.int64)],
        [np.array([[0, 1], [1, 0], [0, 0]], np.float32)], cats_int64s=[1, 3])


def linear_models(cases: Cases) -> None:
    x, weights, bias = normal(5, 4), normal(3, 4), normal(3)
    scores = np.float64(x) @ weights.T + bias
    names = np.array([7, 2, 5])

    def add(name, op, wanted, **attributes):
        cases.add(name, op, [x], wanted, domain=DOMAIN, open_shapes=True, **attributes)

    parameters = {"coefficients": weights.ravel().tolist(), "intercepts": bias.tolist()}
    add("LinearRegressor", "LinearRegressor", [scores.astype(np.float32)], targets=3, **parameters)
    for transform, function in (("NONE", np.float64), ("LOGISTIC", sigmoid), ("SOFTMAX", softmax)):
        add(f"LinearClassifier_{transform}", "LinearClassifier",
            [names[scores.argmax(1)], function(scores).astype(np.float32)], classlabels_ints=names.tolist(),
            post_transform=transform, **parameters)
    single = {"coefficients": weights[0].tolist(), "intercepts": [float(bias[0])], "classlabels_ints": [3, 8]}
    one = scores[:, :1]
    label = np.where(one[:, 0] > 0, 8, 3)
    add("LinearClassifier_two", "LinearClassifier", [label, np.concatenate([1 - one, one], 1).astype(np.float32)],
        **single)
    add("LinearClassifier_two_logistic", "LinearClassifier",
        [label, sigmoid(np.concatenate([-one, one], 1)).astype(np.float32)], post_transform="LOGISTIC", **single)


# Two trees of three and five nodes: (tree, node, yes, no, feature, threshold); a leaf has no successors, and its
# feature, which may be none of the input's, means nothing.
NODES = [(0, 0, 1, 2, 1, 0.25), (0, 1, None, None, 7, 0), (0, 2, None, None, -9, 0),
         (1, 0, 1, 2, 0, -0.5), (1, 1, None, None, 0, 0), (1, 2, 3, 4, 2, 0.5), (1, 3, None, None, 0, 0),
         (1, 4, None, None, 0, 0)]
COMPARE = {"BRANCH_LEQ": np.less_equal, "BRANCH_LT": np.less, "BRANCH_GTE": np.greater_equal, "BRANCH_GT": np.greater,
           "BRANCH_EQ": np.equal, "BRANCH_NEQ": np.not_equal}


def tree_attributes(mode: str, tracks: bool) -> dict:
    return {
        "nodes_treeids": [n[0] for n in NODES], "nodes_nodeids": [n[1] for n in NODES],
        "nodes_truenodeids": [n[2] or 0 for n in NODES], "nodes_falsenodeids": [n[3] or 0 for n in NODES],
        "nodes_modes": ["LEAF" if n[2] is None else mode for n in NODES], "nodes_featureids": [n[4] for n in NODES],
        "nodes_values": [float(n[5]) for n in NODES], "nodes_missing_value_tracks_true": [int(tracks)] * len(NODES)}


def reached(row: np.ndarray, tree: int, mode: str, tracks: bool) -> tuple:
    by_id = {(n[0], n[1]): n for n in NODES}
    node = by_id[tree, 0]
    while node[2] is not None:
        seen = row[node[4]]
        yes = COMPARE[mode](seen, np.float32(node[5])) or (tracks and np.isnan(seen))
        node = by_id[tree, node[2] if yes else node[3]]
    return node[:2]


def trees(cases: Cases) -> None:
    # Values as in the thresholds, so that equal ones are among them, and a missing one.
    x = np.array([[-1, 0.25, 0], [-0.5, 1, 0.5], [0, np.nan, 1], [0.5, -1, 0.5], [1, 0.25, np.nan]], np.float32)
    leaves = [n[:2] for n in NODES if n[2] is None]

    def add(name, op, wanted, **attributes):
        cases.add(name, op, [x], wanted, domain=DOMAIN, open_shapes=True, **attributes)

    def votes(weights, mode, tracks):
        table = dict(zip(leaves, np.float64(weights)))
        return np.array([[table[reached(row, tree, mode, tracks)] for tree in (0, 1)] for row in x])

    def leaf_attributes(prefix, weights):
        outputs = weights.shape[1]
        return {f"{prefix}_treeids": [leaf[0] for leaf in leaves for _ in range(outputs)],
                f"{prefix}_nodeids": [leaf[1] for leaf in leaves for _ in range(outputs)],
                f"{prefix}_ids": list(range(outputs)) * len(leaves), f"{prefix}_weights": weights.ravel().tolist()}

    for mode in COMPARE:
        for tracks in (False, True):
            weights = normal(5, 2)
            add(f"TreeEnsembleRegressor_{mode}_{tracks}", "TreeEnsembleRegressor",
                [votes(weights, mode, tracks).sum(1).astype(np.float32)], n_targets=2, **tree_attributes(mode, tracks),
                **leaf_attributes("target", weights))
    weights = normal(5, 3)
    counted = votes(weights, "BRANCH_LEQ", False)
    for aggregate, function in (("AVERAGE", np.mean), ("MIN", np.min), ("MAX", np.max)):
        add(f"TreeEnsembleRegressor_{aggregate}", "TreeEnsembleRegressor",
            [(function(counted, axis=1) + [1, 2, 3]).astype(np.float32)], n_targets=3, aggregate_function=aggregate,
            base_values=[1.0, 2.0, 3.0], **tree_attributes("BRANCH_LEQ", False), **leaf_attributes("target", weights))
    names = np.array([4, 6, 5])
    scores = counted.sum(1)
    add("TreeEnsembleClassifier", "TreeEnsembleClassifier",
        [names[scores.argmax(1)], softmax(scores).astype(np.float32)], classlabels_int64s=names.tolist(),
        post_transform="SOFTMAX", **tree_attributes("BRANCH_LEQ", False), **leaf_attributes("class", weights))
    for name, single in (("probability", np.abs(normal(5, 1)) / 2), ("score", normal(5, 1))):
        one = votes(single, "BRANCH_LEQ", False).sum(1)
        positive = name == "probability"
        label = np.where(one[:, 0] > (0.5 if positive else 0), 9, 1)
        both = np.concatenate([(1 if positive else 0) - one, one], 1)
        logistic = sigmoid(np.concatenate([-one, one], 1))
        for transform, wanted in (("NONE", both), ("LOGISTIC", logistic)):
            add(f"TreeEnsembleClassifier_{name}_{transform}", "TreeEnsembleClassifier", [label, wanted.astype(np.float32)],
                classlabels_int64s=[1, 9], post_transform=transform, **tree_attributes("BRANCH_LEQ", False),
                **leaf_attributes("class", single))


def main() -> None:
    cases = Cases(sys.argv)
    features(cases)
    linear_models(cases)
    trees(cases)
    cases.run()


if __name__ == "__main__":
    main()
