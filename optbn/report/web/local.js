// A variable's local distribution, as a table or as a tree.

const MOST_ROWS = 300;
function distribution(v) {
  const cpd = model.cpds[v], counts = view.counts[view.nodes[v].label];
  return cpd.kind === "tree" ? tree(v, cpd, counts) : table(v, cpd, counts);
}
function heat(p) {
  const cell = el("td", { class: "heat", text: share(p) });
  cell.style.backgroundColor = `rgba(var(--heat), ${(0.55 * p).toFixed(3)})`;
  return cell;
}
function leafText(leaves, cell, v) {
  if (leaves.absent) return `${percent(leaves.absent[cell])} missing, ${leafText({ ...leaves, absent: null }, cell, v)}`;
  if (leaves.kind === "normal") {
    const [mean, variance] = momentsBetween(lawOf(leaves, cell), -Infinity, Infinity);
    return `${numberOf(mean, v)} ± ${deviation(Math.sqrt(variance), v)}`;
  }
  return `${numberOf(leaves.location[cell], v)} ± ${deviation(leaves.scale[cell], v)} (t, ${short(leaves.dof[cell])})`;
}
function cellNames(cpd, i) { // of a parent's levels or bins
  const parent = model.variables[cpd.parents[i]], cuts = cpd.cuts[i].map((cut) => numberOf(cut, parent)), none = parent.absent ? ["missing"] : [];
  if (parent.levels) return parent.levels;
  if (!cuts.length) return ["any", ...none];
  return [`< ${cuts[0]}`, ...cuts.slice(1).map((cut, k) => `${cuts[k]} to ${cut}`), `≥ ${cuts[cuts.length - 1]}`, ...none];
}
function table(v, cpd, counts) {
  const { levels, name } = model.variables[v], names = cpd.parents.map((_, i) => cellNames(cpd, i));
  const cells = names.reduce((n, all) => n * all.length, 1), body = [];
  for (let cell = 0; cell < Math.min(cells, MOST_ROWS); cell++) {
    const given = [];
    for (let i = names.length - 1, left = cell; i >= 0; i--) { given.unshift(names[i][left % names[i].length]); left = Math.floor(left / names[i].length); }
    body.push(el("tr", {}, ...given.map((text) => el("td", { text })),
      ...(levels ? cpd.leaves.rows[cell].map(heat) : [el("td", { text: leafText(cpd.leaves, cell, model.variables[v]) })]),
      counts ? el("td", { class: "number soft", text: counts[cell] }) : null));
  }
  const head = [...cpd.parents.map((p) => model.variables[p].name), ...(levels || [name]), ...(counts ? ["rows"] : [])];
  return el("div", {}, el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { text, scope: "col" })))), el("tbody", {}, ...body))),
  cells > MOST_ROWS ? el("p", { class: "soft", text: `${cells - MOST_ROWS} more rows are in the model file.` }) : null);
}

const LEAF = 108, LEVEL = 74;
function tree(v, cpd, counts) { // leaves side by side, inner nodes above the middle of their children
  const levels = model.variables[v].levels, shapes = [];
  let leaves = 0, depth = 0;
  function leaf(cell, level) {
    const x = (leaves++ + 0.5) * LEAF, y = level * LEVEL + 26, row = levels && cpd.leaves.rows[cell];
    shapes.push(svg("rect", { class: "leaf", x: x - LEAF / 2 + 5, y: y - 14, width: LEAF - 10, height: 44, rx: 5 }));
    if (row) row.forEach((p, i) => {
      const wide = (LEAF - 22) / row.length;
      shapes.push(svg("rect", { class: "bar", x: x - LEAF / 2 + 11 + i * wide, y: y + 12 - 22 * p, width: Math.max(1, wide - 2), height: 22 * p },
        svg("title", { text: `${levels[i]}: ${share(p)}` })));
    });
    const text = row ? `${clipped(levels[argmax(row)], 9)} ${percent(Math.max(...row))}` : leafText(cpd.leaves, cell, model.variables[v]);
    shapes.push(svg("text", { x, y: row ? y + 25 : y + 4, text }));
    if (counts) shapes.push(svg("text", { class: "answer", x, y: y + 46, text: counts[cell] === 1 ? "1 row" : `${counts[cell]} rows` }));
    return { x, y: y - 14 };
  }
  function lay(index, level, possible) { // `possible`: per parent the levels that can still occur here
    depth = Math.max(depth, level);
    const node = cpd.nodes[index];
    if (node.leaf !== undefined) return leaf(node.leaf, level);
    const parent = model.variables[cpd.parents[node.at]], here = possible[node.at];
    const sides = parent.levels ? [here.filter((c) => node.codes.has(c)), here.filter((c) => !node.codes.has(c))] : [here, here];
    const texts = parent.levels ? sides.map((side) => side.map((c) => parent.levels[c]).join(", "))
      : node.below === Infinity ? ["a number", "missing"] : [`< ${numberOf(node.below, parent)}`, `≥ ${numberOf(node.below, parent)}`];
    const below = [node.left, node.right].map((to, k) => ({ ...lay(to, level + 1, possible.map((all, i) => (i === node.at ? sides[k] : all))), text: texts[k] }));
    const x = (below[0].x + below[1].x) / 2, y = level * LEVEL + 20;
    for (const b of below) {
      shapes.push(svg("line", { x1: x, y1: y + 5, x2: b.x, y2: b.y }));
      shapes.push(svg("text", { class: "answer", x: x + 0.62 * (b.x - x), y: y + 0.62 * (b.y - y) + 2, text: clipped(b.text, 22) }, svg("title", { text: b.text })));
    }
    shapes.push(svg("text", { x, y, "font-weight": 600, text: clipped(parent.name, 24) }, svg("title", { text: parent.name })));
    return { x, y: y - 12 };
  }
  const root = lay(0, 0, cpd.parents.map((p) => (model.variables[p].levels || []).map((_, c) => c)));
  const w = Math.max(1, leaves) * LEAF, h = (depth + 1) * LEVEL + 16;
  const picture = svg("svg", { class: "tree", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "decision tree" }, ...shapes);
  picture.style.minWidth = `${w * 0.8}px`; // names stay legible; a wide tree is scrolled, and opens on its root
  picture.style.maxWidth = `${w * 1.15}px`;
  const box = el("div", { class: "scroll" }, picture);
  requestAnimationFrame(() => { box.scrollLeft = (root.x / w) * picture.getBoundingClientRect().width - box.clientWidth / 2; });
  return el("div", {}, box, levels ? el("p", { class: "soft", text: `Bars: ${levels.join(", ")}.` }) : null);
}
