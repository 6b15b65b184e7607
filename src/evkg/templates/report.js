"use strict";
(() => {
  const form = document.getElementById("filter");
  const cells = JSON.parse(document.getElementById("cells").textContent);
  const sections = [...document.querySelectorAll("section[data-group]")];
  const rows = [...document.querySelectorAll("tr[data-group]")];
  const keys = ["severity", "rule", "kind", "source"];
  const number = (n) => n.toLocaleString("en-US");
  const findings = (n) => `${number(n)} ${n === 1 ? "finding" : "findings"}`;
  const all = cells.reduce((sum, cell) => sum + cell[3], 0);

  function apply() {
    const wanted = Object.fromEntries(keys.map((key) => [key, form.elements[key].value]));
    const fits = (kind, sources) =>
      (wanted.kind === "" || String(kind) === wanted.kind) &&
      (wanted.source === "" || sources.map(String).includes(wanted.source));
    const counts = sections.map(() => 0);
    for (const [group, kind, sources, count] of cells) {
      const { severity, rule } = sections[group].dataset;
      if ((wanted.severity === "" || severity === wanted.severity) && (wanted.rule === "" || rule === wanted.rule) && fits(kind, sources)) {
        counts[group] += count;
      }
    }
    let listed = 0;
    sections.forEach((section, group) => {
      section.hidden = rows[group].hidden = counts[group] === 0;
      rows[group].querySelector(".count").textContent = number(counts[group]);
      if (section.hidden) return;
      let here = 0;
      for (const item of section.querySelectorAll("li")) {
        item.hidden = !fits(item.dataset.kind, item.dataset.sources.split(" ").filter(Boolean));
        here += item.hidden ? 0 : 1;
      }
      listed += here;
      const some = here < counts[group] ? `, ${number(here)} of them listed here` : "";
      section.querySelector(".count").textContent = findings(counts[group]) + some;
      const note = section.querySelector(".note");
      if (note) note.hidden = keys.some((key) => wanted[key] !== "");
    });
    const total = counts.reduce((sum, count) => sum + count, 0);
    const some = listed < total ? `; ${number(listed)} of them are listed below` : "";
    form.querySelector("output").textContent =
      total === all ? `All ${findings(all)}${some}.` : `${findings(total)} of ${number(all)}${some}.`;
    const set = keys.filter((key) => wanted[key] !== "").map((key) => [key, wanted[key]]);
    if (set.length) history.replaceState(null, "", `#?${new URLSearchParams(set)}`);
    else if (location.hash.startsWith("#?")) history.replaceState(null, "", location.pathname + location.search);
  }

  function read() {
    if (!location.hash.startsWith("#?")) return;
    for (const [key, value] of new URLSearchParams(location.hash.slice(2))) {
      if (keys.includes(key)) form.elements[key].value = value;
    }
    apply();
  }

  form.hidden = false;
  form.addEventListener("change", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  window.addEventListener("hashchange", read);
  if (location.hash.startsWith("#?")) read();
  else apply();
})();
