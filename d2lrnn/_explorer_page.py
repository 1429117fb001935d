"""What the page of an explorer is made of: its look, and the script that swaps its figures."""

STYLE = """\
.d2lrnn-explorer { max-width: 34rem; margin: 0 auto; }

.d2lrnn-controls { display: flex; flex-wrap: wrap; gap: 0.4rem 2rem; margin: 0.5rem 0; }
.d2lrnn-controls[hidden] { display: none; }
.d2lrnn-controls label { display: inline-flex; align-items: center; gap: 0.6rem; }
.d2lrnn-controls input { accent-color: #2481c4; min-width: 9rem; }
.d2lrnn-controls select { color: inherit; background: transparent; font: inherit; }
.d2lrnn-controls option { color: #000; background: #fff; }
.d2lrnn-controls output { min-width: 2.5em; font-variant-numeric: tabular-nums; }
.d2lrnn-explorer details { font-size: 0.85em; }
.d2lrnn-explorer table { display: block; overflow-x: auto; border-collapse: collapse; }
.d2lrnn-explorer :is(th, td) { padding: 0.2rem 0.6rem; text-align: left; vertical-align: top; }
"""

# Finds every explorer that no script has taken care of yet, so that it is the same text in each of them.
SCRIPT = """\
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
"""
