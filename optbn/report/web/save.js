// Files to keep: the picture, the chances, the network.

function hand(name, content, type) {
  const link = el("a", { href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const fileName = (ending) => `${(view.network.name || "network").replace(/[^\w.-]+/g, "-")}.${ending}`;

const LOOK = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "text-anchor", "dominant-baseline", "visibility", "fill-opacity"];
function picture() { // the drawing alone: every shape carries the style it has here
  const copy = canvas.cloneNode(true), size = 1, from = [...canvas.querySelectorAll("*")], to = [...copy.querySelectorAll("*")];
  from.forEach((each, i) => {
    const style = getComputedStyle(each);
    if (style.display === "none") { to[i].remove(); return; }
    if (/^(path|rect|line|polygon|text)$/.test(each.tagName)) for (const key of LOOK) to[i].setAttribute(key, style.getPropertyValue(key));
    for (const key of ["tabindex", "role", "class", "aria-label", "aria-description", "data-name"]) to[i].removeAttribute(key);
  });
  copy.querySelector("g").removeAttribute("transform");
  const w = bounds.right - bounds.left, h = bounds.bottom - bounds.top;
  for (const key of ["tabindex", "role", "aria-label", "id"]) copy.removeAttribute(key);
  fill(copy, { xmlns: SVG, viewBox: whole(), width: w * size, height: h * size, "font-family": "system-ui, sans-serif" });
  const ground = svg("rect", { x: bounds.left, y: bounds.top, width: w, height: h, fill: getComputedStyle(byId("graph")).backgroundColor });
  copy.insertBefore(ground, copy.firstChild);
  return new XMLSerializer().serializeToString(copy);
}
function savePng() {
  const image = new Image(), w = bounds.right - bounds.left, h = bounds.bottom - bounds.top, k = Math.min(2, 8000 / Math.max(w, h));
  image.onload = () => {
    const sheet = fill(document.createElement("canvas"), { width: Math.round(w * k), height: Math.round(h * k) });
    sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
    sheet.toBlob((blob) => hand(fileName("png"), blob));
    URL.revokeObjectURL(image.src);
  };
  image.src = URL.createObjectURL(new Blob([picture()], { type: "image/svg+xml" }));
}
function chancesCsv() {
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text), lines = ["variable,value,probability,before,known"];
  model.variables.forEach((v, i) => {
    const post = answer.posteriors?.[i], before = prior?.posteriors?.[i], is = known.has(i) ? (known.get(i).do ? "set" : "seen") : "";
    if (v.levels) v.levels.forEach((level, c) => lines.push([quote(v.name), quote(level), post ? post.p[c] : "", before ? before.p[c] : "", is].join()));
    else for (const key of ["mean", "sd"]) lines.push([quote(v.name), key, post ? post[key] : "", before ? before[key] : "", is].join());
  });
  return lines.join("\n") + "\n";
}
function bif() { // names that BIF cannot hold are written with underscores; only for networks without real variables
  const plain = (text) => text.replace(/[^\w.+-]/g, "_"), lines = [`network ${plain(view.network.name || "unknown")} {\n}`];
  const unique = (texts) => texts.reduce((all, text) => { let t = plain(text); while (all.includes(t)) t += "_"; return [...all, t]; }, []);
  const names = unique(model.variables.map((v) => v.name)), levels = model.variables.map((v) => unique(v.levels)), states = statesUnder(model, new Map());
  names.forEach((name, v) => lines.push(`variable ${name} {\n  type discrete [ ${levels[v].length} ] { ${levels[v].join(", ")} };\n}`));
  names.forEach((name, v) => {
    const cpd = model.cpds[v], rows = [];
    eachCell(model, states, v, (cell, at) => {
      const given = [];
      for (let i = cpd.parents.length - 1, left = at; i >= 0; i--) { const all = levels[cpd.parents[i]]; given.unshift(all[left % all.length]); left = Math.floor(left / all.length); }
      rows.push(`  ${given.length ? `(${given.join(", ")})` : "table"} ${cpd.leaves.rows[cell].join(", ")};`);
    });
    lines.push(`probability ( ${name}${cpd.parents.length ? ` | ${cpd.parents.map((p) => names[p]).join(", ")}` : ""} ) {\n${rows.join("\n")}\n}`);
  });
  return lines.join("\n") + "\n";
}
function saveMenu() {
  const discrete = model.variables.every((v) => v.levels);
  byId("save").append(
    button("Picture (svg)", () => hand(fileName("svg"), picture(), "image/svg+xml")), button("Picture (png)", savePng),
    button("Chances (csv)", () => hand(fileName("csv"), chancesCsv(), "text/csv")),
    button("Network (json)", () => hand(fileName("json"), JSON.stringify(view.network), "application/json")),
    button("Network (bif)", () => hand(fileName("bif"), bif(), "text/plain"), discrete ? {} : { disabled: "", title: "BIF has no real variables" }));
}
