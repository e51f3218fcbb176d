"""Classifiers are scikit-learn estimators: cross-validation, pipelines, calibrated probabilities."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

from optbn.classifiers import ESKDB, SKDB, TAN

X, y = load_iris(return_X_y=True)
for model in (TAN(), SKDB(k=2), ESKDB(n_members=5, random_state=1)):
    loss = -cross_val_score(model, X, y, cv=5, scoring="neg_log_loss")
    print(f"{type(model).__name__:6s} log loss {np.mean(loss):.3f}")
fitted = TAN().fit(X, y)
print(fitted.network_)
print(fitted.predict_proba(X[:2]).round(3))
