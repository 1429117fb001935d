// A term of the glossary opens a box with its meaning, by mouse, touch or key; without scripts it is a link.
{
  const box = Object.assign(document.createElement("div"), { className: "d2lrnn-meaning", hidden: true });
  const meaning = document.createElement("p");
  const more = Object.assign(document.createElement("a"), { textContent: "In the glossary" });
  box.append(meaning, more);
  box.setAttribute("role", "note");
  let of;
  let timer;
  const close = () => {
    clearTimeout(timer);
    box.hidden = true;
    of?.setAttribute("aria-expanded", "false");
    of = undefined;
  };
  const open = (term) => {
    close();
    of = term;
    meaning.textContent = term.dataset.meaning;
    more.href = term.href;
    term.after(box);
    term.setAttribute("aria-expanded", "true");
    box.hidden = false;
    box.style.marginLeft = "0";
    const { right, left } = box.getBoundingClientRect();
    const over = Math.max(0, right - document.documentElement.clientWidth + 8);
    box.style.marginLeft = `${-Math.min(over, left)}px`;
  };
  for (const term of document.querySelectorAll("a.d2lrnn-term[title]")) {
    term.dataset.meaning = term.title;
    term.removeAttribute("title");
    term.setAttribute("aria-description", term.dataset.meaning);
    term.setAttribute("aria-expanded", "false");
    term.setAttribute("role", "button");
    term.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      if (of === term && event.detail !== 1) close();
      else open(term);
    });
    term.addEventListener("keydown", (event) => event.key === " " && (event.preventDefault(), term.click()));
    term.addEventListener("pointerenter", ({ pointerType }) => {
      if (pointerType === "mouse") timer = setTimeout(open, 300, term);
    });
    term.addEventListener("pointerleave", ({ pointerType }) => {
      if (pointerType !== "mouse") return;
      clearTimeout(timer);
      timer = setTimeout(() => box.matches(":hover, :focus-within") || close(), 300);
    });
  }
  box.addEventListener("pointerleave", close);
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || box.hidden) return;
    const back = of;
    close();
    back.focus();
  });
  addEventListener("pointerdown", ({ target }) => box.hidden || box.contains(target) || of?.contains(target) || close());
}
