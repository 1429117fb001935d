for (const box of document.querySelectorAll(".d2lrnn-explorer:not([data-ready])")) {
  box.dataset.ready = "";
  const { common, frames } = JSON.parse(box.querySelector("script[type='application/json']").textContent);
  const controls = [...box.querySelectorAll(".d2lrnn-controls input, .d2lrnn-controls select")];
  const view = box.querySelector(".d2lrnn-view");
  const update = () => {
    let number = 0;
    for (const control of controls) {
      const values = JSON.parse(control.dataset.values);
      const index = Number(control.value);
      number = number * values.length + index;
      if (control.type === "range") {
        control.nextElementSibling.value = values[index];
        control.setAttribute("aria-valuetext", values[index]);
      }
    }
    const own = frames[number][Symbol.iterator]();
    view.innerHTML = common.map((part) => part ?? own.next().value).join("");
  };
  box.addEventListener("input", update);
  box.querySelector(".d2lrnn-controls").hidden = false;
  update();
}
