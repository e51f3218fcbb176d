"""Data to a page: the best network, the next best ones, and how probable each arc is over all networks."""

import optbn

data = optbn.load_network("cancer").sample(2000, seed=1)
optbn.write(data, "cancer.csv")

found = optbn.learn("cancer.csv", score="bdeu", max_parents=2, alternatives=3, posteriors=True)
print(found.report.outcome.proof)
for arc in found.report.arcs:
    print(f"{arc.parent} -> {arc.child}: {arc.strength:.2f} nat, probability {arc.posterior:.2f}")
for line in found.report.alternatives:
    print("also:", line)
with open("cancer.html", "w", encoding="utf-8") as page:
    page.write(found.page())
print("the page: cancer.html")
