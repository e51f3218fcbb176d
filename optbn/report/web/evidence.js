// What is known, and what follows: every change asks for all posteriors anew and shows them.

const known = new Map(); // variable -> {codes} | {value} | {low, high}, with do: true where it was set
let answer = null, prior = null, setting = false;

function factWords(v, fact) {
  const { name, levels } = model.variables[v];
  if (levels) return `${name} ${fact.do ? "set to" : "="} ${fact.codes.map((code) => levels[code]).join(" or ")}`;
  const say = (x) => numberOf(x, model.variables[v]);
  if (fact.value !== undefined) return `${name} ${fact.do ? "set to" : "="} ${say(fact.value)}`;
  if (fact.low === -Infinity) return `${name} < ${say(fact.high)}`;
  return fact.high === Infinity ? `${name} ≥ ${say(fact.low)}` : `${say(fact.low)} ≤ ${name} < ${say(fact.high)}`;
}
function learn(v, fact) { // a new fact about a variable, or none
  if (fact) known.set(v, fact); else known.delete(v);
  update();
}
function pick(e, v, code) { // a press on a level: known, or forgotten again; with Shift one of several
  e.stopPropagation();
  if (dragged) return;
  const fact = known.get(v), levels = model.variables[v].levels;
  if (e.shiftKey && fact && !fact.do && !setting) {
    const codes = fact.codes.includes(code) ? fact.codes.filter((c) => c !== code) : [...fact.codes, code].sort((a, b) => a - b);
    learn(v, codes.length && codes.length < levels.length ? { codes } : null);
  } else {
    const same = fact && fact.codes.length === 1 && fact.codes[0] === code && !!fact.do === setting;
    learn(v, same ? null : setting ? { codes: [code], do: true } : { codes: [code] });
  }
}
function forget() { known.clear(); update(); }

function update() {
  const begin = performance.now();
  answer = ask(model, known, interest());
  const ms = performance.now() - begin;
  if (!known.size) prior = answer;
  view.nodes.forEach((_, v) => showPosterior(v, answer.posteriors?.[v], prior?.posteriors?.[v], known.get(v)));
  for (const arc of view.arcs) arc.element.classList.toggle("cut", !!known.get(arc.to)?.do);
  showKnown();
  showStatus(ms);
  if (chosen.node !== undefined) showPosteriorPanel(chosen.node);
  showTarget();
}
function interest() { // variables by their distance from the one in view: where not all can be answered, these come first
  const from = target ?? chosen.node ?? hub(), found = new Set([...(chosen.node === undefined ? [] : [chosen.node]), from]);
  for (const v of found) for (const u of [...model.cpds[v].parents, ...model.variables[v].children]) found.add(u);
  return [...found, ...model.variables.map((_, v) => v).filter((v) => !found.has(v))];
}
function showKnown() {
  byId("known").replaceChildren(
    ...(known.size ? [el("span", { class: "soft", text: "Known:" })] : [el("span", { class: "soft screen", text: "Click a value to say it is so; drag over a number's range. Everything else follows." })]),
    ...[...known].map(([v, fact]) => button(`${factWords(v, fact)}  ×`, () => learn(v, null), { class: "chip" + (fact.do ? " made" : ""), "aria-label": `forget ${factWords(v, fact)}` })),
    ...(known.size > 1 ? [button("Forget all", forget, { class: "chip plain" })] : []));
}
function showStatus(ms) {
  const status = byId("status"), n = view.nodes.length;
  status.className = answer.impossible ? "warn" : answer.whole ? "" : "warn";
  if (answer.impossible) { status.replaceChildren("These findings cannot occur together, says the network. Forget one of them."); return; }
  if (!answer.whole) {
    const found = answer.posteriors.filter((p) => p).length;
    if (found === n) { status.className = ""; status.replaceChildren(`${n} variables, one by one, `, explained("exact"), `, ${ms.toFixed(0)} ms.`); return; }
    status.replaceChildren(`All ${n} variables at once would need tables of ${answer.entries.toExponential(1)} numbers or more. ${found} are answered, `, explained("exactly", "exact"),
      ", those near the chosen one first; \"?\" marks the others. Choose one of them, or say what is known near it.");
    return;
  }
  const chance = Math.exp(answer.log), seen = [...known.values()].some((fact) => !fact.do);
  status.replaceChildren(`${n} variables, `, explained("exact"), `, ${ms < 1 ? "less than 1" : ms.toFixed(0)} ms.`,
    ...(seen ? [" ", explained("Probability of all findings"), `: ${chance >= 1e-4 && chance < 1e4 ? Number(chance.toPrecision(3)) : chance.toExponential(2)}.`] : []));
}

// A row as people have it: name=value pairs, a header and a line, or one line in the order of the columns.
function readRow(text) { // {facts, words}; throws an Error that says what is wrong
  const facts = new Map(), lines = text.trim().split(/\r?\n/).filter((line) => line.trim());
  const cut = (line) => line.split(line.includes("\t") ? "\t" : line.includes(";") ? ";" : ",").map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
  if (!lines.length) throw new Error("Paste a row first: name=value, name=value, or a line of the data.");
  let names, cells;
  if (lines.every((line) => cut(line).every((cell) => cell.includes("=")))) {
    const known = model.variables.map((v) => v.name).sort((a, b) => b.length - a.length); // names may hold a "=" themselves
    const pairs = lines.flatMap(cut).map((cell) => {
      const at = known.find((name) => cell.startsWith(`${name}=`))?.length ?? cell.indexOf("=");
      return [cell.slice(0, at).trim(), cell.slice(at + 1).trim()];
    });
    [names, cells] = [pairs.map((pair) => pair[0]), pairs.map((pair) => pair[1])];
  } else if (lines.length === 1) {
    [names, cells] = [model.variables.map((v) => v.name), cut(lines[0])];
    if (cells.length !== names.length) throw new Error(`The line has ${cells.length} values, the network ${names.length} variables: add the header line, or write name=value pairs.`);
  } else [names, cells] = [cut(lines[0]), cut(lines[1])];
  names.forEach((name, i) => {
    const v = model.index.get(name), cell = cells[i];
    if (cell === undefined || ["", "?", "NA", "nan", "NaN", "null"].includes(cell)) return;
    if (v === undefined) {
      if (lines.length > 1 && !text.includes("=")) return; // a column that the network does not have
      throw new Error(`The network has no variable "${name}".`);
    }
    const { levels } = model.variables[v];
    if (!levels) {
      if (!Number.isFinite(Number(cell))) throw new Error(`${name}: "${cell}" is not a number.`);
      facts.set(v, { value: Number(cell) });
    } else if (levels.includes(cell)) facts.set(v, { codes: [levels.indexOf(cell)] });
    else throw new Error(`${name} has no value "${cell}"; it has ${levels.slice(0, 8).join(", ")}${levels.length > 8 ? ", …" : ""}.`);
  });
  return facts;
}
