// The record below the drawing: how sure, the search, time, settings, data.

const details = byId("details");
const article = (title, ...children) => el("article", {}, el("h2", { text: title }), ...children);
function chart(trace) {
  const points = trace.filter((t) => t[2] !== null || t[1] !== null);
  const finite = points.flatMap((t) => [t[1], t[2]]).filter((v) => v !== null);
  const low = Math.min(...finite), high = Math.max(...finite), first = Math.min(...points.map((t) => t[0])), last = Math.max(first + 1e-6, ...points.map((t) => t[0]));
  const x = (t) => 62 + (330 * (t - first)) / (last - first), y = (v) => 12 + 128 * (high === low ? 0.5 : (high - v) / (high - low));
  const line = (column) => {
    let d = "", before = null;
    for (const t of points) if (t[column] !== null) {
      d += before === null ? `M${x(t[0])} ${y(t[column])}` : `L${x(t[0])} ${y(before)}L${x(t[0])} ${y(t[column])}`;
      before = t[column];
    }
    return before === null ? "" : d + `L${x(last)} ${y(before)}`;
  };
  return svg("svg", { class: "chart", viewBox: "0 0 400 165", role: "img", "aria-label": "score and bound over time" },
    svg("line", { x1: 62, y1: 145, x2: 395, y2: 145 }), svg("path", { class: "bound", d: line(2) }), svg("path", { class: "score", d: line(1) }),
    svg("text", { x: 2, y: 16, text: short(high) }), svg("text", { x: 2, y: 144, text: short(low) }),
    svg("text", { x: 62, y: 160, text: `${short(first)} s` }), svg("text", { x: 395, y: 160, "text-anchor": "end", text: `${short(last)} s` }));
}
const rowsTable = (head, rows) => el("div", { class: "scroll", tabindex: 0 }, el("table", {},
  head ? el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, explained(text))))) : null,
  el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, i) => el("td", { class: i ? "number" : null, text: cell })))))));
function heldOut() { // rows that were not learned from, by every model; columns only where there is something in them
  const columns = [["nat per row", 1, (v, row) => `${v.toFixed(4)} ± ${row[2].toFixed(4)}`], ["log loss", 3, (v) => v.toFixed(4)], ["right", 4, percent], ["root mean squared error", 5, short]];
  const there = columns.filter(([, at]) => view.heldOut.some((row) => row[at] !== null)), asked = view.target === null ? "" : ` of ${view.nodes[view.target].label}`;
  const head = ["Model", ...there.map(([name]) => (name === "nat per row" ? name : name + asked))];
  const rows = view.heldOut.map((row) => el("tr", {}, el("td", { text: row[0] }), ...there.map(([, at, words]) => el("td", { class: "number", text: row[at] === null ? "" : words(row[at], row) }))));
  return article("Rows it has not seen", el("div", { class: "scroll heldout", tabindex: 0 }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, explained(text, text.replace(asked, "")))))), el("tbody", {}, ...rows))),
    el("p", { class: "soft", text: "Every model was learned anew without the rows it is judged by. The first is what this page shows, learned from fewer rows." }));
}
function record() {
  byId("subtitle").textContent = view.subtitle;
  byId("legend").toggleAttribute("hidden", !view.arcs.length);
  byId("shapes").toggleAttribute("hidden", new Set(view.nodes.map((node) => node.kind)).size < 2);
  byId("proof").textContent = view.proof.words;
  byId("proof").className = view.proof.proved ? "proved" : "open";
  details.append(article("How sure", ...view.proof.details.map((text) => el("p", { text })), ...(view.evidence ? proofButton() : [])));
  if (view.trace.length > 1)
    details.append(article("The search", chart(view.trace), el("p", { class: "soft", text: `Upper line: no network scores more, says the search. Lower line: best network so far. ${!view.proof.met ? "They have not met: a better one is not ruled out." : view.proof.proved ? "They meet where nothing better is left." : "They meet, but that was not proved."}` })));
  if (view.phases.length)
    details.append(article("Time", rowsTable(["phase", "wall s", "CPU s"], view.phases.map(([name, wall, cpu]) => [name, wall.toFixed(2), cpu.toFixed(2)]))));
  if (view.alternatives.length)
    details.append(article("Nearly as good", ...view.alternatives.map((text) => el("p", { text }))));
  const turned = new Set(view.arcs.map((arc) => `${view.nodes[arc.to].label} → ${view.nodes[arc.from].label}`));
  if (view.others.length)
    details.append(article("Arcs it does not have", rowsTable(["Arc", "Probability"], view.others.map(([arc, chance]) => [turned.has(arc) ? `${arc} (turned)` : arc, share(chance)])),
      view.others.some(([arc]) => turned.has(arc)) ? el("p", { class: "soft", text: "Turned: the network has this arc the other way. The two probabilities together are that of a direct link." }) : null));
  if (view.heldOut.length) details.append(heldOut());
  details.append(article("Settings", listOf(view.settings)));
  details.append(article("Data", el("p", { text: view.data.words }), el("div", { class: "scroll", tabindex: 0 }, el("table", {}, el("tbody", {},
    ...view.data.columns.map(([name, kind, summary]) => el("tr", {}, el("td", { text: name }), el("td", { text: kind }), el("td", { class: "soft values", text: summary }))))))));
  if (view.arcs.length > STRONGEST)
    details.append(article("All arcs", el("div", { class: "scroll" }, arcTable(view.arcs.map((_, i) => i)))));
  details.append(article("Reproduce and cite", view.command ? el("pre", { text: view.command }) : null, ...view.cite.map((text) => el("p", { text }))));
}
