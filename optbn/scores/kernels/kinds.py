"""The kinds of predictor, as the kernels number them."""

CATEGORICAL, ORDINAL, REAL = 0, 1, 2
