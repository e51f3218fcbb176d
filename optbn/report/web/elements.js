// Building blocks: elements, numbers as text, and the terms that are explained where they stand.
// Names and levels come from files: everything is put in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

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
const listOf = (pairs) => el("dl", {}, ...pairs.flatMap(([key, value]) => [el("dt", {}, explained(key)), el("dd", { text: value })]));
const clipped = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);
const pen = document.createElement("canvas").getContext("2d");
function fitting(text, width, size) { // as much of the text as the width holds in the page's letters
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  let length = text.length;
  while (length > 1 && pen.measureText(clipped(text, length)).width > width) length--;
  return clipped(text, length);
}
const button = (text, act, attributes) => el("button", { type: "button", text, onclick: act, ...attributes });

const short = (x) => (Number.isNaN(x) ? "unknown" : Math.abs(x) >= 1000 ? Number(x.toFixed(1)).toString() : Number(x.toPrecision(4)).toString());
function numberOf(x, v) { // a variable's number in words: days since 1970-01-01 as a date, hours as a time of day
  if (v.unit === "days" && Number.isFinite(x)) {
    const minutes = v.whole ? 1440 * Math.round(x) : Math.round(x * 1440), text = Math.abs(x) < 1e8 ? new Date(minutes * 60000).toISOString() : "";
    if (text) return minutes % 1440 ? text.slice(0, 16).replace("T", " ") : text.slice(0, 10);
  }
  if (v.unit === "hours" && x >= 0 && x <= 24) return clock(Math.round(x * 60));
  return short(x);
}
const clock = (minutes) => `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
const deviation = (sd, v) => `${short(sd)}${v.unit ? ` ${v.unit}` : ""}`;
function fromWords(text, v) { // the number that somebody writes into a field; NaN if it is none
  const date = v.unit === "days" && /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2}))?$/.exec(text.trim());
  if (date) return (Date.parse(`${date[1]}T00:00Z`) / 60000 + 60 * (date[2] || 0) + Number(date[3] || 0)) / 1440;
  const time = v.unit === "hours" && /^(\d{1,2}):(\d{2})$/.exec(text.trim());
  return time ? Number(time[1]) + time[2] / 60 : Number(text);
}
const share = (p) => (p === 0 ? "0" : p < 0.0005 ? p.toExponential(0) : p.toFixed(3));
function percent(p) { // never 0 or 100 % of what is possible and open
  if (Number.isNaN(p)) return "?";
  const shown = 100 * p;
  if (p > 0 && shown < 0.1) return "< 0.1 %";
  if (p < 1 && shown > 99.9) return "> 99.9 %";
  return `${shown < 9.95 && p > 0 ? shown.toFixed(1) : shown.toFixed(shown > 99 && p < 1 ? 1 : 0)} %`;
}

const TERMS = {
  "Score": "How well a network explains these data by the score in the settings, in natural logarithms; larger is better.",
  "Bound": "No network of the candidate sets of parents scores more than this. Where it equals the score, none of them is better.",
  "Bound, says the search": "No network of the candidate sets of parents scores more than this, says the search; what the checker confirmed stands under How sure.",
  "Score lost without it": "How much less this network scores without the arc, all others as they are. The best network without it loses less or as much: optbn edges.",
  "Score lost (nat)": "How much less this network scores without the arc, all others as they are. Of scores that are logarithms of probabilities (trees, BDeu), 1 nat means 2.7 times less probable, 3 nats 20 times. The best network without it loses less or as much: optbn edges.",
  "Best without (nat)": "How much the best of all networks without this arc scores less than this one; the difference of two optima. Near 0: another network explains the data as well without it.",
  "Best network without it": "The difference of two optima: everything else may change to make up for the missing arc.",
  "nat per row": "The mean natural logarithm of a row's probability (a density, where there are numbers); larger is better. Only differences mean something.",
  "right": "The share of rows whose true value had the largest probability.",
  "without it": "The chance if this finding were not known, but all others.",
  "it adds": "The chance with all findings less that without this one, in percentage points.",
  "it alone": "The chance if this finding were the only one.",
  "log loss": "The mean of minus the natural logarithm of the probability given to what was so; smaller is better.",
  "Candidate sets scored": "Sets of parents, for each variable, that were compared.",
  "Kept for the search": "Sets of parents that no smaller set beats; only these can be part of the best network.",
  "Parameters": "Free numbers in all local distributions together.",
  "Direction": "Settled: data cannot be explained as well with the arc turned. Open: both ways imply the same independences.",
  "Posterior probability": "The share of belief, given the data, in networks that have this arc.",
  "Probability": "The share of belief, given the data, in networks that have this arc in this direction. Where the direction is open, the turned arc has the rest.",
  "Markov blanket": "Parents, children and the children's other parents. Once these are known, nothing else says more about the variable.",
  "information": "Mutual information: by how much, on average, knowing this variable reduces the uncertainty about the question.",
  "Set": "An intervention: you make it so. What causes the variable no longer says anything about it; effects still follow.",
  "See": "An observation: you learn it is so. Causes and effects are both reconsidered.",
  "Probability of all findings": "How often the network expects to see just these findings together (a density if a number is among them).",
  "Local distribution": "The chances of each value, for every combination of the parents' values.",
  "exact": "Computed without approximation or sampling, in this browser; nothing leaves it.",
};
const explained = (text, term) => (TERMS[term || text]
  ? el("span", { class: "term", tabindex: 0, text, role: "note", "data-tip": TERMS[term || text], "aria-label": `${text}: ${TERMS[term || text]}` })
  : document.createTextNode(text));
