// The panel beside the drawing: a variable and its chances, an arc, or the overview.

const panel = byId("panel"), chosen = {};
const STRONGEST = 12;
const strongestFirst = view.arcs.map((_, i) => i).sort((a, b) => (view.arcs[b].strength ?? Infinity) - (view.arcs[a].strength ?? Infinity) || a - b);
const compared = view.arcs.some((arc) => arc.loss !== null);
const averaged = view.arcs.some((arc) => arc.posterior !== null && arc.posterior !== undefined);

function mark(nodes, arcs) {
  const any = nodes.size > 0;
  view.nodes.forEach((n, i) => {
    n.element.classList.toggle("faded", any && !nodes.has(i));
    n.element.classList.toggle("near", nodes.has(i) && chosen.node !== i);
    n.element.classList.toggle("chosen", chosen.node === i);
  });
  view.arcs.forEach((a, i) => {
    a.element.classList.toggle("faded", any && !arcs.has(i));
    a.element.classList.toggle("near", arcs.has(i) && chosen.arc !== i);
    a.element.classList.toggle("chosen", chosen.arc === i);
  });
}
const variable = (i) => button(view.nodes[i].label, () => { chooseNode(i); centre(view.nodes[i]); }, { class: "link" });
const between = (items) => (items.length ? items.flatMap((item, i) => (i ? [document.createTextNode(", "), item] : [item])) : [document.createTextNode("none")]);

function show(...children) { // below the graph, or above the table that was clicked in, the panel comes into view
  panel.replaceChildren(...children);
  panel.scrollTop = 0;
  const box = panel.getBoundingClientRect();
  if (box.top > 0.7 * window.innerHeight || box.bottom < 0.3 * window.innerHeight) panel.scrollIntoView({ block: "center" });
}
function chooseNode(index) {
  chosen.node = index; chosen.arc = undefined;
  const node = view.nodes[index];
  const touching = view.arcs.map((_, i) => i).filter((i) => view.arcs[i].from === index || view.arcs[i].to === index);
  if (near && !near.has(index)) toggleNear(neighbourhood(index));
  mark(new Set([index, ...touching.flatMap((i) => [view.arcs[i].from, view.arcs[i].to])]), new Set(touching));
  show(
    el("h2", { text: node.label }), el("p", { class: "soft", text: node.summary }),
    el("div", { id: "posterior" }),
    el("p", { class: "screen" }, button(target === index ? "No longer the question" : "Make it the question", () => chooseTarget(target === index ? null : index))),
    el("p", {}, document.createTextNode("Parents: "), ...between(view.arcs.filter((a) => a.to === index).map((a) => variable(a.from)))),
    el("p", {}, document.createTextNode("Children: "), ...between(view.arcs.filter((a) => a.from === index).map((a) => variable(a.to)))),
    el("h3", {}, explained("Local distribution")), distribution(index),
    touching.length ? el("h3", { text: "Arcs" }) : "", touching.length ? arcTable(touching) : "");
  if (answer && !answer.whole && !answer.impossible && !answer.posteriors[index]) update();
  showPosteriorPanel(index);
}
function showPosteriorPanel(index) { // chances as buttons: the keyboard's way to say what is known
  const holder = byId("posterior");
  if (!holder) return;
  const focused = holder.contains(document.activeElement) ? document.activeElement.dataset.at : null;
  const v = model.variables[index], post = answer.posteriors?.[index], fact = known.get(index);
  const rows = v.levels ? v.levels.map((level, code) => {
    const p = post ? post.p[code] : NaN, on = !!fact && fact.codes.includes(code);
    const line = el("button", { type: "button", class: "value", "aria-pressed": String(on), "data-at": code, onclick: (e) => pick(e, index, code) },
      el("span", { text: level }), el("span", { class: "number", text: percent(p) }));
    line.style.setProperty("--p", `${Number.isNaN(p) ? 0 : 100 * p}%`);
    return line;
  }) : [numbers(index, post, fact)];
  holder.replaceChildren(...rows,
    fact ? el("p", {}, document.createTextNode(fact.do ? "Set by you. " : "Seen. "), button("Forget", () => learn(index, null), { class: "link", "data-at": "forget" })) : "");
  if (focused !== null) holder.querySelector(`[data-at="${focused}"]`)?.focus();
}
function numbers(index, post, fact) { // a real variable: what is expected, and fields for a number or a range
  const variable = model.variables[index], say = (x) => numberOf(x, variable), form = { days: "2021-03-04", hours: "12:30" }[variable.unit];
  const type = form ? { type: "text" } : { type: "number", step: "any" };
  const field = (name, value) => el("input", { ...type, "aria-label": name, "data-at": name, class: "short", value: Number.isFinite(value) ? (form ? say(value) : value) : "", placeholder: form ? `${name} ${form}` : name });
  const exactly = field("exactly", fact?.value), from = field("from", fact?.low), below = field("below", fact?.high);
  const number = (input, none) => (input.value === "" || Number.isNaN(fromWords(input.value, variable)) ? none : fromWords(input.value, variable));
  const apply = (e) => {
    e.preventDefault();
    const value = number(exactly, null), low = number(from, -Infinity), high = number(below, Infinity);
    if (value !== null) learn(index, setting ? { value, do: true } : { value });
    else if (low < high && (low > -Infinity || high < Infinity)) learn(index, { low, high });
    else learn(index, null);
  };
  const quartiles = post && post.parts?.length ? [0.05, 0.5, 0.95].map((s) => say(quantileOf(post, s, variable.range))) : null;
  return el("form", { onsubmit: apply },
    el("p", { text: !post ? "Not computed." : post.value !== undefined ? `Known: ${say(post.value)}.` : `Mean ${say(post.mean)}, standard deviation ${deviation(post.sd, variable)}.` }),
    quartiles ? el("p", { class: "soft", text: `Nine times out of ten between ${quartiles[0]} and ${quartiles[2]}; in the middle ${quartiles[1]}.` }) : "",
    el("p", { class: "fields screen" }, exactly, el("span", { text: " or " }), from, below, el("button", { text: "Say so", "data-at": "apply" })));
}
function chooseArc(index) {
  const arc = view.arcs[index];
  chosen.node = undefined; chosen.arc = index;
  mark(new Set([arc.from, arc.to]), new Set([index]));
  const facts = [], there = (x) => x !== null && x !== undefined;
  if (there(arc.strength)) facts.push(["Score lost without it", `${arc.strength.toFixed(3)} nat (natural logarithm)`]);
  for (const [name, value] of arc.losses || []) facts.push([name, value]);
  if (there(arc.compelled))
    facts.push(["Direction", arc.compelled ? "settled: every network with the same independences has it this way" : "open: a network with the same independences has it the other way"]);
  if (there(arc.posterior)) facts.push(["Posterior probability", share(arc.posterior)]);
  show(el("h2", {}, variable(arc.from), document.createTextNode(" → "), variable(arc.to)), listOf(facts));
}
function overview() {
  chosen.node = chosen.arc = undefined;
  mark(new Set(), new Set());
  panel.replaceChildren(
    el("h2", { text: "Overview" }), listOf(view.facts),
    el("h3", { text: view.arcs.length > STRONGEST ? "Strongest arcs" : "Arcs" }),
    view.arcs.length ? arcTable(strongestFirst.slice(0, STRONGEST)) : el("p", { text: "None: by this score no variable says enough about another one." }),
    el("p", { class: "soft screen", text: "Click a variable's name or an arc; Esc comes back here. Keys: / finds, n shows the neighbourhood, + − 0 zoom; on a variable 1 to 9 choose a value." }));
}
function arcTable(order) {
  const head = ["Arc", "Score lost (nat)", ...(compared ? ["Best without (nat)"] : []), ...(averaged ? ["Probability"] : [])];
  return el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, explained(text))))),
    el("tbody", {}, ...order.map((i) => el("tr", {},
      el("td", {}, button(`${view.nodes[view.arcs[i].from].label} → ${view.nodes[view.arcs[i].to].label}`, () => chooseArc(i), { class: "link" })),
      el("td", { class: "number", text: view.arcs[i].strength === null ? "required" : view.arcs[i].strength.toFixed(3) }),
      compared ? el("td", { class: "number", text: view.arcs[i].loss === null ? "" : view.arcs[i].loss.toFixed(3) }) : null,
      averaged ? el("td", { class: "number", text: share(view.arcs[i].posterior) }) : null))));
}
function find() {
  const text = byId("search").value.trim().toLowerCase();
  const hits = view.nodes.map((_, i) => i).filter((i) => text && view.nodes[i].label.toLowerCase().includes(text));
  view.nodes.forEach((n, i) => n.element.classList.toggle("match", hits.includes(i)));
  byId("found").textContent = text ? `${hits.length} found` : "";
  return hits.sort((a, b) => view.nodes[a].label.length - view.nodes[b].label.length);
}
