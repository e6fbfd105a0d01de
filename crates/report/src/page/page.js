"use strict";
// Everything is on the page already. This lets curves be left out, reads them at the cursor, and sorts and copies
// tables. Nothing is fetched or stored.
const problems = [];
addEventListener("error", (event) => problems.push(String(event.message)));
document.addEventListener("securitypolicyviolation", (event) => problems.push("policy: " + event.violatedDirective));
const all = (of, within = document) => [...within.querySelectorAll(of)];
const pressed = (event) => event.key === "Enter" || event.key === " ";

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
    const back = others.every((other) => other.classList.contains("off"));
    for (const other of others) show(other, back);
    show(key, true);
  };
  // An image has no buttons in it.
  if (keys.length > 0) svg.setAttribute("role", "group");
  for (const key of keys) {
    key.setAttribute("role", "button");
    key.setAttribute("tabindex", "0");
    key.setAttribute("aria-pressed", "true");
    const toggle = (only) => (only ? alone(key) : show(key, key.classList.contains("off")));
    key.addEventListener("click", (event) => toggle(event.shiftKey));
    key.addEventListener("dblclick", () => alone(key));
    key.addEventListener("keydown", (event) => {
      if (!pressed(event)) return;
      event.preventDefault();
      toggle(event.shiftKey);
    });
  }
}

// The cursor: values of all curves at the nearest place, below the figure. Figures with the same places follow.
const cursors = [];
function cursor(figure, svg) {
  const points = all(".curve .point", svg).map((mark) => {
    const [name, x, y] = split(mark.querySelector("title").textContent);
    return { mark, name, x, y, curve: mark.closest(".curve") };
  });
  if (points.length === 0) return;
  const places = [];
  const at = new Map();
  for (const point of points) {
    const box = point.mark.getBBox();
    if (!at.has(point.x)) at.set(point.x, box.x + box.width / 2);
  }
  places.push(...[...at.keys()].sort((a, b) => at.get(a) - at.get(b)));
  const said = document.createElement("output");
  figure.append(said);
  let now = -1;
  const show = (x) => {
    now = places.indexOf(x);
    const here = points.filter((point) => point.x === x && !point.curve.classList.contains("off"));
    for (const point of points) point.mark.classList.toggle("near", here.includes(point));
    if (now >= 0) said.textContent = x + " · " + here.map((point) => point.name + " " + point.y).join(" · ");
  };
  const move = (x) => cursors.forEach((other) => other.places.includes(x) && other.show(x));
  cursors.push({ places, show });
  svg.addEventListener("pointermove", (event) => {
    const matrix = svg.getScreenCTM();
    if (!matrix) return;
    const x = (event.clientX - matrix.e) / matrix.a;
    const middle = (place) => {
      const box = points.find((point) => point.x === place).mark.getBBox();
      return box.x + box.width / 2;
    };
    const now = new Map(places.map((place) => [place, middle(place)]));
    const distance = (place) => Math.abs(now.get(place) - x);
    move(places.reduce((best, place) => (distance(place) < distance(best) ? place : best)));
  });
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -places.length, End: places.length }[event.key];
    if (step === undefined || event.target !== svg) return;
    event.preventDefault();
    move(places[Math.min(Math.max(now + step, 0), places.length - 1)]);
  });
}

// `name: place: value`; a name may have colons.
function split(title) {
  const parts = title.split(": ");
  return [parts.slice(0, -2).join(": "), parts[parts.length - 2], parts[parts.length - 1]];
}

// Axes: another scale, or a part of them. Rust has drawn everything; here its places are moved.
const scales = { linear: { of: (v) => v, back: (v) => v }, log: { of: Math.log, back: Math.exp } };
function axis(told) {
  const [scale, low, high, from, to, unit] = told.split(" ");
  const own = { log: scale !== "linear", low: +low, high: +high, from: +from, to: +to };
  return { ...own, own, unit, two: unit === "size" || scale === "log2" };
}
const kind = (of) => scales[of.log ? "log" : "linear"];
function place(of, value) {
  const { of: to } = kind(of);
  return of.from + ((to(value) - to(of.low)) / (to(of.high) - to(of.low))) * (of.to - of.from);
}
function value(of, at) {
  const { of: to, back } = kind(of);
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
  const power = two && rough > 1 ? 2 ** Math.floor(Math.log2(rough)) : 10 ** Math.floor(Math.log10(rough));
  const step = power * (two && rough > 1 ? [1, 2] : [1, 2, 5, 10]).find((f) => f * power >= rough * 0.999);
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-9); at++) found.push(at * step);
  return found;
}
function label({ unit }, of) {
  if (unit === "time") return seconds(of / 1e9);
  if (unit !== "size" && unit !== "rate") return String(+(of / unit).toPrecision(4));
  const [step, names] = unit === "size" ? [1024, ["B", "KiB", "MiB", "GiB"]] : [1000, ["B/s", "kB/s", "MB/s", "GB/s"]];
  const power = of < 1 ? 0 : Math.min(Math.floor(Math.log(of * (1 + 1e-12)) / Math.log(step)), 3);
  return +(of / step ** power).toPrecision(4) + " " + names[power];
}
let planes = 0;
function plane(figure, svg) {
  const group = svg.querySelector(".plane");
  if (!group) return;
  const name = "plane" + planes++;
  const axes = { x: axis(group.dataset.x), y: axis(group.dataset.y) };
  const old = group.querySelector(".ticks");
  const make = (tag, of, parent) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, text] of Object.entries(of)) made.setAttribute(key, text);
    parent.append(made);
    return made;
  };
  const { x, y } = axes;
  const clip = make("clipPath", { id: name }, svg);
  make("rect", { x: x.from - 5, y: y.to - 5, width: x.to - x.from + 10, height: y.from - y.to + 10 }, clip);
  // Where everything was.
  const moved = all(".curve, .region, .level", group).flatMap((of) => {
    if (!of.classList.contains("region")) of.setAttribute("clip-path", `url(#${name})`);
    return [of, ...all("*", of)];
  });
  const at = ["x1", "y1", "x2", "y2", "cx", "cy", "x", "y", "width", "height", "points"];
  const places = moved.map((of) => [of, Object.fromEntries(at.map((key) => [key, of.getAttribute(key)]))]);
  const go = (which, px) => {
    const of = axes[which];
    const end = px === of.from || px === of.to;
    // What ends where the axis does ends there still.
    return end ? px : place(of, value(of.own, px)) || of.from;
  };
  const set = (of, key, to) => of.setAttribute(key, to.toFixed(1));
  function draw() {
    for (const [of, was] of places) {
      for (const key of ["x1", "x2", "cx"]) if (was[key]) set(of, key, go("x", +was[key]));
      for (const key of ["y1", "y2", "cy"]) if (was[key]) set(of, key, go("y", +was[key]));
      if (of.tagName === "text") {
        const [left, top] = [go("x", +was.x), go("y", +was.y)];
        set(of, "x", left);
        if (of.hasAttribute("transform")) of.setAttribute("transform", `rotate(-90 ${left.toFixed(1)} ${was.y})`);
        else if (of.closest(".level")) set(of, "y", top);
      }
      if (of.tagName === "rect") {
        const within = (px) => Math.min(Math.max(px, x.from), x.to);
        const [left, right] = [go("x", +was.x), go("x", +was.x + +was.width)].map(within);
        set(of, "x", left);
        set(of, "width", Math.max(right - left, 0));
      }
      if (was.points) {
        const corners = was.points.split(" ").map((pair) => pair.split(",").map(Number));
        const shape = of.tagName === "polygon";
        const mean = (i) => corners.reduce((sum, corner) => sum + corner[i], 0) / corners.length;
        const [dx, dy] = shape ? [go("x", mean(0)) - mean(0), go("y", mean(1)) - mean(1)] : [0, 0];
        const to = corners.map(([a, b]) => (shape ? [a + dx, b + dy] : [go("x", a), go("y", b)]));
        of.setAttribute("points", to.map((pair) => pair.map((v) => v.toFixed(1)).join(",")).join(" "));
      }
    }
    old.replaceChildren();
    const line = { stroke: "#57606a" };
    const text = { "font-size": 11, fill: "#1b1f24" };
    for (const tick of ticks(x)) {
      const left = place(x, tick);
      make("line", { ...line, x1: left, x2: left, y1: y.from, y2: y.from + 5 }, old);
      make("text", { ...text, x: left, y: y.from + 18, "text-anchor": "middle" }, old).textContent = label(x, tick);
    }
    for (const tick of ticks(y)) {
      const top = place(y, tick);
      make("line", { stroke: "#e3e6ea", x1: x.from, x2: x.to, y1: top, y2: top }, old);
      make("text", { ...text, x: x.from - 9, y: top + 4, "text-anchor": "end" }, old).textContent = label(y, tick);
    }
    make("path", { ...line, fill: "none", d: `M${x.from} ${y.to}V${y.from}H${x.to}` }, old);
  }
  const first = old.cloneNode(true);
  const reset = () => {
    Object.assign(x, x.own);
    Object.assign(y, y.own);
    draw();
    old.replaceChildren(...first.cloneNode(true).childNodes);
  };
  const scale = (of) => () => {
    const least = of.own.log ? of.own.low : null;
    if (!of.own.log && of.own.low <= 0) return;
    of.log = !of.log;
    [of.low, of.high] = [of.log ? (least ?? of.own.low) : Math.min(0, of.own.low), of.own.high];
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
  for (const [words, of] of [["x", x], ["y", y]]) {
    if (of.own.log || of.own.low > 0) bar.append(tool(`${words}: log or linear`, scale(of)));
  }
  const part = (share) => x.from + share * (x.to - x.from);
  const closer = () => zoom({ x: part(0.25), y: y.to }, { x: part(0.75), y: y.from });
  bar.append(tool("closer", closer));
  bar.append(tool("reset", reset));
  figure.append(bar);
  let begun = null;
  const here = (event) => {
    const matrix = svg.getScreenCTM();
    const within = (px, of) => Math.min(Math.max(px, Math.min(of.from, of.to)), Math.max(of.from, of.to));
    return { x: within((event.clientX - matrix.e) / matrix.a, x), y: within((event.clientY - matrix.f) / matrix.d, y) };
  };
  svg.addEventListener("pointerdown", (event) => (begun = event.target.closest(".key") ? null : here(event)));
  svg.addEventListener("pointerup", (event) => {
    if (begun) zoom(begun, here(event));
    begun = null;
  });
  figure.axes = { x: scale(x), y: scale(y), closer, reset, group };
}

function table(of) {
  const body = of.tBodies[0];
  const heads = [...of.tHead.rows[0].cells];
  const value = (row, at) => {
    const cell = row.cells[at];
    const number = parseFloat(cell.dataset.value ?? cell.textContent);
    return { number, text: cell.textContent };
  };
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
      const compare = (a, b) => {
        const [x, y] = [value(a, at), value(b, at)];
        const both = !Number.isNaN(x.number) && !Number.isNaN(y.number);
        return both ? x.number - y.number : x.text.localeCompare(y.text);
      };
      const rows = [...body.rows].sort(compare);
      body.append(...(down ? rows.reverse() : rows));
    });
  });
  const copy = tool("copy as CSV", () => {
    const quoted = (cell) => '"' + cell.textContent.replaceAll('"', '""') + '"';
    const csv = [...of.rows].map((row) => [...row.cells].map(quoted).join(",")).join("\n") + "\n";
    const area = document.createElement("textarea");
    area.value = csv;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
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
  const model = (rows, times) => {
    const sum = (row) => {
      const numbers = row.split(" ").map(Number);
      let total = 0;
      for (let at = 0; at + 1 < numbers.length; at += 2) total += times[numbers[at]] * numbers[at + 1];
      return total;
    };
    return Math.max(...rows.split(";").map(sum));
  };
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

for (const field of all(".sums")) sums(field);
for (const figure of all("figure")) {
  const svg = figure.querySelector("svg");
  curves(svg);
  cursor(figure, svg);
  plane(figure, svg);
}
addEventListener("beforeprint", () => all("details").forEach((of) => (of.open = true)));
for (const of of all("table")) table(of);
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

// `#selftest` tries all of it and writes what it found.
function overlaps() {
  const found = [];
  for (const svg of all("figure > svg")) {
    const paper = svg.viewBox.baseVal;
    const texts = all("text", svg).map((text) => ({ text: text.textContent, box: text.getBBox(), turned: text.hasAttribute("transform") }));
    const straight = texts.filter((of) => !of.turned && of.text);
    for (const { text, box } of straight) {
      if (box.x < -1 || box.x + box.width > paper.width + 1) found.push("leaves: " + text);
    }
    straight.forEach((a, at) => {
      for (const b of straight.slice(at + 1)) {
        const across = Math.min(a.box.x + a.box.width, b.box.x + b.box.width) - Math.max(a.box.x, b.box.x);
        const down = Math.min(a.box.y + a.box.height, b.box.y + b.box.height) - Math.max(a.box.y, b.box.y);
        if (across > 2 && down > 4) found.push(a.text + " | " + b.text);
      }
    });
  }
  return found;
}
if (location.hash === "#selftest") {
  const result = { curves: 0, cursors: 0, sorted: 0 };
  for (const key of all(".key")) {
    key.dispatchEvent(new MouseEvent("click"));
    const hidden = key.classList.contains("off");
    key.dispatchEvent(new MouseEvent("click"));
    result.curves += hidden && !key.classList.contains("off");
  }
  for (const { places, show } of cursors) {
    show(places[0]);
    result.cursors += 1;
  }
  result.said = all("figure output").filter((of) => of.textContent).length;
  for (const button of all("th button")) {
    button.click();
    result.sorted += 1;
  }
  const drawing = (figure) => figure.axes.group.innerHTML.replace(/ (class|clip-path)="[^"]*"/g, "");
  const figures = all("figure").filter((figure) => figure.axes);
  result.planes = figures.length;
  result.moved = result.back = 0;
  for (const figure of figures) {
    const { x, y, closer, reset } = figure.axes;
    const before = drawing(figure);
    for (const act of [x, y, closer]) act();
    result.moved += drawing(figure) !== before;
    reset();
    result.back += drawing(figure) === before;
  }
  result.whatif = {};
  for (const slider of all(".sums input")) {
    slider.value = 80;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const models = all(".model", slider.closest(".sums")).map((of) => [of.parentElement.firstChild.data, of.textContent]);
    result.whatif[slider.previousElementSibling.textContent] = models.map(([a, b]) => a.trim() + b.split(" (")[0]);
    slider.value = 100;
  }
  result.keys = all(".key").length;
  result.overlaps = overlaps();
  result.problems = problems;
  const output = document.createElement("output");
  output.id = "selftest";
  output.textContent = JSON.stringify(result);
  document.body.append(output);
}
