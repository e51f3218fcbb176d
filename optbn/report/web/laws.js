// The normal and the Student-t distribution: density, both tails, moments between two ends, and a draw.
// A law is {density, below, above, log} of the standardised value; `lawOf(leaves, cell)` adds location and scale.

const SQRT_PI = Math.sqrt(Math.PI);

function erfc(x) { // series near zero, where every term has one sign; Lentz' continued fraction further out
  const z = Math.abs(x);
  if (z < 2.4) {
    let term = z, sum = z;
    for (let n = 1; term > 1e-18 * sum; n++) { term *= (2 * z * z) / (2 * n + 1); sum += term; }
    const erf = (2 / SQRT_PI) * Math.exp(-z * z) * sum;
    return x < 0 ? 1 + erf : 1 - erf;
  }
  if (z > 28) return x < 0 ? 2 : 0; // less than the smallest double
  let f = z, c = z, d = 0;
  for (let n = 1; n < 300; n++) {
    d = 1 / (z + (n / 2) * d);
    c = z + n / 2 / c;
    f *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  const tail = Math.exp(-z * z) / (SQRT_PI * f);
  return x < 0 ? 2 - tail : tail;
}

const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
function logGamma(x) { // Lanczos, g = 7, for x > 0
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const t = x + 6.5;
  let sum = LANCZOS[0];
  for (let i = 1; i < 9; i++) sum += LANCZOS[i] / (x - 1 + i);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

function betaShare(x, a, b) { // the regularised incomplete beta function, by its continued fraction
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let f = 1, c = 1, d = 0;
  for (let i = 0; i < 2000; i++) {
    const m = i >> 1;
    const by = i === 0 ? 1
      : i % 2 === 0 ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
        : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + by * d);
    c = 1 + by / c;
    f *= c * d;
    if (Math.abs(1 - c * d) < 1e-16) break;
  }
  return front * (f - 1);
}

const NORMAL = {
  dof: Infinity,
  log: (z) => -0.5 * z * z - 0.5 * Math.log(2 * Math.PI),
  below: (z) => 0.5 * erfc(-z / Math.SQRT2),
  above: (z) => 0.5 * erfc(z / Math.SQRT2),
};
const students = new Map(); // by degrees of freedom
function student(dof) {
  if (students.has(dof)) return students.get(dof);
  const constant = logGamma((dof + 1) / 2) - logGamma(dof / 2) - 0.5 * Math.log(dof * Math.PI);
  const tail = (z) => 0.5 * (z * z > dof // of |z|, from whichever argument of the beta function is small
    ? betaShare(dof / (dof + z * z), dof / 2, 0.5)
    : 1 - betaShare((z * z) / (dof + z * z), 0.5, dof / 2));
  const above = (z) => (z === Infinity ? 0 : z === -Infinity ? 1 : z > 0 ? tail(z) : 1 - tail(z));
  const law = { dof, log: (z) => constant - ((dof + 1) / 2) * Math.log1p((z * z) / dof), above, below: (z) => above(-z) };
  students.set(dof, law);
  return law;
}
function lawOf(leaves, cell) { // a normal is cut to where its numbers can lie; whole ones are the nearest (network/cut.py)
  const half = leaves.whole ? 0.5 : 0, least = (leaves.least ?? -Infinity) - half, most = (leaves.most ?? Infinity) + half;
  const inner = (end) => Math.min(Math.max(leaves.whole && Number.isFinite(end) ? Math.ceil(end) - 0.5 : end, least), most);
  const own = leaves.kind === "normal"
    ? { law: NORMAL, location: leaves.mean[cell], scale: leaves.sd[cell] }
    : { law: student(leaves.dof[cell]), location: leaves.location[cell], scale: leaves.scale[cell] };
  const total = massBetween(own.law, (least - own.location) / own.scale, (most - own.location) / own.scale);
  const outside = leaves.declared ? -Infinity : 0; // added to the logarithm of the density there
  return { ...own, least, most, inner, total, outside, whole: leaves.whole };
}
function logDensity({ law, location, scale, least, most, total, outside }, x) {
  return law.log((x - location) / scale) - Math.log(scale) + (x >= least && x <= most ? -Math.log(total) : outside);
}

function massBetween(law, low, high) { // taken in the tail where the values are small, which keeps their digits
  return Math.max(0, low > 0 ? law.above(low) - law.above(high) : law.below(high) - law.below(low));
}
function momentsBetween({ law, location, scale, inner }, from, to) { // [mean, variance] of the law cut to from <= x < to
  const a = (inner(from) - location) / scale, b = (inner(to) - location) / scale;
  const mass = massBetween(law, a, b), dof = law.dof;
  if (mass < 1e-290) return [location + scale * Math.min(Math.max(0, a), b), 0];
  const at = (z, f) => (Number.isFinite(z) ? f(z) : 0);
  let first, second;
  if (dof === Infinity) {
    const density = (z) => Math.exp(law.log(z));
    first = at(a, density) - at(b, density);
    second = mass + at(a, (z) => z * density(z)) - at(b, (z) => z * density(z));
  } else { // see moments.py for the integrals
    const edge = (z) => ((dof + z * z) / (dof - 1)) * Math.exp(law.log(z));
    first = dof > 1 ? at(a, edge) - at(b, edge) : NaN;
    if (dof > 2) {
      const shrink = Math.sqrt((dof - 2) / dof);
      second = dof * (((dof - 1) / (dof - 2)) * massBetween(student(dof - 2), a * shrink, b * shrink) - mass);
    } else second = NaN;
  }
  const mean = first / mass;
  return [location + scale * mean, scale * scale * Math.max(0, second / mass - mean * mean)];
}
function drawFrom({ law, location, scale, least, most, total, whole }, share) { // by halving: for an example row that is quick enough
  const uniform = law.below((least - location) / scale) + share * total;
  let low = -1, high = 1;
  while (law.below(low) > uniform && low > -1e9) low *= 2;
  while (law.below(high) < uniform && high < 1e9) high *= 2;
  for (let i = 0; i < 60; i++) { const z = (low + high) / 2; if (law.below(z) < uniform) low = z; else high = z; }
  const x = Math.min(Math.max(location + (scale * (low + high)) / 2, least), most);
  return whole ? Math.min(Math.max(Math.round(x), least + 0.5), most - 0.5) : x;
}
