
// `#selftest` tries all of it and writes what it found.
function overlaps(svg) {
  const paper = svg.viewBox.baseVal;
  const texts = all("text", svg).filter((text) => text.textContent && !text.hasAttribute("transform"));
  const boxes = texts.map((text) => ({ text: text.textContent, box: text.getBBox() }));
  const leaves = boxes.filter(({ box }) => box.x < -1 || box.x + box.width > paper.width + 1);
  const common = (a, b, at, size) => Math.min(a[at] + a[size], b[at] + b[size]) - Math.max(a[at], b[at]);
  const meet = (a, b) => common(a.box, b.box, "x", "width") > 2 && common(a.box, b.box, "y", "height") > 4;
  const pairs = boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) => meet(a, b)).map((b) => a.text + " | " + b.text));
  return [...leaves.map(({ text }) => "leaves: " + text), ...pairs];
}
function selftest() {
  const press = (of, key) => of.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const count = (of, holds) => of.filter(holds).length;
  const keys = all(".key");
  const toggles = (act) => count(keys, (key) => {
    act(key);
    const off = isOff(key);
    act(key);
    return off && !isOff(key);
  });
  const readable = cursors.map(({ svg, said }) => [svg, said]);
  const read = readable.map(([svg, said]) => (press(svg, "Home"), said.textContent));
  const last = readable.map(([svg, said]) => (press(svg, "End"), said.textContent));
  const heads = all("th button");
  const column = (of) => [...of.closest("table").tBodies[0].rows].map((row) => sortKey(row.cells[of.parentElement.cellIndex]));
  const isSorted = (of, sign) => (of.click(), column(of).every((b, at, rows) => at === 0 || sign * order(rows[at - 1], b) <= 0));
  const drawing = (figure) => figure.axes.group.innerHTML.replace(/ (class|clip-path)="[^"]*"/g, "");
  const figures = all("figure").filter((figure) => figure.axes);
  const before = figures.map(drawing);
  const changes = (act) => count(figures, (figure, at) => (act(figure.axes), drawing(figure) !== before[at]));
  const models = (slider) => {
    slider.value = 80;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const said = all(".model", slider.closest(".sums")).map((of) => of.parentElement.textContent.split(" (")[0].replace(": ", ":"));
    slider.value = 100;
    return [slider.previousElementSibling.textContent, said];
  };
  const narrow = (width) => {
    document.body.style.width = width + "px";
    return document.body.scrollWidth - width;
  };
  const result = {
    keys: keys.length,
    clicked: toggles((key) => key.dispatchEvent(new MouseEvent("click"))),
    pressed: toggles((key) => press(key, "Enter")),
    cursors: cursors.length,
    read,
    moved: count(last, (text, at) => text && (text !== read[at] || cursors[at].places.length === 1)),
    heads: heads.length,
    sorted: count(heads, (of) => isSorted(of, 1) && isSorted(of, -1)),
    planes: figures.length,
    drawn: changes(({ scales, closer }) => [...scales, closer].forEach((act) => act())),
    back: figures.length - changes(({ reset }) => reset()),
    whatif: Object.fromEntries(all(".sums input").map(models)),
    unreachable: count(all("button, a, summary, input, [role=button], figure > svg[role=group]"), (of) => of.tabIndex < 0),
    overlaps: all("figure > svg").flatMap(overlaps),
    // On a narrow screen only what scrolls is wider.
    wide: narrow(360),
    paper: getComputedStyle(document.body).backgroundColor,
    ready,
    problems,
  };
  const output = document.createElement("output");
  output.id = "selftest";
  output.textContent = JSON.stringify(result);
  document.body.append(output);
}
if (location.hash === "#selftest") selftest();
