"use strict";
// Everything is on the page already. This lets curves be left out, reads them at the cursor, draws them on other axes, and
// sorts and copies tables. Nothing is fetched or stored.
const problems = [];
addEventListener("error", (event) => problems.push(String(event.message)));
document.addEventListener("securitypolicyviolation", (event) => problems.push("policy: " + event.violatedDirective));
const all = (of, within = document) => [...within.querySelectorAll(of)];
const isOff = (of) => of.classList.contains("off");
const clamped = (of, low, high) => Math.min(Math.max(of, low), high);

function tool(name, act) {
  const button = document.createElement("button");
  button.className = "tool";
  button.type = "button";
  button.textContent = name;
  button.addEventListener("click", act);
  return button;
}

// Curves: a key of the legend leaves its curve out; with shift, or twice, all others.
function curves(svg) {
  const keys = all(".key", svg);
  const number = (key) => [...key.classList].find((name) => /^c\d+$/.test(name));
  const show = (key, on) => {
    key.setAttribute("aria-pressed", on);
    for (const part of [key, ...all(".curve." + number(key), svg)]) part.classList.toggle("off", !on);
  };
  const alone = (key) => {
    const others = keys.filter((other) => other !== key);
    const back = others.every(isOff);
    for (const other of others) show(other, back);
    show(key, true);
  };
  // An image has no buttons in it.
  if (keys.length > 0) svg.setAttribute("role", "group");
  for (const key of keys) {
    for (const [name, of] of [["role", "button"], ["tabindex", "0"], ["aria-pressed", "true"]]) key.setAttribute(name, of);
    const toggle = (event) => (event.shiftKey ? alone(key) : show(key, isOff(key)));
    key.addEventListener("click", toggle);
    key.addEventListener("dblclick", () => alone(key));
    key.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(event);
    });
  }
}

// A place on the paper of a picture.
function at(svg, event) {
  const { a, d, e, f } = svg.getScreenCTM();
  return { x: (event.clientX - e) / a, y: (event.clientY - f) / d };
}

// The cursor: values of all curves at the nearest place, below the figure. Figures with the same places follow.
const cursors = [];
function cursor(figure, svg) {
  const points = all(".curve .point", svg).map((mark) => {
    // `name: place: value`; a name may have colons.
    const parts = mark.querySelector("title").textContent.split(": ");
    const [x, y] = parts.splice(-2);
    return { mark, name: parts.join(": "), x, y, curve: mark.closest(".curve") };
  });
  if (points.length === 0) return;
  const middles = () => {
    const first = new Map(points.map((point) => [point.x, point.mark]));
    return [...first].map(([x, mark]) => [x, mark.getBBox()]).map(([x, box]) => [x, box.x + box.width / 2]);
  };
  const places = middles().sort((a, b) => a[1] - b[1]).map(([x]) => x);
  const said = document.createElement("output");
  figure.append(said);
  let now = -1;
  const show = (x) => {
    now = places.indexOf(x);
    const here = points.filter((point) => point.x === x && !isOff(point.curve));
    for (const point of points) point.mark.classList.toggle("near", here.includes(point));
    said.textContent = [x, ...here.map((point) => (point.name + " " + point.y).trim())].join(" · ");
  };
  const move = (x) => cursors.filter((other) => other.places.includes(x)).forEach((other) => other.show(x));
  cursors.push({ svg, said, places, show });
  svg.addEventListener("pointermove", (event) => {
    const { x } = at(svg, event);
    const far = ([, middle]) => Math.abs(middle - x);
    move(middles().reduce((best, next) => (far(next) < far(best) ? next : best))[0]);
  });
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -places.length, End: places.length }[event.key];
    if (step === undefined || event.target !== svg) return;
    event.preventDefault();
    move(places[clamped(now + step, 0, places.length - 1)]);
  });
}

// Axes: another scale, or a part of them. Rust has drawn everything; here its places are moved.
const linear = [(v) => v, (v) => v];
function axis(told) {
  const [scale, low, high, from, to, unit] = told.split(" ");
  const own = { log: scale !== "linear", low: +low, high: +high, from: +from, to: +to };
  return { ...own, own, unit, two: unit === "size" || scale === "log2" };
}
const scaleOf = (of) => (of.log ? [Math.log, Math.exp] : linear);
function place(of, value) {
  const [to] = scaleOf(of);
  return of.from + ((to(value) - to(of.low)) / (to(of.high) - to(of.low))) * (of.to - of.from);
}
function value(of, at) {
  const [to, back] = scaleOf(of);
  return back(to(of.low) + ((at - of.from) / (of.to - of.from)) * (to(of.high) - to(of.low)));
}
function ticks({ log, low, high, two }) {
  const found = [];
  if (log && high / low > 8) {
    const base = two ? 2 : 10;
    const [first, last] = [low, high].map((v) => Math.log(v) / Math.log(base));
    const stride = Math.ceil((last - first) / 9);
    for (let e = Math.ceil(first - 1e-9); e <= last + 1e-9; e++) if (e % stride === 0) found.push(base ** e);
    return found;
  }
  const rough = (high - low) / 8;
  const whole = two && rough > 1 ? 2 : 10;
  const power = whole ** Math.floor(Math.log(rough) / Math.log(whole));
  const step = power * [1, 2, 5, 10].find((f) => f * power >= rough * 0.999);
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-9); at++) found.push(at * step);
  return found;
}
function label({ unit }, of) {
  if (unit === "time") return seconds(of);
  if (unit !== "size" && unit !== "rate") return String(+(of / unit).toPrecision(4));
  const [step, names] = unit === "size" ? [1024, ["B", "KiB", "MiB", "GiB"]] : [1000, ["B/s", "kB/s", "MB/s", "GB/s"]];
  const power = of < 1 ? 0 : Math.min(Math.floor(Math.log(of * (1 + 1e-12)) / Math.log(step)), 3);
  return +(of / step ** power).toPrecision(4) + " " + names[power];
}
function make(tag, of, parent) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, text] of Object.entries(of)) made.setAttribute(key, text);
  parent.append(made);
  return made;
}
function plane(figure, svg, number) {
  const group = svg.querySelector(".plane");
  if (!group) return;
  const [x, y] = [axis(group.dataset.x), axis(group.dataset.y)];
  const old = group.querySelector(".ticks");
  const clip = make("clipPath", { id: "plane" + number }, svg);
  make("rect", { x: x.from - 5, y: y.to - 5, width: x.to - x.from + 10, height: y.from - y.to + 10 }, clip);
  // Where everything was.
  const moved = all(".curve, .region, .level", group).flatMap((of) => {
    of.setAttribute("clip-path", `url(#plane${number})`);
    return all("*", of);
  });
  const names = ["cx", "cy", "x", "y", "width", "points", "d", "transform"];
  const places = moved.map((of) => [of, Object.fromEntries(names.map((name) => [name, of.getAttribute(name)]))]);
  // What ends where the axis does ends there still, unless it is of a curve.
  const go = (of, px) => place(of, value(of.own, px)) || of.from;
  const end = (of, px) => (px === of.from || px === of.to ? px : go(of, px));
  const pairs = (text, to) => text.replace(/(-?[\d.]+),(-?[\d.]+)/g, (_, a, b) => to(+a, +b).map((v) => v.toFixed(1)).join(","));
  const movers = {
    circle: (was) => ({ cx: go(x, +was.cx), cy: go(y, +was.cy) }),
    polyline: (was) => ({ points: pairs(was.points, (a, b) => [go(x, a), go(y, b)]) }),
    path: ({ d }, of) => {
      const to = of.closest(".curve") ? go : end;
      const moved = pairs(d, (a, b) => [to(x, a), to(y, b)]);
      return { d: moved.replace(/([HV])([\d.]+)/g, (_, way, at) => way + to(way === "H" ? x : y, +at).toFixed(1)) };
    },
    // A mark keeps its shape.
    polygon: (was) => {
      const corners = was.points.split(" ").map((pair) => pair.split(",").map(Number));
      const [left, top] = [0, 1].map((i) => corners.reduce((sum, corner) => sum + corner[i], 0) / corners.length);
      return { points: pairs(was.points, (a, b) => [a + go(x, left) - left, b + go(y, top) - top]) };
    },
    rect: (was) => {
      const [left, right] = [+was.x, +was.x + +was.width].map((px) => clamped(end(x, px), x.from, x.to));
      return { x: left, width: Math.max(right - left, 0) };
    },
    text: (was, of) => {
      const left = go(x, +was.x);
      if (of.hasAttribute("transform")) return { x: left, transform: `rotate(-90 ${left.toFixed(1)} ${was.y})` };
      return of.closest(".level") ? { x: left, y: go(y, +was.y) } : { x: left };
    },
  };
  function draw() {
    for (const [of, was] of places) {
      for (const [name, to] of Object.entries(movers[of.tagName]?.(was, of) ?? {})) of.setAttribute(name, to);
    }
    old.replaceChildren();
    const line = { stroke: "#57606a" };
    for (const tick of ticks(x)) {
      const left = place(x, tick);
      make("path", { ...line, d: `M${left} ${y.from}v5` }, old);
      make("text", { x: left, y: y.from + 18, "text-anchor": "middle" }, old).textContent = label(x, tick);
    }
    for (const tick of ticks(y)) {
      const top = place(y, tick);
      make("path", { stroke: "#e3e6ea", d: `M${x.from} ${top}H${x.to}` }, old);
      make("text", { x: x.from - 9, y: top + 4, "text-anchor": "end" }, old).textContent = label(y, tick);
    }
    make("path", { ...line, fill: "none", d: `M${x.from} ${y.to}V${y.from}H${x.to}` }, old);
  }
  const first = [...old.childNodes];
  const reset = () => {
    for (const of of [x, y]) Object.assign(of, of.own);
    for (const [of, was] of places) for (const name of names) if (was[name] !== null) of.setAttribute(name, was[name]);
    old.replaceChildren(...first);
  };
  const scale = (of) => () => {
    of.log = !of.log;
    [of.low, of.high] = [of.log || of.own.low < 0 ? of.own.low : 0, of.own.high];
    draw();
  };
  const zoom = (a, b) => {
    if (Math.abs(a.x - b.x) < 8 || Math.abs(a.y - b.y) < 8) return;
    const part = (of, one, other) => [one, other].map((px) => value(of, px)).sort((p, q) => p - q);
    [x.low, x.high] = part(x, a.x, b.x);
    [y.low, y.high] = part(y, a.y, b.y);
    draw();
  };
  const bar = document.createElement("div");
  bar.className = "tools";
  const scales = [["x", x], ["y", y]].filter(([, of]) => of.own.log || of.own.low > 0);
  bar.append(...scales.map(([name, of]) => tool(name + ": log or linear", scale(of))));
  const part = (share) => x.from + share * (x.to - x.from);
  const closer = () => zoom({ x: part(0.25), y: y.to }, { x: part(0.75), y: y.from });
  bar.append(tool("closer", closer), tool("reset", reset));
  figure.append(bar);
  const here = (event) => {
    const { x: left, y: top } = at(svg, event);
    return { x: clamped(left, x.from, x.to), y: clamped(top, y.to, y.from) };
  };
  let begun = null;
  svg.addEventListener("pointerdown", (event) => (begun = event.target.closest(".key") ? null : here(event)));
  svg.addEventListener("pointerup", (event) => {
    if (begun) zoom(begun, here(event));
    begun = null;
  });
  figure.axes = { scales: scales.map(([, of]) => scale(of)), closer, reset, group };
}

// Tables: sorted by numbers where there are some, and copied.
const units = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, ns: 1e-9, µs: 1e-6, ms: 1e-3 };
function sortKey({ dataset, textContent: text }) {
  if (dataset.value) return { number: +dataset.value, text };
  const [, number, unit] = text.replace(/(\d)\s(?=\d{3}\b)/g, "$1").match(/^\D*?(-?[\d.]+)(?:.* (\S+))?$/) ?? [];
  return { number: number * (units[unit] ?? 1), text };
}
function order(a, b) {
  const words = [a, b].map(({ number }) => Number.isNaN(number));
  return words[0] - words[1] || (words[0] ? a.text.localeCompare(b.text) : a.number - b.number);
}
function table(of) {
  const body = of.tBodies[0];
  const heads = [...of.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    if (!head.textContent) button.setAttribute("aria-label", "column " + (at + 1));
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => order(sortKey(a.cells[at]), sortKey(b.cells[at])));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
  const copy = tool("copy as CSV", async () => {
    const quoted = (cell) => '"' + cell.textContent.replaceAll('"', '""') + '"';
    await navigator.clipboard.writeText([...of.rows].map((row) => [...row.cells].map(quoted).join(",") + "\n").join(""));
    copy.textContent = "copied";
  });
  of.parentElement.append(copy);
}

// What if: each slider makes a time a share of what it was; a model is the longest of its sums.
function seconds(of) {
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
  const [size, unit] = units.find(([size]) => +(of / size).toPrecision(3) >= 1) ?? units[3];
  const count = of / size;
  return (count < 100 ? count.toPrecision(3) : count.toFixed(0)).replace(/\.0+$/, "") + " " + unit;
}
function sums(field) {
  const sliders = all("input", field);
  const sum = (row, times) => row.match(/\S+ \S+/g).map((part) => part.split(" ")).reduce((all, [of, count]) => all + times[of] * count, 0);
  const model = (rows, times) => Math.max(...rows.split(";").map((row) => sum(row, times)));
  const before = sliders.map((slider) => +slider.dataset.seconds);
  const show = () => {
    const now = sliders.map((slider, at) => (before[at] * slider.value) / 100);
    sliders.forEach((slider, at) => {
      const words = seconds(now[at]) + (slider.value === "100" ? "" : ` (${slider.value} %)`);
      slider.nextElementSibling.textContent = words;
      slider.setAttribute("aria-valuetext", words);
    });
    for (const output of all(".model", field)) {
      const [was, is] = [before, now].map((times) => model(output.dataset.rows, times));
      const saved = was === is ? "" : ` (${is < was ? "−" : "+"}${Math.abs((100 * (is - was)) / was).toPrecision(2)} %)`;
      output.textContent = seconds(is) + saved;
    }
  };
  field.addEventListener("input", show);
  field.append(tool("as measured", () => {
    for (const slider of sliders) slider.value = 100;
    show();
  }));
  field.hidden = false;
  show();
}

all(".sums").forEach(sums);
all("figure").forEach((figure, number) => {
  const svg = figure.querySelector("svg");
  curves(svg);
  cursor(figure, svg);
  plane(figure, svg, number);
});
addEventListener("beforeprint", () => all("details").forEach((of) => (of.open = true)));
all("table").forEach(table);
// What can be scrolled is reached by the keyboard.
function reach() {
  for (const of of all(".table, figure")) {
    if (of.scrollWidth > of.clientWidth) of.tabIndex = 0;
    else of.removeAttribute("tabindex");
  }
}
addEventListener("resize", reach);
document.addEventListener("toggle", reach, true);
reach();
const ready = performance.now();
