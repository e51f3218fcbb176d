// Exact answers to what the reader asks: posteriors of all variables under what is known, and what follows from those.

// {posteriors: [.. | null], log: log P(evidence), entries, whole, impossible}; `near` orders the variables by interest,
// which counts where all of them at once would need tables that are too large.
function ask(model, known, near) {
  const states = statesUnder(model, known);
  const all = model.variables.map((_, v) => v);
  const whole = posteriorsOf(model, states, known, all);
  if (whole.posteriors || whole.impossible) return { ...whole, whole: true };
  const posteriors = all.map(() => null), end = performance.now() + 400;
  let asked = 0;
  for (const v of near || all) {
    if (performance.now() > end) break;
    if (posteriors[v]) continue;
    asked++;
    const part = posteriorsOf(model, states, known, relevantTo(model, states, known, v));
    if (part.impossible) return { ...part, whole: false };
    if (part.posteriors) part.posteriors.forEach((p, u) => { if (p && !posteriors[u]) posteriors[u] = p; });
  }
  return { posteriors, log: NaN, entries: whole.entries, whole: false, asked };
}

function posteriorsOf(model, states, known, members) {
  const sizes = states.map((s) => s.values.length);
  const scopes = members.map((v) => ({ scope: known.get(v) && known.get(v).do ? [] : [...model.cpds[v].parents, v].filter((u) => sizes[u] > 1) }));
  const { order, entries } = eliminationOrder(sizes, scopes);
  if (!order) return { posteriors: null, entries };
  const done = eliminateAll(sizes, members.map((v) => factorOf(model, states, known, v)), order);
  if (!done) return { posteriors: null, impossible: true, entries };
  const posteriors = model.variables.map(() => null);
  for (const v of members) {
    if (!model.variables[v].levels) { posteriors[v] = mixture(model, states, known, v, done.joint); continue; }
    const p = new Float64Array(model.variables[v].levels.length), found = sizes[v] > 1 ? done.joint([v]).table : [1];
    states[v].values.forEach((code, i) => { p[code] = found[i]; });
    posteriors[v] = { p };
  }
  return { posteriors, log: done.log, entries };
}

function relevantTo(model, states, known, v) { // the ancestors of v and of what is known, connected to v through free ones
  const kept = new Set([v, ...known.keys()]), queue = [...kept];
  while (queue.length) {
    const u = queue.pop();
    if (known.get(u) && known.get(u).do) continue;
    for (const p of model.cpds[u].parents) if (!kept.has(p)) { kept.add(p); queue.push(p); }
  }
  const free = (u) => states[u].values.length > 1, found = new Set([v]), touching = new Map();
  for (const u of kept) for (const w of [...model.cpds[u].parents, u]) if (free(w)) {
    if (!touching.has(w)) touching.set(w, []);
    touching.get(w).push(u);
  }
  const seen = new Set(), ahead = [v, ...model.cpds[v].parents].filter(free);
  while (ahead.length) {
    const w = ahead.pop();
    if (seen.has(w)) continue;
    seen.add(w);
    for (const u of touching.get(w) || []) {
      if (!kept.has(u)) continue;
      found.add(u);
      for (const x of [...model.cpds[u].parents, u]) if (free(x) && !seen.has(x)) ahead.push(x);
    }
  }
  return [...found];
}

function mixture(model, states, known, v, jointOf) { // a real variable: its weight per cell and interval, and what they say
  const own = states[v], fact = known.get(v);
  if (own.point) return { value: own.values[0], mean: own.values[0], sd: 0 };
  if (fact && fact.do) return { mean: NaN, sd: NaN, parts: [] };
  const scope = [...model.cpds[v].parents, v].filter((u) => states[u].values.length > 1);
  const joint = jointOf(scope).table, r = own.values.length, weights = new Map();
  eachCell(model, states, v, (cell, at) => {
    if (!weights.has(cell)) weights.set(cell, new Float64Array(r));
    const row = weights.get(cell);
    for (let i = 0; i < r; i++) row[i] += joint[at * r + i];
  });
  const parts = [], p = new Float64Array(r);
  let mean = 0, square = 0, numbers = 0;
  for (const [cell, row] of weights) row.forEach((weight, i) => {
    p[i] += weight;
    if (!(weight > 0) || Number.isNaN(own.values[i])) return;
    numbers += weight;
    const law = lawOf(model.cpds[v].leaves, cell), [first, second] = momentsBetween(law, own.ends[i], own.ends[i + 1]);
    parts.push({ weight, law, low: own.ends[i], high: own.ends[i + 1], first, second });
    mean += weight * first;
  });
  mean /= numbers; // of the numbers, where there may be none
  for (const part of parts) square += (part.weight / numbers) * (part.second + (part.first - mean) ** 2);
  const missing = Number.isNaN(own.values[r - 1]) ? p[r - 1] : 0;
  return { p, ends: own.ends, mean, sd: Math.sqrt(square), parts, missing };
}
function chanceBetween(posterior, from, to) { // P(from <= x < to)
  if (posterior.value !== undefined) return posterior.value >= from && posterior.value < to ? 1 : 0;
  let sum = 0;
  for (const { weight, law: { law, location, scale, inner }, low, high } of posterior.parts) {
    const a = Math.max(low, from), b = Math.min(high, to);
    if (a >= b) continue;
    const whole = massBetween(law, (inner(low) - location) / scale, (inner(high) - location) / scale);
    if (whole > 0) sum += (weight * massBetween(law, (inner(a) - location) / scale, (inner(b) - location) / scale)) / whole;
  }
  return sum;
}
function quantileOf(posterior, share, range) {
  share *= 1 - (posterior.missing || 0); // of the numbers
  let low = range[0] - (range[1] - range[0]), high = range[1] + (range[1] - range[0]);
  for (let i = 0; i < 50; i++) { const x = (low + high) / 2; if (chanceBetween(posterior, -Infinity, x) < share) low = x; else high = x; }
  return (low + high) / 2;
}

function partingAt(posterior, share, variable) { // where that share of a real variable is below; of a whole one there is always some
  const found = quantileOf(posterior, share, variable.range);
  if (!variable.whole) return found;
  const whole = Math.round(found);
  return chanceBetween(posterior, -Infinity, whole) > 1e-9 ? whole : whole + 1;
}

// ---- what changes the target -------------------------------------------------------------------------------------------
// Every other variable by what it says about the target: mutual information, and the target's chance under each of its
// groups. One pass per part of the target: P(x | part) for all x at once, turned round by Bayes' rule.
function parts(model, posterior, v) { // the groups a variable is looked at in: its levels, or quarters of a real one
  const variable = model.variables[v];
  if (variable.levels) return variable.levels.map((label, code) => ({ label, fact: { codes: [code] }, of: (post) => post.p[code] })).filter((_, code) => posterior.p[code] > 0);
  if (posterior.value !== undefined || !posterior.parts.length) return [];
  const ends = [0.25, 0.5, 0.75].map((share) => partingAt(posterior, share, variable)).filter((x, i, all) => !i || x > all[i - 1]);
  const none = posterior.missing > 0 ? [{ label: "missing", fact: { value: NaN }, of: (post) => post.missing || 0 }] : [];
  return [...none, ...[-Infinity, ...ends].map((low, i) => {
    const high = i < ends.length ? ends[i] : Infinity, say = (x) => numberOf(x, variable);
    const last = variable.whole && !variable.unit ? high - 1 : high; // whole numbers are named with both ends
    const label = i === 0 ? `below ${say(high)}` : high === Infinity ? `${say(low)} or more` : low === last ? say(low) : `${say(low)} to ${say(last)}`;
    return { label, fact: { low, high }, of: (post) => chanceBetween(post, low, high) };
  })];
}
function drivers(model, known, target, now, groups) {
  if (groups.length < 2) return [];
  const prior = groups.map((group) => group.of(now[target]));
  const under = groups.map((group) => ask(model, new Map([...known, [target, group.fact]])).posteriors);
  if (under.some((posteriors) => !posteriors)) return [];
  const found = [];
  model.variables.forEach((_, v) => {
    if (v === target || known.has(v) || !now[v] || under.some((u) => !u[v])) return;
    const mine = parts(model, now[v], v);
    let information = 0;
    const chances = mine.map((group) => { // of the target's groups, given this one
      const here = under.map((posteriors, k) => prior[k] * group.of(posteriors[v])), sum = here.reduce((a, b) => a + b, 0);
      here.forEach((joint, k) => { if (joint > 0 && prior[k] > 0) information += joint * Math.log(joint / (sum * prior[k])); });
      return here.map((joint) => (sum > 0 ? joint / sum : NaN));
    });
    found.push({ v, information: Math.max(0, information), groups: mine.map((group, i) => ({ label: group.label, chances: chances[i] })) });
  });
  return found.sort((a, b) => b.information - a.information || a.v - b.v);
}
// What each finding contributes: the chance of the target's part without it, all others kept; and with it alone.
function contributions(model, known, target, group) {
  const chance = (facts) => { const found = ask(model, facts, [target]); return found.posteriors && found.posteriors[target] ? group.of(found.posteriors[target]) : NaN; };
  const rest = new Map([...known].filter(([v]) => v !== target)), end = performance.now() + 3000;
  const all = chance(rest), rows = [];
  for (const [v, fact] of rest) {
    if (performance.now() > end) break;
    rows.push({ v, fact, without: chance(new Map([...rest].filter(([u]) => u !== v))), alone: chance(new Map([[v, fact]])) });
  }
  return { all, prior: chance(new Map()), rows: rows.sort((a, b) => Math.abs(all - b.without) - Math.abs(all - a.without)) };
}

function example(model, random) { // a row drawn from the network, parents first
  const values = model.variables.map(() => null);
  const draw = (v) => {
    if (values[v] !== null) return values[v];
    const cpd = model.cpds[v], cell = cpd.cell(cpd.parents.map(draw));
    if (cpd.leaves.absent && random() < cpd.leaves.absent[cell]) { values[v] = NaN; return NaN; }
    if (!model.variables[v].levels) { values[v] = Number(drawFrom(lawOf(cpd.leaves, cell), random()).toPrecision(4)); return values[v]; }
    const row = cpd.leaves.rows[cell];
    let left = random() * row.reduce((a, b) => a + b, 0), code = row.findIndex((p) => (left -= p) < 0);
    if (code < 0) code = row.length - 1;
    values[v] = code;
    return code;
  };
  model.variables.forEach((_, v) => draw(v));
  return values;
}
