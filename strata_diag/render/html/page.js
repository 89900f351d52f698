(() => {
  "use strict";
  const filter = document.getElementById("filter");
  if (!filter) return;
  const words = document.getElementById("filter-words");
  const shown = document.getElementById("filter-count");
  const logs = new Map();
  for (const element of document.querySelectorAll("[data-log]")) {
    const log = logs.get(element.dataset.log) || { elements: [], text: "" };
    log.elements.push(element);
    log.text += ` ${element.textContent.toLowerCase()}`;
    logs.set(element.dataset.log, log);
  }
  const apply = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const log of logs.values()) {
      const fits = wanted.every((word) => log.text.includes(word));
      for (const element of log.elements) element.hidden = !fits;
      if (log.elements.some((element) => element.getClientRects().length > 0)) count += 1;
    }
    for (const group of document.querySelectorAll(".logs tbody")) {
      group.hidden = !group.querySelector("[data-log]:not([hidden])");
    }
    shown.textContent = shown.dataset.text.replace("{shown}", count).replace("{count}", logs.size);
  };
  filter.addEventListener("input", apply);
  document.getElementById("filter-by-words").hidden = false;
  apply();
})();
