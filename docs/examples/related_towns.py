"""One structure, three towns: the small ones borrow strength from the large."""

import pyarrow

import optbn

asia = optbn.load_network("asia")
tables = [
    asia.sample(rows, seed).to_arrow().append_column("town", pyarrow.array([town] * rows))
    for seed, (town, rows) in enumerate({"Aton": 800, "Beham": 80, "Cedar": 12}.items())
]
data = optbn.Dataset.from_frame(pyarrow.concat_tables(tables))
towns = optbn.fit_domains(asia.structure, data, domain="town")
test = asia.sample(5000, seed=99)
for town, network in towns.items():
    print(f"{town}: {network.log_likelihood(test) / test.n_rows:.4f} nat a row")
