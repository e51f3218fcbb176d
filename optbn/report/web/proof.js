// Re-proves, in this browser, that no network scores more: by the evidence that the page carries, on whole numbers (BigInt).
// The same rules as solvers/optbn_solvers/verify (rows, stages, parts) and proofs (trees), written once more: the Python
// checker has its words on the mathematics. Every mistake in the evidence throws an Error that says what is wrong.

const LARGEST_SUBSET = 12, LARGEST_CLAIM = 20; // variables
const must = (holds, words) => { if (!holds) throw new Error(words); };
function exactly(x) { // numbers beyond 2^53 travel as texts
  must(Number.isSafeInteger(x) || (typeof x === "string" && /^-?\d{1,400}$/.test(x)), `${x} is not a whole number`);
  return BigInt(x);
}
const maskOf = (members) => members.reduce((mask, v) => mask | 1n << BigInt(v), 0n);
const most = (numbers) => numbers.reduce((a, b) => (b > a ? b : a));
const floored = (a, b) => (a - (((a % b) + b) % b)) / b; // b > 0
function checkSet(members, allowed, what) {
  must(Array.isArray(members) && members.length && new Set(members).size === members.length && members.every((v) => allowed.has(v)), `${what} is not on a set of its variables`);
}

// f(U) = max over v in U of f(U - v) + the best of v with its parents in U - v; families by place: [[pattern, units], ..]
function bestChoice(families) {
  const ordered = families.map((own) => [...own].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)));
  const f = new Array(1 << families.length).fill(null);
  f[0] = 0n;
  for (let set = 1; set < f.length; set++)
    for (let i = 0; i < ordered.length; i++) {
      const rest = set & ~(1 << i);
      if (rest === set || f[rest] === null) continue;
      const first = ordered[i].find(([pattern]) => (pattern & ~rest) === 0); // the best that fits
      if (!first) continue;
      const sum = f[rest] + first[1];
      if (f[set] === null || sum > f[set]) f[set] = sum;
    }
  return f[f.length - 1];
}
function subsetRow(members, coefficients, rhs) { // {within, rhs, worth}, once it is proved that no acyclic graph exceeds the right side
  must(members.length <= LARGEST_SUBSET, `a subset row has ${members.length} members, and at most ${LARGEST_SUBSET} are checked`);
  const place = new Map(members.map((v, i) => [v, i])), worth = new Map(members.map((v) => [v, new Map()]));
  const patterns = members.map(() => [[0, 0n]]);
  for (const [child, parents, a] of coefficients) {
    must(place.has(child) && Array.isArray(parents) && parents.every((u) => place.has(u) && u !== child), "a subset row has an impossible coefficient");
    const key = maskOf(parents), coefficient = exactly(a);
    must(coefficient > 0n && !worth.get(child).has(key), "a subset row has a coefficient that is not above 0, or two for one family");
    worth.get(child).set(key, coefficient);
    patterns[place.get(child)].push([parents.reduce((bits, u) => bits | 1 << place.get(u), 0), coefficient]);
  }
  const right = exactly(rhs);
  must(bestChoice(patterns) <= right, "an acyclic graph exceeds the right side of a subset row");
  return { within: maskOf(members), rhs: right, worth };
}
function change(row, members, y, families, adjusted) { // adds a multiplier to families; returns what it adds to the bound
  for (const v of members) {
    const own = families.get(v), numbers = adjusted.get(v), worth = row.worth?.get(v);
    own.forEach(({ mask }, i) => {
      const inside = mask & row.within;
      if (!worth) { if (inside === 0n) numbers[i] += y; return; }
      const a = worth.get(inside);
      if (a) numbers[i] -= a * y;
    });
  }
  return row.worth ? row.rhs * y : -y;
}

// The bound of stages of rows; each stage drops the families that no network better than the target has.
function staged(members, families, target, evidence, proved) {
  const fine = exactly(evidence.denominator ?? 1), known = new Set(members), topOf = (own) => most(own.map((family) => family.units));
  must(fine > 0n, "the denominator is not above 0");
  let best = members.reduce((sum, v) => sum + topOf(families.get(v)), 0n), alive = families;
  for (const stage of evidence.stages) {
    const adjusted = new Map(members.map((v) => [v, alive.get(v).map(({ units }) => units * fine)]));
    let bound = 0n;
    for (const row of stage) {
      const y = exactly(row.multiplier);
      must(y >= 0n, "a multiplier is below 0");
      must(row.row === "cluster" || row.row === "subset", `a row of the kind "${row.row}" is not checked here`);
      checkSet(row.members, known, "a row");
      const key = JSON.stringify([row.members, row.coefficients, row.rhs]);
      if (!proved.has(key)) proved.set(key, row.row === "cluster" ? { within: maskOf(row.members) } : subsetRow(row.members, row.coefficients, row.rhs));
      bound += change(proved.get(key), row.members, y, alive, adjusted);
    }
    const tops = new Map(members.map((v) => [v, most(adjusted.get(v))]));
    for (const top of tops.values()) bound += top;
    const reached = floored(bound, fine);
    best = best < reached ? best : reached > target ? reached : target;
    const needed = (target + 1n) * fine;
    alive = new Map(members.map((v) => [v, alive.get(v).filter((_, i) => bound - tops.get(v) + adjusted.get(v)[i] >= needed)]));
    if (members.some((v) => !alive.get(v).length)) return target;
  }
  return best;
}

// A search tree (solvers/optbn_solvers/proofs/README.md); variables count by their place among the members of its part.
function checkTree(members, families, target, evidence) {
  const bytes = Uint8Array.from(atob(evidence.numbers), (c) => c.charCodeAt(0)), n = members.length, fine = exactly(evidence.denominator ?? 1);
  const places = members.map((_, i) => i), place = new Map(members.map((v, i) => [v, i])), known = new Set(places), rows = [];
  must(fine > 0n, "the denominator is not above 0");
  const goal = target * fine + fine - 1n;
  let at = 0;
  function next() {
    let value = 0n, shift = 0n;
    for (;;) {
      must(at < bytes.length, "the tree ends too early");
      must(shift < 4096n, "the tree has an endless number");
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
      if (byte < 128) return value & 1n ? -(value >> 1n) - 1n : value >> 1n;
    }
  }
  function small(limit, words) { const x = next(); must(x >= 0n && x < BigInt(limit), words); return Number(x); }
  const count = () => small(bytes.length + 1, "the tree has an impossible count");
  const height = (node) => places.reduce((sum, v) => sum + most(node.adjusted.get(v)), node.constant);
  const closed = (node) => places.some((v) => !node.families.get(v).length) || height(node) <= goal;
  function kept(node, keep) {
    const left = new Map(), numbers = new Map();
    for (const v of places) {
      const which = node.families.get(v).map((family, i) => keep(v, family, node.adjusted.get(v)[i]));
      left.set(v, node.families.get(v).filter((_, i) => which[i]));
      numbers.set(v, node.adjusted.get(v).filter((_, i) => which[i]));
    }
    return { ...node, families: left, adjusted: numbers };
  }
  function supported(node) { // what can be placed before each variable
    const before = places.map((v) => {
      let placed = 0n, grown = true;
      while (grown) {
        grown = false;
        for (const u of places)
          if (u !== v && !(placed >> BigInt(u) & 1n) && node.families.get(u).some(({ mask }) => (mask & ~placed) === 0n)) { placed |= 1n << BigInt(u); grown = true; }
      }
      return placed;
    });
    return kept(node, (v, { mask }) => (mask & ~before[v]) === 0n);
  }
  function define(kind) {
    const on = Array.from({ length: count() }, () => small(n, "a row of the tree is on a strange variable"));
    checkSet(on, known, "a row of the tree");
    if (kind === 0) { rows.push({ on, within: maskOf(on) }); return; }
    must(on.length <= LARGEST_SUBSET, "a subset row of the tree has too many members");
    const rhs = String(next()), coefficients = Array.from({ length: count() }, () => {
      const child = small(on.length, "a coefficient is for a strange variable"), pattern = small(1 << on.length, "a coefficient is for strange parents");
      return [on[child], on.filter((_, i) => pattern >> i & 1), String(next())];
    });
    rows.push({ on, ...subsetRow(on, coefficients, rhs) });
  }
  function changed(node) { // reads the changes of a record, also where nobody needs them any more
    const changes = Array.from({ length: count() }, () => [small(rows.length, "the tree uses a row before it is defined"), next()]);
    if (!node) return null;
    const multipliers = new Map(node.multipliers), adjusted = new Map([...node.adjusted].map(([v, numbers]) => [v, [...numbers]]));
    let { constant } = node;
    for (const [number, y] of changes) {
      multipliers.set(number, (multipliers.get(number) ?? 0n) + y);
      must(multipliers.get(number) >= 0n, "the tree makes a multiplier negative");
      constant += change(rows[number], rows[number].on, y, node.families, adjusted);
    }
    return { families: node.families, adjusted, multipliers, constant };
  }
  const renamed = new Map(places.map((i) => [i, families.get(members[i]).map(({ mask, units }) => ({ units, mask: members.reduce((bits, u) => (mask >> BigInt(u) & 1n ? bits | 1n << BigInt(place.get(u)) : bits), 0n) }))]));
  const open = [{ families: renamed, adjusted: new Map(places.map((i) => [i, renamed.get(i).map(({ units }) => units * fine)])), multipliers: new Map(), constant: 0n }];
  let nodes = 0;
  while (open.length) {
    const kind = small(5, "the tree has a record of an unknown kind");
    if (kind < 2) { define(kind); continue; }
    nodes++;
    let node = changed(open.pop());
    if (node && closed(node)) node = null;
    if (node && closed(node = supported(node))) node = null;
    must(!node || kind !== 2, `node ${nodes} of the tree is a leaf, but its bound is too high`);
    if (node) {
      const spare = height(node) - goal, tops = places.map((v) => most(node.adjusted.get(v)));
      node = kept(node, (v, _, number) => number > tops[v] - spare);
    }
    if (kind === 3) open.push(node);
    if (kind !== 4) continue;
    const v = small(n, "the tree branches on a strange variable"), { within } = rows[small(rows.length, "the tree branches on a row that it does not define")], first = small(2, "the tree branches in a strange order");
    for (const disjoint of [!first, !!first]) open.push(node && kept(node, (u, { mask }) => u !== v || ((mask & within) === 0n) === disjoint));
  }
  must(at === bytes.length && nodes === evidence.nodes, "the tree goes on after its end");
  return nodes;
}

// What the evidence proves: {score, bound, families, nodes}, scores in units of 2^-exponent. Throws where it is wrong.
function checkProof(proof) {
  const n = proof.names.length, all = new Set(proof.names.keys()), proved = new Map();
  let count = 0, nodes = 0;
  const families = new Map([...all].map((v) => {
    must(proof.families[v].length, `${proof.names[v]} has no families`);
    return [v, proof.families[v].map(([parents, units]) => {
      must(parents.every((u) => all.has(u) && u !== v), `a family of ${proof.names[v]} has a strange parent`);
      count++;
      return { mask: maskOf(parents), units: exactly(units) };
    })];
  }));
  const graph = proof.graph.map((parents) => maskOf(parents));
  let placed = 0n, left = [...all];
  for (;;) {
    const ready = left.filter((v) => (graph[v] & ~placed) === 0n);
    if (!ready.length) break;
    placed |= maskOf(ready);
    left = left.filter((v) => !ready.includes(v));
  }
  must(graph.length === n && !left.length, "the network has a cycle");
  const chosen = graph.map((mask, v) => {
    const family = families.get(v).find((each) => each.mask === mask);
    must(family, `the parents of ${proof.names[v]} are none of its families`);
    return family.units;
  });
  const score = chosen.reduce((a, b) => a + b, 0n);
  function part(members, evidence) {
    checkSet(members, all, "a part");
    const within = maskOf(members), target = members.reduce((sum, v) => sum + chosen[v], 0n);
    const inside = members.length === n ? families : new Map(members.map((v) => { // parents elsewhere do not count
      const best = new Map();
      for (const { mask, units } of families.get(v)) if (!best.has(mask & within) || best.get(mask & within) < units) best.set(mask & within, units);
      return [v, [...best].map(([mask, units]) => ({ mask, units }))];
    }));
    if (evidence.kind === "tree") { nodes += checkTree(members, inside, target, evidence); return target; }
    if (evidence.kind === "rows") return staged(members, inside, target, evidence, proved);
    must(evidence.kind === "exhausted", `evidence of the kind "${evidence.kind}" is not checked here`);
    must(members.length <= LARGEST_CLAIM, `a claim about ${members.length} variables is not checked here`);
    const best = bestChoice(members.map((v) => inside.get(v).map(({ mask, units }) => [members.reduce((bits, u, i) => (mask >> BigInt(u) & 1n ? bits | 1 << i : bits), 0), units])));
    must(best !== null, "a part has no acyclic network");
    return best;
  }
  let bound = 0n;
  if (proof.evidence.kind === "parts") {
    const rest = new Set(all);
    for (const { members, evidence } of proof.evidence.parts) {
      checkSet(members, rest, "a part");
      members.forEach((v) => rest.delete(v));
      bound += part(members, evidence);
    }
    for (const v of rest) bound += most(families.get(v).map(({ units }) => units));
  } else bound = part([...all], proof.evidence);
  return { score, bound, families: count, nodes, optimal: bound === score };
}

// The drawn network must be the one that is proved to be the best.
function checkDrawn(proof) {
  const arcs = proof.graph.flatMap((parents, v) => parents.map((u) => `${proof.names[u]}\n${proof.names[v]}`)).sort();
  const drawn = view.arcs.map((arc) => `${view.nodes[arc.from].label}\n${view.nodes[arc.to].label}`).sort();
  must(JSON.stringify(arcs) === JSON.stringify(drawn), "the proof is about another network than the one that is drawn");
}
function proofButton() { // the button, and what comes of it
  const result = el("p", { role: "status", id: "proof-result" });
  const check = () => {
    const begin = performance.now(), proof = view.evidence;
    try {
      checkDrawn(proof);
      const found = checkProof(proof), score = (units) => (Number(units) / 2 ** proof.exponent).toFixed(6);
      const seconds = ((performance.now() - begin) / 1000).toFixed(1);
      result.className = found.optimal ? "proved" : "open";
      result.textContent = found.optimal
        ? `Proved here in ${seconds} s: of all networks made of the ${found.families.toLocaleString("en")} families of scores that this page carries, none scores more than the one drawn, ${score(found.score)}.`
        : `Checked here in ${seconds} s: no network of these families scores more than ${score(found.bound)}; the one drawn scores ${score(found.score)}.`;
    } catch (error) {
      result.className = "open";
      result.textContent = `Not proved: ${error.message}.`;
    }
  };
  return [el("p", {}, button("Check this proof", () => {
    result.className = "";
    result.textContent = "Checking…";
    setTimeout(check, 20); // so that the words are seen
  }, { id: "check-proof", "data-tip": "Your browser goes through the evidence by itself, in whole numbers. That the scores are those of the data, optbn certify proves." })), result];
}
