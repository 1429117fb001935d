// What the theme's buttons do: a policy against scripts in a page's text forbids `onclick`.
for (const button of document.querySelectorAll("[data-click]")) {
  const does = { "window.print": () => print(), toggleFullScreen: () => toggleFullScreen() }[button.dataset.click];
  button.addEventListener("click", does);
}

// A box that scrolls can be reached by key; one that does not is no stop.
{
  const boxes = document.querySelectorAll(
    "article :is(.d2lrnn-scroll, .highlight > pre, .output pre, .pst-scrollable-table-container)",
  );
  const reach = () => {
    for (const box of boxes) {
      if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("load", reach);
  addEventListener("resize", reach);
}
