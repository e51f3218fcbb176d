// Summing variables out of a product of tables and back: the posterior of every variable from one pass each way.
// Same method as inference.py. A table is row-major over its scope; in a bucket the eliminated variable comes last.

const MOST_ENTRIES = 12e6; // in all tables together: about half a second, a hundred megabytes

function eliminationOrder(sizes, factors) { // least fill first; null when the tables would be too large
  const links = new Map();
  for (const f of factors) for (const v of f.scope) {
    if (!links.has(v)) links.set(v, new Set());
    for (const w of f.scope) if (w !== v) links.get(v).add(w);
  }
  const fillOf = (v) => {
    const around = [...links.get(v)];
    let missing = 0;
    for (let i = 0; i < around.length; i++) for (let j = 0; j < i; j++) if (!links.get(around[i]).has(around[j])) missing++;
    return missing;
  };
  const fill = new Map([...links.keys()].map((v) => [v, fillOf(v)])), order = [];
  let entries = 0;
  while (fill.size) {
    let v = -1, least = Infinity, fewest = Infinity;
    for (const [u, missing] of fill)
      if (missing < least || (missing === least && (links.get(u).size < fewest || (links.get(u).size === fewest && u < v)))) { v = u; least = missing; fewest = links.get(u).size; }
    const around = links.get(v), touched = new Set(around);
    let size = sizes[v];
    for (const w of around) size *= sizes[w];
    entries += size;
    links.delete(v); fill.delete(v);
    for (const w of around) { links.get(w).delete(v); for (const u of around) if (u !== w) links.get(w).add(u); }
    for (const w of around) for (const u of links.get(w)) touched.add(u);
    for (const w of touched) fill.set(w, fillOf(w));
    order.push(v);
    if (entries > MOST_ENTRIES) return { order: null, entries };
  }
  return { order, entries };
}

function stridesIn(scope, sizes, wanted) { // how far a step along each wanted variable moves in a table over `scope`
  const of = new Map();
  for (let i = scope.length - 1, step = 1; i >= 0; i--) { of.set(scope[i], step); step *= sizes[i]; }
  return wanted.map((v) => of.get(v) || 0);
}
function along(dims, strides, run) { // run(first, place, length, step) for each stretch of the last axis
  const last = dims.length - 1, at = new Int32Array(dims.length), length = dims[last], step = strides[last];
  const total = dims.reduce((a, b) => a * b, 1);
  for (let first = 0, place = 0; first < total; first += length) {
    run(first, place, length, step);
    for (let a = last - 1; a >= 0; a--) {
      place += strides[a];
      if (++at[a] < dims[a]) break;
      place -= strides[a] * dims[a];
      at[a] = 0;
    }
  }
}
function multiply(table, scope, dims, f) {
  if (!f.scope.length) { for (let i = 0; i < table.length; i++) table[i] *= f.table[0]; return; }
  const other = f.table;
  along(dims, stridesIn(f.scope, f.sizes, scope), (first, place, length, step) => {
    for (let i = first; i < first + length; i++, place += step) table[i] *= other[place];
  });
}
function marginal(f, scope) { // the table summed to some of its variables
  const sizes = scope.map((v) => f.sizes[f.scope.indexOf(v)]), table = new Float64Array(sizes.reduce((a, b) => a * b, 1));
  if (!f.scope.length) { table[0] = f.table[0]; return { scope, sizes, table }; }
  along(f.sizes, stridesIn(scope, sizes, f.scope), (first, place, length, step) => {
    for (let i = first; i < first + length; i++, place += step) table[place] += f.table[i];
  });
  return { scope, sizes, table };
}

function eliminateAll(sizes, factors, order) { // {log: of the product's sum, joint(scope): normalised}; null if it is 0
  const place = new Map(order.map((v, i) => [v, i])), buckets = order.map(() => []), joints = new Array(order.length);
  const first = (scope) => Math.min(...scope.map((v) => place.get(v)));
  let log = 0, constant = 1;
  const put = (f) => { log += f.log; if (f.scope.length) buckets[first(f.scope)].push(f); else constant *= f.table[0]; };
  factors.forEach(put);
  order.forEach((v, i) => {
    const rest = [...new Set(buckets[i].flatMap((f) => f.scope))].filter((w) => w !== v);
    const scope = [...rest, v], dims = scope.map((w) => sizes[w]);
    const table = new Float64Array(dims.reduce((a, b) => a * b, 1)).fill(1);
    for (const f of buckets[i].sort((a, b) => a.table.length - b.table.length)) multiply(table, scope, dims, f);
    let top = 0;
    for (let k = 0; k < table.length; k++) if (table[k] > top) top = table[k];
    if (top > 0) { log += Math.log(top); for (let k = 0; k < table.length; k++) table[k] /= top; }
    joints[i] = { scope, sizes: dims, table };
    put({ ...marginal(joints[i], rest), log: 0 });
    buckets[i] = null;
  });
  if (!(constant > 0)) return null;
  for (let i = order.length - 1; i >= 0; i--) {
    const joint = joints[i], rest = joint.scope.slice(0, -1), r = joint.sizes[joint.sizes.length - 1];
    const known = rest.length ? marginal(joints[first(rest)], rest).table : [1];
    for (let k = 0; k < known.length; k++) {
      let sum = 0;
      for (let j = k * r; j < (k + 1) * r; j++) sum += joint.table[j];
      const share = sum > 0 ? known[k] / sum : 0;
      for (let j = k * r; j < (k + 1) * r; j++) joint.table[j] *= share;
    }
  }
  const joint = (scope) => {
    if (!scope.length) return { scope, sizes: [], table: Float64Array.of(1) };
    const found = marginal(joints[first(scope)], scope), sum = found.table.reduce((a, b) => a + b, 0);
    for (let k = 0; k < found.table.length; k++) found.table[k] /= sum;
    return found;
  };
  return { log: log + Math.log(constant), joint };
}
