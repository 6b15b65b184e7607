// A chart of an answer: bars for one column of numbers. It shows only cells that are numbers in the graph, never
// numbers read out of printed texts, and says nothing on whether two of them may be compared.

const MOST_BARS = 60;
const SVG = "http://www.w3.org/2000/svg";
const [LABEL, BAR, VALUE, ROW] = [300, 360, 120, 24];

function draw(name, attributes, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

/** The columns of a table whose cells are all numbers, and the column that tells rows apart best. */
export function columns(table) {
  const rows = [...table.tBodies[0].rows];
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const all = names.map((_, index) => index);
  const numeric = all.filter((index) => rows.every((row) => row.cells[index].dataset.number !== undefined));
  const distinct = (index) => new Set(rows.map((row) => row.cells[index].textContent.trim())).size;
  const labels = all.filter((index) => !numeric.includes(index)).sort((a, b) => distinct(b) - distinct(a) || a - b);
  return { rows, names, numeric, label: labels[0] };
}

/** A chart of one column of a table. */
export function chart({ rows, names, label }, index) {
  const shown = rows.slice(0, MOST_BARS);
  const values = shown.map((row) => Number(row.cells[index].dataset.number));
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const x = (value) => LABEL + ((value - low) / (high - low || 1)) * BAR;
  const height = shown.length * ROW + 8;
  const title = label === undefined ? `“${names[index]}” by row` : `“${names[index]}” by “${names[label]}”`;
  const svg = draw("svg", { viewBox: `0 0 ${LABEL + BAR + VALUE} ${height}`, role: "img", "aria-label": title, class: "bars" });
  shown.forEach((row, number) => {
    const text = label === undefined ? `row ${number + 1}` : row.cells[label].textContent.trim();
    const name = draw("text", { x: LABEL - 8, y: number * ROW + 18, "text-anchor": "end" });
    name.textContent = text.length > 42 ? `${text.slice(0, 41)}…` : text;
    const value = draw("text", { x: x(Math.max(0, values[number])) + 6, y: number * ROW + 18 });
    value.textContent = row.cells[index].textContent.trim();
    const from = x(Math.min(0, values[number]));
    const width = Math.max(1, x(Math.max(0, values[number])) - from);
    svg.append(draw("rect", { x: from, y: number * ROW + 5, width, height: ROW - 8 }), name, value);
  });
  svg.append(draw("line", { x1: x(0), x2: x(0), y1: 0, y2: height }));
  return { svg, title, left: rows.length - shown.length };
}
