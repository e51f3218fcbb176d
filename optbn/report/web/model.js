// The network as inference sees it, from optbn's own JSON: every variable has finitely many states.
// A categorical variable's states are its levels; a real one meets its children only through thresholds, so its states
// are the intervals between them (see states.py). What is known of a variable leaves it fewer states: one for a level or
// a number, several for a choice of levels or a range. A real variable that may have no number (`absent`) has one state
// more, the last, whose value is NaN; what is known of it may be {value: NaN}.

function readModel(network) {
  const index = new Map(network.variables.map((v, i) => [v.name, i]));
  const variables = network.variables.map((v) => ({
    name: v.name, levels: v.levels || null, ordered: !!v.ordered, range: v.range || null, unit: v.unit || "", whole: !!v.whole, absent: !!v.absent, cuts: [], children: [],
  }));
  const cpds = network.cpds.map((cpd) => readCpd(cpd, index, variables));
  cpds.forEach((cpd, child) => cpd.parents.forEach((parent, i) => {
    variables[parent].children.push(child);
    if (!variables[parent].levels) variables[parent].cuts.push(...cpd.thresholds(i));
  }));
  for (const v of variables) v.cuts = [...new Set(v.cuts)].sort((a, b) => a - b);
  return { index, variables, cpds };
}

function readCpd(cpd, index, variables) { // parents, leaves, thresholds(i) and cell(values of the parents)
  const parents = cpd.parents.map((name) => index.get(name));
  const sizeOf = (p, i) => (variables[p].levels ? variables[p].levels.length : cpd.cuts[i].length + 1 + variables[p].absent);
  if (cpd.kind === "tree") {
    const nodes = cpd.nodes.map((node) => {
      if (node.leaf !== undefined) return node;
      const at = cpd.parents.indexOf(node.parent);
      const codes = node.levels && new Set(node.levels.map((level) => variables[parents[at]].levels.indexOf(level)));
      return { at, below: node.has_number ? Infinity : node.below, codes, left: node.left, right: node.right };
    });
    return {
      kind: "tree", parents, nodes, leaves: cpd.leaves,
      thresholds: (i) => nodes.filter((n) => n.at === i && Number.isFinite(n.below)).map((n) => n.below),
      cell(values) {
        let node = nodes[0];
        while (node.leaf === undefined) {
          const x = values[node.at];
          node = nodes[(node.codes ? node.codes.has(x) : x < node.below) ? node.left : node.right];
        }
        return node.leaf;
      },
    };
  }
  const sizes = parents.map(sizeOf), cuts = cpd.cuts || parents.map(() => []);
  return {
    kind: cpd.kind, parents, sizes, cuts, leaves: cpd.leaves || { kind: "categorical", rows: cpd.rows },
    thresholds: (i) => cuts[i],
    cell(values) {
      let cell = 0;
      for (let i = 0; i < parents.length; i++) {
        let code = values[i];
        if (Number.isNaN(code)) code = sizes[i] - 1;
        else if (!variables[parents[i]].levels) { code = 0; while (code < cuts[i].length && cuts[i][code] <= values[i]) code++; }
        cell = cell * sizes[i] + code;
      }
      return cell;
    },
  };
}

// What is known: per variable {codes: [..]}, {value: x} or {low, high}; with `do: true` it was set, not seen.
function statesUnder(model, known) {
  return model.variables.map((v, i) => {
    const fact = known.get(i);
    if (v.levels) return { values: fact ? fact.codes : v.levels.map((_, code) => code) };
    if (fact && fact.value !== undefined) return { values: [fact.value], point: true };
    const low = fact ? fact.low : -Infinity, high = fact ? fact.high : Infinity;
    const ends = [low, ...v.cuts.filter((cut) => cut > low && cut < high), high];
    const none = v.absent && !fact ? [NaN] : [];
    return { values: [...ends.slice(0, -1), ...none], ends }; // an interval's lower end stands for it: x < cut goes left
  });
}

function factorOf(model, states, known, v) { // {scope, sizes, table, log}: P(v's states | its parents' states)
  const cpd = model.cpds[v], fact = known.get(v), own = states[v];
  if (fact && fact.do) return { scope: [], sizes: [], table: Float64Array.of(1), log: 0 };
  const scope = [...cpd.parents, v], sizes = scope.map((u) => states[u].values.length);
  const table = new Float64Array(sizes.reduce((a, b) => a * b, 1)), r = own.values.length, rows = new Map();
  eachCell(model, states, v, (cell, at) => {
    if (!rows.has(cell)) rows.set(cell, leafRow(cpd.leaves, cell, own));
    table.set(rows.get(cell), at * r);
  });
  let log = 0;
  if (own.point && !model.variables[v].levels) { // densities, as logarithms so far
    log = table.reduce((a, b) => Math.max(a, b), -Infinity);
    if (log === -Infinity) { table.fill(0); log = 0; } else for (let i = 0; i < table.length; i++) table[i] = Math.exp(table[i] - log);
  }
  const kept = scope.map((_, i) => i).filter((i) => sizes[i] > 1);
  return { scope: kept.map((i) => scope[i]), sizes: kept.map((i) => sizes[i]), table, log };
}
function eachCell(model, states, v, visit) { // visit(cell, number of the parents' combination), the last parent fastest
  const cpd = model.cpds[v], parents = cpd.parents, codes = parents.map(() => 0);
  const values = parents.map((p) => states[p].values[0]);
  for (let at = 0; ; at++) {
    visit(cpd.cell(values), at);
    let i = parents.length - 1;
    for (; i >= 0; i--) {
      const all = states[parents[i]].values;
      if (++codes[i] < all.length) { values[i] = all[codes[i]]; break; }
      codes[i] = 0; values[i] = all[0];
    }
    if (i < 0) return;
  }
}
function leafRow(leaves, cell, own) {
  if (leaves.kind === "categorical") return own.values.map((code) => leaves.rows[cell][code]);
  const cut = lawOf(leaves, cell), { law, location, scale, inner, total } = cut, none = leaves.absent ? leaves.absent[cell] : 0;
  if (own.point && Number.isNaN(own.values[0])) return [Math.log(none)];
  if (own.point) return [Math.log1p(-none) + logDensity(cut, own.values[0])];
  const z = own.ends.map((end) => (inner(end) - location) / scale);
  return own.values.map((x, i) => (Number.isNaN(x) ? none : ((1 - none) * massBetween(law, z[i], z[i + 1])) / total));
}
