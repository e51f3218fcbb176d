// Pointers, wheel and keys on the drawing; printing shows all of it.

function follow(e) { // a press on the map moves the view there
  const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(map.getScreenCTM().inverse());
  look(at.x, at.y, camera.k);
}
const fingers = new Map(); // by pointer; one drags, two pinch
function moveFinger(e) {
  const finger = fingers.get(e.pointerId), now = { x: e.clientX, y: e.clientY, moved: true };
  if (!finger || (!finger.moved && Math.hypot(now.x - finger.x, now.y - finger.y) < 4)) return;
  canvas.classList.add("dragging");
  dragged = true;
  const other = [...fingers.values()].find((each) => each !== finger);
  if (other) {
    const box = canvas.getBoundingClientRect(), apart = (each) => Math.max(1, Math.hypot(each.x - other.x, each.y - other.y));
    zoom(apart(now) / apart(finger), (now.x + other.x) / 2 - box.left, (now.y + other.y) / 2 - box.top);
  } else {
    camera.x += now.x - finger.x; camera.y += now.y - finger.y;
    place();
  }
  Object.assign(finger, now);
}
function liftFinger(e) {
  fingers.delete(e.pointerId);
  canvas.classList.remove("dragging");
  setTimeout(() => { dragged = false; }, 0); // after the click that ends the drag
}
const ARROWS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
function key(e) {
  const writing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "");
  if (e.key === "Escape") { byId("search").value = ""; find(); overview(); }
  else if (writing || e.ctrlKey || e.metaKey || e.altKey) return;
  else if (e.key === "/") { e.preventDefault(); byId("search").focus(); }
  else if (e.key === "+" || e.key === "=") zoom(1.3, ...middle());
  else if (e.key === "-") zoom(1 / 1.3, ...middle());
  else if (e.key === "0" && !e.target.closest?.(".node")) fitAll();
  else if (e.key === "n") toggleNear();
  else if (ARROWS[e.key] && !byId("panel").contains(e.target)) { e.preventDefault(); camera.x += ARROWS[e.key][0]; camera.y += ARROWS[e.key][1]; place(); }
}
function nodeKey(e, index) { // on a box: Enter opens it, a digit gives it that value, Backspace forgets it
  if (e.key === "Enter" || e.key === " ") { e.preventDefault(); chooseNode(index); }
  else if (e.key === "Backspace" || e.key === "Delete") { e.preventDefault(); learn(index, null); }
  else if (/^[1-9]$/.test(e.key) && model.variables[index].levels?.[e.key - 1] !== undefined) pick(e, index, e.key - 1);
}
function listenToGestures() {
  map.addEventListener("pointerdown", (e) => { map.setPointerCapture(e.pointerId); follow(e); });
  map.addEventListener("pointermove", (e) => { if (map.hasPointerCapture(e.pointerId)) follow(e); });
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-e.deltaY * 0.0015), e.clientX - box.left, e.clientY - box.top);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (e) => { fingers.set(e.pointerId, { x: e.clientX, y: e.clientY, moved: false }); });
  canvas.addEventListener("click", (e) => { if (e.target === canvas && !dragged) overview(); });
  window.addEventListener("pointermove", moveFinger);
  for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, liftFinger);
  byId("larger").addEventListener("click", () => zoom(1.3, ...middle()));
  byId("smaller").addEventListener("click", () => zoom(1 / 1.3, ...middle()));
  byId("fit").addEventListener("click", fitAll);
  document.addEventListener("keydown", key);
  let width = window.innerWidth;
  window.addEventListener("resize", () => { // a phone's address bar comes and goes: that is no reason to look elsewhere
    if (canvas.hasAttribute("viewBox")) return;
    if (window.innerWidth === width) place(); else open();
    width = window.innerWidth;
  });
  window.addEventListener("beforeprint", () => { // all of the graph, whatever the paper
    canvas.setAttribute("viewBox", whole());
    scene.removeAttribute("transform");
  });
  window.addEventListener("afterprint", () => { canvas.removeAttribute("viewBox"); place(); });
}
