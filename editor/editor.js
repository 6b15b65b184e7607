// What JavaScript adds to the page /sparql, which works without: colours, completion, the answer without leaving the
// page, sorting and a chart. The answer itself is the table that the server renders.
import Yasqe from "@zazuko/yasqe";
import "@zazuko/yasqe/build/yasqe.min.css";
import { chart, columns } from "./chart.js";
import { completers } from "./completion.js";

const form = document.querySelector("form.query");
const area = form.querySelector("textarea");
const answer = document.querySelector("#answer");
const status = document.querySelector("#status");
/** As long as an address may be that is kept and shared (characters). */
const MOST_ADDRESS = 8000;
/** Yasqe's mode for SPARQL 1.1, in which the prefixes of evkg need no declaration. */
const MODE = "evkg-sparql";
let yasqe;
let running;

function say(text) {
  status.textContent = text;
}

function query() {
  return yasqe ? yasqe.getValue() : area.value;
}

/** The address of this page with a query in it. */
function address(text) {
  return `${form.getAttribute("action")}?${new URLSearchParams({ query: text })}`;
}

async function run() {
  if (running) running.abort();
  const own = new AbortController();
  running = own;
  const text = query();
  const started = performance.now();
  form.setAttribute("aria-busy", "true");
  stop.disabled = false;
  say("The query runs …");
  try {
    const response = await fetch(form.getAttribute("action"), {
      method: "POST",
      body: new URLSearchParams({ query: text }),
      headers: { Accept: "text/html" },
      signal: own.signal,
    });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const found = page.querySelector("#answer");
    if (!found) throw new Error(`the server answered with status ${response.status}`);
    answer.replaceChildren(...found.childNodes);
    const place = answer.querySelector("[data-line]");
    if (yasqe && place) mark(place);
    if (address(text).length <= MOST_ADDRESS) history.replaceState(null, "", address(text));
    const seconds = ((performance.now() - started) / 1000).toFixed(2);
    say(response.ok ? `Answered in ${seconds} s.` : "The query could not be answered.");
    enhance();
  } catch (error) {
    say(own.signal.aborted ? "Stopped." : `No answer: ${error.message}`);
  } finally {
    if (running === own) {
      running = undefined;
      form.removeAttribute("aria-busy");
      stop.disabled = true;
    }
  }
}

/** Puts the cursor where the server found the error. */
function mark(place) {
  yasqe.getDoc().setCursor({ line: Number(place.dataset.line) - 1, ch: Number(place.dataset.column) - 1 });
}

/** Sorts a table by a column: numbers as numbers, texts as texts, empty cells last. */
function sort(table, index, heading) {
  const down = heading.getAttribute("aria-sort") === "ascending";
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = (row) => {
    const cell = row.cells[index];
    return cell.dataset.number === undefined ? cell.textContent.trim() : Number(cell.dataset.number);
  };
  const compare = (a, b) => {
    const [one, other] = [key(a), key(b)];
    if (one === "" || other === "") return (one === "") - (other === "");
    const order =
      typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en");
    return down ? -order : order;
  };
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
}

/** Adds sorting and, where a column is all numbers, a chart to the table of the answer. */
function enhance() {
  const table = answer.querySelector("table.answer");
  if (!table || table.tBodies[0].rows.length < 2) return;
  [...table.tHead.rows[0].cells].forEach((cell, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...cell.childNodes);
    button.addEventListener("click", () => sort(table, index, cell));
    cell.append(button);
  });
  const found = columns(table);
  if (found.numeric.length === 0) return;
  const details = document.createElement("details");
  details.className = "chart";
  const summary = document.createElement("summary");
  summary.textContent = "Chart of the numbers";
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", "Column to draw");
  for (const index of found.numeric) choice.add(new Option(found.names[index], String(index)));
  const figure = document.createElement("figure");
  const redraw = () => {
    const { svg, title, left } = chart(columns(table), Number(choice.value));
    const caption = document.createElement("figcaption");
    caption.textContent =
      `${title}${left ? `; the first ${found.rows.length - left} of ${found.rows.length} rows of the table` : ""}. ` +
      "That numbers stand side by side does not mean that they may be compared.";
    figure.replaceChildren(svg, caption);
  };
  choice.addEventListener("change", redraw);
  details.addEventListener("toggle", redraw);
  details.append(summary, choice, figure);
  table.parentElement.before(details);
}

const stop = document.createElement("button");
stop.type = "button";
stop.textContent = "Stop";
stop.disabled = true;
stop.addEventListener("click", () => running && running.abort());
form.querySelector("button").after(stop);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});

/** A saved question that is chosen comes into the editor; its link would load the page anew. */
document.querySelector("#examples")?.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-query]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const response = await fetch(link.dataset.query, { headers: { Accept: "application/sparql-query" } });
    if (!response.ok) throw new Error(`status ${response.status}`);
    // Its header says in words what the page of the question says too; the editor has room for the query.
    const text = `# ${link.textContent.trim()}\n${(await response.text()).replace(/^(?:#.*\n)+/, "")}`;
    if (yasqe) yasqe.setValue(text);
    area.value = text;
    say(`“${link.textContent.trim()}” is in the editor.`);
    (yasqe || area).focus();
  } catch (error) {
    say(`The question could not be read: ${error.message}`);
  }
});

enhance();
fetch(form.dataset.terms, { headers: { Accept: "application/json" } })
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`status ${response.status}`))))
  .catch(() => ({ prefixes: {}, classes: [], properties: [] }))
  .then((terms) => {
    const own = completers(terms);
    // The server knows its prefixes without their being declared: what runs must not be marked as an error.
    Yasqe.defineMode(MODE, (config) => {
      const mode = Yasqe.getMode(config, "sparql11");
      return {
        ...mode,
        startState: () => {
          const state = mode.startState();
          return { ...state, prefixes: { ...terms.prefixes, ...state.prefixes } };
        },
      };
    });
    for (const completer of own) Yasqe.registerAutocompleter(completer, false);
    const keys = { ...Yasqe.defaults.extraKeys, "Ctrl-Enter": run, "Cmd-Enter": run, "Ctrl-S": false };
    // Tab leaves the editor, as it leaves any field: who uses the keyboard alone must be able to go on.
    const extraKeys = { ...keys, Tab: false, "Shift-Tab": false };
    area.hidden = true;
    yasqe = new Yasqe(form.querySelector(".editor"), {
      mode: MODE,
      value: area.value,
      autocompleters: [...own.map((completer) => completer.name), "variables"],
      persistenceId: null,
      consumeShareLink: null,
      createShareableLink: null,
      showQueryButton: false,
      prefixCcApi: null,
      resizeable: false,
      editorHeight: "20rem",
      extraKeys,
    });
    const field = yasqe.getInputField();
    field.id = "query-editor";
    field.setAttribute("aria-describedby", "keys");
    form.querySelector("label").htmlFor = field.id;
    document.querySelector("#keys").hidden = false;
    yasqe.on("change", () => {
      area.value = yasqe.getValue();
    });
    const place = answer.querySelector("[data-line]");
    if (place) mark(place);
    document.documentElement.dataset.editor = "ready";
  });
