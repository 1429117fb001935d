// Before anything is painted: the theme that a reader chose, or else the system's. On paper it is light.
{
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const choose = () => {
    const { mode } = root.dataset;
    root.dataset.theme = mode === "auto" ? (dark.matches ? "dark" : "light") : mode;
  };
  root.dataset.mode = localStorage.getItem("mode") || "auto";
  choose();

  const opened = [];
  const prepare = () => {
    root.dataset.theme = "light";
    for (const part of document.querySelectorAll("article details:not([open], .d2lrnn-explorer *)")) {
      opened.push(part);
      part.open = true;
    }
  };
  const restore = () => {
    choose();
    for (const part of opened.splice(0)) part.open = false;
  };
  addEventListener("beforeprint", prepare);
  addEventListener("afterprint", restore);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? prepare() : restore()));
}
