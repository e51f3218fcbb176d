// Puts the page together: the parts above are joined into one script, in the order that page.py lists.

function chooseMode(set) {
  setting = set;
  byId("see").setAttribute("aria-pressed", String(!set));
  byId("set").setAttribute("aria-pressed", String(set));
}
function start() {
  canvas.append(scene);
  for (const node of view.nodes) node.home = { x: node.x, y: node.y };
  view.arcs.forEach(makeArc);
  view.nodes.forEach(makeNode);
  measure();
  record();
  overview();
  saveMenu();
  byId("question").append(...view.nodes.map((n, i) => [n.label, i]).sort(([a], [b]) => a.localeCompare(b)).map(([label, i]) => el("option", { value: i, text: label })));
  byId("question").addEventListener("change", (e) => chooseTarget(e.target.value === "" ? null : Number(e.target.value)));
  byId("see").addEventListener("click", () => chooseMode(false));
  byId("set").addEventListener("click", () => chooseMode(true));
  byId("see").dataset.tip = TERMS.See;
  byId("set").dataset.tip = TERMS.Set;
  byId("near").addEventListener("click", () => toggleNear());
  byId("search").addEventListener("input", find);
  byId("search").addEventListener("keydown", (e) => {
    const hits = e.key === "Enter" ? find() : [];
    if (hits.length) { chooseNode(hits[0]); centre(view.nodes[hits[0]]); }
  });
  listenToGestures();
  update();
  chooseTarget(target);
  if (view.nodes.length > FOLDED) toggleNear(neighbourhood(target ?? hub()));
  else open();
  document.documentElement.dataset.ready = "true";
}
// For the console and for other scripts: optbn.ask({smoke: "yes", age: 42, bmi: [20, 25]}, {set: {dose: "high"}}) gives
// log P(findings), and per variable the chance of each level, or mean, sd and the chances of its intervals.
function askByName(seen, { set = {} } = {}) {
  const facts = new Map(), factOf = (v, value) => {
    const { levels } = model.variables[v];
    if (levels) return { codes: [value].flat().map((level) => levels.indexOf(String(level))) };
    return Array.isArray(value) ? { low: value[0], high: value[1] } : { value: Number(value) };
  };
  for (const [name, value] of Object.entries(seen)) facts.set(model.index.get(name), factOf(model.index.get(name), value));
  for (const [name, value] of Object.entries(set)) facts.set(model.index.get(name), { ...factOf(model.index.get(name), value), do: true });
  const begin = performance.now(), found = ask(model, facts, interest()), ms = performance.now() - begin, chancesOf = {};
  found.posteriors?.forEach((post, v) => {
    const { name, levels } = model.variables[v];
    if (post) chancesOf[name] = levels ? Object.fromEntries(levels.map((level, c) => [level, post.p[c]])) : { mean: post.mean, sd: post.sd, intervals: [...(post.p || [])] };
  });
  return { log: found.log, whole: found.whole, impossible: !!found.impossible, ms, chances: chancesOf };
}
window.optbn = { ask: askByName, check: checkProof }; // check(view's evidence) proves its bound, or throws
start();
