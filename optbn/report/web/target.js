// The question on top: how likely the target's value is, what changes it most, and a case with what each finding adds.

let target = view.target === null ? null : view.target, focus = null; // focus: which of the target's groups is in question
let listed = 8; // drivers shown

function chooseTarget(v) {
  target = v; focus = null; listed = 8;
  byId("question").value = v === null ? "" : String(v);
  view.nodes.forEach((n, i) => n.element.classList.toggle("target", i === v));
  showTarget();
  if (chosen.node !== undefined) chooseNode(chosen.node);
}
function targetGroups() { // fixed by what is expected when nothing is known, so that they stay while facts change
  const before = prior?.posteriors?.[target];
  return before ? parts(model, before, target) : [];
}
function firstOf(groups) { // the rarer one of two, the last of more; none that is missing if there is another
  const there = groups.filter((group) => group.label !== "missing"), share = (group) => group.of(prior.posteriors[target]);
  return there.length === 2 && share(there[0]) < share(there[1]) ? there[0] : there.at(-1) ?? groups[0];
}
function showTarget() {
  const section = byId("target");
  section.toggleAttribute("hidden", target === null);
  if (target === null || answer.impossible) { section.replaceChildren(); return; }
  const name = view.nodes[target].label, groups = targetGroups(), now = answer.posteriors[target];
  if (!groups.length || !now) {
    section.toggleAttribute("hidden", false);
    section.replaceChildren(el("h2", { text: name }), el("p", { text: "The network is too connected to answer this one exactly here. Say what is known near it, and it will be." }));
    return;
  }
  if (focus === null || focus >= groups.length) focus = groups.indexOf(firstOf(groups));
  const chooser = el("select", { "aria-label": `which value of ${name}`, onchange: (e) => { focus = Number(e.target.value); showTarget(); } },
    ...groups.map((group, i) => el("option", { value: i, text: group.label, ...(i === focus ? { selected: "" } : {}) })));
  const p = groups[focus].of(now), p0 = groups[focus].of(prior.posteriors[target]);
  const headline = el("p", { class: "headline" }, el("strong", { text: name }), " is ", chooser, " in ", el("strong", { class: "big", text: percent(p) }), " of cases",
    known.size ? ` like this one; ${percent(p0)} over all.` : ".");
  const fixed = known.has(target);
  section.replaceChildren(headline, bothWays(now, p, p0),
    fixed ? el("p", { class: "soft", text: `You have said what ${name} is; forget that to ask about it.` }) : el("div", { class: "columns" }, driversOf(groups, p), caseOf(groups)));
}
function bothWays(now, p, p0) {
  const bar = el("div", { class: "gauge", role: "img", "aria-label": `${percent(p)}, ${percent(p0)} over all` }, el("i", {}), el("b", {}));
  bar.style.setProperty("--p", `${100 * p}%`);
  bar.style.setProperty("--p0", `${100 * p0}%`);
  return bar;
}
const relation = (v) => {
  if (model.cpds[target].parents.includes(v)) return "directly linked: a parent";
  if (model.variables[target].children.includes(v)) return "directly linked: a child";
  if (model.variables[target].children.some((c) => model.cpds[c].parents.includes(v))) return "shares a child";
  return "through others";
};
const blanket = () => view.nodes.map((_, v) => v).filter((v) => v !== target && relation(v) !== "through others");
function driversOf(groups, p) {
  const open = groups.filter((group) => group.of(answer.posteriors[target]) > 1e-12), at = open.indexOf(groups[focus]);
  const found = at < 0 ? [] : drivers(model, known, target, answer.posteriors, open).filter((d) => d.information > 1e-9);
  const name = view.nodes[target].label;
  const holder = el("div", {}, el("h2", { class: "minor" }, document.createTextNode(known.size ? "What would change it most now " : "What changes it most "), explained("(information)", "information")));
  const list = el("ol", { class: "drivers" });
  for (const d of found.slice(0, listed)) {
    const sides = d.groups.filter((g) => !Number.isNaN(g.chances[at])).sort((a, b) => b.chances[at] - a.chances[at]);
    const high = sides[0], low = sides[sides.length - 1], scale = el("div", { class: "range", role: "img", "aria-label": `${percent(low.chances[at])} to ${percent(high.chances[at])}` }, el("i", {}), el("b", {}));
    for (const [key, value] of [["--a", low.chances[at]], ["--b", high.chances[at]], ["--p", p]]) scale.style.setProperty(key, `${100 * value}%`);
    const item = el("li", {}, el("div", {}, variable(d.v), el("span", { class: "soft", text: ` ${relation(d.v)}` })), scale,
      el("div", { class: "soft", text: `${percent(high.chances[at])} when ${high.label}, ${percent(low.chances[at])} when ${low.label}` }));
    list.append(item);
  }
  const all = blanket();
  fill(holder, {}, [found.length ? list : el("p", { class: "soft", text: "Nothing that is still open changes it." }),
    found.length > listed ? button(`${found.length - listed} more`, () => { listed = Infinity; showTarget(); }, { class: "link" }) : null,
    all.length ? el("p", {}, "In this network, once ", ...between(all.slice(0, 14).map(variable)), all.length > 14 ? ` and ${all.length - 14} more` : "", all.length > 1 ? " are" : " is", ` known, nothing else matters to ${name} (its `, explained("Markov blanket"), ").") : null,
    el("p", { class: "soft", text: "These go together with it; whether acting on one changes it is another question: choose \"set\" above the graph to ask that." })]);
  return holder;
}
function caseOf(groups) { // a row, its prediction, and what each finding adds
  const holder = el("div", { class: known.size ? null : "screen" }, el("h2", { class: "minor", text: "A case" })), group = groups[focus];
  const message = el("p", { class: "warn", role: "alert" });
  const field = el("textarea", { id: "row", rows: 2, spellcheck: "false", "aria-label": "A row of the data", placeholder: "Paste a row: name=value, name=value, … or a line of the data, with or without its header" });
  field.value = kept.row;
  const take = (facts) => {
    const own = facts.get(target);
    facts.delete(target);
    known.clear();
    for (const [v, fact] of facts) known.set(v, fact);
    Object.assign(kept, { row: field.value, truth: own ? factWords(target, own) : "" });
    update();
  };
  const use = () => { try { take(readRow(field.value)); } catch (error) { message.textContent = error.message; } };
  const draw = () => {
    const values = example(model, Math.random), { variables } = model;
    field.value = values.map((value, v) => `${variables[v].name}=${variables[v].levels ? variables[v].levels[value] : value}`).filter((_, v) => v !== target).join(", ");
    take(new Map(values.map((value, v) => [v, variables[v].levels ? { codes: [value] } : { value }]).filter(([v]) => v !== target)));
  };
  fill(holder, {}, [el("div", { class: "screen" }, field, el("p", {}, button("Use this row", use), " ", button("Invent one", draw, { title: "Draws a row from the network" }))), message]);
  if (known.size) {
    const found = contributions(model, known, target, group);
    fill(holder, {}, [
      el("p", {}, el("strong", { text: `${group.label}: ${percent(found.all)}` }), `, against ${percent(found.prior)} when nothing is known.`, kept.truth ? ` The row itself says ${kept.truth}.` : ""),
      el("table", { class: "findings" }, el("thead", {}, el("tr", {}, ...["Finding", "without it", "it adds", "it alone"].map((text) => el("th", { scope: "col" }, explained(text))))),
        el("tbody", {}, ...found.rows.slice(0, 25).map((row) => {
          const adds = 100 * (found.all - row.without);
          return el("tr", {}, el("td", { text: factWords(row.v, row.fact) }), el("td", { class: "number", text: percent(row.without) }),
            el("td", { class: `number ${Math.abs(adds) < 0.05 ? "soft" : adds > 0 ? "up" : "down"}`, text: Math.abs(adds) < 0.05 ? "nothing" : `${adds > 0 ? "+" : "−"}${Math.abs(adds).toFixed(1)}` }),
            el("td", { class: "number soft", text: percent(row.alone) }));
        })))]);
  } else fill(holder, {}, [el("p", { class: "soft screen", text: "Or click values in the graph: the prediction and what each finding adds appear here." })]);
  return holder;
}
const kept = { row: "", truth: "" };
