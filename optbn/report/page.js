"use strict";
// Draws the report: the graph with pan, zoom and search; a panel for the chosen node or arc; the record below.
// Everything shown comes from the JSON in #view and is put in as text, never as markup.
(() => {
  const view = JSON.parse(document.getElementById("view").textContent);
  const byId = (id) => document.getElementById(id);
  const canvas = byId("canvas"), panel = byId("panel"), details = byId("details");
  const SVG = "http://www.w3.org/2000/svg";

  // ---- building blocks -------------------------------------------------------------------------------------------
  function fill(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "text") element.textContent = value;
      else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined) element.setAttribute(key, value);
    }
    for (const child of children || []) if (child) element.append(child);
    return element;
  }
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const short = (x) => (Math.abs(x) >= 1000 ? x.toFixed(1) : Number(x.toPrecision(4)).toString());
  const share = (p) => (p === 0 ? "0" : p < 0.0005 ? p.toExponential(0) : p.toFixed(3));
  const listOf = (pairs) => el("dl", {}, ...pairs.flatMap(([key, value]) => [el("dt", { text: key }), el("dd", { text: value })]));

  // ---- the graph -------------------------------------------------------------------------------------------------
  const HEIGHT = 30;
  const strongest = Math.max(1e-9, ...view.arcs.map((arc) => Math.abs(arc.strength ?? 0)));
  const scene = svg("g");
  canvas.append(scene);

  function border(node, toward) { // where the line from the node's centre leaves its box
    const dx = toward.x - node.x, dy = toward.y - node.y;
    if (!dx && !dy) return { x: node.x, y: node.y };
    const scale = Math.min((node.width / 2 + 2) / Math.abs(dx || 1e-9), (HEIGHT / 2 + 2) / Math.abs(dy || 1e-9));
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
  const act = (f) => ({ onclick: f, onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); f(); } } });

  view.arcs.forEach((arc, index) => {
    const from = view.nodes[arc.from], to = view.nodes[arc.to];
    const bends = arc.route.map(([x, y]) => ({ x, y }));
    const start = border(from, bends[0] || { x: to.x, y: to.y });
    const end = border(to, bends[bends.length - 1] || { x: from.x, y: from.y });
    const points = [start, ...bends, end];
    const straight = points.length === 2;
    const before = straight ? start : { x: end.x, y: end.y - 20 };
    const angle = Math.atan2(end.y - before.y, end.x - before.x);
    const tip = (r, turn) => `${end.x + r * Math.cos(angle + turn)},${end.y + r * Math.sin(angle + turn)}`;
    const d = curve(points);
    const weight = 1.1 + 3.4 * Math.sqrt(Math.abs(arc.strength ?? 0) / strongest);
    arc.element = svg("g", {
      class: "arc" + (arc.compelled === false ? " reversible" : ""), tabindex: -1, role: "button", // keys: the tables
      "aria-label": `arc from ${from.label} to ${to.label}`, ...act(() => chooseArc(index)),
    }, svg("path", { class: "reach", d }), svg("path", { class: "line", d, "stroke-width": weight.toFixed(2) }),
    svg("title", { text: `${from.label} → ${to.label}` }), svg("polygon", { points: `${end.x},${end.y} ${tip(-10, 0.42)} ${tip(-10, -0.42)}` }));
    scene.append(arc.element);
  });
  view.nodes.forEach((node, index) => {
    const shown = node.label.length > 24 ? node.label.slice(0, 23) + "…" : node.label;
    node.element = svg("g", {
      class: "node " + node.kind, tabindex: 0, role: "button", "aria-label": `variable ${node.label}`,
      transform: `translate(${node.x} ${node.y})`, ...act(() => chooseNode(index)),
    }, svg("title", { text: node.label }),
    svg("rect", { x: -node.width / 2, y: -HEIGHT / 2, width: node.width, height: HEIGHT, rx: 6 }),
    svg("text", { text: shown }));
    scene.append(node.element);
  });

  // ---- pan and zoom ----------------------------------------------------------------------------------------------
  const LEGIBLE = 0.55; // below this scale names cannot be read; a large graph opens on its middle, with a map of it all
  const camera = { x: 0, y: 0, k: 1 };
  const extent = (pick, grow) => [Math.min(...view.nodes.map((n) => pick(n) - grow(n))), Math.max(...view.nodes.map((n) => pick(n) + grow(n)))];
  const [left, right] = extent((n) => n.x, (n) => n.width / 2 + 14), [top, bottom] = extent((n) => n.y, () => HEIGHT);
  const map = byId("map"), frame = svg("rect", { class: "frame" });
  map.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
  const boxes = view.nodes.map((n) => `M${n.x - n.width / 2} ${n.y - HEIGHT}h${n.width}v${2 * HEIGHT}h${-n.width}z`);
  map.append(svg("path", { d: boxes.join("") }), frame);
  function place() {
    scene.setAttribute("transform", `translate(${camera.x} ${camera.y}) scale(${camera.k})`);
    const box = canvas.getBoundingClientRect(), shown = { width: box.width / camera.k, height: box.height / camera.k };
    const all = shown.width >= 0.98 * (right - left) && shown.height >= 0.98 * (bottom - top);
    map.toggleAttribute("hidden", all);
    fill(frame, { x: -camera.x / camera.k, y: -camera.y / camera.k, ...shown });
  }
  const wholeScale = (box) => Math.min(1.4, box.width / (right - left), box.height / (bottom - top));
  function look(x, y, k) { // the point of the graph to put into the middle, and the scale
    const box = canvas.getBoundingClientRect();
    camera.k = k;
    camera.x = box.width / 2 - k * x;
    camera.y = box.height / 2 - k * y;
    place();
  }
  const fitAll = () => look((left + right) / 2, (top + bottom) / 2, wholeScale(canvas.getBoundingClientRect()));
  function open() {
    const box = canvas.getBoundingClientRect();
    if (wholeScale(box) >= LEGIBLE) { fitAll(); return; }
    const degree = new Array(view.nodes.length).fill(0);
    for (const arc of view.arcs) { degree[arc.from]++; degree[arc.to]++; }
    const hub = view.nodes[degree.indexOf(Math.max(...degree))];
    const within = (at, low, high, half) => (high - low <= 2 * half ? (low + high) / 2 : Math.min(high - half, Math.max(low + half, at)));
    look(within(hub.x, left, right, box.width / 2 / LEGIBLE), within(hub.y, top, bottom, box.height / 2 / LEGIBLE), LEGIBLE);
  }
  function follow(e) { // a press on the map moves the view there
    const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(map.getScreenCTM().inverse());
    look(at.x, at.y, camera.k);
  }
  map.addEventListener("pointerdown", (e) => { map.setPointerCapture(e.pointerId); follow(e); });
  map.addEventListener("pointermove", (e) => { if (map.hasPointerCapture(e.pointerId)) follow(e); });
  function zoom(factor, x, y) {
    const k = Math.min(4, Math.max(0.02, camera.k * factor));
    camera.x = x - ((x - camera.x) * k) / camera.k;
    camera.y = y - ((y - camera.y) * k) / camera.k;
    camera.k = k;
    place();
  }
  const centre = (node) => look(node.x, node.y, Math.max(camera.k, 0.75));
  const middle = () => { const box = canvas.getBoundingClientRect(); return [box.width / 2, box.height / 2]; };
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-e.deltaY * 0.0015), e.clientX - box.left, e.clientY - box.top);
  }, { passive: false });
  const fingers = new Map(); // by pointer; one drags, two pinch
  canvas.addEventListener("pointerdown", (e) => { fingers.set(e.pointerId, { x: e.clientX, y: e.clientY, moved: false }); });
  window.addEventListener("pointermove", (e) => {
    const finger = fingers.get(e.pointerId), now = { x: e.clientX, y: e.clientY, moved: true };
    if (!finger || (!finger.moved && Math.hypot(now.x - finger.x, now.y - finger.y) < 4)) return;
    canvas.classList.add("dragging");
    const other = [...fingers.values()].find((each) => each !== finger);
    if (other) {
      const box = canvas.getBoundingClientRect(), apart = (each) => Math.max(1, Math.hypot(each.x - other.x, each.y - other.y));
      zoom(apart(now) / apart(finger), (now.x + other.x) / 2 - box.left, (now.y + other.y) / 2 - box.top);
    } else {
      camera.x += now.x - finger.x; camera.y += now.y - finger.y;
      place();
    }
    Object.assign(finger, now);
  });
  for (const end of ["pointerup", "pointercancel"])
    window.addEventListener(end, (e) => { fingers.delete(e.pointerId); canvas.classList.remove("dragging"); });
  byId("larger").addEventListener("click", () => zoom(1.3, ...middle()));
  byId("smaller").addEventListener("click", () => zoom(1 / 1.3, ...middle()));
  byId("fit").addEventListener("click", fitAll);
  let width = window.innerWidth;
  window.addEventListener("resize", () => { // a phone's address bar comes and goes: that is no reason to look elsewhere
    if (canvas.hasAttribute("viewBox")) return;
    if (window.innerWidth === width) place(); else open();
    width = window.innerWidth;
  });
  window.addEventListener("beforeprint", () => { // all of the graph, whatever the paper
    canvas.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
    scene.removeAttribute("transform");
  });
  window.addEventListener("afterprint", () => { canvas.removeAttribute("viewBox"); place(); });

  // ---- choosing --------------------------------------------------------------------------------------------------
  function mark(nodes, arcs, chosen) {
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
  const variable = (i) => el("button", { class: "link", type: "button", text: view.nodes[i].label, onclick: () => { chooseNode(i); centre(view.nodes[i]); } });
  const between = (items) => items.flatMap((item, i) => (i ? [document.createTextNode(", "), item] : [item]));

  function show(...children) { // below the graph, or above the table that was clicked in, the panel comes into view
    panel.replaceChildren(...children);
    panel.scrollTop = 0;
    const box = panel.getBoundingClientRect();
    if (box.top > 0.7 * window.innerHeight || box.bottom < 0.3 * window.innerHeight) panel.scrollIntoView({ block: "center" });
  }
  function chooseNode(index) {
    const node = view.nodes[index];
    const touching = view.arcs.map((arc, i) => i).filter((i) => view.arcs[i].from === index || view.arcs[i].to === index);
    mark(new Set([index, ...touching.flatMap((i) => [view.arcs[i].from, view.arcs[i].to])]), new Set(touching), { node: index });
    const parents = view.arcs.filter((a) => a.to === index).map((a) => variable(a.from));
    const children = view.arcs.filter((a) => a.from === index).map((a) => variable(a.to));
    show(
      el("h2", { text: node.label }), el("p", { class: "soft", text: node.summary }),
      el("p", {}, document.createTextNode("Parents: "), ...(parents.length ? between(parents) : [document.createTextNode("none")])),
      el("p", {}, document.createTextNode("Children: "), ...(children.length ? between(children) : [document.createTextNode("none")])),
      el("h3", { text: "Local distribution" }), distribution(node.cpd),
      touching.length ? el("h3", { text: "Arcs" }) : "", touching.length ? arcTable(touching) : "");
  }
  function chooseArc(index) {
    const arc = view.arcs[index];
    mark(new Set([arc.from, arc.to]), new Set([index]), { arc: index });
    const facts = [];
    if (arc.strength !== null && arc.strength !== undefined) facts.push(["Score lost without it", `${arc.strength.toFixed(3)} nat (natural logarithm)`]);
    if (arc.compelled !== null && arc.compelled !== undefined)
      facts.push(["Direction", arc.compelled ? "settled: every network with the same independences has it this way" : "open: a network with the same independences has it the other way"]);
    if (arc.posterior !== null && arc.posterior !== undefined) facts.push(["Posterior probability", share(arc.posterior)]);
    show(el("h2", {}, variable(arc.from), document.createTextNode(" → "), variable(arc.to)), listOf(facts));
  }
  function overview() {
    mark(new Set(), new Set(), {});
    panel.replaceChildren(
      el("h2", { text: "Overview" }), listOf(view.facts),
      el("h3", { text: view.arcs.length > STRONGEST ? "Strongest arcs" : "Arcs" }),
      view.arcs.length ? arcTable(strongestFirst.slice(0, STRONGEST)) : el("p", { text: "None: by this score no variable says enough about another one." }),
      el("p", { class: "soft screen", text: "Click a variable or an arc; Esc comes back here." }));
  }
  const STRONGEST = 12;
  const strongestFirst = view.arcs.map((arc, i) => i).sort((a, b) => (view.arcs[b].strength ?? Infinity) - (view.arcs[a].strength ?? Infinity) || a - b);
  const averaged = view.arcs.some((arc) => arc.posterior !== null && arc.posterior !== undefined);
  function arcTable(order) {
    const head = ["Arc", "Score lost (nat)", ...(averaged ? ["Probability"] : [])];
    return el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { text, scope: "col" })))),
      el("tbody", {}, ...order.map((i) => el("tr", {},
        el("td", {}, el("button", { class: "link", type: "button", text: `${view.nodes[view.arcs[i].from].label} → ${view.nodes[view.arcs[i].to].label}`, onclick: () => chooseArc(i) })),
        el("td", { class: "number", text: view.arcs[i].strength === null ? "required" : view.arcs[i].strength.toFixed(3) }),
        averaged ? el("td", { class: "number", text: share(view.arcs[i].posterior) }) : null))));
  }
  canvas.addEventListener("click", (e) => { if (e.target === canvas) overview(); });
  const ARROWS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  document.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { byId("search").value = ""; find(); overview(); }
    else if (e.key === "/" && document.activeElement !== byId("search")) { e.preventDefault(); byId("search").focus(); }
    else if (document.activeElement === byId("search")) return;
    else if (e.key === "+" || e.key === "=") zoom(1.3, ...middle());
    else if (e.key === "-") zoom(1 / 1.3, ...middle());
    else if (e.key === "0") fitAll();
    else if (ARROWS[e.key] && !panel.contains(e.target)) { e.preventDefault(); camera.x += ARROWS[e.key][0]; camera.y += ARROWS[e.key][1]; place(); }
  });

  // ---- search ----------------------------------------------------------------------------------------------------
  function find() {
    const text = byId("search").value.trim().toLowerCase();
    const hits = view.nodes.map((n, i) => i).filter((i) => text && view.nodes[i].label.toLowerCase().includes(text));
    view.nodes.forEach((n, i) => n.element.classList.toggle("match", hits.includes(i)));
    byId("found").textContent = text ? `${hits.length} found` : "";
    return hits.sort((a, b) => view.nodes[a].label.length - view.nodes[b].label.length);
  }
  byId("search").addEventListener("input", find);
  byId("search").addEventListener("keydown", (e) => {
    if (e.key !== "Enter") return;
    const hits = find();
    if (hits.length) { chooseNode(hits[0]); centre(view.nodes[hits[0]]); }
  });

  // ---- local distributions ---------------------------------------------------------------------------------------
  function heat(p) {
    const cell = el("td", { class: "heat", text: share(p) });
    cell.style.backgroundColor = `rgba(var(--heat), ${(0.55 * p).toFixed(3)})`;
    return cell;
  }
  function distribution(cpd) {
    if (cpd.type === "tree") return tree(cpd);
    const counted = cpd.rows.some((row) => row.n !== null);
    const head = [...cpd.parents, ...cpd.columns, ...(counted ? ["rows"] : [])];
    const body = cpd.rows.map((row) => el("tr", {},
      ...row.given.map((text) => el("td", { text })),
      ...(row.p ? row.p.map(heat) : [el("td", { text: row.text })]),
      counted ? el("td", { class: "number soft", text: row.n }) : null));
    return el("div", {}, el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { text, scope: "col" })))), el("tbody", {}, ...body))),
    cpd.omitted ? el("p", { class: "soft", text: `${cpd.omitted} more rows are in the model file.` }) : null);
  }
  function tree(cpd) { // leaves side by side, inner nodes above the middle of their children
    const LEAF = 108, LEVEL = 74;
    let leaves = 0, depth = 0;
    const shapes = [];
    function lay(index, level) {
      depth = Math.max(depth, level);
      const node = cpd.nodes[index];
      if (!node.branches) {
        const x = (leaves++ + 0.5) * LEAF, y = level * LEVEL + 26;
        shapes.push(svg("rect", { class: "leaf", x: x - LEAF / 2 + 5, y: y - 14, width: LEAF - 10, height: 44, rx: 5 }));
        if (node.p) node.p.forEach((p, i) => {
          const wide = (LEAF - 22) / node.p.length;
          shapes.push(svg("rect", { class: "bar", x: x - LEAF / 2 + 11 + i * wide, y: y + 12 - 22 * p, width: Math.max(1, wide - 2), height: 22 * p },
            svg("title", { text: `${cpd.columns[i]}: ${share(p)}` })));
        });
        shapes.push(svg("text", { x, y: node.p ? y + 25 : y + 4, text: node.p ? best(cpd, node) : node.text }));
        if (node.n !== null) shapes.push(svg("text", { class: "answer", x, y: y + 46, text: node.n === 1 ? "1 row" : `${node.n} rows` }));
        return { x, y: y - 14 };
      }
      const below = node.branches.map((branch) => ({ ...lay(branch.to, level + 1), answer: branch.answer }));
      const x = below.reduce((sum, b) => sum + b.x, 0) / below.length, y = level * LEVEL + 20;
      for (const b of below) {
        shapes.push(svg("line", { x1: x, y1: y + 5, x2: b.x, y2: b.y }));
        shapes.push(svg("text", { class: "answer", x: x + 0.62 * (b.x - x), y: y + 0.62 * (b.y - y) + 2, text: b.answer.length > 22 ? b.answer.slice(0, 21) + "…" : b.answer }, svg("title", { text: b.answer })));
      }
      shapes.push(svg("text", { x, y, "font-weight": 600, text: node.question }));
      return { x, y: y - 12 };
    }
    const root = lay(0, 0);
    const w = Math.max(1, leaves) * LEAF, h = (depth + 1) * LEVEL + 16;
    const picture = svg("svg", { class: "tree", viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "decision tree" }, ...shapes);
    picture.style.minWidth = `${w * 0.8}px`; // names stay legible; a wide tree is scrolled, and opens on its root
    picture.style.maxWidth = `${w * 1.15}px`;
    const box = el("div", { class: "scroll" }, picture);
    requestAnimationFrame(() => { box.scrollLeft = (root.x / w) * picture.getBoundingClientRect().width - box.clientWidth / 2; });
    return el("div", {}, box,
      cpd.columns.length ? el("p", { class: "soft", text: "Bars: " + cpd.columns.join(", ") + "." }) : null);
  }
  function best(cpd, leaf) {
    const i = leaf.p.indexOf(Math.max(...leaf.p));
    return `${cpd.columns[i].slice(0, 9)} ${(100 * leaf.p[i]).toFixed(0)}%`;
  }

  // ---- the record below ------------------------------------------------------------------------------------------
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
  function record() {
    byId("subtitle").textContent = view.subtitle;
    byId("legend").toggleAttribute("hidden", !view.arcs.length);
    byId("shapes").toggleAttribute("hidden", new Set(view.nodes.map((node) => node.kind)).size < 2);
    byId("proof").textContent = view.proof.words;
    byId("proof").className = view.proof.proved ? "proved" : "open";
    details.append(article("How sure", ...view.proof.details.map((text) => el("p", { text }))));
    if (view.trace.length > 1)
      details.append(article("The search", chart(view.trace), el("p", { class: "soft", text: `Upper line: no network scores more. Lower line: best network so far. ${view.proof.met ? "They meet where nothing better is left." : "They have not met: a better one is not ruled out."}` })));
    if (view.phases.length)
      details.append(article("Time", el("table", {}, el("thead", {}, el("tr", {}, ...["phase", "wall s", "CPU s"].map((text) => el("th", { text })))),
        el("tbody", {}, ...view.phases.map(([name, wall, cpu]) => el("tr", {}, el("td", { text: name }), el("td", { class: "number", text: wall.toFixed(2) }), el("td", { class: "number", text: cpu.toFixed(2) })))))));
    if (view.alternatives.length)
      details.append(article("Nearly as good", ...view.alternatives.map((text) => el("p", { text }))));
    if (view.others.length)
      details.append(article("Arcs it does not have", el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { text: "Arc" }), el("th", { text: "Probability" }))),
        el("tbody", {}, ...view.others.map(([arc, chance]) => el("tr", {}, el("td", { text: arc }), el("td", { class: "number", text: share(chance) }))))))));
    details.append(article("Settings", listOf(view.settings)));
    details.append(article("Data", el("p", { text: view.data.words }), el("div", { class: "scroll" }, el("table", {}, el("tbody", {},
      ...view.data.columns.map(([name, kind, summary]) => el("tr", {}, el("td", { text: name }), el("td", { text: kind }), el("td", { class: "soft values", text: summary }))))))));
    if (view.arcs.length > STRONGEST)
      details.append(article("All arcs", el("div", { class: "scroll" }, arcTable(view.arcs.map((arc, i) => i)))));
    details.append(article("Reproduce and cite", view.command ? el("pre", { text: view.command }) : null, ...view.cite.map((text) => el("p", { text }))));
  }
  record();
  overview();
  open();
  document.documentElement.dataset.ready = "true";
})();
