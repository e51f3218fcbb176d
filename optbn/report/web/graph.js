// The drawing: arcs, and a box per variable with the chances of its values; the camera that pans and zooms over it.

const HEAD = 22, LINE = 15, STRIP = 34, BINS = 20, LONGEST = 24;
const model = readModel(view.network);
const canvas = byId("canvas"), map = byId("map"), frame = svg("rect", { class: "frame" });
const scene = svg("g");
const strongest = Math.max(1e-9, ...view.arcs.map((arc) => Math.abs(arc.strength ?? 0)));
const act = (f) => ({ onclick: f, onkeydown: (e) => { if (e.target === e.currentTarget && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); f(); } } });

// ---- arcs ------------------------------------------------------------------------------------------------------------
function border(node, toward) { // where the line from the node's centre leaves its box
  const dx = toward.x - node.x, dy = toward.y - node.y;
  if (!dx && !dy) return { x: node.x, y: node.y };
  const scale = Math.min((node.width / 2 + 2) / Math.abs(dx || 1e-9), (node.height / 2 + 2) / Math.abs(dy || 1e-9));
  return { x: node.x + dx * scale, y: node.y + dy * scale };
}
function curve(points) { // a smooth line through the layout's control points
  let d = `M${points[0].x} ${points[0].y}`;
  for (let i = 1; i < points.length; i++) {
    const a = points[i - 1], b = points[i], middle = (a.y + b.y) / 2;
    d += points.length === 2 ? `L${b.x} ${b.y}` : `C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${b.y}`;
  }
  return d;
}
function drawArc(arc) {
  const from = view.nodes[arc.from], to = view.nodes[arc.to], bends = (near ? [] : arc.route).map(([x, y]) => ({ x, y }));
  const start = border(from, bends[0] || to), end = border(to, bends[bends.length - 1] || from);
  const points = [start, ...bends, end], before = points.length === 2 ? start : { x: end.x, y: end.y - 20 };
  const angle = Math.atan2(end.y - before.y, end.x - before.x);
  const tip = (r, turn) => `${end.x + r * Math.cos(angle + turn)},${end.y + r * Math.sin(angle + turn)}`;
  const d = curve(points), [reach, line, head] = arc.shapes;
  reach.setAttribute("d", d); line.setAttribute("d", d);
  head.setAttribute("points", `${end.x},${end.y} ${tip(-10, 0.42)} ${tip(-10, -0.42)}`);
}
function makeArc(arc, index) {
  const from = view.nodes[arc.from].label, to = view.nodes[arc.to].label;
  const weight = (1.1 + 3.4 * Math.sqrt(Math.abs(arc.strength ?? 0) / strongest)).toFixed(2);
  arc.shapes = [svg("path", { class: "reach" }), svg("path", { class: "line", "stroke-width": weight }), svg("polygon")];
  arc.element = svg("g", {
    class: "arc" + (arc.compelled === false ? " reversible" : ""), tabindex: -1, role: "button", // keys: the tables
    "aria-label": `arc from ${from} to ${to}`, ...act(() => chooseArc(index)),
  }, ...arc.shapes, svg("title", { text: `${from} → ${to}` }));
  drawArc(arc);
  scene.append(arc.element);
}

// ---- boxes -----------------------------------------------------------------------------------------------------------
function makeNode(node, index) {
  const w = node.width, h = node.height, left = -w / 2, top = -h / 2, room = Math.floor((w - 62) / 6), levels = model.variables[index].levels;
  node.element = svg("g", {
    class: "node " + node.kind, tabindex: 0, role: "button", transform: `translate(${node.x} ${node.y})`,
    "data-name": node.label, onclick: () => { if (!dragged) chooseNode(index); }, onkeydown: (e) => nodeKey(e, index),
  }, node.label.length > LONGEST ? svg("title", { text: node.label }) : "", svg("rect", { class: "box", x: left, y: top, width: w, height: h, rx: node.kind === "real" ? 12 : 6 }),
  svg("text", { class: "name", x: 0, y: top + HEAD / 2 + 1, text: clipped(node.label, LONGEST) }));
  node.bars = [];
  if (node.rows) levels.forEach((level, code) => {
    const y = top + HEAD + code * LINE, bar = svg("rect", { class: "bar", x: left + 5, y: y + 1, width: 0, height: LINE - 2, rx: 2 });
    const tick = svg("line", { class: "prior", x1: 0, x2: 0, y1: y + LINE - 6, y2: y + LINE - 1 });
    const chance = svg("text", { class: "chance", x: -left - 8, y: y + LINE / 2 });
    const group = svg("g", { class: "level", onclick: (e) => pick(e, index, code) }, clipped(level, room) === level ? "" : svg("title", { text: level }),
      svg("rect", { class: "track", x: left + 5, y: y + 1, width: w - 10, height: LINE - 2, rx: 2 }), bar, tick,
      svg("text", { class: "label", x: left + 9, y: y + LINE / 2, text: clipped(level, room) }), chance);
    node.bars.push({ bar, tick, chance, group });
    node.element.append(group);
  });
  else makeStrip(node, index, levels, left, top + HEAD, w);
  scene.append(node.element);
}
function makeStrip(node, index, levels, left, top, w) { // columns: levels that are many, or the range of a real variable
  const range = model.variables[index].range, count = levels ? levels.length : BINS, wide = (w - 12) / count;
  const strip = svg("g", { class: "strip", "aria-hidden": "true" }, svg("rect", { class: "track", x: left + 5, y: top, width: w - 10, height: STRIP, rx: 2 }));
  for (let i = 0; i < count; i++) {
    const x = left + 6 + i * wide, bar = svg("rect", { class: "bar", x: x + 0.5, y: top + STRIP, width: Math.max(0.6, wide - 1), height: 0 });
    const from = levels ? 0 : range[0] + (i * (range[1] - range[0])) / count, say = (x) => numberOf(x, model.variables[index]);
    const group = svg("g", { class: "level" }, svg("title", { text: levels ? levels[i] : `${say(from)} to ${say(from + (range[1] - range[0]) / count)}` }),
      svg("rect", { class: "hit", x, y: top, width: wide, height: STRIP }), bar);
    if (levels) group.addEventListener("click", (e) => pick(e, index, i));
    node.bars.push({ bar, group, base: top + STRIP });
    strip.append(group);
  }
  node.span = svg("rect", { class: "span", x: left, y: top, width: 0, height: STRIP });
  strip.append(node.span);
  node.caption = svg("text", { class: "caption", x: 0, y: top + STRIP + 8 });
  node.element.append(strip, node.caption);
  if (!levels) rangeByDragging(node, index, strip, left + 6, w - 12, range);
}
function rangeByDragging(node, index, strip, left, w, range) {
  let from = null;
  const at = (e) => {
    const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(strip.getScreenCTM().inverse());
    return Math.min(1, Math.max(0, (p.x - left) / w));
  };
  const rounded = (x) => (model.variables[index].unit ? Math.round(x * 10) / 10 : Number(x.toPrecision(4)));
  const value = (part) => (part <= 0 ? -Infinity : part >= 1 ? Infinity : rounded(range[0] + part * (range[1] - range[0])));
  strip.addEventListener("pointerdown", (e) => { e.stopPropagation(); from = at(e); strip.setPointerCapture(e.pointerId); });
  strip.addEventListener("pointermove", (e) => { if (from !== null) fill(node.span, { x: left + w * Math.min(from, at(e)), width: w * Math.abs(at(e) - from) }); });
  strip.addEventListener("pointerup", (e) => {
    if (from === null) return;
    const [a, b] = [from, at(e)].sort((x, y) => x - y);
    from = null;
    if (b - a > 0.02) { learn(index, { low: value(a), high: value(b) }); dragged = true; setTimeout(() => { dragged = false; }, 0); }
  });
}

function showPosterior(index, posterior, prior, fact) { // the bars of a box
  const node = view.nodes[index], variable = model.variables[index], inner = node.width - 10;
  node.element.classList.toggle("unknown", !posterior);
  node.element.classList.toggle("seen", !!fact && !fact.do);
  node.element.classList.toggle("made", !!fact && !!fact.do);
  const p = chances(posterior, variable), before = chances(prior, variable);
  if (node.rows) {
    const x0 = -node.width / 2 + 5;
    node.bars.forEach(({ bar, tick, chance, group }, code) => {
      bar.setAttribute("width", p ? inner * p[code] : 0);
      chance.textContent = p ? percent(p[code]) : "?";
      group.classList.toggle("fixed", !!fact && fact.codes.includes(code));
      const shown = before && p && Math.abs(before[code] - p[code]) > 0.004;
      fill(tick, { x1: x0 + inner * (shown ? before[code] : 0), x2: x0 + inner * (shown ? before[code] : 0), visibility: shown ? "visible" : "hidden" });
    });
  } else {
    const top = Math.max(1e-12, ...(p || [0]), ...(before || [0]));
    node.bars.forEach(({ bar, base, group }, i) => {
      const tall = p ? (STRIP - 3) * (p[i] / top) : 0;
      fill(bar, { y: base - tall, height: tall });
      group.classList.toggle("fixed", !!fact && !!fact.codes && fact.codes.includes(i));
    });
    if (!variable.levels) markSpan(node, fact, variable.range);
    node.caption.textContent = fitting(captionOf(posterior, variable, fact), node.width - 6, 10.5); // as page.css has it
  }
  const words = posterior ? (variable.levels ? `most probable ${variable.levels[argmax(posterior.p)]}, ${percent(Math.max(...posterior.p))}` : captionOf(posterior, variable, fact)) : "not computed";
  node.element.setAttribute("aria-description", (fact ? factWords(index, fact) + "; " : "") + words);
}
const argmax = (p) => p.indexOf(Math.max(...p));
function chances(posterior, variable) { // per bar
  if (!posterior) return null;
  if (variable.levels) return posterior.p;
  if (posterior.value === undefined && !posterior.parts.length) return null;
  const [low, high] = variable.range, step = (high - low) / BINS;
  return Array.from({ length: BINS }, (_, i) => chanceBetween(posterior, i ? low + i * step : -Infinity, i < BINS - 1 ? low + (i + 1) * step : Infinity));
}
function captionOf(posterior, variable, fact) {
  if (!posterior) return "too large to compute";
  if (variable.levels) { const i = argmax(posterior.p); return `${variable.levels[i]} ${percent(posterior.p[i])}`; }
  if (posterior.value !== undefined) return Number.isNaN(posterior.value) ? "missing" : `= ${numberOf(posterior.value, variable)}`;
  const none = posterior.missing > 0 ? `, ${percent(posterior.missing)} missing` : "";
  return fact && fact.do ? "set" : `${numberOf(posterior.mean, variable)} ± ${deviation(posterior.sd, variable)}${none}`;
}
function markSpan(node, fact, [low, high]) {
  const left = -node.width / 2 + 6, w = node.width - 12, at = (x) => left + w * Math.min(1, Math.max(0, (x - low) / (high - low)));
  if (!fact) { fill(node.span, { width: 0 }); return; }
  const from = fact.value !== undefined ? fact.value : fact.low, to = fact.value !== undefined ? fact.value : fact.high;
  fill(node.span, { x: at(from) - 1, width: at(to) - at(from) + 2 });
}

// ---- pan and zoom ------------------------------------------------------------------------------------------------------
const LEGIBLE = 0.55; // below this scale names cannot be read; a large graph opens on its middle, with a map of it all
const camera = { x: 0, y: 0, k: 1 };
let dragged = false, bounds = {};
function measure() { // the extent of what is drawn, and the map of it
  const drawn = view.nodes.filter((_, i) => !near || near.has(i)), every = (pick) => drawn.map(pick);
  bounds = {
    left: Math.min(...every((n) => n.x - n.width / 2)) - 14, right: Math.max(...every((n) => n.x + n.width / 2)) + 14,
    top: Math.min(...every((n) => n.y - n.height / 2)) - 14, bottom: Math.max(...every((n) => n.y + n.height / 2)) + 14,
  };
  map.setAttribute("viewBox", whole());
  const boxes = drawn.map((n) => `M${n.x - n.width / 2} ${n.y - n.height / 2}h${n.width}v${n.height}h${-n.width}z`);
  map.replaceChildren(svg("path", { d: boxes.join("") }), frame);
}
const whole = () => `${bounds.left} ${bounds.top} ${bounds.right - bounds.left} ${bounds.bottom - bounds.top}`;
function place() {
  scene.setAttribute("transform", `translate(${camera.x} ${camera.y}) scale(${camera.k})`);
  const box = canvas.getBoundingClientRect(), shown = { width: box.width / camera.k, height: box.height / camera.k };
  map.toggleAttribute("hidden", shown.width >= 0.98 * (bounds.right - bounds.left) && shown.height >= 0.98 * (bounds.bottom - bounds.top));
  fill(frame, { x: -camera.x / camera.k, y: -camera.y / camera.k, ...shown });
}
const wholeScale = (box) => Math.min(1.25, box.width / (bounds.right - bounds.left), box.height / (bounds.bottom - bounds.top));
function look(x, y, k) { // the point of the graph to put into the middle, and the scale
  const box = canvas.getBoundingClientRect();
  Object.assign(camera, { k, x: box.width / 2 - k * x, y: box.height / 2 - k * y });
  place();
}
const fitAll = () => look((bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2, wholeScale(canvas.getBoundingClientRect()));
function hub() { // the question, or the variable with most arcs
  if (target !== null) return target;
  const degree = new Array(view.nodes.length).fill(0);
  for (const arc of view.arcs) { degree[arc.from]++; degree[arc.to]++; }
  return degree.indexOf(Math.max(...degree));
}
function open() {
  const box = canvas.getBoundingClientRect();
  if (wholeScale(box) >= LEGIBLE) { fitAll(); return; }
  const node = view.nodes[hub()], within = (at, low, high, half) => (high - low <= 2 * half ? (low + high) / 2 : Math.min(high - half, Math.max(low + half, at)));
  look(within(node.x, bounds.left, bounds.right, box.width / 2 / LEGIBLE), within(node.y, bounds.top, bounds.bottom, box.height / 2 / LEGIBLE), LEGIBLE);
}
function zoom(factor, x, y) {
  const k = Math.min(4, Math.max(0.02, camera.k * factor));
  camera.x = x - ((x - camera.x) * k) / camera.k;
  camera.y = y - ((y - camera.y) * k) / camera.k;
  camera.k = k;
  place();
}
const centre = (node) => look(node.x, node.y, Math.max(camera.k, 0.75));
const middle = () => { const box = canvas.getBoundingClientRect(); return [box.width / 2, box.height / 2]; };
