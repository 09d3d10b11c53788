// Shows what was computed for the rho and the number of records that the two sliders stand at. Everything stands in the
// document; without script the middle of it is shown.
"use strict";
(() => {
  const controls = document.getElementById("controls");
  if (!controls) return;
  controls.hidden = false;
  const rho = document.getElementById("rho");
  const records = document.getElementById("records");
  const show = () => {
    for (const each of document.querySelectorAll("[data-rho],[data-records]")) {
      each.hidden = (each.dataset.rho !== undefined && each.dataset.rho !== rho.value) ||
        (each.dataset.records !== undefined && each.dataset.records !== records.value);
    }
    for (const each of [rho, records]) {
      const said = document.querySelector(`output[for=${each.id}] span:not([hidden])`);
      if (said) each.setAttribute("aria-valuetext", said.textContent);
    }
  };
  rho.addEventListener("input", show);
  records.addEventListener("input", show);
  show();
})();
