// The neighbourhood of a variable, folded out of a large graph and laid out anew: rows by the longest path, the order
// within a row by the mean of the neighbours, places as near to it as boxes allow.

const MOST_NEAR = 18, WIDEST = 8; // variables in all, and in a row
const FOLDED = 250; // variables, from which the page opens on a neighbourhood: all at once is a thicket of arcs
let near = null; // the members, or null where all is shown

function neighbourhood(index) { // in steps around the variable, as many whole steps as fit
  const found = new Set([index]);
  for (let ring = [index]; ring.length;) {
    const next = new Set();
    for (const v of ring) for (const u of [...model.cpds[v].parents, ...model.variables[v].children]) if (!found.has(u)) next.add(u);
    if (found.size > 1 && found.size + next.size > MOST_NEAR) break;
    ring = [...next];
    ring.forEach((v) => found.add(v));
  }
  return found;
}
function arrange(members) {
  const inside = (v) => members.has(v), row = new Map();
  const rowOf = (v) => {
    if (!row.has(v)) row.set(v, Math.max(-1, ...model.cpds[v].parents.filter(inside).map(rowOf)) + 1);
    return row.get(v);
  };
  members.forEach(rowOf);
  for (const v of members) { // one without parents here stands just above its first child
    const below = model.variables[v].children.filter(inside).map((child) => row.get(child));
    if (row.get(v) === 0 && below.length) row.set(v, Math.min(...below) - 1);
  }
  const rows = [];
  for (const [v, r] of row) (rows[r] ||= []).push(v);
  const x = new Map([...members].map((v) => [v, view.nodes[v].home.x]));
  const links = (v) => [...model.cpds[v].parents, ...model.variables[v].children].filter(inside);
  const wanted = (v) => { const all = links(v); return all.length ? all.reduce((sum, u) => sum + x.get(u), 0) / all.length : x.get(v); };
  for (let sweep = 0; sweep < 12; sweep++) for (const line of sweep % 2 ? [...rows].reverse() : rows) {
    if (sweep < 6) line.sort((a, b) => wanted(a) - wanted(b));
    spread(line, line.map(wanted)).forEach((at, i) => x.set(line[i], at));
  }
  const lines = rows.flatMap((line) => { // a long row is dealt out to several, so that its boxes stay large
    const k = Math.ceil(line.length / WIDEST), middle = line.reduce((sum, v) => sum + x.get(v), 0) / line.length;
    const dealt = Array.from({ length: k }, (_, j) => line.filter((_, i) => i % k === j));
    if (k > 1) for (const part of dealt) spread(part, part.map((v) => middle + (x.get(v) - middle) / k)).forEach((at, i) => x.set(part[i], at));
    return dealt;
  });
  let y = 0;
  for (const line of lines) {
    const tall = Math.max(...line.map((v) => view.nodes[v].height));
    for (const v of line) Object.assign(view.nodes[v], { x: x.get(v), y: y + tall / 2 });
    y += tall + 60;
  }
}
function spread(line, wanted) { // the places nearest to those wanted with no two boxes overlapping: blocks that meet merge
  const offset = [0];
  for (let i = 1; i < line.length; i++) offset.push(offset[i - 1] + (view.nodes[line[i - 1]].width + view.nodes[line[i]].width) / 2 + 22);
  const blocks = [];
  wanted.forEach((at, i) => {
    blocks.push({ sum: at - offset[i], count: 1 });
    for (let k = blocks.length - 1; k > 0 && blocks[k - 1].sum / blocks[k - 1].count > blocks[k].sum / blocks[k].count; k--) {
      blocks[k - 1].sum += blocks[k].sum; blocks[k - 1].count += blocks[k].count; blocks.pop();
    }
  });
  return blocks.flatMap((b) => new Array(b.count).fill(b.sum / b.count)).map((at, i) => at + offset[i]);
}
function toggleNear(members) {
  near = near && !members ? null : members || neighbourhood(chosen.node ?? hub());
  for (const node of view.nodes) Object.assign(node, node.home);
  if (near) arrange(near);
  view.nodes.forEach((node, v) => {
    node.element.toggleAttribute("hidden", !!near && !near.has(v));
    node.element.setAttribute("transform", `translate(${node.x} ${node.y})`);
  });
  for (const arc of view.arcs) {
    const shown = !near || (near.has(arc.from) && near.has(arc.to));
    arc.element.toggleAttribute("hidden", !shown);
    if (shown) drawArc(arc);
  }
  byId("near").setAttribute("aria-pressed", String(!!near));
  measure();
  if (near) fitAll(); else open();
}
